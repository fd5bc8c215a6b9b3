// What long regular reads cost per byte, measured on the cycle-accurate engine itself and then applied to whole runs
// in one step.
//
// The first run of a pattern simulates at least eight refresh intervals of such reads on a memory of its own with the
// same device, policies and mapping; a run of n bytes then takes n times the clocks per byte and moves every counter by
// its share. Rests are carried from run to run, so sums stay right. Refreshes are not part of the share: the
// channel counts those that fall into the run.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "tlm/lpddr5/engine/address_mapping.h"
#include "tlm/lpddr5/engine/controller_config.h"
#include "tlm/lpddr5/engine/figures.h"
#include "tlm/lpddr5/engine/open_runs.h"
#include "tlm/lpddr5/engine/rules.h"

namespace dvp::lpddr5 {

class stream_rates {
 public:
  stream_rates(const device& d, const rule_table& rules, const controller_config& config,
               const address_mapping& mapping);

  struct step {
    cycles duration = 0;  // the data bus of every channel is busy with the run
    cycles latency = 0;   // from the end of that to the last beat
  };
  // So many array bytes, read as part of a run.
  step serve(std::uint64_t bytes, const run_pattern& pattern);
  // Adds what the reads served since counted.
  void settle_figures(system_figures& figures);

 private:
  struct rate {
    double clocks_per_byte = 0;
    std::vector<double> per_byte;  // of each counter in the order of for_each_counter
    std::vector<double> carried;
    double clocks_carried = 0;
    std::uint64_t unsettled = 0;  // bytes
  };
  rate measure(const run_pattern& pattern) const;
  rate& rate_of(const run_pattern& pattern);

  const device& device_;
  const rule_table& rules_;
  controller_config config_;
  const address_mapping& mapping_;
  std::map<run_pattern, rate> rates_;
  run_pattern last_pattern_;
  rate* last_ = nullptr;  // of that
};

}  // namespace dvp::lpddr5
