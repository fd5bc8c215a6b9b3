// Energy of what was counted: every term is a count times a figure of the device's energy table.
#include "tlm/lpddr5/engine/memory_system.h"

namespace dvp::lpddr5 {

namespace {

constexpr double joule_per_fj = 1e-15;

double joules(std::uint64_t count, std::uint64_t fj) {
  return static_cast<double>(count) * static_cast<double>(fj) * joule_per_fj;
}

// Microwatts over clocks: 1 uW for 1 fs is 1e-21 J.
double joules_over(std::uint64_t clocks, std::uint64_t microwatts, const device& d) {
  return static_cast<double>(clocks) * static_cast<double>(d.times.tCK_fs) * static_cast<double>(microwatts) * 1e-21;
}

}  // namespace

energy_figures energy_of(const system_figures& figures, const device& d) {
  const energy_table& e = d.energy;
  const std::uint64_t burst_bits = std::uint64_t{8} * d.shape.burst_bytes();
  const std::uint64_t bits_per_ck = std::uint64_t{d.shape.width_bits} * d.shape.beats_per_ck;
  const std::uint64_t burst_clocks = d.shape.burst_length / d.shape.beats_per_ck;
  energy_figures sum;
  for (const channel_figures& c : figures.channels) {
    const auto count = [&](command what) { return c.commands[static_cast<std::size_t>(what)]; };
    sum.activate_j += joules(count(command::act1), e.act_fj);
    sum.refresh_j += joules(count(command::ref_all), e.ref_all_fj) + joules(count(command::ref_bank), e.ref_bank_fj);
    sum.core_read_j += joules((c.column_accesses - c.write_bursts) * burst_bits, e.core_read_fj_per_bit);
    sum.core_write_j += joules(c.write_bursts * burst_bits, e.core_write_fj_per_bit);
    sum.down_read_j += joules((c.busy_cycles - c.write_bursts * burst_clocks) * bits_per_ck, e.down_read_fj_per_bit);
    sum.down_write_j += joules(c.write_bursts * burst_bits, e.down_write_fj_per_bit);
    sum.background_j += joules_over(c.active_cycles, e.active_standby_uw, d) +
                        joules_over(c.precharged_cycles, e.precharge_standby_uw, d) +
                        joules_over(c.active_pd_cycles, e.active_power_down_uw, d) +
                        joules_over(c.precharge_pd_cycles, e.precharge_power_down_uw, d) +
                        joules_over(c.self_refresh_cycles, e.self_refresh_uw, d);
  }
  for (std::size_t p = 0; p < figures.by_precision.size(); ++p) {
    sum.convert_j += joules(figures.by_precision[p].elements, e.convert_fj_per_element[p]);
  }
  return sum;
}

}  // namespace dvp::lpddr5
