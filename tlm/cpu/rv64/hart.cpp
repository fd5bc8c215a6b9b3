#include "tlm/cpu/rv64/hart.h"

#include <unicorn/unicorn.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "tlm/cpu/rv64/unicorn_stores.h"

namespace dvp::cpu::rv64 {

namespace {

// A reference that brings the definitions of unicorn_stores.cpp into every program with a hart.
[[maybe_unused]] const bool fast_stores = stores_are_fast();

constexpr std::uint64_t page_bytes = 4096;
constexpr std::uint64_t nowhere = 1;  // no instruction starts at an odd address

void check(uc_err answer, const char* what) {
  if (answer == UC_ERR_OK) return;
  throw std::runtime_error(std::string("the instruction-set simulator cannot ") + what + ": " + uc_strerror(answer));
}

}  // namespace

void hart::simulator_closer::operator()(uc_struct* simulator) const {
  uc_close(simulator);
}

hart::hart(const hart_config& config, hart_surroundings& surroundings)
    : pc_(config.reset_pc),
      config_(config),
      surroundings_(surroundings),
      simulator_([] {
        uc_engine* opened = nullptr;
        check(uc_open(UC_ARCH_RISCV, UC_MODE_RISCV64, &opened), "start");
        return opened;
      }()),
      memory_(simulator_.get()),
      csrs_(config.id) {
  if (const std::string fault = config.costs.fault(); !fault.empty()) throw std::invalid_argument(fault);
  add_hooks();
  write_fs();
}

hart::~hart() = default;

void hart::add_hooks() {
  uc_hook hook = 0;
  const auto add = [&](int kind, void* callback) {
    check(uc_hook_add(simulator_.get(), &hook, kind, callback, this, 1, 0), "be watched");
  };
  add(UC_HOOK_CODE, reinterpret_cast<void*>(&hart::on_code));
  add(UC_HOOK_MEM_INVALID, reinterpret_cast<void*>(&hart::on_bad_access));
  add(UC_HOOK_INTR, reinterpret_cast<void*>(&hart::on_exception));
}

// Hooks. The simulator calls them from translated code, so nothing may be thrown.

void hart::on_code(uc_struct*, std::uint64_t address, std::uint32_t, void* self) {
  hart& h = *static_cast<hart*>(self);
  code_entry& entry = h.code_.at(address);
  if (entry.flags != 0 || h.now_ >= h.hook_limit_) [[unlikely]] {
    h.attend(address, entry);
    return;
  }
  h.count(entry, address);
}

void hart::count(const code_entry& entry, std::uint64_t address) {
  now_ += entry.units;
  ++figures_.instructions;
  pc_ = address;
}

void hart::stop(cause why, std::uint64_t address) {
  stopped_ = why;
  pc_ = address;
  uc_emu_stop(simulator_.get());
}

void hart::attend(std::uint64_t address, code_entry& entry) {
  if ((entry.flags & code_entry::unknown) != 0) {
    const instruction what = at(address);
    entry.units = config_.costs.units(what.kind);
    const bool by_transaction = what.memory != access::none && !is_atomic(what.memory) && !config_.direct_data;
    // The simulator looks at mstatus.FS for the long forms alone.
    const bool float_off = what.bytes == 2 && accesses_float(what.memory) && csrs_.fs() == 0;
    entry.flags = what.handling == special::float_extreme                         ? code_entry::inspected
                  : what.handling != special::none || by_transaction || float_off ? code_entry::emulated
                                                                                  : 0;
    if (code_.breaks_at(address)) entry.flags |= code_entry::breakpoint;
  }
  if (watch_hit_) return stop(cause::watchpoint, address);
  if (stepping_ && steps_left_ == 0) return stop(cause::stepped, address);
  if (now_ >= limit_) return stop(cause::limit, address);
  if ((entry.flags & code_entry::breakpoint) != 0 && address != resumed_at_) return stop(cause::breakpoint, address);
  if ((entry.flags & code_entry::emulated) != 0) return stop(cause::emulate, address);
  if ((entry.flags & code_entry::inspected) != 0 && has_signaling_operand(at(address))) {
    return stop(cause::emulate, address);
  }
  if (watcher_ != nullptr && !told_) tell(address, entry.units);
  if (!watched_.empty()) note_access(at(address));
  begin();
  count(entry, address);
}

bool hart::on_bad_access(uc_struct*, int kind, std::uint64_t address, int, std::int64_t, void* self) {
  hart& h = *static_cast<hart*>(self);
  h.stopped_ = kind == UC_MEM_FETCH_UNMAPPED || kind == UC_MEM_FETCH_PROT ? cause::fetch : cause::data;
  h.bad_address_ = address;
  return false;
}

void hart::on_exception(uc_struct* simulator, std::uint32_t number, void* self) {
  hart& h = *static_cast<hart*>(self);
  h.stopped_ = cause::exception;
  h.exception_number_ = number;
  uc_emu_stop(simulator);
}

// Execution.

slice_end hart::run(std::uint64_t limit, std::uint64_t instructions) {
  limit_ = limit;
  stepping_ = instructions != 0;
  steps_left_ = instructions;
  for (;;) {
    if (!fault_.empty()) return slice_end::fault;
    if (asleep_) return slice_end::sleep;
    if (std::exchange(watch_hit_, false)) {
      resumed_at_ = pc_;
      return slice_end::watchpoint;
    }
    if (stepping_ && steps_left_ == 0) {
      resumed_at_ = pc_;
      return slice_end::stepped;
    }
    if (now_ >= limit_) return slice_end::limit;
    if (take_interrupt()) return slice_end::trap;
    const std::optional<slice_end> reason = execute();
    const bool stepped = stepping_ && steps_left_ == 0 && reason != slice_end::sleep && reason != slice_end::fault;
    if (reason && !stepped) return *reason;
  }
}

std::optional<slice_end> hart::execute() {
  update_simulator();
  update_attention();
  stopped_ = cause::none;
  const uc_err answer = uc_emu_start(simulator_.get(), pc_, until_, 0, 0);
  const bool at_exit = stopped_ == cause::none && answer == UC_ERR_OK && until_ != nowhere;
  if (at_exit) pc_ = until_;
  until_ = nowhere;
  if (at_exit) return std::nullopt;
  if (stopped_ == cause::none) {
    // The simulator gave up on an encoding without a word to its hooks.
    stopped_ = cause::exception;
    exception_number_ = trap_cause::illegal;
  }
  return go_on();
}

std::optional<slice_end> hart::go_on() {
  switch (stopped_) {
    case cause::limit:
    case cause::stepped:
    case cause::watchpoint:
      return std::nullopt;  // run() knows
    case cause::breakpoint:
      resumed_at_ = pc_;
      return slice_end::breakpoint;
    case cause::emulate:
      return emulate();
    case cause::data:
      return bad_data();
    case cause::fetch:
      return bad_fetch();
    default:
      break;
  }
  const instruction what = at(pc_);
  if (exception_number_ == trap_cause::load_misaligned || exception_number_ == trap_cause::store_misaligned) {
    const bool load = what.memory == access::load_reserved;
    return raise_uncounted(load ? trap_cause::load_misaligned : trap_cause::store_misaligned, effective_address(what));
  }
  return raise_uncounted(trap_cause::illegal, what.bits);
}

// An instruction is about to execute: what was kept for its start is over.
void hart::begin() {
  if (stepping_) --steps_left_;
  told_ = false;
  resumed_at_ = ~0ULL;
  update_attention();
}

// Undoes begin() and count() of the instruction at pc_, which is going to be executed again.
void hart::again(std::uint32_t units) {
  --figures_.instructions;
  now_ -= units;
  if (stepping_) ++steps_left_;
  told_ = watcher_ != nullptr;
  resumed_at_ = pc_;
  watch_hit_ = false;
}

void hart::update_simulator() {
  if (std::exchange(code_changed_, false)) {
    // Page by page: the simulator's own way to drop everything clears its whole buffer, a gigabyte.
    for (const std::uint64_t page : code_.pages()) {
      if (!memory_.is_mapped(page)) continue;
      check(uc_ctl_remove_cache(simulator_.get(), page, page + code_cache::page_bytes), "drop its translations");
    }
    code_.forget();
  }
  if (std::exchange(grants_changed_, false)) {
    memory_.forget();
    map_changed_ = true;
  }
  if (std::exchange(protection_seen_, csrs_.protection_changes()) != csrs_.protection_changes()) map_changed_ = true;
  if (std::exchange(map_changed_, false)) memory_.apply(csrs_.protection());
}

void hart::update_attention() {
  const bool every = watcher_ != nullptr || !watched_.empty() || stepping_ || resumed_at_ != ~0ULL || told_;
  hook_limit_ = every ? 0 : limit_;
}

std::optional<slice_end> hart::bad_fetch() {
  const std::uint64_t target = read_register(UC_RISCV_REG_PC);
  const std::uint64_t address = bad_address_;
  pc_ = target;
  if (request(target, 1) || request(address, 1)) return std::nullopt;
  if (address - target > 2 && address - target <= page_bytes) {
    // The simulator translates ahead: what lies before the last half word of the page has not executed yet.
    until_ = address - 2;
    return std::nullopt;
  }
  if (stepping_) --steps_left_;
  return raise(trap_cause::fetch_fault, target, address);
}
// Memory.

bool hart::request(std::uint64_t address, std::uint64_t bytes) {
  bool granted = false;
  for (const std::uint64_t at : {address, address + (bytes - 1)}) {
    if (memory_.holds(at)) continue;
    const std::optional<granted_memory> grant = surroundings_.grant(at);
    granted |= grant && memory_.add(*grant);
  }
  map_changed_ |= granted;
  return granted;
}

std::optional<std::uint32_t> hart::bits_at(std::uint64_t address) const {
  std::uint16_t half = 0;
  const std::uint8_t* low = memory_.data(address);
  if (low == nullptr) return std::nullopt;
  std::memcpy(&half, low, sizeof half);
  std::uint32_t bits = half;
  if (instruction_bytes(bits) == 2) return bits;
  const std::uint8_t* high = memory_.data(address + 2);
  if (high == nullptr) return std::nullopt;
  std::memcpy(&half, high, sizeof half);
  return bits | std::uint32_t{half} << 16;
}

instruction hart::at(std::uint64_t address) const {
  return decode(bits_at(address).value_or(0));
}

std::uint64_t hart::effective_address(const instruction& what) const {
  return x(what.base) + static_cast<std::uint64_t>(std::int64_t{what.offset});
}

void hart::forget_code() {
  code_changed_ = true;
}

void hart::forget_grants() {
  grants_changed_ = true;
  code_changed_ = true;
}

}  // namespace dvp::cpu::rv64
