#include "tlm/cpu/trace/call_tracker.h"

#include "tlm/cpu/trace/trace_text.h"

namespace dvp::cpu::trace {

std::string activation::name() const {
  return callee->has_symbol ? callee->name : core::symbol_table().locate(target);
}

using rv64::flow;

call_tracker::hart_state& call_tracker::state(std::uint32_t hart) {
  if (hart >= harts_.size()) harts_.resize(hart + 1);
  return harts_[hart];
}

void call_tracker::unwind(std::uint32_t hart, hart_state& h, std::size_t depth) {
  while (h.stack.size() > depth) {
    const activation gone = h.stack.back();
    h.stack.pop_back();
    listener_.left(hart, gone, h.stack.size(), h.unit);
  }
}

void call_tracker::enter(std::uint32_t hart, hart_state& h, activation what, std::uint64_t pc) {
  if (h.stack.size() == most_depth) {
    unwind(hart, h, 0);
    what.how = entry::root;
  }
  what.callee = &functions_.at(pc);
  what.target = pc;
  what.caller = h.stack.empty() ? nullptr : h.stack.back().callee;
  h.stack.push_back(what);
  listener_.entered(hart, h.stack.back(), h.stack.size() - 1, h.unit);
}

// The hart executes at pc without having called, returned or trapped, as far as can be told.
void call_tracker::move_to(std::uint32_t hart, hart_state& h, std::uint64_t pc) {
  if (h.stack.empty()) {
    enter(hart, h, {}, pc);
    return;
  }
  if (h.stack.back().callee->holds(pc)) return;
  const bool at_start = functions_.at(pc).begin == pc;
  bool same_chain = true;
  for (std::size_t i = h.stack.size(); i-- > 0;) {
    if (h.stack[i].callee->holds(pc) && (same_chain || !at_start)) {
      unwind(hart, h, i + 1);
      return;
    }
    if (h.stack[i].how == entry::trap) break;
    same_chain = same_chain && h.stack[i].how == entry::tail_call;
  }
  activation tail;
  tail.how = entry::tail_call;
  tail.site = h.pc;
  tail.return_to = h.stack.back().return_to;
  enter(hart, h, tail, pc);
}

void call_tracker::return_to(std::uint32_t hart, hart_state& h, std::uint64_t pc) {
  for (std::size_t i = h.stack.size(); i-- > 0;) {
    if (h.stack[i].how == entry::trap) break;
    if (h.stack[i].how == entry::call && h.stack[i].return_to == pc) {
      unwind(hart, h, i);
      break;
    }
  }
  move_to(hart, h, pc);
}

void call_tracker::leave_trap(std::uint32_t hart, hart_state& h, std::uint64_t pc) {
  for (std::size_t i = h.stack.size(); i-- > 0;) {
    if (h.stack[i].how == entry::trap) {
      unwind(hart, h, i);
      break;
    }
  }
  move_to(hart, h, pc);
}

// What the last instruction did, now that the hart is known to be at pc.
void call_tracker::settle(std::uint32_t hart, hart_state& h, std::uint64_t pc) {
  h.settled = true;
  switch (h.flow) {
    case flow::call: {
      activation call;
      call.how = entry::call;
      call.site = h.pc;
      call.return_to = h.behind;
      enter(hart, h, call, pc);
      break;
    }
    case flow::ret:
      return_to(hart, h, pc);
      break;
    case flow::trap_return:
      leave_trap(hart, h, pc);
      break;
    default:
      move_to(hart, h, pc);
  }
}

void call_tracker::instruction(std::uint32_t hart, const rv64::executed_instruction& what) {
  hart_state& h = state(hart);
  h.unit = what.at_unit;
  if (!h.started || h.settled) {
    h.started = true;
    move_to(hart, h, what.pc);
  } else {
    settle(hart, h, what.pc);
  }
  h.flow = what.control;
  h.pc = what.pc;
  h.behind = what.pc + what.bytes;
  h.end = what.at_unit + std::uint64_t{units_per_cycle} * what.cycles;
  h.settled = false;
}

void call_tracker::trap(std::uint32_t hart, std::uint64_t cause, std::uint64_t epc, std::uint64_t value,
                        std::uint64_t handler) {
  hart_state& h = state(hart);
  // An instruction that trapped has done nothing else; before an interrupt the last one has.
  if (!h.settled && epc != h.pc) {
    h.unit = h.end;
    settle(hart, h, epc);
  }
  h.started = true;
  activation trap;
  trap.how = entry::trap;
  trap.site = epc;
  trap.return_to = epc;
  trap.cause = cause;
  trap.value = value;
  enter(hart, h, trap, handler);
  h.settled = true;
}

void call_tracker::finish() {
  for (std::uint32_t hart = 0; hart < harts_.size(); ++hart) {
    hart_state& h = harts_[hart];
    h.unit = h.end;
    unwind(hart, h, 0);
  }
}

}  // namespace dvp::cpu::trace
