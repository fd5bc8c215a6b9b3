// When the timing rules allow each command: the last word on every pairwise constraint, and nothing else.
//
// probe: earliest() changes nothing. issue() takes what is issued as fact and moves the earliest times of what may
// follow. Bank states (open rows, a pending ACT-2, refresh) are the channel's, not this class's.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "tlm/lpddr5/engine/rules.h"

namespace dvp::lpddr5 {

// How much later than usual a precision-tagged read lets others follow.
struct read_stretch {
  cycles other_reads = 0;  // reads of other bank groups and ranks
  cycles same_group = 0;   // reads of its bank group, and everything else
};

class timing_state {
 public:
  // The rules outlive the state.
  timing_state(const rule_table& rules, const organisation& shape);

  // Earliest clock, `from` or later, at which the rules allow `c` on this bank of the rank; commands to a whole rank
  // name any bank.
  cycles earliest(command c, std::uint32_t rank, std::uint32_t bank, cycles from = 0) const {
    const std::size_t k = static_cast<std::size_t>(c);
    const cycles near = std::max(bank_[rank * banks_ + bank][k], group_[rank * groups_ + bank / group_size_][k]);
    const cycles at = std::max(std::max(near, from), std::max(rank_[rank][k], channel_[k]));
    return (special_ >> k & 1) == 0 ? at : beyond(c, rank, at);
  }

  // Of that, what the bank's own history demands; only commands to the bank change it.
  cycles bank_ready(command c, std::uint32_t rank, std::uint32_t bank) const {
    return bank_[rank * banks_ + bank][static_cast<std::size_t>(c)];
  }

  // Whether the bank or its group, rather than rank and channel, is what holds `c` back.
  bool held_by_bank(command c, std::uint32_t rank, std::uint32_t bank) const {
    const std::size_t k = static_cast<std::size_t>(c);
    return bank_[rank * banks_ + bank][k] >= std::max(rank_[rank][k], group_[rank * groups_ + bank / group_size_][k]);
  }
  bool held_by_group(command c, std::uint32_t rank, std::uint32_t bank) const {
    const std::size_t k = static_cast<std::size_t>(c);
    return group_[rank * groups_ + bank / group_size_][k] >= rank_[rank][k];
  }

  void issue(command c, std::uint32_t rank, std::uint32_t bank, cycles at, const read_stretch& stretch = {});
  // The second bank of a refreshed pair: what the refresh means to that bank and its group.
  void issue_to_partner(command c, std::uint32_t rank, std::uint32_t bank, cycles at);

 private:
  using row = std::array<cycles, command_count>;
  struct history {  // times of the last commands a windowed rule or a hole looks at, newest at next - 1
    std::array<cycles, 8> at;
    std::uint32_t next = 0;
  };

  cycles beyond(command c, std::uint32_t rank, cycles at) const;
  void remember(command c, std::uint32_t rank, cycles at);

  const rule_table& rules_;
  std::uint32_t banks_;
  std::uint32_t groups_;
  std::uint32_t group_size_;
  std::uint32_t ranks_;
  std::uint32_t special_ = 0;  // bit c: a window or hole limits command c
  std::uint32_t watched_ = 0;  // bit c: a window or hole counts command c
  std::vector<row> bank_;
  std::vector<row> group_;
  std::vector<row> rank_;
  row channel_{};
  std::vector<history> windows_;  // rule * ranks + rank; rank 0 for the channel's
  std::vector<history> holes_;
};

}  // namespace dvp::lpddr5
