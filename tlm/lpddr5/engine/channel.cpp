#include "tlm/lpddr5/engine/channel.h"

#include "tlm/lpddr5/engine/never.h"

namespace dvp::lpddr5 {

channel::channel(std::uint32_t number, const device& d, const rule_table& rules, const controller_config& config,
                 channel_figures& figures, burst_sink& sink, command_sink* commands)
    : number_(number),
      device_(d),
      t_(d.times),
      config_(config),
      figures_(figures),
      sink_(sink),
      commands_(commands),
      banks_(d.shape.banks()),
      data_cycles_(d.shape.burst_length / d.shape.beats_per_ck),
      turnaround_slack_(std::max<cycles>(0, d.times.RTW_S - (d.times.RL + d.times.BL_n_min - d.times.WL))),
      timing_(rules, d.shape),
      queue_(d.shape, config),
      refresh_(d.shape.ranks, refresh_schedule(d, config)),
      ranks_(d.shape.ranks),
      bank_states_(std::size_t{banks_} * d.shape.ranks) {
  figures_.bank_commands.resize(bank_states_.size());
}

void channel::push(cycles arrival, const burst& b) {
  advance(arrival);
  inbox_.push_back({b, arrival});
  if (inbox_.size() == 1 && queue_.has_room(b) && std::max(arrival, room_since_) <= arrival) admit();
}

bool channel::step(cycles until) {
  if (!inbox_.empty() && queue_.has_room(inbox_.front().what)) {
    const cycles enters = std::max(inbox_.front().arrival, room_since_);
    // No command is planned before floor_, so an entry that comes by then need not be compared with the plan.
    if (enters < until && (enters <= floor_ || enters <= next_step())) {
      admit();
      return true;
    }
  }
  // Nor does a burst that came at the same clock as the one before it call for a plan.
  if (floor_ >= until || next_step() >= until) return false;
  issue_plan();
  return true;
}

cycles channel::next_step() {
  if (!planned_) make_plan();
  return plan_.at;
}

cycles channel::next_happening() {
  const bool enters = !inbox_.empty() && queue_.has_room(inbox_.front().what);
  return enters ? std::min(next_step(), std::max(inbox_.front().arrival, room_since_)) : next_step();
}

cycles channel::next_event() {
  if (!inbox_.empty()) return next_happening();
  if (queue_.reads() == 0 && (config_.posted_writes || queue_.writes() == 0)) return never;
  const cycles latency = config_.posted_writes ? t_.RL : std::min(t_.RL, t_.WL);
  return next_step() + latency + t_.BL_n_min;
}

void channel::admit() {
  const burst b = inbox_.front().what;
  const cycles at = std::max(inbox_.front().arrival, room_since_);
  inbox_.pop_front();
  last_queued_ = at;

  const index written = queue_.same_address(b, true);
  if (written != request_queue::none) {
    if (!b.write && b.columns == 1 && queue_[written].what.full) {
      ++figures_.forwarded_reads;
      room_since_ = at + t_.BL_n_S;  // the write buffer gives and takes one burst per burst slot
      sink_.queued(b, at);
      sink_.finished(b, at + 1);
      return;
    }
    if (b.write && config_.posted_writes && config_.coalesce_writes && !queue_[written].holds &&
        queue_[written].held_by == request_queue::none) {
      queue_[written].what.full = queue_[written].what.full || b.full;
      ++figures_.coalesced_writes;
      room_since_ = at + t_.BL_n_S;
      sink_.queued(b, at);
      sink_.finished(b, at);
      return;
    }
  }
  count_queue(at);
  if (queue_.size() == 0) pending_since_ = at;
  floor_ = std::max(floor_, at);
  queue_.push(b, at);
  figures_.queue_max = std::max(figures_.queue_max, queue_.size());
  touch(bank_number(b.rank, b.bank));
  update_turn();
  sink_.queued(b, at);
  if (b.write && config_.posted_writes) {
    room_since_ = at + t_.BL_n_S;
    sink_.finished(b, at);
  }
}

void channel::update_turn() {
  if (config_.scheduler != scheduler_policy::fr_fcfs_grouped) return;
  const std::uint32_t room = config_.queue == queue_layout::read_write ? config_.write_queue : config_.read_queue;
  const std::uint32_t reads = queue_.reads();
  const std::uint32_t writes = queue_.writes();
  const bool before = write_turn_;
  // However many come, the other direction waits for so many bursts at most, and then has a turn worth the turnaround.
  const bool long_enough = turn_bursts_ >= longest_turn;
  if (reads == 0 || writes == 0) {
    write_turn_ = writes != 0;
  } else if (held_turn_ == 0) {
    write_turn_ = write_turn_ ? writes > config_.write_low : writes >= std::min(config_.write_high, room);
    if (long_enough) {
      write_turn_ = !before;
      held_turn_ = shortest_turn;
    }
  }
  if (write_turn_ == before) return;
  turn_bursts_ = 0;
  if (!long_enough) held_turn_ = 0;
  for (auto& bank : bank_states_) bank.stale = true;
}

void channel::count_queue(cycles until) {
  if (until <= queue_counted_) return;
  figures_.queue_entry_cycles += static_cast<std::uint64_t>(until - queue_counted_) * queue_.size();
  queue_counted_ = until;
}

void channel::count_background(rank_state& r, cycles until) {
  if (until <= r.counted) return;
  const auto passed = static_cast<std::uint64_t>(until - r.counted);
  r.counted = until;
  std::uint64_t& sum = r.state == power::self_refresh ? figures_.self_refresh_cycles
                       : r.state == power::power_down
                           ? (r.open != 0 ? figures_.active_pd_cycles : figures_.precharge_pd_cycles)
                           : (r.open != 0 ? figures_.active_cycles : figures_.precharged_cycles);
  sum += passed;
}

void channel::settle_figures(cycles until) {
  for (auto& r : ranks_) count_background(r, until);
  count_queue(until);
  for (const auto& r : refresh_) {
    figures_.refresh_debt_max = std::max(figures_.refresh_debt_max, r.debt_max());
    figures_.refresh_lead_max = std::max(figures_.refresh_lead_max, r.lead_max());
  }
}

void channel::skip_to(cycles begin, cycles until) {
  for (auto& r : ranks_) {
    count_background(r, begin);
    // Rows of a rank that is awake are open all through the run.
    if (r.state == power::up && until > r.counted) {
      figures_.active_cycles += static_cast<std::uint64_t>(until - r.counted);
      r.counted = until;
    }
    r.idle_since = r.busy = until;
  }
  if (begin > data_free_) {
    figures_.idle_cycles[static_cast<std::size_t>(idle_cause::no_request)] +=
        static_cast<std::uint64_t>(begin - data_free_);
  }
  floor_ = data_free_ = bus_end_ = pending_since_ = last_column_ = until;
  for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
    const auto what = static_cast<std::size_t>(refresh_[r].per_bank() ? command::ref_bank : command::ref_all);
    const std::uint64_t n = refresh_[r].skip_to(until);
    figures_.commands[what] += n;
    const std::uint32_t units = refresh_[r].units();
    for (std::uint32_t unit = 0; unit < units; ++unit) {
      figures_.bank_commands[bank_number(r, unit)][what] += n / units + (unit < n % units ? 1 : 0);
    }
  }
  planned_ = false;
}

}  // namespace dvp::lpddr5
