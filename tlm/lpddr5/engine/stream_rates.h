// What long regular accesses cost per byte, measured on the cycle-accurate engine itself and then applied to whole runs
// and blocks in one step.
//
// The first of a pattern simulates some refresh intervals of such accesses on a memory of its own with the same device,
// policies and mapping; n bytes then take n times the clocks per byte and move every counter by their share. Rests are
// carried on, so sums stay right. Refreshes are not part of the share: the channel counts those that fall into the
// time.
//
// Rows with gaps are drawn, as many as the pattern says, from a fixed seed. Writes end to end are measured as halves of
// a copy, in turn with reads, less what those reads cost: a bus that turns around between them is in it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "tlm/lpddr5/engine/access_pattern.h"
#include "tlm/lpddr5/engine/address_mapping.h"
#include "tlm/lpddr5/engine/controller_config.h"
#include "tlm/lpddr5/engine/figures.h"
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
  // So many array bytes of a run or block.
  step serve(std::uint64_t bytes, const access_pattern& pattern);
  // Adds what the accesses served since counted.
  void settle_figures(system_figures& figures);

 private:
  struct rate {
    double clocks_per_byte = 0;
    std::vector<double> per_byte;  // of each counter in the order of for_each_counter
    std::vector<double> carried;
    double clocks_carried = 0;
    std::uint64_t unsettled = 0;  // bytes
  };
  // Of the accesses alone, or between reads end to end, as many bytes of each.
  rate measure(const access_pattern& pattern, bool between_reads = false) const;
  rate measure_copied(const access_pattern& written);
  rate& rate_of(const access_pattern& pattern);

  const device& device_;
  const rule_table& rules_;
  controller_config config_;
  const address_mapping& mapping_;
  std::map<access_pattern, rate> rates_;
  access_pattern last_pattern_;
  rate* last_ = nullptr;  // of that
};

}  // namespace dvp::lpddr5
