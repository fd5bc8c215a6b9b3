// The CPU path of progressive revision: masks some visible tokens, predicts them again and, where asked, computes their
// keys and values anew, while the NPU goes on.
//
// A job reads a private copy of the KV cache, the shadow, and the tokens it was given; it shares nothing that changes
// with the NPU or with whoever started it. What it found lands at step boundaries, when the NPU is idle. One job at a
// time.
//
// Pass 1 works on the masked positions alone (with shifted logits, on the rows before them too), all of them masked
// together; everything else is as the shadow holds it. Pass 2, for positions outside the NPU's window, works on them
// with the tokens found, up to the last layer to be refreshed.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "firmware/dllm/request.h"
#include "firmware/dllm/revision.h"
#include "firmware/dllm/session.h"
#include "firmware/kernels/cpu_forward.h"

namespace dvp::dllm {

class revision_job {
 public:
  // All outlive the job. Positions are those of the sequence, entries of `revision` start at the prompt's end.
  revision_job(session& s, const work_layout& work);
  ~revision_job() { wait(); }
  revision_job(const revision_job&) = delete;
  revision_job& operator=(const revision_job&) = delete;

  // A forward replaced the keys and values of rows.first and so on.
  void replaced(const window& rows);

  // Before a forward over rows.first and so on that a job may be started beside; no job is in work. Copies what the
  // shadow lacks of these rows, which the forward is about to replace.
  void secure(const window& rows);
  // Room for the targets of the next job; no job is in work.
  std::span<revision_transaction> targets() { return std::span(transactions_).first(most_); }
  // Starts with the first `count` targets, 1 or more: brings the rest of the shadow up to date, then hands the job to
  // hart 1. Without that hart it waits for run() or wait(). entries: as the targets were picked from; of tokens, only
  // the prompt is read.
  void start(std::uint32_t count, std::span<const revision_entry> entries);
  // On this hart, unless hart 1 has it.
  void run();
  // A job was started and its results have not been taken.
  bool in_work() const { return count_ != 0; }
  // Its results are there.
  bool done() const;
  // Returns when they are; at once without a job. Its time is counted as revision_wait_ns.
  void wait();

  // What it found, by position; empty without a job. False when one has no token (bad_image).
  std::span<const revision_transaction> results() const { return std::span(transactions_).first(count_); }
  bool good() const { return good_; }
  // Puts the keys and values that belong to a result into the cache and the shadow.
  void store(const revision_transaction& t);
  // The results have been taken.
  void finish();

 private:
  enum class place : std::uint8_t { nowhere, here, other_hart };

  void update_shadow();
  void copy_to_shadow(std::uint32_t first, std::uint32_t end);
  void list_masked(std::span<const revision_entry> entries);
  void work();
  void predict();
  void refresh();
  kernels::cpu_rows refreshed_rows() const;

  session& s_;
  const kernels::config& model_;
  kernels::cpu_workspace space_;
  kernels::kv_cache shadow_;
  std::uint32_t most_;
  std::uint32_t keys_;
  bool alone_ = false;  // hart 1 did not answer
  place place_ = place::nowhere;
  bool good_ = true;
  std::uint32_t stale_first_ = 0;  // positions [stale_first_, stale_end_) of the shadow are out of date
  std::uint32_t stale_end_ = 0;
  std::uint32_t secured_first_ = 0;  // but for [secured_first_, secured_end_)
  std::uint32_t secured_end_ = 0;
  std::uint32_t count_ = 0;
  std::array<revision_transaction, most_revisions> transactions_{};
  kernels::sampling_rule rule_;
  std::uint32_t rows_ = 0;  // of pass 1
  std::array<std::uint32_t, 2 * most_revisions> positions_{};
  std::array<std::uint32_t, 2 * most_revisions> tokens_{};
  std::array<std::uint32_t, most_revisions> asked_{};  // by transaction: its row of pass 1 with logits
  std::array<gen::sample_record, 2 * most_revisions> samples_{};
  std::uint32_t refreshed_ = 0;  // rows of pass 2
  std::uint32_t layers_ = 0;     // of pass 2
  std::array<std::uint32_t, most_revisions> refreshed_positions_{};
  std::array<std::uint32_t, most_revisions> refreshed_tokens_{};
};

}  // namespace dvp::dllm
