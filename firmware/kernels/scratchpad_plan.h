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
  std::array<region, 4> results;  // fp32 [T][C], of the array; taken in turn
  std::array<region, 2> cached;   // bf16 [T][C]: keys and values on their way to DRAM
  std::array<region, 2> staging;  // what streams through the array

  // Attention.
  region queries;                // bf16 [heads][T][head_length]
  std::array<region, 2> scores;  // fp32 scores, then bf16 probabilities, of as many rows as fit

  // Feed-forward network, in the same place.
  region down;                        // fp32 [T][width]
  std::array<region, 2> activations;  // bf16 [T][C]

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
  std::uint32_t tile_rows = 0;      // 0: the most of 32, 16, 8, 4 that fit
  std::uint32_t most_keys = 0;      // of any forward
  std::uint32_t granule_bytes = 0;  // every region starts at a multiple
  bool identity = false;            // the embedding is bf16
  bool groups = false;              // some layer's down projection is q8_group32
};

// The last two from the weights.
plan_request request_plan(const config& model, const weights& w, std::uint32_t tile_rows, std::uint32_t most_keys,
                          std::uint32_t granule_bytes);

// The largest tile that fits, with the most channels that leave comfortable staging and scores, else with the largest
// staging. False when no plan fits; `plan` is then unusable.
[[nodiscard]] bool plan_scratchpad(const config& model, const drivers::npu_limits& limits, const plan_request& request,
                                   scratchpad_plan& plan);

}  // namespace dvp::kernels
