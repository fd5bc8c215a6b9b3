#include "tlm/cpu/trace/trace_text.h"

#include <array>
#include <cstdio>

namespace dvp::cpu::trace {

namespace {

constexpr std::uint64_t interrupt_bit = std::uint64_t{1} << 63;

constexpr std::array<const char*, 16> exceptions = {"instruction address misaligned",
                                                    "instruction access fault",
                                                    "illegal instruction",
                                                    "breakpoint",
                                                    "load address misaligned",
                                                    "load access fault",
                                                    "store address misaligned",
                                                    "store access fault",
                                                    "environment call from U-mode",
                                                    "environment call from S-mode",
                                                    nullptr,
                                                    "environment call from M-mode",
                                                    "instruction page fault",
                                                    "load page fault",
                                                    nullptr,
                                                    "store page fault"};

}  // namespace

std::uint64_t picoseconds_of(std::uint64_t unit, std::uint64_t clock_hz) {
  __extension__ using wide = unsigned __int128;
  return static_cast<std::uint64_t>(wide{unit} * 1'000'000'000'000U / units_per_cycle / clock_hz);
}

std::string at_time(std::uint64_t unit, std::uint64_t clock_hz) {
  const std::uint64_t ps = picoseconds_of(unit, clock_hz);
  char text[40];
  std::snprintf(text, sizeof text, "%12llu.%03llu", static_cast<unsigned long long>(ps / 1000),
                static_cast<unsigned long long>(ps % 1000));
  return text;
}

std::string cause_name(std::uint64_t cause) {
  const std::uint64_t code = cause & ~interrupt_bit;
  if ((cause & interrupt_bit) == 0) {
    if (code < exceptions.size() && exceptions[code] != nullptr) return exceptions[code];
    return "cause " + std::to_string(code);
  }
  switch (code) {
    case 3:
      return "machine software interrupt";
    case 7:
      return "machine timer interrupt";
    case 11:
      return "machine external interrupt";
    default:
      return "interrupt " + std::to_string(code);
  }
}

std::string trap_text(std::uint64_t cause, std::uint64_t epc, std::uint64_t value, const core::symbol_table& symbols) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return "trap: " + cause_name(cause) + " at " + symbols.locate(epc) + ", value " + text;
}

}  // namespace dvp::cpu::trace
