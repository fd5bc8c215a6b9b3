// What state a bank, rank and WCK must be in for a command, and are in after it.
#include <algorithm>

#include "tlm/lpddr5/check/command_checker.h"

namespace dvp::lpddr5 {

// Power-down and self-refresh: only the command that ends them, and each only in its state.
void command_checker::check_rank(std::uint32_t channel, const issued_command& c) {
  const rank_state& r = channels_[channel].ranks[c.rank];
  const rank_phase wanted = c.what == command::pd_exit   ? rank_phase::power_down
                            : c.what == command::sr_exit ? rank_phase::self_refresh
                                                         : rank_phase::awake;
  if (r.phase == wanted) return;
  const char* const is = r.phase == rank_phase::awake        ? "awake"
                         : r.phase == rank_phase::power_down ? "in power-down"
                                                             : "in self-refresh";
  report(channel, c, "power state", std::string("the rank is ") + is);
}

void command_checker::check_bank(std::uint32_t channel, const issued_command& c) {
  const rank_state& r = channels_[channel].ranks[c.rank];
  const bank_state& b = r.banks[c.bank];
  switch (c.what) {
    case command::act1:
      if (b.phase != bank_phase::closed) report(channel, c, "bank closed", "row " + std::to_string(b.row) + " is open");
      if (r.act1) report(channel, c, "ACT pair", subject(*r.act1) + " still waits for its ACT2");
      break;
    case command::act2:
      if (!r.act1 || r.act1->bank != c.bank) {
        report(channel, c, "ACT pair", "no ACT1 of this bank waits for it");
      } else if (c.at - r.act1->at > device_.times.AAD) {
        report(channel, c, "tAAD",
               "may come at most " + std::to_string(device_.times.AAD) + " clocks after " + subject(*r.act1) +
                   " at clock " + std::to_string(r.act1->at));
      } else if (c.row != r.act1->row) {
        report(channel, c, "ACT pair",
               "its row " + std::to_string(c.row) + " is not ACT1's " + std::to_string(r.act1->row));
      }
      break;
    case command::rd:
    case command::wr:
    case command::rda:
    case command::wra:
      if (b.phase == bank_phase::closed) report(channel, c, "row open", "the bank is closed");
      if (b.phase == bank_phase::activating) report(channel, c, "row open", "ACT2 is still to come");
      if (b.phase == bank_phase::open && b.row != c.row) {
        report(channel, c, "row open", "row " + std::to_string(b.row) + " is open, not " + std::to_string(c.row));
      }
      break;
    case command::pre:
      if (b.phase == bank_phase::closed) report(channel, c, "needless PRE", "the bank is closed");
      if (b.phase == bank_phase::activating) report(channel, c, "ACT pair", "ACT2 is still to come");
      break;
    case command::pre_all:
      if (r.not_closed == 0) report(channel, c, "needless PRE", "every bank is closed");
      if (r.act1) report(channel, c, "ACT pair", subject(*r.act1) + " still waits for its ACT2");
      break;
    case command::ref_all:
    case command::sr_enter:
      if (r.not_closed != 0) report(channel, c, "banks closed", std::to_string(r.not_closed) + " banks are open");
      break;
    case command::ref_bank:
      for (std::uint32_t bank = 0; bank < r.banks.size(); ++bank) {
        if (concerns(c, bank) && r.banks[bank].phase != bank_phase::closed) {
          report(channel, c, "banks closed", "bank " + std::to_string(bank) + " is open");
        }
      }
      break;
    case command::pd_enter:
      if (r.act1) report(channel, c, "ACT pair", subject(*r.act1) + " still waits for its ACT2");
      break;
    case command::cas:
    case command::pd_exit:
    case command::sr_exit:
      break;
  }
}

// A CAS belongs to the access in the next clock. Without one, WCK must still run from an earlier access.
void command_checker::check_wck(std::uint32_t channel, const issued_command& c) {
  for (const rank_state& r : channels_[channel].ranks) {
    if (!r.cas) continue;
    if (!is_column(c.what) || c.at != r.cas->at + 1 || c.rank != r.cas->rank) {
      report(
          channel, c, "CAS pair",
          "the clock after " + subject(*r.cas) + " at clock " + std::to_string(r.cas->at) + " belongs to its access");
    }
  }
  const rank_state& r = channels_[channel].ranks[c.rank];
  if (c.what == command::cas) {
    if (device_.shape.wck_always_on) {
      report(channel, c, "needless CAS", "WCK is always on");
    } else if (c.at + 1 <= r.wck_until) {
      report(channel, c, "needless CAS", "WCK runs for accesses until clock " + std::to_string(r.wck_until));
    }
  } else if (is_column(c.what) && !device_.shape.wck_always_on && !r.cas && c.at > r.wck_until) {
    report(channel, c, "WCK off",
           r.wck_until < 0 ? "WCK never started" : "WCK ran for accesses until clock " + std::to_string(r.wck_until));
  }
}

void command_checker::set_phase(rank_state& r, std::uint32_t bank, bank_phase phase) {
  bank_state& b = r.banks[bank];
  r.not_closed += (phase != bank_phase::closed) - (b.phase != bank_phase::closed);
  b.phase = phase;
}

void command_checker::apply(std::uint32_t channel, const issued_command& c) {
  rank_state& r = channels_[channel].ranks[c.rank];
  for (rank_state& each : channels_[channel].ranks) each.cas.reset();
  if (opens_a_row(c.what)) {
    r.acts[r.next_act] = c.at;
    r.next_act = (r.next_act + 1) % 4;
  }
  switch (c.what) {
    case command::act1:
      set_phase(r, c.bank, bank_phase::activating);
      r.banks[c.bank].row = c.row;
      r.act1 = c;
      break;
    case command::act2:
      set_phase(r, c.bank, bank_phase::open);
      r.act1.reset();
      break;
    case command::pre:
      set_phase(r, c.bank, bank_phase::closed);
      break;
    case command::pre_all:
    case command::ref_all:
      for (std::uint32_t bank = 0; bank < r.banks.size(); ++bank) set_phase(r, bank, bank_phase::closed);
      break;
    case command::cas:
      r.cas = c;
      break;
    case command::rd:
    case command::rda:
    case command::wr:
    case command::wra:
      r.wck_until = std::max(r.wck_until, c.at + (is_read(c.what) ? device_.times.RL : device_.times.WL) +
                                              data_later(c) + device_.times.BL_n_max + device_.times.WCKPST);
      if (c.what == command::rda || c.what == command::wra) set_phase(r, c.bank, bank_phase::closed);
      break;
    case command::ref_bank:
      break;
    case command::pd_enter:
      r.phase = rank_phase::power_down;
      break;
    case command::sr_enter:
      r.phase = rank_phase::self_refresh;
      r.ledger.self_refresh_entered();
      break;
    case command::pd_exit:
      r.phase = rank_phase::awake;
      break;
    case command::sr_exit:
      r.phase = rank_phase::awake;
      r.ledger.self_refresh_left(c.at);
      break;
  }
  // A command in the last clock for an ACT-2, or later, has taken its place.
  for (rank_state& each : channels_[channel].ranks) {
    if (each.act1 && c.at - each.act1->at >= device_.times.AAD) {
      report(channel, *each.act1, "tAAD",
             "its ACT2 did not come within " + std::to_string(device_.times.AAD) + " clocks");
      set_phase(each, each.act1->bank, bank_phase::open);
      each.act1.reset();
    }
  }
}

}  // namespace dvp::lpddr5
