#include "tlm/lpddr5/check/refresh_ledger.h"

#include <algorithm>

namespace dvp::lpddr5 {

refresh_ledger::refresh_ledger(const device& d, const refresh_promise& promise)
    : promise_(promise), pair_offset_(d.shape.pair_offset), in_round_(d.shape.banks()) {
  const timing& t = d.times;
  slots_ = !per_bank() ? 1 : pair_offset_ == 0 ? d.shape.banks() : d.shape.banks() / 2;
  // REFIpb is the interval of devices that go round in eight refreshes.
  interval_ = per_bank() ? t.REFIpb * 8 / slots_ : t.REFI;
  early_ = static_cast<cycles>(promise.pull_in * slots_) * interval_;
  late_ = static_cast<cycles>(promise.postpone * slots_) * interval_;
  due_ = interval_;
  // The longest a refresh can be held up once it is wanted: leave power-down or finish another refresh, complete an
  // ACT, let the row be open for as long as it must and a write recover, close.
  grace_ = t.CSPD + t.XP + t.RFCpb + t.pbR2pbR + t.AAD + t.RAS + t.RCD + t.WL + t.BL_n_max + t.WR + t.RPab;
}

std::optional<std::string> refresh_ledger::refreshed(cycles at, std::uint32_t bank) {
  if (per_bank()) {
    const std::uint32_t slot = pair_offset_ == 0 ? bank : bank % pair_offset_;
    if (in_round_[slot]) return "this bank was refreshed already in this round of " + std::to_string(slots_);
    in_round_[slot] = true;
    if (++round_size_ == slots_) {
      round_size_ = 0;
      in_round_.assign(in_round_.size(), false);
    }
  }
  const cycles from = due_ - early_;
  due_ += interval_;
  if (at < from) return "a refresh may come from clock " + std::to_string(from);
  return std::nullopt;
}

std::optional<std::string> refresh_ledger::time_is(cycles now) {
  const cycles last = due_ + late_ + grace_;
  if (now <= last || asleep_ || promise_.kind == refresh_kind::none) return std::nullopt;
  due_ += interval_;  // so that it is missed once
  return "a refresh was to come by clock " + std::to_string(last);
}

void refresh_ledger::self_refresh_left(cycles at) {
  asleep_ = false;
  due_ = std::max(due_, at + interval_);
}

}  // namespace dvp::lpddr5
