// One channel: queue, scheduler, bank states, refresh and power states; decides which command goes when.
//
//   push ─> inbox ─> request_queue ─> plan (the best command and its time) ─> issue ─> timing_state, sinks
//
// Event driven: the state between two commands is constant, so the next command and its time follow from the state
// alone; advance() issues plan after plan. Of the commands that may go earliest, row hits come first, then ACT-2,
// refresh work, ACT-1 and PRE, and among equals the one for the oldest request.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "tlm/lpddr5/device/device.h"
#include "tlm/lpddr5/engine/burst.h"
#include "tlm/lpddr5/engine/controller_config.h"
#include "tlm/lpddr5/engine/figures.h"
#include "tlm/lpddr5/engine/refresh_schedule.h"
#include "tlm/lpddr5/engine/request_queue.h"
#include "tlm/lpddr5/engine/timing_state.h"

namespace dvp::lpddr5 {

class channel {
 public:
  // Everything outlives the channel; commands may be null.
  channel(std::uint32_t number, const device& d, const rule_table& rules, const controller_config& config,
          channel_figures& figures, burst_sink& sink, command_sink* commands);

  // A burst arrives at the queue at a clock not before that of an earlier push. It waits in the inbox while the queue
  // has no room for it, and every later one behind it.
  void push(cycles arrival, const burst& b);
  // Everything that happens before `until`.
  void advance(cycles until) {
    while (step(until)) {
    }
  }
  // The next thing that happens, if it does before `until`.
  bool step(cycles until);

  // When something happens next if nothing arrives: a command, or an inbox entry that finds room.
  cycles next_happening();
  // No queued() or finished() is told with an earlier time than this, unless something arrives.
  cycles next_event();

  bool inbox_empty() const { return inbox_.empty(); }
  bool idle() const { return inbox_.empty() && queue_.size() == 0; }
  cycles last_queued() const { return last_queued_; }
  std::uint64_t bursts() const {
    return figures_.read_bursts + figures_.write_bursts + figures_.forwarded_reads + figures_.coalesced_writes;
  }

  // Brings time-weighted figures up to `until`.
  void settle_figures(cycles until);

  // A run of bursts that is served in one step keeps the idle channel busy from free_from() or later until then; the
  // refreshes that fall into the run count as done.
  void skip_to(cycles begin, cycles until);
  // From then on neither command bus nor data bus is taken.
  cycles free_from() const { return std::max(floor_, bus_end_); }

 private:
  using index = request_queue::index;
  enum class power : std::uint8_t { up, power_down, self_refresh };

  // Smaller goes first among commands of one clock.
  enum rank_order : std::uint8_t { column, second_activate, maintenance, starving, activate, precharge, power_change };

  struct plan {
    cycles at = 0;  // first clock of the command bus it takes
    command what = command::act1;
    rank_order order = power_change;
    std::uint64_t age = 0;
    std::uint8_t rank = 0;
    std::uint8_t bank = 0;
    bool with_cas = false;
    index entry = request_queue::none;
  };

  struct rank_state {
    power state = power::up;
    cycles wck_until = -1;           // a column command up to here needs no CAS
    cycles busy = 0;                 // last command that was no power change
    cycles data_end = 0;             // of its last burst on the bus
    cycles idle_since = 0;           // last column command
    cycles refreshed = -1;           // end of the last refresh that blocked the whole rank
    std::uint32_t open = 0;          // banks with a row, activating ones included
    std::int32_t closing_unit = -1;  // per-bank refresh: a bank was closed for it, so it is the next
    cycles counted = 0;              // background time is counted up to here
    // Made for each plan: banks that take no request from `locked_from` on.
    cycles locked_from = 0;
    std::uint64_t locked_banks = 0;
  };

  struct bank_state {
    bool activating = false;
    cycles refreshed = -1;  // end of its last per-bank refresh
    // The burst whose turn it is among those of the bank, kept until something happens to the bank: an arrival, a
    // command, a change of turn. Most banks wait for their own timing; `ready` tells so with one comparison.
    bool stale = true;
    bool is_starving = false;
    index next = request_queue::none;
    cycles ready = 0;         // its next command is not allowed before, for the bank's own timing
    cycles starves_from = 0;  // from then on the oldest goes instead of a row hit
  };

  struct waiting {
    burst what;
    cycles arrival;
  };

  // Planning: functions of the state.
  cycles next_step();  // the next command
  void make_plan();
  void offer(const plan& p);
  void plan_second_activate();
  void plan_banks();
  void choose(std::uint32_t bank, bool one_direction, bool writes);
  void plan_request(index entry, bool is_starving);
  void plan_column(plan& p, const request_queue::entry& e) const;
  bool wants_precharge(std::uint32_t bank, index entry) const;
  void plan_rank(std::uint32_t rank);
  void plan_all_bank_refresh(std::uint32_t rank);
  void plan_bank_refresh(std::uint32_t rank);
  std::uint32_t refresh_unit(std::uint32_t rank) const;
  std::uint64_t unit_banks(std::uint32_t unit) const;
  std::uint32_t unit_requests(std::uint32_t rank, std::uint32_t unit) const;
  void plan_power(std::uint32_t rank);

  // Doing.
  void admit();
  void update_turn();
  void issue_plan();
  void issue_refresh(const plan& p);
  void issue_column(const plan& p);
  void emit(const issued_command& c);
  void close_row(std::uint32_t rank, std::uint32_t bank, cycles at);
  void count_background(rank_state& r, cycles until);
  void count_queue(cycles until);
  void count_gap(const plan& p, const request_queue::entry& e, cycles at, cycles data_start);
  void touch(std::uint32_t bank) {
    bank_states_[bank].stale = true;
    planned_ = false;
  }

  std::uint32_t bank_number(std::uint32_t rank, std::uint32_t bank) const { return rank * banks_ + bank; }

  const std::uint32_t number_;
  const device& device_;
  const timing& t_;
  const controller_config& config_;
  channel_figures& figures_;
  burst_sink& sink_;
  command_sink* commands_;
  const std::uint32_t banks_;
  const cycles data_cycles_;       // of the data bus, one plain burst
  const cycles turnaround_slack_;  // idle clocks of the data bus between a read and a write

  timing_state timing_;
  request_queue queue_;
  std::vector<refresh_schedule> refresh_;  // per rank
  std::vector<rank_state> ranks_;
  std::vector<bank_state> bank_states_;
  std::deque<waiting> inbox_;

  plan plan_;
  bool planned_ = false;
  cycles floor_ = 0;       // nothing is issued before
  cycles room_since_ = 0;  // an entry left the queue then
  cycles last_queued_ = 0;
  // fr_fcfs_grouped: draining writes; bursts issued in this turn while the other direction waited.
  static constexpr std::uint32_t longest_turn = 512;
  static constexpr std::uint32_t shortest_turn = 16;
  bool write_turn_ = false;
  std::uint32_t turn_bursts_ = 0;
  std::uint32_t held_turn_ = 0;  // bursts this turn may still issue before it can be taken away

  // ACT-1 that waits for its ACT-2.
  struct pending_activate {
    std::uint8_t rank;
    std::uint8_t bank;
    std::uint32_t row;
    cycles first;
  };
  std::optional<pending_activate> second_;

  // Data bus.
  cycles data_free_ = 0;    // end of the last burst, as if interleaved bursts followed each other
  cycles bus_end_ = 0;      // end of the last burst, gaps inside it included
  bool stretched_ = false;  // the last read was not a plain burst
  bool last_write_ = false;
  std::uint8_t last_rank_ = 0;
  cycles last_column_ = -1;
  cycles pending_since_ = 0;  // the channel has had requests without a break since
  cycles power_up_ = -1;      // a rank came back from power-down or self-refresh
  cycles queue_counted_ = 0;
};

}  // namespace dvp::lpddr5
