// What debuggers and observers see of a hart: registers, breakpoints, watched memory.
#include <unicorn/unicorn.h>

#include <algorithm>
#include <utility>

#include "tlm/cpu/rv64/hart.h"

namespace dvp::cpu::rv64 {

void hart::tell(std::uint64_t address, std::uint32_t units) {
  const instruction what = at(address);
  executed_instruction told;
  told.pc = address;
  told.bits = what.bits;
  told.bytes = what.bytes;
  told.control = what.control;
  told.at_cycle = cycles_at(now_);
  told.at_unit = now_;
  told.cycles = static_cast<std::uint32_t>(cycles_at(now_ + units) - told.at_cycle);
  watcher_->instruction(config_.id, told);
}
void hart::note_access(const instruction& what) {
  if (what.memory == access::none) return;
  const std::uint64_t address = effective_address(what);
  const bool writes = writes_memory(what.memory);
  const bool reads = !writes || what.memory == access::amo;
  for (const watched_range& range : watched_) {
    const bool overlaps = address <= range.address + (range.bytes - 1) && range.address <= address + (what.size - 1U);
    if (!overlaps || !((range.reads && reads) || (range.writes && writes))) continue;
    watch_hit_ = true;
    watched_address_ = std::max(address, range.address);
    return;
  }
}

void hart::observe(observer* watcher) {
  watcher_ = watcher;
}
void hart::set_breakpoint(std::uint64_t address) {
  code_.set_breakpoint(address);
}
void hart::clear_breakpoint(std::uint64_t address) {
  code_.clear_breakpoint(address);
}

void hart::watch(std::uint64_t address, std::uint64_t bytes, bool reads, bool writes) {
  watched_.push_back({address, std::max<std::uint64_t>(bytes, 1), reads, writes});
}

void hart::unwatch(std::uint64_t address, std::uint64_t bytes, bool reads, bool writes) {
  const watched_range gone{address, std::max<std::uint64_t>(bytes, 1), reads, writes};
  const auto found = std::find(watched_.begin(), watched_.end(), gone);
  if (found != watched_.end()) watched_.erase(found);
}

// Registers.

std::uint64_t hart::read_register(int number) const {
  std::uint64_t value = 0;
  uc_reg_read(simulator_.get(), number, &value);
  return value;
}

void hart::write_register(int number, std::uint64_t value) {
  uc_reg_write(simulator_.get(), number, &value);
}

void hart::set_pc(std::uint64_t value) {
  pc_ = value & ~1ULL;
}

std::uint64_t hart::x(unsigned number) const {
  return number == 0 ? 0 : read_register(UC_RISCV_REG_X0 + static_cast<int>(number));
}

void hart::set_x(unsigned number, std::uint64_t value) {
  if (number != 0) write_register(UC_RISCV_REG_X0 + static_cast<int>(number), value);
}

std::uint64_t hart::f(unsigned number) const {
  return read_register(UC_RISCV_REG_F0 + static_cast<int>(number));
}

void hart::set_f(unsigned number, std::uint64_t value) {
  write_register(UC_RISCV_REG_F0 + static_cast<int>(number), value);
}

std::uint64_t hart::cycles_at(std::uint64_t units) const {
  return (units - figures_.asleep_units) / units_per_cycle;
}

csr_inputs hart::inputs() const {
  csr_inputs now;
  now.cycles = cycles_at(now_);
  now.end_cycles = now.cycles;
  now.instructions = figures_.instructions;
  now.time_ns = surroundings_.time_ns();
  now.interrupts = lines_;
  return now;
}

// mstatus.FS as the simulator left it; it does not notice that an instruction raised flags alone.
void hart::read_fs() {
  auto fs = static_cast<unsigned>((read_register(UC_RISCV_REG_MSTATUS) & mstatus_fs) >> mstatus_fs_shift);
  if (fs != 0 && read_register(UC_RISCV_REG_FCSR) != clean_fcsr_) fs = 3;
  csrs_.set_fs(fs);
}

void hart::write_fs() {
  write_register(UC_RISCV_REG_MSTATUS, std::uint64_t{csrs_.fs()} << mstatus_fs_shift);
  if (std::exchange(float_off_, csrs_.fs() == 0) != (csrs_.fs() == 0)) code_.judge_again();
  clean_fcsr_ = read_register(UC_RISCV_REG_FCSR);
}

std::optional<std::uint64_t> hart::csr(unsigned number) {
  if (number >= csr::fflags && number <= csr::fcsr) {
    return read_register(UC_RISCV_REG_FFLAGS + static_cast<int>(number - csr::fflags));
  }
  read_fs();
  return csrs_.read(number, inputs());
}

bool hart::set_csr(unsigned number, std::uint64_t value) {
  if (number >= csr::fflags && number <= csr::fcsr) {
    write_register(UC_RISCV_REG_FFLAGS + static_cast<int>(number - csr::fflags), value);
    return true;
  }
  csr_inputs now = inputs();
  --now.instructions;  // there is no instruction whose completion would be counted
  if (!csrs_.write(number, value, now)) return false;
  if (number == csr::mstatus) write_fs();
  return true;
}

}  // namespace dvp::cpu::rv64
