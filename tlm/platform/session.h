// Asks the firmware one prompt after another and collects what came back.
//
// The host side of the mailbox: everything here happens before the simulation or inside a register write of the
// firmware, takes no simulated time, and touches DRAM and the mailbox alone, so that it does not matter which CPU seat
// the firmware runs on. The write that finishes a request collects the answer and sets the next request; after the
// last answer it stops the simulation. The firmware is not trusted: what it does against the protocol ends the
// simulation with a sentence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "dvp_gen/system.h"
#include "tlm/core/statistics.h"
#include "tlm/platform/answer.h"
#include "tlm/platform/config.h"
#include "tlm/platform/dram_layout.h"
#include "tlm/platform/loaded_model.h"
#include "tlm/platform/platform.h"
#include "tlm/platform/progress_view.h"

namespace dvp::platform {

// What to ask for; from the command line, else from the model.
struct decode_options {
  std::uint32_t generate_tokens = 0;
  std::uint32_t steps = 0;  // rule count
  float threshold = 0;      // rule threshold
  float temperature = 0;
  std::uint64_t seed = 0;
  bool stop_at_end = false;  // bidirectional loops
};

class session {
 public:
  // feed: who records decisions or, without data, makes them; null: nobody. Everything outlives the session.
  session(platform& chip, core::statistics& figures, const platform_config& config, const loaded_model& loaded,
          const decode_options& options, progress_view& view, decision_feed* feed = nullptr);

  // Sets the first request, before the simulation starts. `answered` is told how many prompts are dealt with after
  // each. False when there is nothing to simulate: no prompt can be asked.
  bool start(const std::vector<prompt>& prompts, std::function<void(std::size_t done)> answered);

  // Every prompt has its answer, or there was a failure.
  bool over() const { return over_; }
  // Why the firmware cannot be asked any further: it trapped, or broke the protocol; empty while it can.
  const std::string& failure() const { return failure_; }

  // Those dealt with so far, in order.
  const std::vector<answer>& answers() const { return answers_; }
  // The swap plan of the first answer that has one, as a table; empty without.
  const std::string& swap_plan() const { return swap_plan_; }
  // What the loader had to round or cut.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  bool ask_next();
  bool ask(answer& current);
  gen::request_record make_request(std::uint32_t prompt_tokens) const;
  void set_compression();
  void on_accept();
  void on_progress();
  void on_finish(std::uint32_t code);
  void fail(const std::string& why);
  void collect(answer& current, gen::result_code code);
  void take_plan(const gen::result_record& result);
  std::string stranger_among(std::uint32_t total);
  nlohmann::ordered_json figures_now();
  nlohmann::ordered_json figures_so_far();
  void on_npu_reset();
  void settle_npu_figures();
  template <class Record>
  Record* record(std::uint64_t address) {
    return reinterpret_cast<Record*>(chip_.memory->data() + (address - gen::system::dram_base));
  }

  platform& chip_;
  core::statistics& figures_;
  const platform_config& config_;
  const loaded_model& model_;
  decode_options options_;
  progress_view& view_;
  decision_feed* feed_;
  dram_layout layout_;
  std::vector<prompt> prompts_;
  std::function<void(std::size_t)> answered_;
  std::optional<answer> current_;      // asked and not yet answered
  bool accepted_ = false;              // it was
  std::uint64_t most_events_ = 0;      // of it
  std::vector<std::uint32_t> before_;  // tokens at the last event
  nlohmann::ordered_json figures_before_;
  bool prefilling_ = false;             // it has chosen no token yet
  nlohmann::ordered_json npu_figures_;  // of it, up to the NPU's last reset; all of them once it is settled
  bool npu_counts_ = false;             // the NPU's figures since its last reset belong to it and are not in there
  bool npu_over_ = false;               // what the NPU does from now on is no part of it
  std::vector<answer> answers_;
  bool over_ = false;
  std::string failure_;
  std::string swap_plan_;
  std::vector<std::string> notes_;
};

}  // namespace dvp::platform
