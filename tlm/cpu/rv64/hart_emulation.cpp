// What the simulator does not execute by itself: CSRs, privilege, accesses to devices.
#include <unicorn/unicorn.h>

#include <algorithm>
#include <cstring>

#include "tlm/cpu/rv64/hart.h"

namespace dvp::cpu::rv64 {

namespace {

constexpr std::uint64_t float_invalid = 0x10;  // NV of fcsr

std::uint8_t permissions_for(access kind) {
  const auto read = static_cast<std::uint8_t>(permission::read);
  const auto write = static_cast<std::uint8_t>(permission::write);
  if (kind == access::amo) return read | write;
  return writes_memory(kind) ? write : read;
}

// amomin, amomax, amominu and amomaxu of words, by funct5.
std::uint32_t extreme(std::uint32_t funct5, std::uint32_t a, std::uint32_t b) {
  const bool is_unsigned = funct5 >= 0x18;
  const bool greatest = (funct5 & 4U) != 0;
  const bool less = is_unsigned ? a < b : static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b);
  return less != greatest ? a : b;
}

}  // namespace

std::optional<slice_end> hart::bad_data() {
  const instruction what = at(pc_);
  if (!request(effective_address(what), what.size)) return access_memory(what);
  again(config_.costs.units(what.kind));
  return std::nullopt;
}

// The load, store or atomic at pc_, counted, that granted memory does not serve.
std::optional<slice_end> hart::access_memory(const instruction& what) {
  const std::uint64_t address = effective_address(what);
  const bool writes = writes_memory(what.memory);
  const std::uint64_t fault = writes ? trap_cause::store_fault : trap_cause::load_fault;
  if (const auto denied = csrs_.protection().denied(address, what.size, permissions_for(what.memory))) {
    return raise_uncounted(fault, *denied);
  }
  if (is_atomic(what.memory)) return raise_uncounted(fault, address);
  if (address % what.size != 0) {
    return raise_uncounted(writes ? trap_cause::store_misaligned : trap_cause::load_misaligned, address);
  }
  if (writes ? !store(what, address) : !load(what, address)) {
    ++figures_.refused;
    return raise_uncounted(fault, address);
  }
  pc_ += what.bytes;
  lines_at_ = ~0ULL;
  return slice_end::access;
}

bool hart::load(const instruction& what, std::uint64_t address) {
  std::uint64_t value = 0;
  ++figures_.device_reads;
  if (!surroundings_.read(address, what.size, value)) return false;
  const unsigned unused = 64 - 8 * what.size;
  if (what.memory == access::float_load) {
    set_f(what.data, what.size == 4 ? value | 0xffffffff00000000ULL : value);
    write_register(UC_RISCV_REG_MSTATUS, mstatus_fs);
    return true;
  }
  value <<= unused;
  set_x(what.data,
        what.sign_extended ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value) >> unused) : value >> unused);
  return true;
}

bool hart::store(const instruction& what, std::uint64_t address) {
  const std::uint64_t value = what.memory == access::float_store ? f(what.data) : x(what.data);
  const unsigned unused = 64 - 8 * what.size;
  ++figures_.device_writes;
  return surroundings_.write(address, what.size, value << unused >> unused);
}
// Emulated instructions.

std::optional<slice_end> hart::emulate() {
  const instruction what = at(pc_);
  const bool needs_lines =
      what.handling == special::wfi || (what.handling == special::csr && what.bits >> 20 == csr::mip);
  if (needs_lines && lines_at_ != now_) return slice_end::synchronise;
  const std::uint32_t units = config_.costs.units(what.kind);
  if (watcher_ != nullptr && !told_) tell(pc_, units);
  if (!watched_.empty()) note_access(what);
  begin();
  if (what.handling == special::csr) return emulate_csr(what, units);
  now_ += units;
  ++figures_.instructions;
  switch (what.handling) {
    case special::none:
      return emulate_access(what);
    case special::amo_extreme:
      return emulate_amo_extreme(what);
    case special::float_extreme:
      return emulate_float_extreme(what);
    default:
      return emulate_system(what);
  }
}

std::optional<slice_end> hart::emulate_access(const instruction& what) {
  read_fs();
  if (accesses_float(what.memory) && csrs_.fs() == 0) return raise_uncounted(trap_cause::illegal, what.bits);
  return access_memory(what);
}

std::optional<slice_end> hart::emulate_amo_extreme(const instruction& what) {
  const std::uint64_t address = effective_address(what);
  if (address % what.size != 0) return raise_uncounted(trap_cause::store_misaligned, address);
  request(address, what.size);
  std::uint8_t* word = memory_.writable_data(address);
  const bool denied = csrs_.protection().denied(address, what.size, permissions_for(what.memory)).has_value();
  if (word == nullptr || denied) return raise_uncounted(trap_cause::store_fault, address);
  const auto operand = static_cast<std::uint32_t>(x((what.bits >> 20) & 31U));
  std::uint32_t old = 0;
  std::memcpy(&old, word, sizeof old);
  const std::uint32_t fresh = extreme(what.bits >> 27, old, operand);
  std::memcpy(word, &fresh, sizeof fresh);
  set_x(what.data, static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(old)}));
  pc_ += what.bytes;
  return std::nullopt;
}

// One operand at least is a signaling NaN: the result is the other one if that is a number, else the canonical NaN.
std::optional<slice_end> hart::emulate_float_extreme(const instruction& what) {
  read_fs();
  if (csrs_.fs() == 0) return raise_uncounted(trap_cause::illegal, what.bits);
  const bool single = ((what.bits >> 25) & 3U) == 0;
  const std::uint64_t boxed = single ? 0xffffffff00000000ULL : 0;
  const std::uint64_t exponent = single ? 0x7f800000ULL : 0x7ff0000000000000ULL;
  const std::uint64_t value_bits = single ? 0x7fffffffULL : 0x7fffffffffffffffULL;
  std::uint64_t result = single ? 0x7fc00000ULL : 0x7ff8000000000000ULL;
  for (const unsigned shift : {15U, 20U}) {
    const std::uint64_t operand = f((what.bits >> shift) & 31U);
    if ((operand & value_bits) <= exponent) result = operand;
  }
  set_f((what.bits >> 7) & 31U, result | boxed);
  write_register(UC_RISCV_REG_FCSR, read_register(UC_RISCV_REG_FCSR) | float_invalid);
  write_register(UC_RISCV_REG_MSTATUS, mstatus_fs);
  pc_ += what.bytes;
  return std::nullopt;
}

std::optional<slice_end> hart::emulate_system(const instruction& what) {
  switch (what.handling) {
    case special::ecall:
      return raise_uncounted(trap_cause::machine_call, 0);
    case special::ebreak:
      return raise_uncounted(trap_cause::breakpoint, pc_);
    case special::mret:
      pc_ = csrs_.leave_trap();
      repetitions_ = 0;
      if (trap_depth_ != 0) --trap_depth_;
      return interrupts_changed().value_or(slice_end::trap);
    case special::wfi:
      pc_ += what.bytes;
      if ((lines_ & csrs_.enabled()) != 0) return std::nullopt;
      asleep_ = true;
      asleep_since_ = now_;
      ++figures_.sleeps;
      return slice_end::sleep;
    case special::fence_i:
      pc_ += what.bytes;
      surroundings_.code_changed();
      return std::nullopt;
    default:
      return raise_uncounted(trap_cause::illegal, what.bits);
  }
}

std::optional<slice_end> hart::emulate_csr(const instruction& what, std::uint32_t units) {
  const unsigned number = what.bits >> 20;
  const unsigned operation = (what.bits >> 12) & 3U;  // 1 write, 2 set, 3 clear
  const bool immediate = ((what.bits >> 14) & 1U) != 0;
  const unsigned source = (what.bits >> 15) & 31U;
  const unsigned destination = (what.bits >> 7) & 31U;
  const bool writes = operation == 1 || source != 0;

  csr_inputs now = inputs();
  now.end_cycles = cycles_at(now_ + units);
  read_fs();
  const std::optional<std::uint64_t> old = csrs_.read(number, now);
  const std::uint64_t operand = immediate ? source : x(source);
  const std::uint64_t value = operation == 1   ? operand
                              : operation == 2 ? old.value_or(0) | operand
                                               : old.value_or(0) & ~operand;
  now_ += units;
  ++figures_.instructions;
  if (!old || (writes && !csrs_.write(number, value, now))) {
    return raise_uncounted(trap_cause::illegal, what.bits);
  }
  set_x(destination, *old);
  pc_ += what.bytes;
  if (!writes) return std::nullopt;
  if (number == csr::mstatus) write_fs();
  return number == csr::mstatus || number == csr::mie ? interrupts_changed() : std::nullopt;
}
bool hart::has_signaling_operand(const instruction& what) const {
  const bool single = ((what.bits >> 25) & 3U) == 0;
  const auto signaling = [&](std::uint64_t value) {
    if (single) return (value & 0x7fc00000U) == 0x7f800000U && (value & 0x3fffffU) != 0;
    return (value & 0x7ff8000000000000ULL) == 0x7ff0000000000000ULL && (value & 0x7ffffffffffffULL) != 0;
  };
  return signaling(f((what.bits >> 15) & 31U)) || signaling(f((what.bits >> 20) & 31U));
}

}  // namespace dvp::cpu::rv64
