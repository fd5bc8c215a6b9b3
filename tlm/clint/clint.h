// Core-local interruptor: machine timer and software interrupts of the harts (gen/spec/blocks/clint.json).
//
// mtime is simulated time in whole nanoseconds, rounded down, plus what a write to mtime added. The timer line of a
// hart is high while mtime >= mtimecmp: it rises at the very nanosecond and falls at the time of the write that moves
// mtimecmp away. A software line follows msip. Lines change one delta cycle after what causes it.
//
// A time beyond the range of the simulator's clock never comes. Registers of harts that there are not keep what is
// written and do nothing.
#pragma once

#include <cstdint>
#include <systemc>

#include "dvp_gen/clint_regs.h"
#include "tlm/core/register_target.h"

namespace dvp::clint {

class clint : public core::register_target {
 public:
  static constexpr std::uint32_t most_harts = gen::clint::msip::count;

  // harts: 1 to most_harts; another number is a fatal report with the module's name.
  clint(const sc_core::sc_module_name& name, std::uint32_t harts);

  // One of each per hart.
  sc_core::sc_vector<sc_core::sc_out<bool>> timer;
  sc_core::sc_vector<sc_core::sc_out<bool>> software;

  // What the register shows now.
  std::uint64_t mtime() const;
  // When the timer line of a hart rises next unless something is written before; now when it is about to,
  // sc_max_time() when it is high or the time never comes.
  sc_core::sc_time next_rise(std::uint32_t hart) const;

 private:
  void attach_registers();
  void set_mtime(std::uint64_t value);
  std::uint64_t mtimecmp(std::uint32_t hart) const;
  void drive_lines();

  std::uint64_t offset_ = 0;  // mtime less the simulated nanoseconds, modulo 2^64
  sc_core::sc_event changed_;
  sc_core::sc_event due_;  // the next timer line rises
};

}  // namespace dvp::clint
