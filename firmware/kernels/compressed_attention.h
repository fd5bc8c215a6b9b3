// One layer's prefix, read from the compressed cache: prepared once, then scored and mixed head by head.
//
//   prepare  list, terms, bases, codes ── load or gather, segment by segment at its tier
//            keys: codes ── rebuild ──> bf16      values: codes, terms ── turned: a feature's side by side
//   score    bf16 keys ── product with the queries ──> scores, in list order
//   mix      coefficients: (P C) U per basis;  residuals: (P D) Z per segment
//
// Preparing needs nothing of the rows in work: the vector unit does it while the array projects them. Sums of the
// values: bases ascending, then segments in order. Rows of the scratchpad regions are in list order.
#pragma once

#include <cstdint>

#include "firmware/kernels/run_state.h"

namespace dvp::kernels {

class compressed_prefix {
 public:
  // state.compressed has entries.
  compressed_prefix(const config& model, const weights& w, std::uint32_t layer, run_state& state);

  std::uint32_t entries() const { return entries_; }

  // Brings everything to the scratchpad and makes of it what the array takes.
  void prepare();
  // scores[row][entry] = queries[row] . key[entry], for `rows` rows of one KV head.
  void score(std::uint32_t kv_head, const matrix& queries, std::uint32_t rows, const matrix& scores);
  // The largest score of every entry so far, over what was scored; to main memory with store_maxima().
  void rank(const matrix& scores, std::uint32_t rows);
  void store_maxima();
  // out[row] = sum over entries of probabilities[row][entry] * value[entry]. False, and out is left as it is, when
  // nothing is read: the sum is 0.
  bool mix(std::uint32_t kv_head, const matrix& probabilities, std::uint32_t rows, const matrix& out);

 private:
  // A segment and where its part of the regions begins.
  struct place {
    kv_segment segment;
    std::uint32_t first = 0;   // in the list
    std::uint32_t codes = 0;   // scratchpad offset of its first row of codes, in the region of either half
    std::uint32_t turned = 0;  // entries before it where values are turned
  };
  template <class Work>
  void for_segments(Work&& work) const;

  std::uint32_t row_bytes(const kv_segment& segment) const;
  matrix head_codes(kv_half half, const place& at, std::uint32_t kv_head) const;
  std::uint32_t basis_place(std::uint32_t basis, kv_half half, std::uint32_t kv_head) const;
  matrix terms(kv_half half, std::uint32_t kv_head) const;
  matrix keys(std::uint32_t kv_head) const;
  matrix value_column(std::uint32_t kv_head, std::uint32_t term, std::uint32_t first) const;
  matrix turned_codes(const place& at, std::uint32_t kv_head) const;

  void rebuild_keys(std::uint32_t kv_head);
  void turn_values(std::uint32_t kv_head);
  void load_codes(kv_half half);
  void load_bases();
  void load_rotary();
  bool mix_coefficients(const matrix& probabilities, std::uint32_t kv_head, std::uint32_t rows, const matrix& out);
  void mix_residuals(const place& at, const matrix& probabilities, std::uint32_t kv_head, std::uint32_t rows,
                     const matrix& out, bool accumulate);

  const config& model_;
  const weights& weights_;
  std::uint32_t layer_;
  run_state& state_;
  const kv_store& store_;
  const kv_reading& reading_;
  std::uint32_t entries_;
  bool ranked_ = false;
};

}  // namespace dvp::kernels
