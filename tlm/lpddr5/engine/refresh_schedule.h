// When a rank owes its next refresh: nominal times, and how far they may be put off or brought forward.
//
// All-bank: one REFab each REFI. Per-bank: the banks (or pairs of banks) form rounds; within a round each unit is
// refreshed once, in any order, a round per REFI.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tlm/lpddr5/device/device.h"
#include "tlm/lpddr5/engine/controller_config.h"

namespace dvp::lpddr5 {

class refresh_schedule {
 public:
  refresh_schedule(const device& d, const controller_config& config)
      : policy_(config.refresh),
        units_(config.refresh != refresh_policy::per_bank ? 1
               : d.shape.pair_offset != 0                 ? d.shape.banks() / 2
                                                          : d.shape.banks()),
        interval_(config.refresh != refresh_policy::per_bank ? d.times.REFI
                  : units_ == 8                              ? d.times.REFIpb
                                                             : d.times.REFI / units_),
        postpone_(config.refresh_postpone * units_),
        pull_in_(config.refresh_pull_in * units_),
        due_(interval_) {}

  bool on() const { return policy_ != refresh_policy::none; }
  bool per_bank() const { return policy_ == refresh_policy::per_bank; }
  std::uint32_t units() const { return units_; }

  cycles due() const { return due_; }
  // From when it must be done although requests wait, and from when it may be done while none does.
  cycles forced() const { return due_ + postpone_ * interval_; }
  cycles allowed() const { return due_ - pull_in_ * interval_; }

  bool waits_in_round(std::uint32_t unit) const { return (done_ >> unit & 1) == 0; }

  void done(std::uint32_t unit, cycles at) {
    debt_max_ = std::max(debt_max_, (at - due_) / interval_ + (at >= due_ ? 1 : 0));
    lead_max_ = std::max(lead_max_, (due_ - at + interval_ - 1) / interval_);
    due_ += interval_;
    done_ |= std::uint64_t{1} << unit;
    if (done_ == (units_ == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << units_) - 1)) done_ = 0;
  }
  // The device refreshed itself until `at`.
  void restart(cycles at) { due_ = std::max(due_, at + interval_); }
  // Everything due by then was done in a run that is not simulated; the number of refreshes.
  std::uint64_t skip_to(cycles until) {
    if (!on() || due_ > until) return 0;
    const cycles n = (until - due_) / interval_ + 1;
    due_ += n * interval_;
    return static_cast<std::uint64_t>(n);
  }

  std::uint64_t debt_max() const { return static_cast<std::uint64_t>(std::max<cycles>(debt_max_, 0)); }
  std::uint64_t lead_max() const { return static_cast<std::uint64_t>(std::max<cycles>(lead_max_, 0)); }

 private:
  refresh_policy policy_;
  std::uint32_t units_;
  cycles interval_;
  cycles postpone_;
  cycles pull_in_;
  cycles due_;
  std::uint64_t done_ = 0;
  cycles debt_max_ = 0;
  cycles lead_max_ = 0;
};

}  // namespace dvp::lpddr5
