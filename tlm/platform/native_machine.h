// Lets natively compiled firmware reach the platform: the HAL's machine over the CPU seat.
#pragma once

#include "firmware/port/native/machine.h"
#include "tlm/cpu/native_cpu.h"

namespace dvp::platform {

class native_machine final : public hal::machine {
 public:
  explicit native_machine(cpu::native_cpu& cpu) : cpu_(cpu) {}

  std::uint32_t read32(std::uint64_t address) override { return cpu_.read32(address); }
  void write32(std::uint64_t address, std::uint32_t value) override { cpu_.write32(address, value); }
  void* memory(std::uint64_t address, std::uint64_t bytes) override { return cpu_.memory(address, bytes); }
  bool wait_for_interrupt(std::uint32_t timeout_us) override {
    return timeout_us == 0 ? cpu_.wait_for_interrupt()
                           : cpu_.wait_for_interrupt(sc_core::sc_time(timeout_us, sc_core::SC_US));
  }
  std::uint64_t now_ns() override { return cpu_.now_ns(); }
  void spend(hal::work kind, std::uint32_t amount) override { cpu_.spend(static_cast<std::uint32_t>(kind), amount); }

 private:
  cpu::native_cpu& cpu_;
};

}  // namespace dvp::platform
