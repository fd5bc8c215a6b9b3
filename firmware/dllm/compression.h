// What a request asks of compression (gen/spec/formats/compression.json), checked.
#pragma once

#include <cstdint>
#include <span>

#include "dvp_gen/compression.h"
#include "dvp_gen/request.h"
#include "firmware/kernels/model.h"

namespace dvp::dllm {

inline constexpr std::uint32_t most_basis_iterations = 64;
inline constexpr std::uint32_t most_correction_rank = 64;

struct compression_request {
  // A copy that nobody else writes. Without a record: cache bf16, network whole.
  gen::compression_record record;
  std::span<gen::layer_statistics> statistics;  // the CPU's view; empty: nobody wants them

  bool stores() const { return record.kv != gen::kv_format::bf16; }
  bool ranks() const { return record.kv == gen::kv_format::brq; }
  bool anchors() const { return record.ffn == gen::ffn_mode::dat; }
  bool any() const { return stores() || anchors(); }
};

// Reads the record that the request names, if it names one, and checks it and that the request can do what it says:
// loop fast_dllm_v2 on the NPU, a block in one tile of rows. Numbers of a technique that is off are not
// looked at. Codes: ok, bad_request.
[[nodiscard]] gen::result_code read_compression(const gen::request_record& request, compression_request& compression);

// What depends on the model: statistics have room for its layers; with tiers, a basis has no more vectors than a head
// has elements, and these are a multiple of 4.
[[nodiscard]] bool suits(const compression_request& compression, const kernels::config& model);

}  // namespace dvp::dllm
