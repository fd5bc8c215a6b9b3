// Who sits where in the scratchpad during a run: one static plan for all forwards.
//
// Regions of the two phases of a layer that never live at once share space: queries and scores with the down
// projection's sum and the activations. Partners of a double buffer sit in different banks: one comes from the low end
// of the free space, the other from the high end. Where there is room, every region starts a bank of its own, so that
// two engines seldom ask for the same one.
#pragma once

#include <array>
#include <cstdint>

#include "firmware/drivers/npu.h"
#include "firmware/kernels/model.h"

namespace dvp::kernels {

struct region {
  std::uint32_t address = 0;
  std::uint32_t bytes = 0;

  std::uint32_t end() const { return address + bytes; }
};

// Hands out space from both ends of the scratchpad.
class scratchpad_allocator {
 public:
  // unit: every region starts at a multiple of it; divides bytes.
  scratchpad_allocator(std::uint32_t bytes, std::uint32_t unit);

  region low(std::uint64_t bytes, std::uint32_t alignment);
  region high(std::uint64_t bytes, std::uint32_t alignment);

  // Free bytes between the ends.
  std::uint32_t free() const { return fits_ ? top_ - bottom_ : 0; }
  // False once a request did not fit.
  bool fits() const { return fits_; }

 private:
  std::uint32_t unit_;
  std::uint32_t bottom_ = 0;
  std::uint32_t top_;
  bool fits_ = true;
};

// Where rows become entries of the compressed cache.
struct encoding_space {
  std::array<region, 2> codes;  // i8 [T][kv_width]: keys, values
  region terms;                 // of all heads, [T]
  region rounded;               // bf16 [T][head_length], or transposed
  region coefficients;          // fp32 [T][rank]
  region base;                  // fp32 [T][head_length]
  region basis;                 // one basis, and transposed
  region gram;                  // fp32 [head_length][head_length]
};

// T rows per tile, C output channels per chunk. Sizes in elements; [a | b] holds whichever is larger.
struct scratchpad_plan {
  std::uint32_t tile_rows = 0;  // T
  std::uint32_t channels = 0;   // C: whole heads, and whole groups where the down projection has groups

  region residual;                // fp32 [T][width]
  region normed;                  // bf16 [T][width | query_width]: normalised rows, then the attention's output
  region attn_norm;               // fp32 [width]
  region ffn_norm;                // fp32 [width]; output norm too
  region rope;                    // fp32 [T][head_length]
  region biases;                  // fp32 [query_width + 2 * kv_width], with qkv_bias
  region identity;                // bf16 [group][group], with a bf16 embedding
  region samples;                 // sampling_state [T], sample_record [T]
  region anchored_inputs;         // bf16 [layers][T][width]; this and the next two stay from forward to forward
  region anchored_sums;           // bf16 [layers][ffn_width][2 T]: gate, then up
  region anchored_outputs;        // fp32 [layers][T][width]
  std::array<region, 4> results;  // fp32 [T][C], of the array; taken in turn
  std::array<region, 2> cached;   // bf16 [T][C]: keys and values on their way to DRAM
  std::array<region, 2> staging;  // what streams through the array

  // Attention.
  region queries;                // bf16 [heads][T][head_length]
  std::array<region, 2> scores;  // fp32 scores, then bf16 probabilities, of as many rows as fit

  // Compressed cache, with places of its own. E entries at most, in the order of the list.
  region kv_rotary;                // fp32 [E][head_length], by position; stays from forward to forward
  region kv_list;                  // u32 [E]
  region kv_terms;                 // [E], by position
  region kv_bases;                 // of a layer
  std::array<region, 2> kv_codes;  // at most i8 [E][kv_width]: keys, values
  region kv_keys;                  // bf16 [kv_heads][E][head_length], rebuilt
  region kv_turned;                // at most i8 [kv_heads][head_length][turned_entries(E)]: value codes
  region kv_columns;               // 16 bits [kv_heads][rank + 1][E]: value terms
  region kv_mixed;                 // fp32 [stacked rows][rank], then the same in bf16
  region kv_maxima;                // fp32 [E]
  encoding_space encoding;

  // Feed-forward network, in the same place.
  region down;                        // fp32 [T][width]
  std::array<region, 2> activations;  // bf16 [T][C]

  // Moved from an anchor, also: pieces of at most channel_piece() channels.
  region channel_words;          // fp32 [2]: drift; from list_offset on u32 [ffn_width]: channels, or their activity
  std::array<region, 3> turned;  // i8 [width][piece]: part of down, one output's channels side by side; then bf16
                                 // [correction rank][piece]
  std::array<region, 2> corrections;  // what a narrow_correction needs
  region numbers;                     // u32 [piece]: 0, 1, 2, ...; with corrections

  static constexpr std::uint32_t list_offset = 64;
  // More channels keep the array no busier.
  std::uint32_t channel_piece() const { return channels < 128 ? channels : 128; }

  // Rows of scores that fit one score region when a row has `keys` keys.
  std::uint32_t score_rows(std::uint32_t keys) const;
};

// Stride of a row of scores, in keys: whole groups, so that all strides stay aligned.
constexpr std::uint32_t score_stride(std::uint32_t keys) {
  return (keys + 31) / 32 * 32;
}

// Between the codes and the scales of a piece in a staging region, at most.
inline constexpr std::uint32_t staging_gap = 64;

struct plan_request {
  std::uint32_t tile_rows = 0;        // 0: the most of 32, 16, 8, 4 that fit
  std::uint32_t most_keys = 0;        // of any forward
  std::uint32_t granule_bytes = 0;    // every region starts at a multiple
  bool identity = false;              // the embedding is bf16
  bool groups = false;                // some layer's down projection is q8_group32
  std::uint32_t store_entries = 0;    // capacity of the compressed cache; 0: there is none
  std::uint32_t store_rank = 0;       // its rank
  bool anchored = false;              // the feed-forward network is moved from anchors
  std::uint32_t correction_rank = 0;  // with anchored: of the corrections' tensors; 0: they are not used
};

// The last two from the weights.
plan_request request_plan(const config& model, const weights& w, std::uint32_t tile_rows, std::uint32_t most_keys,
                          std::uint32_t granule_bytes);

// The largest tile that fits, with the most channels that leave comfortable staging and scores, else with the largest
// staging. False when no plan fits; `plan` is then unusable.
[[nodiscard]] bool plan_scratchpad(const config& model, const drivers::npu_limits& limits, const plan_request& request,
                                   scratchpad_plan& plan);

}  // namespace dvp::kernels
