// The compressed prefix cache of a run, from forward to forward: what is stored by which basis, and how it is read.
//
//   forward              prefix       besides
//   prefill, block full  whole        rows in work stored; Gram matrices while a basis will come of them; the basis
//   when
//                                     it is due
//   span's first         whole        warm-up
//   span's second        whole        entries ranked
//   span's later ones    by the map   made before the first of them
//
// Without an entry that has a basis nothing is ranked. What the CPU makes, it makes when a forward needs it.
#pragma once

#include <cstdint>
#include <span>

#include "firmware/dllm/compression_space.h"
#include "firmware/kernels/forward.h"

namespace dvp::dllm {

class prefix_tiers {
 public:
  // The state's compressed cache starts empty, for a sequence of `length` positions in blocks of block_length; what the
  // CPU writes of it is told to the state. statistics: one per layer. Arguments outlive the run.
  void start(const compression_request& compression, const compression_space& space, const kernels::config& model,
             std::uint32_t length, std::uint32_t block_length, kernels::run_state& state,
             std::span<gen::layer_statistics> statistics);

  // A span starts: the map is dropped.
  void begin_span();
  // Says how the pass reads the prefix, which is all positions before its rows, and what it leaves behind.
  void prepare(kernels::forward_pass& pass, bool denoises);
  // The pass failed and is to be repeated, on an NPU whose scratchpad holds nothing any more.
  void undo(const kernels::forward_pass& pass);
  // It is done.
  void complete(const kernels::forward_pass& pass);
  // How the pass prepared last reads.
  gen::prefix_reading reading() const { return reading_; }

 private:
  std::uint32_t plain() const;
  bool adds_to_a_basis(const kernels::forward_pass& pass) const;
  void set_whole();
  void make_maps();
  void tell_of_lists() const;
  void make_bases();
  void keep_grams(bool back);

  const compression_request* compression_ = nullptr;
  const compression_space* space_ = nullptr;
  const kernels::config* model_ = nullptr;
  kernels::run_state* state_ = nullptr;
  kernels::compressed_cache* cache_ = nullptr;
  std::span<gen::layer_statistics> statistics_;
  std::uint32_t length_ = 0;
  std::uint32_t block_length_ = 0;
  basis_ranges ranges_;
  std::uint32_t bases_ = 0;     // made
  std::uint32_t in_order_ = 0;  // so many elements of every list are 0, 1, 2, ...
  std::uint32_t forwards_ = 0;  // of the span
  bool mapped_ = false;         // the lists are the span's maps
  tier_counts counts_;          // of a map; every layer's is alike
  gen::prefix_reading reading_ = gen::prefix_reading::whole;
};

}  // namespace dvp::dllm
