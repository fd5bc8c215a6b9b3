// The bursts that wait in a channel, by bank and direction in order of arrival.
//
// Two bursts to the same address never pass each other: the younger one is held until the older has left. Held bursts
// do not show in oldest() and hit().
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tlm/lpddr5/device/device.h"
#include "tlm/lpddr5/engine/burst.h"
#include "tlm/lpddr5/engine/burst_table.h"
#include "tlm/lpddr5/engine/controller_config.h"

namespace dvp::lpddr5 {

class request_queue {
 public:
  using index = std::int32_t;
  static constexpr index none = -1;

  struct entry {
    burst what;
    std::uint64_t order = 0;  // of arrival
    cycles arrival = 0;
    bool opened_row = false;             // an ACT was issued for it
    bool closed_row = false;             // a PRE was issued for it
    index held_by = none;                // leaves after that one
    bool holds = false;                  // somebody waits for it to leave
    index next = none, previous = none;  // its bank's list of its direction; `next` also links free entries
    index younger = none, older = none;  // all entries
  };

  request_queue(const organisation& shape, const controller_config& config);

  bool has_room(const burst& b) const;
  // Precondition: has_room.
  index push(const burst& b, cycles arrival);
  void remove(index i);
  const entry& operator[](index i) const { return entries_[static_cast<std::size_t>(i)]; }
  entry& operator[](index i) { return entries_[static_cast<std::size_t>(i)]; }

  // The youngest waiting burst of this direction that touches a column access of `b`, or none.
  index same_address(const burst& b, bool write) const;

  // Banks are numbered rank * banks + bank. Row of the bank or -1; what row_of() says decides what is a hit.
  void set_row(std::uint32_t bank, std::int64_t row);
  std::int64_t row_of(std::uint32_t bank) const { return banks_[bank].row; }
  index oldest(std::uint32_t bank, bool write) const { return banks_[bank].oldest[write ? 1 : 0]; }
  index hit(std::uint32_t bank, bool write) const { return banks_[bank].hit[write ? 1 : 0]; }
  // Another burst than `but` that hits the open row.
  bool another_hit(std::uint32_t bank, index but) const;
  std::uint32_t in_bank(std::uint32_t bank) const { return banks_[bank].count; }
  std::uint32_t in_rank(std::uint32_t rank) const { return rank_count_[rank]; }
  // Bit b: bank b has entries.
  std::uint64_t banks_in_use() const { return in_use_; }

  index oldest() const { return oldest_; }
  std::uint32_t reads() const { return count_[0]; }
  std::uint32_t writes() const { return count_[1]; }
  std::uint32_t size() const { return count_[0] + count_[1]; }

 private:
  struct bank_lists {
    std::array<index, 2> head{none, none}, tail{none, none};
    std::array<index, 2> oldest{none, none}, hit{none, none};  // not held
    std::int64_t row = -1;
    std::uint32_t count = 0;
  };

  // Of the n-th column access.
  std::uint64_t key(const burst& b, std::uint32_t n) const {
    return (std::uint64_t{b.row} << 32) | (std::uint64_t{b.column + n * b.column_step * columns_per_access_} << 16) |
           (std::uint64_t{b.rank} << 8) | b.bank;
  }
  std::uint32_t bank_of(const burst& b) const { return b.rank * banks_per_rank_ + b.bank; }
  void refresh_oldest(bank_lists& lists, unsigned direction);
  void find_hit(bank_lists& lists, unsigned direction, index from);
  void let_go(index leaving);
  bool touch(const burst& a, const burst& b) const;

  std::uint32_t banks_per_rank_;
  std::uint32_t columns_per_access_;
  queue_layout layout_;
  std::uint32_t read_limit_;
  std::uint32_t write_limit_;
  std::vector<entry> entries_;
  index free_ = none;
  std::vector<bank_lists> banks_;
  std::vector<std::uint32_t> rank_count_;
  std::array<std::uint32_t, 2> count_{};
  std::uint64_t in_use_ = 0;
  std::uint64_t arrivals_ = 0;
  index oldest_ = none, youngest_ = none;
  std::array<burst_table, 2> table_;
};

}  // namespace dvp::lpddr5
