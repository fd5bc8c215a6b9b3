// The harts of a platform as one target of a debugger.
//
// Without a server attached it does nothing but spread fence.i. With one, every hart asks before each slice whether the
// debugger wants to stop; while the platform is stopped simulated time stands still. A step lets one hart execute one
// instruction (or take one trap); simulated time that passes meanwhile is the other harts' too, so that a debugged run
// stays the run that it was. So is the step of a sleeping hart: it ends when the hart woke.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <systemc>
#include <vector>

#include "tlm/core/symbols.h"
#include "tlm/cpu/debug/debug_target.h"
#include "tlm/cpu/rv64/rv64_cpu.h"

namespace dvp::cpu::rv64 {

class rv64_cluster : public sc_core::sc_module, public debug::target, private supervisor {
 public:
  // Harts in the order of their ids; they outlive this object.
  rv64_cluster(const sc_core::sc_module_name& name, std::vector<rv64_cpu*> harts);

  // Null detaches. stop_first: talk to the debugger before the first instruction.
  void attach(debug::server* server, bool stop_first);
  // The run is over: tells an attached debugger (stop_reason::exited). Call it once, outside of any hart.
  void exited(int code);
  // The debugger asked to end the run (kill); called instead of going on. Default: sc_stop().
  void on_kill(std::function<void()> action) { kill_ = std::move(action); }
  // For describe(): functions of the image.
  void set_symbols(const core::symbol_table* symbols) { symbols_ = symbols; }
  // Watches all harts; null ends it.
  void observe(observer* watcher);
  // Anything else than a hart changed code, e.g. a loader.
  void forget_code();

  // debug::target.
  std::uint32_t harts() const override { return static_cast<std::uint32_t>(harts_.size()); }
  std::optional<std::uint64_t> read_register(std::uint32_t hart, std::uint32_t number) override;
  bool write_register(std::uint32_t hart, std::uint32_t number, std::uint64_t value) override;
  std::size_t read_memory(std::uint64_t address, std::span<std::uint8_t> bytes) override;
  std::size_t write_memory(std::uint64_t address, std::span<const std::uint8_t> bytes) override;
  void set_breakpoint(std::uint64_t address) override;
  void clear_breakpoint(std::uint64_t address) override;
  void set_watchpoint(debug::watch kind, std::uint64_t address, std::uint64_t bytes) override;
  void clear_watchpoint(debug::watch kind, std::uint64_t address, std::uint64_t bytes) override;
  std::string describe(std::uint32_t hart) override;
  std::string monitor(const std::string& command) override;
  int exit_code() const override { return exit_code_; }

 private:
  std::uint64_t may_run(rv64_cpu& cpu) override;
  void stopped(rv64_cpu& cpu, slice_end why) override;
  void code_changed() override { forget_code(); }

  void poll();
  void talk(const debug::stop& why);

  std::vector<rv64_cpu*> harts_;
  debug::server* server_ = nullptr;
  bool stop_first_ = false;
  std::optional<std::uint32_t> stepping_;
  std::function<void()> kill_;
  bool killed_ = false;
  const core::symbol_table* symbols_ = nullptr;
  sc_core::sc_event attached_;
  int exit_code_ = 0;
};

}  // namespace dvp::cpu::rv64
