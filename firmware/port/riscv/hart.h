// What the port keeps about each hart: the registers of a trapped program, the timer, the job another hart gave it.
//
// tp points to the hart's own record all the time: the firmware has no thread-local variables, so nothing else uses tp.
// mscratch points to it too, and is 0 while a trap is being handled, by which a trap in the handler is known.
#pragma once

#include <cstddef>
#include <cstdint>

#include "firmware/port/riscv/hart_layout.h"

namespace dvp::port {

inline constexpr std::uint64_t never = ~std::uint64_t{0};

struct trap_frame {
  std::uint64_t x[32];
  std::uint64_t f[32];  // raw bits; not saved when floating point was off
  std::uint64_t pc;
  std::uint64_t cause;
  std::uint64_t value;
  std::uint64_t status;
};

// reserved: one caller of start_hart has the hart and writes the job.
enum class job_state : std::uint32_t { idle, reserved, offered, running };

struct alignas(64) hart_record {
  trap_frame frame;
  const std::byte* trap_stack_top;
  const std::byte* stack_top;
  std::uint64_t traps;              // traps in the handler so far
  std::uint64_t watchdog_deadline;  // time at which the watch-dog bites; never: not armed
  std::uint64_t timer_compare;      // address of this hart's mtimecmp
  std::uint64_t timer_set;          // what was written there last
  std::uint64_t watchdog_ns;        // period
  job_state state;
  std::uint32_t number;  // mhartid
  void (*function)(void*);
  void* argument;
  bool absent;  // was offered a job once and did not answer
};

extern "C" hart_record hart_records[HART_COUNT];

inline hart_record& this_hart() {
  hart_record* record;
  asm volatile("mv %0, tp" : "=r"(record));
  return *record;
}

// Machine-mode CSRs by name: read_csr(mcause).
#define read_csr(name)                             \
  ([] {                                            \
    std::uint64_t value;                           \
    asm volatile("csrr %0, " #name : "=r"(value)); \
    return value;                                  \
  }())
#define write_csr(name, value) asm volatile("csrw " #name ", %0" ::"r"(value) : "memory")
#define set_csr(name, bits) asm volatile("csrs " #name ", %0" ::"r"(bits) : "memory")
#define clear_csr(name, bits) asm volatile("csrc " #name ", %0" ::"r"(bits) : "memory")

// mip and mie.
inline constexpr std::uint64_t software_interrupt = 1u << 3;
inline constexpr std::uint64_t timer_interrupt = 1u << 7;
inline constexpr std::uint64_t external_interrupt = 1u << 11;
// mstatus.
inline constexpr std::uint64_t interrupts_on = 1u << 3;

}  // namespace dvp::port
