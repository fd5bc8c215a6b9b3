// A decode in progress: the sequence, its counters, and the steps that every loop is made of.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "dvp_gen/request.h"
#include "firmware/dllm/commit.h"
#include "firmware/dllm/compression_run.h"
#include "firmware/dllm/random.h"
#include "firmware/kernels/forward.h"

namespace dvp::dllm {

// Told after the progress record was written.
class observer {
 public:
  virtual void progress() = 0;

 protected:
  ~observer() = default;
};

// Work for this hart while the NPU computes a forward: run once, after the forward was queued and before its end is
// waited for. The ring may be full before all of a forward is queued; then the work starts that much later.
class meanwhile {
 public:
  virtual void run() = 0;

 protected:
  ~meanwhile() = default;
};

// Most positions behind a block that a forward is asked about.
inline constexpr std::uint32_t most_ahead = 64;
// Most rows with logits of a forward.
inline constexpr std::uint32_t most_logits_rows = most_block_length + most_ahead;

// The block in work. A position is masked until it is committed, whatever the committed token is.
struct block {
  std::uint32_t first = 0;  // position
  std::uint32_t length = 0;
  position_set masks = 0;
};

// Rows of a forward, and what they see.
struct window {
  std::uint32_t first = 0;
  std::uint32_t rows = 0;
  std::uint32_t keys = 0;
};

class session {
 public:
  // All arguments outlive the session. tokens holds the prompt and room for the whole sequence; result is zero.
  session(const gen::request_record& request, const kernels::config& model, const kernels::weights& weights,
          kernels::run_state& state, std::span<std::uint32_t> tokens, gen::result_record& result,
          gen::progress_record& progress, observer& host);

  // Forwards are compressed from now on; the run outlives the session.
  void compress(compression_run& run) { compression_ = &run; }
  // The next forward is the first that denoises this part of the decode.
  void begin(gen::compression_span part);

  const gen::request_record& request() const { return request_; }
  const kernels::config& model() const { return model_; }
  const kernels::weights& weights() const { return weights_; }
  const kernels::run_state& state() const { return state_; }
  std::span<std::uint32_t> tokens() const { return tokens_; }
  gen::result_record& result() { return result_; }

  // Makes a block of masks: positions [first_mask, first + length) become the mask token.
  block open_block(std::uint32_t first, std::uint32_t length, std::uint32_t first_mask);

  // One denoising forward over `rows`: predicts the candidates, positions of the block, and those `ahead`, bit 0 for
  // the position behind the block. Logits are made for the contiguous rows that span them all; without any, the forward
  // only replaces keys and values. A forward that fails on the NPU is tried again as often as the request allows.
  // Codes: ok, npu_error, npu_timeout, window_error, memory_error, bad_image (the model's numbers are such that a
  // position asked about has no token at all). other: what else this hart has to do, also when the forward fails.
  [[nodiscard]] gen::result_code predict(const window& rows, const block& b, position_set candidates,
                                         position_set ahead = 0, meanwhile* other = nullptr);
  // Confidences and tokens of that prediction, by position in the block and on behind it; valid where asked about.
  std::span<const float> confidences() const { return confidences_; }
  std::span<const std::uint32_t> predicted() const { return predicted_; }

  // Gives the chosen and the edited positions their predicted tokens, in ascending order, takes the chosen off the
  // masks, counts and hashes them, and reports the forward. total: valid tokens, masks included.
  void commit(block& b, position_set chosen, std::uint32_t total, position_set edited = 0);
  // The same without the report.
  void write(block& b, position_set chosen, position_set edited = 0);
  // Gives a position another token, between two forwards; hashed as the last forward's.
  void replace(std::uint32_t position, std::uint32_t token);

  // A forward that only stores keys and values; no prediction. total as for commit.
  [[nodiscard]] gen::result_code fill(const window& rows, const block& b, std::uint32_t total);
  // The same, and the prediction of its last row becomes the token behind it; counts and hashes it as the forward's
  // commit.
  [[nodiscard]] gen::result_code fill_and_append(const window& rows, std::uint32_t block_length);

  void block_complete(const block& b, std::uint32_t total);

  // Rows that the kernels work on at a time.
  std::uint32_t row_tile() const { return state_.plan.tile_rows; }

  // How the forward's samples are drawn; with a temperature, a new key every time.
  kernels::sampling_rule next_rule(bool samples);

  // Position behind the first end token in [first, last); 0 when there is none.
  std::uint32_t behind_end_token(std::uint32_t first, std::uint32_t last) const;

  void report(gen::progress_kind kind, const block& b, std::uint32_t committed, std::uint32_t total);

 private:
  // The forward on the engine that the request names, again after a failure as often as it allows; `other` runs beside
  // the first try. pass becomes what was done at last.
  [[nodiscard]] drivers::npu_code compute(kernels::forward_pass& pass, meanwhile* other);
  // Starts the NPU again after a failure.
  void recover();
  // denoises: else the forward only finishes its rows.
  [[nodiscard]] gen::result_code run_forward(const window& rows, std::uint32_t logits_first, std::uint32_t logits_rows,
                                             bool denoises, meanwhile* other = nullptr);
  // Takes over the samples of a set of positions, bit 0 for `from`; sample 0 is of position `first`. False when one has
  // no token.
  bool read_samples(position_set asked, std::uint32_t from, std::uint32_t first);
  void write_token(std::uint32_t position, std::uint32_t token);

  const gen::request_record& request_;
  const kernels::config& model_;
  const kernels::weights& weights_;
  kernels::run_state& state_;
  std::span<std::uint32_t> tokens_;
  gen::result_record& result_;
  gen::progress_record& progress_;
  observer& host_;
  compression_run* compression_ = nullptr;                // null: nothing is compressed
  kernels::ffn_pass network_ = kernels::ffn_pass::whole;  // of the last forward
  std::uint32_t earlier_descriptors_ = 0;                 // before the last recover()
  random_generator random_;
  std::span<const gen::sample_record> samples_;
  std::array<float, most_logits_rows> confidences_{};
  std::array<std::uint32_t, most_logits_rows> predicted_{};
};

}  // namespace dvp::dllm
