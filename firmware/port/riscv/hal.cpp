// The RV64 bare-metal back end of firmware/hal/hal.h: physical addresses, volatile access, machine-mode CSRs, and the
// hart's own timer.
#include "firmware/hal/hal.h"

#include <algorithm>

#include "dvp_gen/system.h"
#include "firmware/port/riscv/hart.h"

namespace dvp::hal {
namespace {

using port::hart_record;
using port::never;

static_assert(gen::system::timebase_hz == 1'000'000'000, "time is taken for nanoseconds here");

volatile std::uint32_t* device(std::uint64_t address) {
  return reinterpret_cast<volatile std::uint32_t*>(address);
}

// Makes the timer's interrupt come no later than `time`; it may come earlier, and whoever sleeps looks at the time.
void set_timer(hart_record& self, std::uint64_t time, std::uint64_t now) {
  if (time < self.timer_set || self.timer_set <= now) {
    *reinterpret_cast<volatile std::uint64_t*>(self.timer_compare) = time;
    self.timer_set = time;
  }
}

bool armed(const hart_record& self) {
  return self.watchdog_deadline != never;
}

}  // namespace

std::uint32_t read32(std::uint64_t address) {
  return *device(address);
}
void write32(std::uint64_t address, std::uint32_t value) {
  *device(address) = value;
}

void* memory(std::uint64_t address, std::uint64_t bytes) {
  namespace map = gen::system;
  const bool inside = address >= map::dram_base && address - map::dram_base <= map::dram_bytes &&
                      bytes <= map::dram_bytes - (address - map::dram_base);
  return inside ? reinterpret_cast<void*>(address) : nullptr;
}

// mie lets wfi wake; mstatus.MIE is 0 meanwhile, so no trap is taken but the watch-dog's, for which it is set again.
bool wait_for_interrupt(std::uint32_t timeout_us) {
  hart_record& self = port::this_hart();
  clear_csr(mstatus, port::interrupts_on);
  set_csr(mie, port::external_interrupt);
  const std::uint64_t end = timeout_us == 0 ? never : now_ns() + std::uint64_t{timeout_us} * 1000;
  const std::uint64_t wake = std::min(end, self.watchdog_deadline);
  bool high = false;
  for (;;) {
    high = (read_csr(mip) & port::external_interrupt) != 0;
    const std::uint64_t now = wake == never ? 0 : now_ns();
    if (high || now >= wake) {
      break;
    }
    if (wake != never) {
      set_timer(self, wake, now);
      set_csr(mie, port::timer_interrupt);
    }
    asm volatile("wfi");
  }
  clear_csr(mie, port::external_interrupt);
  if (armed(self)) {
    set_csr(mie, port::timer_interrupt);
    set_csr(mstatus, port::interrupts_on);
  } else {
    clear_csr(mie, port::timer_interrupt);
  }
  return high;
}

// The time CSR counts nanoseconds.
std::uint64_t now_ns() {
  return read_csr(time);
}

// Instructions take their own time.
void spend(work, std::uint64_t) {}
void spend(work, std::uint64_t, std::uint64_t, std::uint64_t, bool, gen::purpose) {}

bool has_data() {
  return true;
}
void predicted(prediction, std::uint32_t, gen::sample_record&) {}

void start_watchdog(std::uint32_t timeout_us) {
  hart_record& self = port::this_hart();
  clear_csr(mstatus, port::interrupts_on);
  if (timeout_us == 0) {
    self.watchdog_deadline = never;
    clear_csr(mie, port::timer_interrupt);
    return;
  }
  const std::uint64_t now = now_ns();
  self.watchdog_ns = std::uint64_t{timeout_us} * 1000;
  self.watchdog_deadline = now + self.watchdog_ns;
  set_timer(self, self.watchdog_deadline, now);
  set_csr(mie, port::timer_interrupt);
  set_csr(mstatus, port::interrupts_on);
}

// The timer stays as it is: its interrupt finds the new deadline (start.S).
void feed_watchdog() {
  hart_record& self = port::this_hart();
  if (armed(self)) {
    self.watchdog_deadline = now_ns() + self.watchdog_ns;
  }
}

void fence() {
  asm volatile("fence iorw, iorw" ::: "memory");
}

}  // namespace dvp::hal
