// Several native harts that share one program: hart 0 runs the firmware, the others sleep until one gives them work.
//
//   firmware ──> hart 0 ("cpu") ── start(h, job) ──> hart h ("cpu1", "cpu2", ...) runs it, then sleeps again
//                       <────── idle, wait_for ─────────┘
//
// The firmware and its jobs are host code that calls services of the hart they run on: calling() finds it. Giving work
// and looking whether it is done cost one access to what another hart wrote (native_cpu::look_elsewhere); a job begins
// at the simulated time at which it was given, and is over when its hart's local time has passed. Whoever waits sleeps.
//
// What the firmware or a job throws ends the simulation; fault() says it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <systemc>

#include "tlm/cpu/native_cpu.h"

namespace dvp::cpu {

class native_harts {
 public:
  // harts: 1 or more, all of the same configuration. Figures and timeline outlive this object.
  native_harts(std::uint32_t harts, const native_cpu_config& config, std::function<void()> firmware,
               core::statistics& figures, core::timeline& timeline);
  native_harts(const native_harts&) = delete;
  native_harts& operator=(const native_harts&) = delete;

  std::uint32_t size() const { return static_cast<std::uint32_t>(harts_.size()); }
  native_cpu& operator[](std::uint32_t hart) { return harts_.at(hart).cpu; }
  // The hart whose thread calls; hart 0 for anybody else.
  native_cpu& calling();

  // From a hart's thread. False, and nothing runs, for hart 0, for one that does not exist, and for one that works.
  bool start(std::uint32_t hart, std::function<void()> job);
  bool idle(std::uint32_t hart);
  void wait_for(std::uint32_t hart);

  // "the firmware ended: ..." or "the work of hart 1 ended: ..."; empty while nothing was thrown.
  std::string fault() const;

 private:
  struct seat {
    seat(const char* name, const native_cpu_config& config, std::function<void()> program, core::statistics& figures,
         core::timeline& timeline)
        : cpu(name, config, std::move(program), figures, timeline) {}

    native_cpu cpu;
    std::function<void()> job;  // empty: idle
    sc_core::sc_event given;
    sc_core::sc_event over;
  };

  [[noreturn]] void work_for_others(std::uint32_t hart);
  bool works(std::uint32_t hart) const { return hart < size() && harts_[hart].job != nullptr; }

  std::deque<seat> harts_;
};

}  // namespace dvp::cpu
