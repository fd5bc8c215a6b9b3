// A machine for the debugger's tests, simple enough to know by heart.
//
// Every instruction is a nop: it adds 4 to pc (2 harts, which run in turns) and 1 to x5 (t0), and an instruction at an
// address that ends in 0x40 stores its pc at `mailbox`. Code runs in a circle through `code_bytes` from `base`.
// Registers: x, pc, f, CSRs mstatus (0x300) and, read-only, mhartid (0xf14). Memory: `memory_bytes` from `base`.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tlm/cpu/debug/debug_target.h"

namespace dvp::cpu::debug {

class fake_machine final : public target {
 public:
  static constexpr std::uint64_t base = 0x8000'0000, code_bytes = 0x400, memory_bytes = 0x1000, mailbox = base + 0x800;

  struct hart_state {
    std::array<std::uint64_t, 32> x{};
    std::uint64_t pc = base;
    std::array<std::uint64_t, 32> f{};
    std::uint64_t mstatus = 0x1800;
  };
  using range = std::pair<std::uint64_t, std::uint64_t>;  // address, bytes

  explicit fake_machine(std::uint32_t harts = 2) : state(harts), memory(memory_bytes) {
    for (std::uint64_t at = 0; at < memory_bytes; at += 4) std::memcpy(&memory[at], "\x13\x00\x00\x00", 4);  // nop
  }

  std::uint32_t harts() const override { return static_cast<std::uint32_t>(state.size()); }
  std::optional<std::uint64_t> read_register(std::uint32_t hart, std::uint32_t number) override {
    if (number == first_csr + 0xf14) return hart;
    const std::uint64_t* place = find(hart, number);
    return place == nullptr ? std::nullopt : std::optional(*place);
  }
  bool write_register(std::uint32_t hart, std::uint32_t number, std::uint64_t value) override {
    std::uint64_t* place = find(hart, number);
    if (place == nullptr || number == 0) return false;
    *place = value;
    return true;
  }
  std::size_t read_memory(std::uint64_t address, std::span<std::uint8_t> bytes) override {
    check(address, bytes.size());
    const std::size_t n = reach(address, bytes.size());
    if (n != 0) std::memcpy(bytes.data(), &memory[address - base], n);
    return n;
  }
  std::size_t write_memory(std::uint64_t address, std::span<const std::uint8_t> bytes) override {
    check(address, bytes.size());
    const std::size_t n = reach(address, bytes.size());
    if (n != 0) std::memcpy(&memory[address - base], bytes.data(), n);
    return n;
  }
  void set_breakpoint(std::uint64_t address) override { breakpoints.insert(address); }
  void clear_breakpoint(std::uint64_t address) override { breakpoints.erase(address); }
  void set_watchpoint(watch kind, std::uint64_t address, std::uint64_t bytes) override {
    watchpoints[kind].insert({address, bytes});
  }
  void clear_watchpoint(watch kind, std::uint64_t address, std::uint64_t bytes) override {
    watchpoints[kind].erase({address, bytes});
  }
  std::string describe(std::uint32_t hart) override { return "hart " + std::to_string(hart) + " <fake> & co"; }
  std::string monitor(const std::string& command) override {
    if (command == "long") return std::string(20'000, 'x');
    return command == "hello" ? "good day\n" : "";
  }
  int exit_code() const override { return 7; }

  bool watched(watch kind) const {
    const auto of_kind = watchpoints.find(kind);
    return of_kind != watchpoints.end() && !of_kind->second.empty();
  }
  bool has_points() const {
    return !breakpoints.empty() || watched(watch::write) || watched(watch::read) || watched(watch::access);
  }

  // One instruction; true when a store met a watchpoint.
  bool execute(std::uint32_t hart) {
    hart_state& h = state[hart];
    const bool stores = (h.pc & 0xff) == 0x40;
    if (stores) std::memcpy(&memory[mailbox - base], &h.pc, 8);
    h.pc = base + (h.pc + 4 - base) % code_bytes;
    ++h.x[5];
    ++executed;
    return stores && (covers(watch::write) || covers(watch::access));
  }

  // Runs under the server until it has executed so many instructions in all, or is killed; a first stop before the
  // first instruction, an exit at the end.
  resume_action run(server& debugger, std::uint64_t instructions) {
    resume next = debugger.stopped({stop_reason::interrupted, 0, 0});
    std::uint32_t turn = 0;
    bool resumed = true;  // from a breakpoint that has been told
    while (executed < instructions) {
      if (next.action == resume_action::kill) return next.action;
      const bool step = next.action == resume_action::step;
      if (step) turn = next.hart;
      if (!step && debugger.wants_stop()) {
        next = debugger.stopped({stop_reason::interrupted, turn, 0});
        resumed = true;
        continue;
      }
      if (!step && !resumed && breakpoints.contains(state[turn].pc)) {
        next = debugger.stopped({stop_reason::breakpoint, turn, 0});
        resumed = true;
        continue;
      }
      resumed = false;
      const bool met = execute(turn);
      if (met) {
        next = debugger.stopped({stop_reason::watchpoint, turn, mailbox});
      } else if (step) {
        next = debugger.stopped({stop_reason::stepped, turn, 0});
      }
      turn = (turn + 1) % harts();
    }
    debugger.stopped({stop_reason::exited, 0, 0});
    return resume_action::run;
  }

  std::vector<hart_state> state;
  std::vector<std::uint8_t> memory;
  std::set<std::uint64_t> breakpoints;
  std::map<watch, std::set<range>> watchpoints;
  std::atomic<std::uint64_t> executed{0};
  bool asked_beyond_the_end = false;  // of the address space

 private:
  void check(std::uint64_t address, std::size_t bytes) {
    if (bytes != 0 && address + (bytes - 1) < address) asked_beyond_the_end = true;
  }
  std::uint64_t* find(std::uint32_t hart, std::uint32_t number) {
    hart_state& h = state[hart];
    if (number < pc_number) return &h.x[number];
    if (number == pc_number) return &h.pc;
    if (number >= first_float && number < first_csr) return &h.f[number - first_float];
    return number == first_csr + 0x300 ? &h.mstatus : nullptr;
  }
  std::size_t reach(std::uint64_t address, std::size_t bytes) const {
    if (address < base || address - base >= memory_bytes) return 0;
    return std::min<std::size_t>(bytes, memory_bytes - (address - base));
  }
  bool covers(watch kind) const {
    const auto of_kind = watchpoints.find(kind);
    if (of_kind == watchpoints.end()) return false;
    return std::any_of(of_kind->second.begin(), of_kind->second.end(),
                       [](const range& r) { return mailbox < r.first + r.second && r.first < mailbox + 8; });
  }
};

}  // namespace dvp::cpu::debug
