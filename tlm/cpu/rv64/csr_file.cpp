#include "tlm/cpu/rv64/csr_file.h"

namespace dvp::cpu::rv64 {

namespace {

constexpr std::uint64_t machine_mode = 3;
constexpr unsigned mpp_shift = 11;
constexpr std::uint64_t possible_interrupts = 1U << 3 | 1U << 7 | 1U << 11;
constexpr std::uint64_t stop_cycle = 1, stop_instret = 4;
// RV64 with A, C, D, F, I and M.
constexpr std::uint64_t misa_value = 2ULL << 62 | 1U << ('A' - 'A') | 1U << ('C' - 'A') | 1U << ('D' - 'A') |
                                     1U << ('F' - 'A') | 1U << ('I' - 'A') | 1U << ('M' - 'A');

bool within(unsigned number, unsigned first, unsigned count) {
  return number >= first && number < first + count;
}

}  // namespace

std::optional<std::uint64_t> csr_file::read(unsigned number, const csr_inputs& now) const {
  switch (number) {
    case csr::mstatus: {
      const bool dirty = fs() == 3;
      return mstatus_ | machine_mode << mpp_shift | (dirty ? 1ULL << 63 : 0);
    }
    case csr::misa:
      return misa_value;
    case csr::mie:
      return mie_;
    case csr::mtvec:
      return mtvec_;
    case csr::mcountinhibit:
      return (cycle_.stopped ? stop_cycle : 0) | (instret_.stopped ? stop_instret : 0);
    case csr::mscratch:
      return mscratch_;
    case csr::mepc:
      return mepc_;
    case csr::mcause:
      return mcause_;
    case csr::mtval:
      return mtval_;
    case csr::mip:
      return now.interrupts;
    case csr::mcycle:
    case csr::cycle:
      return cycle_.at(now.cycles);
    case csr::minstret:
    case csr::instret:
      return instret_.at(now.instructions);
    case csr::time:
      return now.time_ns;
    case csr::mhartid:
      return hart_;
    default:
      return read_group(number);
  }
}

std::optional<std::uint64_t> csr_file::read_group(unsigned number) const {
  if (number == csr::pmpcfg0 || number == csr::pmpcfg2) return pmp_.config((number - csr::pmpcfg0) / 2);
  if (within(number, csr::pmpaddr0, pmp::entries)) return pmp_.address(number - csr::pmpaddr0);
  const bool zero = number == csr::mcounteren || within(number, csr::tselect, 4) || within(number, csr::mvendorid, 5) ||
                    within(number, csr::mhpmevent3, 29) || within(number, csr::mhpmcounter3, 29) ||
                    within(number, csr::hpmcounter3, 29);
  if (zero) return 0;
  return std::nullopt;
}

bool csr_file::write(unsigned number, std::uint64_t value, const csr_inputs& now) {
  if (number >> 10 == 3) return false;
  switch (number) {
    case csr::mstatus:
      mstatus_ = value & (mstatus_mie | mstatus_mpie | mstatus_fs);
      return true;
    case csr::misa:
    case csr::mip:
      return true;
    case csr::mie:
      mie_ = value & possible_interrupts;
      return true;
    case csr::mtvec:
      mtvec_ = value & ~2ULL;
      return true;
    case csr::mcountinhibit:
      cycle_.stop((value & stop_cycle) != 0, now.end_cycles);
      instret_.stop((value & stop_instret) != 0, now.instructions + 1);
      return true;
    case csr::mscratch:
      mscratch_ = value;
      return true;
    case csr::mepc:
      mepc_ = value & ~1ULL;
      return true;
    case csr::mcause:
      mcause_ = value;
      return true;
    case csr::mtval:
      mtval_ = value;
      return true;
    case csr::mcycle:
      cycle_.set(value, now.end_cycles);
      return true;
    case csr::minstret:
      instret_.set(value, now.instructions + 1);
      return true;
    default:
      return write_group(number, value);
  }
}

bool csr_file::write_group(unsigned number, std::uint64_t value) {
  bool changed = false;
  if (number == csr::pmpcfg0 || number == csr::pmpcfg2) {
    changed = pmp_.write_config((number - csr::pmpcfg0) / 2, value);
  } else if (within(number, csr::pmpaddr0, pmp::entries)) {
    changed = pmp_.write_address(number - csr::pmpaddr0, value);
  } else if (!read_group(number)) {
    return false;
  }
  if (changed) ++protection_changes_;
  return true;
}

std::uint64_t csr_file::enter_trap(std::uint64_t cause, std::uint64_t pc, std::uint64_t value) {
  mepc_ = pc & ~1ULL;
  mcause_ = cause;
  mtval_ = value;
  const bool was_on = interrupts_on();
  mstatus_ = (mstatus_ & ~(mstatus_mie | mstatus_mpie)) | (was_on ? mstatus_mpie : 0);
  const std::uint64_t base = mtvec_ & ~3ULL;
  const bool vectored = (mtvec_ & 1U) != 0 && (cause & trap_cause::interrupt) != 0;
  return vectored ? base + 4 * (cause & ~trap_cause::interrupt) : base;
}

std::uint64_t csr_file::leave_trap() {
  const bool on = (mstatus_ & mstatus_mpie) != 0;
  mstatus_ = (mstatus_ & ~mstatus_mie) | mstatus_mpie | (on ? mstatus_mie : 0);
  return mepc_;
}

}  // namespace dvp::cpu::rv64
