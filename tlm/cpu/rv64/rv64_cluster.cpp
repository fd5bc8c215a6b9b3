#include "tlm/cpu/rv64/rv64_cluster.h"

#include <utility>

#include "tlm/core/sim_time.h"

namespace dvp::cpu::rv64 {

namespace {

constexpr unsigned csr_count = 4096;

// How often a platform whose harts sleep asks the debugger.
sc_core::sc_time poll_interval() {
  return {100, sc_core::SC_US};
}

debug::stop_reason reason_of(slice_end why) {
  switch (why) {
    case slice_end::stepped:
      return debug::stop_reason::stepped;
    case slice_end::breakpoint:
      return debug::stop_reason::breakpoint;
    case slice_end::watchpoint:
      return debug::stop_reason::watchpoint;
    default:
      return debug::stop_reason::fault;
  }
}

}  // namespace

rv64_cluster::rv64_cluster(const sc_core::sc_module_name& name, std::vector<rv64_cpu*> harts)
    : sc_module(name), harts_(std::move(harts)), kill_([] { sc_core::sc_stop(); }) {
  for (rv64_cpu* cpu : harts_) cpu->supervise(this);
  SC_HAS_PROCESS(rv64_cluster);
  SC_THREAD(poll);
}

void rv64_cluster::attach(debug::server* server, bool stop_first) {
  server_ = server;
  stop_first_ = stop_first && server != nullptr;
  stepping_.reset();
  attached_.notify(sc_core::SC_ZERO_TIME);
}

void rv64_cluster::exited(int code) {
  exit_code_ = code;
  if (server_ != nullptr) server_->stopped({debug::stop_reason::exited, 0, 0});
}

void rv64_cluster::observe(observer* watcher) {
  for (rv64_cpu* cpu : harts_) cpu->core().observe(watcher);
}

void rv64_cluster::forget_code() {
  for (rv64_cpu* cpu : harts_) cpu->core().forget_code();
}

// While harts run they ask; this asks while all sleep. Where nothing else is going to happen it lets the run end.
void rv64_cluster::poll() {
  for (;;) {
    if (server_ == nullptr || !sc_core::sc_pending_activity(simcontext())) wait(attached_);
    wait(poll_interval());
    if (server_ != nullptr && server_->wants_stop()) talk({debug::stop_reason::interrupted, 0, 0});
  }
}

std::uint64_t rv64_cluster::may_run(rv64_cpu& cpu) {
  if (server_ != nullptr && (std::exchange(stop_first_, false) || server_->wants_stop())) {
    talk({debug::stop_reason::interrupted, cpu.id(), 0});
  }
  if (killed_) cpu.hold();
  return stepping_ == cpu.id() ? 1 : 0;
}

void rv64_cluster::stopped(rv64_cpu& cpu, slice_end why) {
  if (server_ == nullptr) return;
  talk({reason_of(why), cpu.id(), why == slice_end::watchpoint ? cpu.core().watched_address() : 0});
}

void rv64_cluster::talk(const debug::stop& why) {
  const debug::resume next = server_->stopped(why);
  stepping_.reset();
  if (next.action == debug::resume_action::step) stepping_ = next.hart;
  if (next.action == debug::resume_action::kill) {
    killed_ = true;
    kill_();
  }
}

// debug::target.

std::optional<std::uint64_t> rv64_cluster::read_register(std::uint32_t hart, std::uint32_t number) {
  if (hart >= harts()) return std::nullopt;
  rv64::hart& core = harts_[hart]->core();
  if (number < debug::pc_number) return core.x(number);
  if (number == debug::pc_number) return core.pc();
  if (number < debug::first_csr) return core.f(number - debug::first_float);
  if (number - debug::first_csr < csr_count) return core.csr(number - debug::first_csr);
  return std::nullopt;
}

bool rv64_cluster::write_register(std::uint32_t hart, std::uint32_t number, std::uint64_t value) {
  if (hart >= harts()) return false;
  rv64::hart& core = harts_[hart]->core();
  if (number < debug::pc_number) {
    core.set_x(number, value);
  } else if (number == debug::pc_number) {
    core.set_pc(value);
  } else if (number < debug::first_csr) {
    core.set_f(number - debug::first_float, value);
  } else {
    return number - debug::first_csr < csr_count && core.set_csr(number - debug::first_csr, value);
  }
  return number != 0;
}

std::size_t rv64_cluster::read_memory(std::uint64_t address, std::span<std::uint8_t> bytes) {
  return harts_.front()->debug_read(address, bytes.data(), bytes.size());
}

std::size_t rv64_cluster::write_memory(std::uint64_t address, std::span<const std::uint8_t> bytes) {
  const std::size_t written = harts_.front()->debug_write(address, bytes.data(), bytes.size());
  forget_code();
  return written;
}

void rv64_cluster::set_breakpoint(std::uint64_t address) {
  for (rv64_cpu* cpu : harts_) cpu->core().set_breakpoint(address);
}

void rv64_cluster::clear_breakpoint(std::uint64_t address) {
  for (rv64_cpu* cpu : harts_) cpu->core().clear_breakpoint(address);
}

void rv64_cluster::set_watchpoint(debug::watch kind, std::uint64_t address, std::uint64_t bytes) {
  for (rv64_cpu* cpu : harts_) {
    cpu->core().watch(address, bytes, kind != debug::watch::write, kind != debug::watch::read);
  }
}

void rv64_cluster::clear_watchpoint(debug::watch kind, std::uint64_t address, std::uint64_t bytes) {
  for (rv64_cpu* cpu : harts_) {
    cpu->core().unwatch(address, bytes, kind != debug::watch::write, kind != debug::watch::read);
  }
}

std::string rv64_cluster::describe(std::uint32_t hart) {
  if (hart >= harts()) return {};
  const rv64_cpu& cpu = *harts_[hart];
  const char* state = cpu.done() ? "ended" : cpu.asleep() ? "asleep" : cpu.core().in_trap() ? "in a trap" : "running";
  std::string line = "hart " + std::to_string(hart) + ", " + state;
  if (symbols_ != nullptr) line += " at " + symbols_->locate(cpu.core().pc());
  return line;
}

std::string rv64_cluster::monitor(const std::string& command) {
  if (command == "help") {
    return "time: simulated time\nharts: instructions, cycles and state of every hart\n";
  }
  if (command == "time") {
    return std::to_string(core::picoseconds(sc_core::sc_time_stamp())) + " ps\n";
  }
  if (command != "harts") return {};
  std::string text;
  for (std::uint32_t i = 0; i < harts(); ++i) {
    const rv64::hart& core = harts_[i]->core();
    const std::uint64_t cycles = (core.now() - core.figures().asleep_units) / units_per_cycle;
    text += describe(i) + ", " + std::to_string(core.figures().instructions) + " instructions, " +
            std::to_string(cycles) + " cycles\n";
  }
  return text;
}

}  // namespace dvp::cpu::rv64
