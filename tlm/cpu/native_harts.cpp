#include "tlm/cpu/native_harts.h"

#include <utility>

namespace dvp::cpu {

namespace {

std::function<void()> stopping_at_a_fault(std::function<void()> program) {
  return [program = std::move(program)] {
    try {
      program();
    } catch (const sc_core::sc_unwind_exception&) {
      throw;
    } catch (...) {
      sc_core::sc_stop();
      throw;
    }
  };
}

}  // namespace

native_harts::native_harts(std::uint32_t harts, const native_cpu_config& config, std::function<void()> firmware,
                           core::statistics& figures, core::timeline& timeline) {
  harts_.emplace_back("cpu", config, stopping_at_a_fault(std::move(firmware)), figures, timeline);
  for (std::uint32_t hart = 1; hart < harts; ++hart) {
    harts_.emplace_back(("cpu" + std::to_string(hart)).c_str(), config,
                        stopping_at_a_fault([this, hart] { work_for_others(hart); }), figures, timeline);
  }
}

native_cpu& native_harts::calling() {
  for (std::uint32_t hart = 1; hart < size(); ++hart) {
    if (harts_[hart].cpu.is_running()) return harts_[hart].cpu;
  }
  return harts_[0].cpu;
}

void native_harts::work_for_others(std::uint32_t hart) {
  seat& own = harts_[hart];
  for (;;) {
    own.cpu.wait_until(own.given, [&] { return own.job != nullptr; });
    own.job();
    own.cpu.synchronise();
    own.job = nullptr;
    own.over.notify(sc_core::SC_ZERO_TIME);
  }
}

bool native_harts::start(std::uint32_t hart, std::function<void()> job) {
  if (hart == 0 || hart >= size()) return false;
  calling().look_elsewhere();
  if (works(hart)) return false;
  harts_[hart].job = std::move(job);
  harts_[hart].given.notify(sc_core::SC_ZERO_TIME);
  return true;
}

bool native_harts::idle(std::uint32_t hart) {
  if (hart < size()) calling().look_elsewhere();
  return !works(hart);
}

void native_harts::wait_for(std::uint32_t hart) {
  if (hart >= size()) return;
  native_cpu& caller = calling();
  caller.look_elsewhere();
  caller.wait_until(harts_[hart].over, [&] { return !works(hart); });
}

std::string native_harts::fault() const {
  for (std::uint32_t hart = 0; hart < size(); ++hart) {
    const std::string& error = harts_[hart].cpu.error();
    if (error.empty()) continue;
    return (hart == 0 ? "the firmware ended: " : "the work of hart " + std::to_string(hart) + " ended: ") + error;
  }
  return {};
}

}  // namespace dvp::cpu
