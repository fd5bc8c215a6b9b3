// What trap_entry and the compiler call when something happened that must not: a report on the console, and the end.
#include <array>
#include <cstdint>
#include <string_view>

#include "dvp_gen/system.h"
#include "firmware/port/riscv/backtrace.h"
#include "firmware/port/riscv/console.h"
#include "firmware/port/riscv/end_run.h"
#include "firmware/port/riscv/hart.h"
#include "firmware/port/riscv/image_symbols.h"
#include "firmware/port/riscv/stacks.h"

namespace dvp::port {
namespace {

constexpr std::uint64_t interrupt = std::uint64_t{1} << 63;
constexpr std::uint64_t timer = interrupt | 7;

std::string_view name_of(std::uint64_t cause) {
  constexpr std::string_view exceptions[] = {
      "instruction address misaligned", "instruction access fault", "illegal instruction",      "breakpoint",
      "load address misaligned",        "load access fault",        "store address misaligned", "store access fault"};
  if (cause < std::size(exceptions)) {
    return exceptions[cause];
  }
  if (cause == 11) {
    return "environment call";
  }
  return (cause & interrupt) != 0 ? "interrupt that nobody waits for" : "unknown exception";
}

void print_place(std::uint64_t address, location place) {
  print(hex{address});
  if (place.function != nullptr) {
    print("  ", place.function, "+", hex{address - place.start, 3});
  }
  print("\n");
}

void print_callers(const stopped_at& where, const hart_stacks& own) {
  std::array<std::uint64_t, 24> callers;
  const symbol_table symbols = image_symbols();
  const std::uint64_t first = address(own.stack);
  const std::size_t count = backtrace(symbols, where, {first, first + sizeof(own.stack)}, callers);
  print("called from\n");
  for (std::size_t i = 0; i < count; ++i) {
    print("  ");
    // A call that never returns may end its function: the call, not what follows it, is looked up.
    print_place(callers[i], symbols.find(callers[i] - 1));
  }
  if (count == callers.size()) {
    print("  ...\n");
  }
}

void print_registers(const trap_frame& frame) {
  constexpr std::string_view names[] = {"x0 ", "ra ", "sp ", "gp ", "tp ", "t0 ", "t1 ", "t2 ", "s0 ", "s1 ", "a0 ",
                                        "a1 ", "a2 ", "a3 ", "a4 ", "a5 ", "a6 ", "a7 ", "s2 ", "s3 ", "s4 ", "s5 ",
                                        "s6 ", "s7 ", "s8 ", "s9 ", "s10", "s11", "t3 ", "t4 ", "t5 ", "t6 "};
  print("registers\n");
  for (std::size_t i = 0; i < std::size(names); ++i) {
    print("  ", names[i], " ", hex{frame.x[i]}, i % 4 == 3 ? "\n" : "");
  }
  for (std::uint64_t i = 0; i < std::size(frame.f); ++i) {
    if (frame.f[i] != 0) {
      print("  f", i, " ", hex{frame.f[i]}, "\n");
    }
  }
}

// Hart, why, and where; the sentence that the end of the run will be remembered by.
void print_cause(const hart_record& hart) {
  const trap_frame& frame = hart.frame;
  const hart_stacks& own = stacks[hart.number];
  print("\n*** hart ", std::uint64_t{hart.number}, ": ");
  if (frame.cause == timer) {
    print("watch-dog expired, no progress for ", hart.watchdog_ns / 1000, " us\n");
  } else if (inside(frame.value, own.guard, sizeof(own.guard)) && (frame.cause == 5 || frame.cause == 7)) {
    print("stack overflow, guard page at ", hex{address(own.guard)}, "\n");
  } else {
    print(name_of(frame.cause), "\n");
  }
  print("  pc      ");
  print_place(frame.pc, image_symbols().find(frame.pc));
  print("  mcause  ", hex{frame.cause}, "\n  mtval   ", hex{frame.value}, "\n  mstatus ", hex{frame.status}, "\n");
}

// The trap may have come before the boot message: a port that was never started takes no byte. The port of the address
// map, since `console` may be what was ruined.
void start_port() {
  drivers::uart(gen::system::uart_base).start();
}

}  // namespace

extern "C" {

[[noreturn]] void report_trap(hart_record& hart) {
  hart.watchdog_deadline = never;  // its interrupt would be a trap in the handler
  start_port();
  print_cause(hart);
  print_callers({.pc = hart.frame.pc, .ra = hart.frame.x[1], .s0 = hart.frame.x[8]}, stacks[hart.number]);
  print_registers(hart.frame);
  end_run_badly(hart.frame.cause == timer ? watchdog_expired : trapped);
}

// The report trapped; what it relies on may be what was ruined. The second time the end is all that is tried.
[[noreturn]] void report_trap_in_trap(std::uint64_t time) {
  if (time > 1) {
    end_run_at_once(trapped);
  }
  console = drivers::uart(gen::system::uart_base);
  start_port();
  print("\n*** trap in the trap handler: ", name_of(read_csr(mcause)), "\n  pc      ", hex{read_csr(mepc)},
        "\n  mtval   ", hex{read_csr(mtval)}, "\n");
  end_run_badly(trapped);
}

[[noreturn]] void __cxa_pure_virtual() {
  start_port();
  print("\n*** hart ", std::uint64_t{this_hart().number}, ": pure virtual function called\n");
  // As if it had stopped here, with its own frame in place.
  stopped_at where;
  asm volatile("auipc %0, 0\n\tmv %1, s0" : "=&r"(where.pc), "=r"(where.s0));
  where.ra = where.pc;
  print_callers(where, stacks[this_hart().number]);
  end_run_badly(trapped);
}
}

}  // namespace dvp::port
