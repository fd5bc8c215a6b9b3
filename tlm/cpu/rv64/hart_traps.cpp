// Traps, interrupt lines and sleep of a hart.
#include <algorithm>
#include <cstdio>
#include <utility>

#include "tlm/cpu/rv64/hart.h"

namespace dvp::cpu::rv64 {

namespace {

// So many faults of one instruction in a row, without an mret between them, and the handler is taken to be broken. One
// that leaves by a jump may meet the same fault again, but only after some work.
constexpr unsigned most_repetitions = 16;
constexpr std::uint64_t most_instructions_between = 256;

const char* name_of_cause(std::uint64_t cause) {
  switch (cause) {
    case trap_cause::fetch_fault:
      return "instruction access fault";
    case trap_cause::illegal:
      return "illegal instruction";
    case trap_cause::breakpoint:
      return "breakpoint";
    case trap_cause::machine_call:
      return "environment call";
    case trap_cause::load_misaligned:
      return "misaligned load";
    case trap_cause::load_fault:
      return "load access fault";
    case trap_cause::store_misaligned:
      return "misaligned store";
    default:
      return "store access fault";
  }
}

std::string hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace

std::optional<slice_end> hart::interrupts_changed() const {
  return interruptible() ? std::optional(slice_end::synchronise) : std::nullopt;
}

bool hart::take_interrupt() {
  const std::uint64_t pending = lines_ & csrs_.enabled();
  if (pending == 0 || !csrs_.interrupts_on()) return false;
  const std::uint64_t number = (pending & external_interrupt) != 0 ? 11 : (pending & software_interrupt) != 0 ? 3 : 7;
  ++figures_.interrupts;
  if (stepping_) --steps_left_;
  enter({trap_cause::interrupt | number, pc_, 0});
  return true;
}

std::optional<slice_end> hart::raise_uncounted(std::uint64_t number, std::uint64_t value) {
  --figures_.instructions;
  return raise(number, pc_, value);
}

std::optional<slice_end> hart::raise(std::uint64_t number, std::uint64_t pc, std::uint64_t value) {
  const exception what{number, pc, value};
  ++figures_.exceptions;
  watch_hit_ = false;
  if (repeats(what)) {
    pc_ = pc;
    return slice_end::fault;
  }
  enter(what);
  return slice_end::trap;
}

void hart::enter(const exception& what) {
  pc_ = csrs_.enter_trap(what.cause, what.pc, what.value);
  ++trap_depth_;
  now_ += config_.costs.trap_entry;
  if (watcher_ != nullptr) watcher_->trap(config_.id, what.cause, what.pc, what.value, pc_);
}

bool hart::repeats(const exception& what) {
  const bool meant = what.cause == trap_cause::machine_call || what.cause == trap_cause::breakpoint;
  const bool same = what.cause == last_exception_.cause && what.pc == last_exception_.pc;
  const bool soon =
      figures_.instructions - std::exchange(last_exception_at_, figures_.instructions) <= most_instructions_between;
  if (!same) first_exception_ = last_exception_;
  last_exception_ = what;
  if (meant || !same || !soon) {
    repetitions_ = 0;
    return false;
  }
  if (++repetitions_ < most_repetitions) return false;
  const auto told = [](const exception& e) {
    return std::string(name_of_cause(e.cause)) + " at pc " + hex(e.pc) + ", value " + hex(e.value);
  };
  fault_ =
      "hart " + std::to_string(config_.id) + ": its trap handler cannot go on: " + told(what) + ", again and again";
  if (first_exception_.cause != 0) fault_ += "; before it came: " + told(first_exception_);
  return true;
}
void hart::set_interrupts(std::uint64_t lines) {
  lines_ = lines;
  lines_at_ = now_;
}

void hart::advance_to(std::uint64_t units) {
  now_ = std::max(now_, units);
}

void hart::wake(std::uint64_t units) {
  if (!asleep_) return;
  advance_to(units);
  figures_.asleep_units += now_ - asleep_since_;
  asleep_ = false;
  now_ += config_.costs.wake;
}

}  // namespace dvp::cpu::rv64
