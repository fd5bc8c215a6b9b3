// Which command goes next, and when: functions of the channel's state that change nothing but the plan.
#include <bit>

#include "tlm/lpddr5/engine/channel.h"
#include "tlm/lpddr5/engine/never.h"

namespace dvp::lpddr5 {

void channel::make_plan() {
  planned_ = true;
  plan_ = plan{};
  plan_.at = never;
  const std::uint32_t ranks = device_.shape.ranks;
  for (std::uint32_t r = 0; r < ranks; ++r) plan_rank(r);
  if (second_) {
    plan_second_activate();
  }
  if (config_.scheduler == scheduler_policy::fifo) {
    if (queue_.oldest() != request_queue::none) plan_request(queue_.oldest(), false);
  } else {
    plan_banks();
  }
  // ACT-2 has a deadline.
  if (second_ && plan_.at + (plan_.with_cas ? 1 : 0) >= second_->first + t_.AAD) {
    plan_.at = never;
    plan_second_activate();
  }
}

void channel::offer(const plan& p) {
  if (p.at > plan_.at) return;
  if (p.at == plan_.at && (p.order > plan_.order || (p.order == plan_.order && p.age >= plan_.age))) return;
  plan_ = p;
}

void channel::plan_second_activate() {
  plan p;
  p.at = timing_.earliest(command::act2, second_->rank, second_->bank, std::max(floor_, second_->first + 1));
  p.what = command::act2;
  p.order = second_activate;
  p.rank = second_->rank;
  p.bank = second_->bank;
  offer(p);
}

void channel::plan_banks() {
  const bool grouped = config_.scheduler == scheduler_policy::fr_fcfs_grouped;
  bool found = false;
  for (std::uint64_t left = queue_.banks_in_use(); left != 0; left &= left - 1) {
    const auto bank = static_cast<std::uint32_t>(std::countr_zero(left));
    bank_state& s = bank_states_[bank];
    if (s.stale || floor_ > s.starves_from) choose(bank, grouped, write_turn_);
    if (s.next == request_queue::none) continue;
    found = true;
    if (s.ready <= plan_.at) plan_request(s.next, s.is_starving);
  }
  if (found || !grouped) return;
  // Every burst of this turn is held by one of the other direction: those go.
  for (std::uint64_t left = queue_.banks_in_use(); left != 0; left &= left - 1) {
    const auto bank = static_cast<std::uint32_t>(std::countr_zero(left));
    choose(bank, true, !write_turn_);
    if (bank_states_[bank].next != request_queue::none) {
      plan_request(bank_states_[bank].next, bank_states_[bank].is_starving);
    }
    bank_states_[bank].stale = true;
  }
}

void channel::choose(std::uint32_t bank, bool one_direction, bool writes) {
  const auto older = [&](index a, index b) {
    if (a == request_queue::none || b == request_queue::none) return a == request_queue::none ? b : a;
    return queue_[a].order < queue_[b].order ? a : b;
  };
  bank_state& s = bank_states_[bank];
  s.stale = false;
  s.is_starving = false;
  s.starves_from = never;
  const index oldest =
      one_direction ? queue_.oldest(bank, writes) : older(queue_.oldest(bank, false), queue_.oldest(bank, true));
  s.next = one_direction ? queue_.hit(bank, writes) : older(queue_.hit(bank, false), queue_.hit(bank, true));
  if (oldest == request_queue::none) return;
  if (s.next != oldest && config_.starvation_limit != 0) {
    const cycles from = queue_[oldest].arrival + config_.starvation_limit;
    s.is_starving = floor_ > from;
    if (!s.is_starving) s.starves_from = from;
  }
  if (s.is_starving || s.next == request_queue::none) s.next = oldest;
  const request_queue::entry& e = queue_[s.next];
  const std::int64_t row = queue_.row_of(bank);
  const command what = row == e.what.row ? (e.what.write ? command::wr : command::rd)
                       : row >= 0        ? command::pre
                                         : command::act1;
  s.ready = timing_.bank_ready(what, e.what.rank, e.what.bank);
}

void channel::plan_request(index entry, bool is_starving) {
  const request_queue::entry& e = queue_[entry];
  const rank_state& r = ranks_[e.what.rank];
  const std::uint32_t bank = bank_number(e.what.rank, e.what.bank);
  if (r.state != power::up || bank_states_[bank].activating) return;

  plan p;
  p.rank = e.what.rank;
  p.bank = e.what.bank;
  p.entry = entry;
  p.age = e.order;
  const std::int64_t row = queue_.row_of(bank);
  if (row == e.what.row) {
    plan_column(p, e);
    p.order = column;
  } else if (row >= 0) {
    p.what = command::pre;
    p.order = is_starving ? starving : precharge;
    p.at = timing_.earliest(command::pre, p.rank, p.bank, floor_);
  } else {
    if (second_) return;
    p.what = command::act1;
    p.order = is_starving ? starving : activate;
    p.at = timing_.earliest(command::act1, p.rank, p.bank, floor_);
  }
  if (p.at >= r.locked_from && (r.locked_banks >> e.what.bank & 1) != 0) return;
  offer(p);
}

void channel::plan_column(plan& p, const request_queue::entry& e) const {
  const burst& b = e.what;
  const bool auto_precharge = wants_precharge(bank_number(b.rank, b.bank), p.entry);
  p.what = b.write ? (auto_precharge ? command::wra : command::wr) : (auto_precharge ? command::rda : command::rd);
  const cycles latency = b.write ? t_.WL : t_.RL + b.late_cycles;
  cycles from = floor_;
  if (stretched_) {
    // Timing rules know plain bursts only; behind a longer or later one the data bus itself says when it is free.
    const cycles gap = std::max(b.write ? turnaround_slack_ : 0, b.rank != last_rank_ ? t_.RTRS : 0);
    from = std::max(from, bus_end_ + gap - latency);
  }
  p.at = timing_.earliest(p.what, b.rank, b.bank, from);
  if (device_.shape.wck_always_on || p.at <= ranks_[b.rank].wck_until) return;
  const cycles cas = timing_.earliest(command::cas, b.rank, b.bank, floor_);
  p.with_cas = true;
  p.at = timing_.earliest(p.what, b.rank, b.bank, std::max(from, cas + 1)) - 1;
}

bool channel::wants_precharge(std::uint32_t bank, index entry) const {
  switch (config_.page) {
    case page_policy::open:
      return false;
    case page_policy::closed:
      return true;
    case page_policy::open_adaptive:
      return queue_.in_bank(bank) > 1 && !queue_.another_hit(bank, entry);
    case page_policy::closed_adaptive:
      break;
  }
  return !queue_.another_hit(bank, entry);
}

void channel::plan_rank(std::uint32_t rank) {
  rank_state& r = ranks_[rank];
  r.locked_banks = 0;
  if (r.state == power::up && refresh_[rank].on()) {
    refresh_[rank].per_bank() ? plan_bank_refresh(rank) : plan_all_bank_refresh(rank);
  }
  if (r.state != power::up || config_.power_down_after != 0 || config_.self_refresh_after != 0) plan_power(rank);
}

void channel::plan_all_bank_refresh(std::uint32_t rank) {
  rank_state& r = ranks_[rank];
  const refresh_schedule& schedule = refresh_[rank];
  // Early only when the rank has been idle for as long as a refresh takes: a request that comes now waits for it.
  r.locked_from = queue_.in_rank(rank) != 0
                      ? schedule.forced()
                      : std::min(schedule.due(), std::max(schedule.allowed(), r.idle_since + t_.RFCab));
  r.locked_banks = ~std::uint64_t{0};
  if (second_ && second_->rank == rank) return;
  plan p;
  p.what = r.open != 0 ? command::pre_all : command::ref_all;
  p.at = timing_.earliest(p.what, rank, 0, std::max(floor_, r.locked_from));
  p.order = maintenance;
  p.rank = static_cast<std::uint8_t>(rank);
  offer(p);
}

std::uint64_t channel::unit_banks(std::uint32_t unit) const {
  const std::uint64_t first = std::uint64_t{1} << unit;
  return device_.shape.pair_offset != 0 ? first | (first << device_.shape.pair_offset) : first;
}

std::uint32_t channel::unit_requests(std::uint32_t rank, std::uint32_t unit) const {
  std::uint32_t sum = queue_.in_bank(bank_number(rank, unit));
  if (device_.shape.pair_offset != 0) sum += queue_.in_bank(bank_number(rank, unit + device_.shape.pair_offset));
  return sum;
}

// Of the units that wait in this round, the one with fewest requests; once the refresh can wait no longer the first, so
// that arrivals cannot move it on for ever.
std::uint32_t channel::refresh_unit(std::uint32_t rank) const {
  if (ranks_[rank].closing_unit >= 0) return static_cast<std::uint32_t>(ranks_[rank].closing_unit);
  const bool overdue = floor_ > refresh_[rank].forced();
  std::uint32_t best = 0;
  std::uint32_t fewest = ~0U;
  for (std::uint32_t unit = 0; unit < refresh_[rank].units() && fewest != 0; ++unit) {
    if (!refresh_[rank].waits_in_round(unit)) continue;
    if (overdue) return unit;
    const std::uint32_t requests = unit_requests(rank, unit);
    if (requests < fewest) {
      best = unit;
      fewest = requests;
    }
  }
  return best;
}

void channel::plan_bank_refresh(std::uint32_t rank) {
  rank_state& r = ranks_[rank];
  const refresh_schedule& schedule = refresh_[rank];
  const std::uint32_t unit = refresh_unit(rank);
  r.locked_from = unit_requests(rank, unit) != 0
                      ? schedule.forced()
                      : std::min(schedule.due(), std::max(schedule.allowed(), r.idle_since + t_.RFCpb));
  r.locked_banks = unit_banks(unit);
  plan p;
  p.order = maintenance;
  p.rank = static_cast<std::uint8_t>(rank);
  p.what = command::ref_bank;
  p.bank = static_cast<std::uint8_t>(unit);
  p.at = std::max(floor_, r.locked_from);
  for (std::uint64_t left = r.locked_banks; left != 0; left &= left - 1) {
    const auto bank = static_cast<std::uint8_t>(std::countr_zero(left));
    if (bank_states_[bank_number(rank, bank)].activating) return;
    if (queue_.row_of(bank_number(rank, bank)) >= 0 && p.what == command::ref_bank) {
      p.what = command::pre;
      p.bank = bank;
    }
  }
  if (p.what == command::pre) {
    p.at = timing_.earliest(command::pre, rank, p.bank, p.at);
  } else {
    const cycles from = p.at;
    for (std::uint64_t left = r.locked_banks; left != 0; left &= left - 1) {
      const auto bank = static_cast<std::uint32_t>(std::countr_zero(left));
      p.at = std::max(p.at, timing_.earliest(command::ref_bank, rank, bank, from));
    }
  }
  offer(p);
}

void channel::plan_power(std::uint32_t rank) {
  const rank_state& r = ranks_[rank];
  const bool wanted = queue_.in_rank(rank) != 0;
  const auto after = [&](cycles idle) { return idle == 0 ? never : r.idle_since + idle; };
  const cycles sleep_from = after(config_.self_refresh_after);
  plan p;
  p.order = power_change;
  p.rank = static_cast<std::uint8_t>(rank);
  cycles from = floor_;
  if (r.state == power::self_refresh) {
    if (!wanted) return;
    p.what = command::sr_exit;
  } else if (r.state == power::power_down) {
    p.what = command::pd_exit;
    if (!wanted) {
      const refresh_schedule& schedule = refresh_[rank];
      from = std::max(from, std::min(schedule.on() ? schedule.due() : never, sleep_from));
    }
  } else {
    if (wanted || (second_ && second_->rank == rank)) return;
    const cycles doze_from = std::max(after(config_.power_down_after), r.busy + 1);
    if (std::max(floor_, doze_from) < sleep_from) {
      p.what = command::pd_enter;
      from = std::max(from, doze_from);
    } else {
      p.what = r.open != 0 ? command::pre_all : command::sr_enter;
      from = std::max(from, sleep_from);
    }
  }
  if (from >= never) return;
  if (p.what == command::pd_enter || p.what == command::sr_enter) from = std::max(from, r.data_end + t_.WCKPST);
  p.at = timing_.earliest(p.what, rank, 0, from);
  offer(p);
}

}  // namespace dvp::lpddr5
