// Follows calls and returns of every hart with a shadow stack and tells who was entered and left.
//
// What an instruction did is seen at the next one: a call has happened when its target is reached. The shadow stack
// holds an entry per active function:
//   call         enters the function that holds the target
//   return       leaves all up to the innermost function that was to return to this address
//   tail call    a jump, a branch or plain execution that gets into another function: enters it, to be left together
//                with the one it came from. Jumping back into a function of the same chain of tail calls leaves what
//                lies above it, so state machines that jump in circles stay bounded.
//   trap         enters the handler's function, until mret leaves it and all that it called
//   mismatch     a return or a jump into the middle of a function further down the stack (longjmp) leaves what lies
//                above it; one to anywhere else counts as a tail call
// A stack of more than most_depth functions is left as a whole: memory stays bounded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tlm/core/symbols.h"
#include "tlm/cpu/rv64/observer.h"
#include "tlm/cpu/trace/function_map.h"

namespace dvp::cpu::trace {

enum class entry : std::uint8_t { root, call, tail_call, trap };

struct activation {
  const function* callee = nullptr;
  const function* caller = nullptr;  // null for a root
  entry how = entry::root;
  std::uint64_t target = 0;     // where it was entered
  std::uint64_t site = 0;       // address of the call, of the jump, or where the trap happened
  std::uint64_t return_to = 0;  // of a call and a trap, and of a tail call's first function
  std::uint64_t cause = 0;      // mcause and mtval of a trap
  std::uint64_t value = 0;

  // The function's, or the address where a function without symbol was entered.
  std::string name() const;
};

// Entries and exits of a hart are nested; depth counts the functions below. `unit` is the time, as at_unit of
// rv64::executed_instruction.
class call_listener {
 public:
  virtual void entered(std::uint32_t hart, const activation& what, std::size_t depth, std::uint64_t unit) = 0;
  virtual void left(std::uint32_t hart, const activation& what, std::size_t depth, std::uint64_t unit) = 0;

 protected:
  ~call_listener() = default;
};

class call_tracker final : public rv64::observer {
 public:
  static constexpr std::size_t most_depth = 100'000;

  // Listener and symbols outlive the tracker.
  call_tracker(const core::symbol_table& symbols, call_listener& listener) : functions_(symbols), listener_(listener) {}

  void instruction(std::uint32_t hart, const rv64::executed_instruction& what) override;
  void trap(std::uint32_t hart, std::uint64_t cause, std::uint64_t epc, std::uint64_t value,
            std::uint64_t handler) override;
  // The run ended: leaves what is active.
  void finish();

 private:
  struct hart_state {
    std::vector<activation> stack;
    rv64::flow flow = rv64::flow::straight;  // of the last instruction
    std::uint64_t pc = 0;
    std::uint64_t behind = 0;  // it
    std::uint64_t unit = 0;    // time, last known
    std::uint64_t end = 0;     // time, of the last instruction
    bool started = false;
    bool settled = true;  // what the last instruction did is on the stack
  };

  hart_state& state(std::uint32_t hart);
  void settle(std::uint32_t hart, hart_state& h, std::uint64_t pc);
  void move_to(std::uint32_t hart, hart_state& h, std::uint64_t pc);
  void return_to(std::uint32_t hart, hart_state& h, std::uint64_t pc);
  void leave_trap(std::uint32_t hart, hart_state& h, std::uint64_t pc);
  void enter(std::uint32_t hart, hart_state& h, activation what, std::uint64_t pc);
  void unwind(std::uint32_t hart, hart_state& h, std::size_t depth);

  function_map functions_;
  call_listener& listener_;
  std::vector<hart_state> harts_;
};

}  // namespace dvp::cpu::trace
