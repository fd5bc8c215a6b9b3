// Lets natively compiled firmware reach the platform: the HAL's machine over the CPU seat.
#pragma once

#include <cstdio>
#include <stdexcept>

#include "firmware/port/native/machine.h"
#include "tlm/cpu/native_cpu.h"

namespace dvp::platform {

class native_machine final : public hal::machine {
 public:
  explicit native_machine(cpu::native_cpu& cpu) : cpu_(cpu) {}

  // Firmware compiled for the host has no trap handler: a refused access ends it, and the run with its message.
  std::uint32_t read32(std::uint64_t address) override {
    const std::uint32_t value = cpu_.read32(address);
    require_answer("load", address);
    return value;
  }
  void write32(std::uint64_t address, std::uint32_t value) override {
    cpu_.write32(address, value);
    require_answer("store", address);
  }
  void* memory(std::uint64_t address, std::uint64_t bytes) override { return cpu_.memory(address, bytes); }
  bool wait_for_interrupt(std::uint32_t timeout_us) override {
    return timeout_us == 0 ? cpu_.wait_for_interrupt()
                           : cpu_.wait_for_interrupt(sc_core::sc_time(timeout_us, sc_core::SC_US));
  }
  std::uint64_t now_ns() override { return cpu_.now_ns(); }
  void spend(hal::work kind, std::uint32_t amount) override { cpu_.spend(static_cast<std::uint32_t>(kind), amount); }

 private:
  void require_answer(const char* access, std::uint64_t address) const {
    if (!cpu_.last_access_failed()) return;
    char text[64];
    std::snprintf(text, sizeof(text), "%s access fault at 0x%llx", access, static_cast<unsigned long long>(address));
    throw std::runtime_error(text);
  }

  cpu::native_cpu& cpu_;
};

}  // namespace dvp::platform
