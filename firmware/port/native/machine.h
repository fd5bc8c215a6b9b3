// The native back end of firmware/hal/hal.h: an object that stands for the machine.
//
// The platform installs one that forwards to the simulated bus; tests install one that checks or executes.
#pragma once

#include <cstdint>

#include "firmware/hal/hal.h"

namespace dvp::hal {

// Every call has the contract of the function of the same name in hal.h.
class machine {
 public:
  virtual std::uint32_t read32(std::uint64_t address) = 0;
  virtual void write32(std::uint64_t address, std::uint32_t value) = 0;
  virtual void* memory(std::uint64_t address, std::uint64_t bytes) = 0;
  virtual bool wait_for_interrupt(std::uint32_t timeout_us) = 0;
  virtual std::uint64_t now_ns() = 0;
  virtual void spend(work kind, std::uint64_t amount) = 0;
  // A machine need not time what the CPU does in memory.
  virtual void spend(work kind, std::uint64_t amount, std::uint64_t, std::uint64_t, bool, gen::purpose) {
    spend(kind, amount);
  }
  virtual bool has_data() { return true; }
  virtual void predicted(prediction, std::uint32_t, gen::sample_record&) {}
  // A machine need not have more than one hart.
  virtual bool start_hart(std::uint32_t, void (*)(void*), void*) { return false; }
  virtual bool hart_idle(std::uint32_t) { return true; }
  virtual void wait_for_hart(std::uint32_t) {}
  // A machine need not have a watch-dog.
  virtual void start_watchdog(std::uint32_t) {}
  virtual void feed_watchdog() {}

 protected:
  ~machine() = default;
};

// Makes `target` answer all HAL calls of the process until the next install. Calling the HAL with none installed ends
// the process. One machine at a time: the platform elaborates once per process.
void install(machine* target);

}  // namespace dvp::hal
