// Whether one rank was refreshed in time and evenly: a count of refreshes against the time that passed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tlm/lpddr5/device/device.h"

namespace dvp::lpddr5 {

enum class refresh_kind : std::uint8_t { none, all_bank, per_bank };

// What the checker must be told of the controller: the rest it derives from the device. In refreshes; of per-bank
// refresh, in rounds through all banks.
struct refresh_promise {
  refresh_kind kind = refresh_kind::none;
  std::uint32_t postpone = 0;  // that may be owed
  std::uint32_t pull_in = 0;   // that may be done ahead
};

// Refresh k (1, 2, ...) is due at k times REFI; of per-bank refresh, each bank or pair has its share of that. It may
// come `pull_in` refreshes early and `postpone` late, and later still by the time it takes to finish and close what a
// rank is busy with (grace()). Self-refresh pays every debt: the next is due one interval after it. Per-bank refresh
// goes through every bank (or pair) once before it comes to one again.
class refresh_ledger {
 public:
  refresh_ledger(const device& d, const refresh_promise& promise);

  // Each gives what is wrong, without the command it came with; nothing when all is well.
  std::optional<std::string> refreshed(cycles at, std::uint32_t bank);
  std::optional<std::string> time_is(cycles now);

  void self_refresh_entered() { asleep_ = true; }
  void self_refresh_left(cycles at);

  cycles grace() const { return grace_; }

 private:
  bool per_bank() const { return promise_.kind == refresh_kind::per_bank; }

  refresh_promise promise_;
  std::uint32_t pair_offset_;
  std::uint32_t slots_;  // refreshes of a round
  cycles interval_;
  cycles early_, late_;  // clocks
  cycles grace_;
  cycles due_;  // of the next refresh
  bool asleep_ = false;
  std::vector<bool> in_round_;
  std::uint32_t round_size_ = 0;
};

}  // namespace dvp::lpddr5
