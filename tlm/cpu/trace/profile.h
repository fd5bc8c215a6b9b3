// What the harts spent where: by instruction, by function, and along calls. All harts are added up.
//
// Three costs: instructions completed; cycles, which the cost model charged for them; and waiting, the cycles from the
// end of one to the start of the next: the bus, and entering traps. Sleep is none of them. Numbers are of the hart's
// clock and exact: cycles and waiting add up to the hart's cycles. A trap is a call from the instruction it
// interrupted.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tlm/core/symbols.h"
#include "tlm/cpu/trace/address_table.h"
#include "tlm/cpu/trace/call_tracker.h"

namespace dvp::cpu::trace {

struct cost {
  std::uint64_t instructions = 0;
  std::uint64_t cycles = 0;
  std::uint64_t waiting = 0;

  cost& operator+=(const cost& other);
  cost operator-(const cost& other) const;
  friend bool operator==(const cost&, const cost&) = default;
};

// Calls from one place to one function.
struct call_edge {
  std::uint64_t calls = 0;
  cost inclusive;  // of what was called, and all it called
};

struct function_cost {
  std::string name;
  std::uint64_t begin = 0;
  std::uint64_t calls = 0;  // entries of any kind
  cost self;
  cost inclusive;  // of its outermost activations
};

class profile final : public rv64::observer, private call_listener {
 public:
  // Caller's begin, place of the call, callee's begin.
  using edge_key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;

  // The symbols outlive the profile.
  explicit profile(const core::symbol_table& symbols);

  void instruction(std::uint32_t hart, const rv64::executed_instruction& what) override;
  void trap(std::uint32_t hart, std::uint64_t cause, std::uint64_t epc, std::uint64_t value,
            std::uint64_t handler) override;
  // The run ended. Figures are complete from here on.
  void finish() { tracker_.finish(); }

  cost total() const;
  const address_table<cost>& by_address() const { return costs_; }
  const std::map<edge_key, call_edge>& edges() const { return edges_; }
  function_map& functions() { return functions_; }

  // Most cycles of its own first.
  std::vector<function_cost> by_function();
  // The first rows of that as a table.
  std::string flat(std::size_t rows);

 private:
  struct open_call {
    cost at_entry;          // of the hart
    bool outermost = true;  // no other activation of the function below
  };
  struct hart_state {
    cost spent;
    std::vector<open_call> open;
    std::map<std::uint64_t, std::uint64_t> active;  // function's begin to activations
    std::uint64_t pc = 0;
    std::uint64_t end = 0;  // cycle, of the last instruction
    bool started = false;
    bool undone = true;    // the last instruction does not count
    bool trapped = false;  // since then
  };
  struct function_record {
    std::uint64_t calls = 0;
    cost inclusive;
  };

  void entered(std::uint32_t hart, const activation& what, std::size_t depth, std::uint64_t unit) override;
  void left(std::uint32_t hart, const activation& what, std::size_t depth, std::uint64_t unit) override;
  hart_state& state(std::uint32_t hart);

  function_map functions_;
  call_tracker tracker_;
  std::vector<hart_state> harts_;
  address_table<cost> costs_;
  std::map<edge_key, call_edge> edges_;
  std::map<std::uint64_t, function_record> records_;  // by begin
};

}  // namespace dvp::cpu::trace
