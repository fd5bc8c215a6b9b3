// Asks the firmware one prompt after another and collects what came back.
//
// run() is the CPU seat's firmware thread: host-side preparation between requests takes no simulated time, the
// firmware's decode in the middle does. Everything the host touches goes through DRAM and the mailbox.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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
  std::uint32_t steps = 0;  // loop 1
  float threshold = 0;      // loop 3
  float temperature = 0;
  std::uint64_t seed = 0;
  bool stop_at_end = false;  // loop 1
};

class session {
 public:
  session(platform& chip, core::statistics& figures, const platform_config& config, const loaded_model& loaded,
          const decode_options& options, progress_view& view);

  // Runs all prompts and tells `answered` how many are done after each; ends early when the simulation was stopped (a
  // lockstep difference).
  void run(const std::vector<prompt>& prompts, const std::function<void(std::size_t done)>& answered);

  const std::vector<answer>& answers() const { return answers_; }
  // What the loader had to round or cut.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void ask(const prompt& request);
  gen::request_record make_request(std::uint32_t prompt_tokens) const;
  void on_progress();
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
  dram_layout layout_;
  std::vector<std::uint32_t> before_;  // tokens at the last event
  std::vector<answer> answers_;
  std::vector<std::string> notes_;
};

}  // namespace dvp::platform
