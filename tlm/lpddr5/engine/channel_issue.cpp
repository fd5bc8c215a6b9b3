// What issuing a command changes.
#include <bit>

#include "tlm/lpddr5/engine/channel.h"

namespace dvp::lpddr5 {

void channel::emit(const issued_command& c) {
  const auto what = static_cast<std::size_t>(c.what);
  ++figures_.commands[what];
  ++figures_.bank_commands[bank_number(c.rank, c.bank)][what];
  if (commands_ != nullptr) commands_->issued(number_, c);
}

void channel::close_row(std::uint32_t rank, std::uint32_t bank, cycles at) {
  rank_state& r = ranks_[rank];
  if (r.open == 1) count_background(r, at);
  --r.open;
  queue_.set_row(bank_number(rank, bank), -1);
  touch(bank_number(rank, bank));
}

void channel::issue_plan() {
  const plan p = plan_;
  touch(bank_number(p.rank, p.bank));
  floor_ = p.at + 1;
  if (is_column(p.what)) {
    issue_column(p);
    return;
  }
  rank_state& r = ranks_[p.rank];
  issued_command c;
  c.at = p.at;
  c.what = p.what;
  c.rank = p.rank;
  c.bank = p.bank;
  if (p.what >= command::pd_enter) {
    count_background(r, p.at);
  } else {
    r.busy = p.at;
  }
  timing_.issue(p.what, p.rank, p.bank, p.at);
  const std::uint32_t bank = bank_number(p.rank, p.bank);
  switch (p.what) {
    case command::act1: {
      request_queue::entry& e = queue_[p.entry];
      e.opened_row = true;
      c.row = e.what.row;
      if (r.open == 0) count_background(r, p.at);
      ++r.open;
      bank_states_[bank].activating = true;
      queue_.set_row(bank, e.what.row);
      second_ = pending_activate{p.rank, p.bank, e.what.row, p.at};
      break;
    }
    case command::act2:
      c.row = second_->row;
      bank_states_[bank].activating = false;
      second_.reset();
      break;
    case command::pre:
      if (p.entry != request_queue::none) {
        queue_[p.entry].closed_row = true;
      } else {
        const std::uint32_t units = device_.shape.pair_offset != 0 ? device_.shape.pair_offset : banks_;
        r.closing_unit = static_cast<std::int32_t>(p.bank % units);
      }
      close_row(p.rank, p.bank, p.at);
      break;
    case command::pre_all:
      for (std::uint32_t b = 0; b < banks_; ++b) {
        if (queue_.row_of(bank_number(p.rank, b)) >= 0) close_row(p.rank, b, p.at);
      }
      break;
    case command::ref_all:
    case command::ref_bank:
      issue_refresh(p);
      break;
    case command::pd_enter:
      r.state = power::power_down;
      break;
    case command::sr_enter:
      r.state = power::self_refresh;
      break;
    case command::pd_exit:
      r.state = power::up;
      power_up_ = p.at;
      break;
    case command::sr_exit:
      r.state = power::up;
      power_up_ = p.at;
      refresh_[p.rank].restart(p.at);
      break;
    default:
      break;
  }
  emit(c);
}

void channel::issue_refresh(const plan& p) {
  if (p.what == command::ref_all) {
    refresh_[p.rank].done(0, p.at);
    ranks_[p.rank].refreshed = p.at + t_.RFCab;
    return;
  }
  refresh_[p.rank].done(p.bank, p.at);
  ranks_[p.rank].closing_unit = -1;
  const std::uint64_t partners = unit_banks(p.bank) & ~(std::uint64_t{1} << p.bank);
  if (partners != 0) {
    const auto partner = static_cast<std::uint32_t>(std::countr_zero(partners));
    timing_.issue_to_partner(p.what, p.rank, partner, p.at);
    touch(bank_number(p.rank, partner));
  }
  for (std::uint64_t left = unit_banks(p.bank); left != 0; left &= left - 1) {
    bank_states_[bank_number(p.rank, static_cast<std::uint32_t>(std::countr_zero(left)))].refreshed = p.at + t_.RFCpb;
  }
}

void channel::issue_column(const plan& p) {
  const cycles at = p.with_cas ? p.at + 1 : p.at;
  floor_ = at + 1;
  rank_state& r = ranks_[p.rank];
  if (p.with_cas) {
    issued_command cas;
    cas.at = p.at;
    cas.what = command::cas;
    cas.rank = p.rank;
    cas.bank = p.bank;
    timing_.issue(command::cas, p.rank, p.bank, p.at);
    ++figures_.wck_starts;
    emit(cas);
  }
  const request_queue::entry& e = queue_[p.entry];
  const burst b = e.what;
  const cycles latency = b.write ? t_.WL : t_.RL + b.late_cycles;
  const cycles data_start = at + latency;
  const cycles on_bus = b.io_cycles != 0 ? b.io_cycles : data_cycles_;
  const cycles longer = on_bus - data_cycles_;
  count_gap(p, e, at, data_start);
  ++(!e.opened_row ? figures_.row_hits : e.closed_row ? figures_.row_conflicts : figures_.row_misses);

  read_stretch stretch;
  stretch.other_reads = t_.BL_n_S * (b.core_slots - 1);
  stretch.same_group = t_.BL_n_L * (b.core_slots - 1);
  timing_.issue(p.what, p.rank, p.bank, at, stretch);

  r.wck_until = at + latency + t_.BL_n_max + longer + t_.WCKPST;
  r.busy = r.idle_since = at;
  // Interleaved bursts of BL32 share their time on the bus: one begins in the other's gap.
  data_free_ = std::max(data_free_, data_start) + on_bus;
  r.data_end = data_start + t_.BL_n_min + longer;
  bus_end_ = std::max(bus_end_, r.data_end);
  stretched_ = b.late_cycles != 0 || longer != 0;
  last_write_ = b.write;
  last_rank_ = p.rank;
  last_column_ = at;
  ++(b.write ? figures_.write_bursts : figures_.read_bursts);
  figures_.column_accesses += b.columns;
  figures_.busy_cycles += static_cast<std::uint64_t>(on_bus);

  count_queue(at);
  queue_.remove(p.entry);
  room_since_ = std::max(room_since_, at);
  if ((b.write ? queue_.reads() : queue_.writes()) != 0) ++turn_bursts_;
  if (held_turn_ != 0 && b.write == write_turn_) --held_turn_;
  update_turn();

  issued_command c;
  c.at = at;
  c.what = p.what;
  c.rank = p.rank;
  c.bank = p.bank;
  c.row = b.row;
  c.column = b.column;
  c.columns = b.columns;
  c.io_cycles = b.io_cycles;
  c.late_cycles = b.late_cycles;
  emit(c);
  if (p.what == command::rda || p.what == command::wra) close_row(p.rank, p.bank, at);
  if (!b.write || !config_.posted_writes) {
    sink_.finished(b, data_start + t_.BL_n_min + longer + b.convert_cycles);
  }
}

void channel::count_gap(const plan& p, const request_queue::entry& e, cycles at, cycles data_start) {
  const cycles gap = data_start - data_free_;
  if (gap <= 0) return;
  const cycles without = std::clamp<cycles>(pending_since_ + (data_start - at) - data_free_, 0, gap);
  figures_.idle_cycles[static_cast<std::size_t>(idle_cause::no_request)] += static_cast<std::uint64_t>(without);
  if (without == gap) return;
  const rank_state& r = ranks_[p.rank];
  const bank_state& bank = bank_states_[bank_number(p.rank, p.bank)];
  const idle_cause cause = r.refreshed > last_column_ || bank.refreshed > last_column_    ? idle_cause::refresh
                           : power_up_ > last_column_                                     ? idle_cause::power_down
                           : e.opened_row && timing_.held_by_bank(p.what, p.rank, p.bank) ? idle_cause::row
                           : e.what.write != last_write_ || p.rank != last_rank_          ? idle_cause::turnaround
                           : stretched_                                                   ? idle_cause::core
                           : timing_.held_by_group(p.what, p.rank, p.bank)                ? idle_cause::bank_group
                           : e.opened_row                                                 ? idle_cause::row
                                                                                          : idle_cause::command_bus;
  figures_.idle_cycles[static_cast<std::size_t>(cause)] += static_cast<std::uint64_t>(gap - without);
}

}  // namespace dvp::lpddr5
