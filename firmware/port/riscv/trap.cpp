// What start.S and the compiler call when something happened that must not.
#include <cstdint>

#include "dvp_gen/mailbox_regs.h"
#include "dvp_gen/system.h"
#include "firmware/hal/hal.h"

namespace {

// Finish code of a run that ended in a trap; no result_code.
constexpr std::uint32_t trapped = 0xff;

// Set before anything else is touched: reporting may trap itself, and must not start over then.
volatile bool reporting;

[[noreturn]] void sleep() {
  for (;;) {
    asm volatile("wfi");
  }
}

[[noreturn]] void stop() {
  dvp::hal::fence();
  dvp::hal::write32(dvp::gen::system::mailbox_base + dvp::gen::mailbox::finish::offset, trapped);
  sleep();
}

}  // namespace

extern "C" {

// For a debugger: the first trap's mcause, mepc and mtval.
volatile std::uint64_t trap_cause;
volatile std::uint64_t trap_address;
volatile std::uint64_t trap_value;

[[noreturn]] void report_trap(std::uint64_t cause, std::uint64_t address, std::uint64_t value) {
  if (reporting) {
    sleep();
  }
  reporting = true;
  trap_cause = cause;
  trap_address = address;
  trap_value = value;
  stop();
}

[[noreturn]] void __cxa_pure_virtual() {
  reporting = true;
  stop();
}
}
