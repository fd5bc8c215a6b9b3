#include "tlm/cpu/trace/profile.h"

#include <algorithm>
#include <cstdio>

namespace dvp::cpu::trace {

namespace {

constexpr std::uint64_t interrupt_bit = std::uint64_t{1} << 63;

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

cost& cost::operator+=(const cost& other) {
  instructions += other.instructions;
  cycles += other.cycles;
  waiting += other.waiting;
  return *this;
}

cost cost::operator-(const cost& other) const {
  return {instructions - other.instructions, cycles - other.cycles, waiting - other.waiting};
}

profile::profile(const core::symbol_table& symbols) : functions_(symbols), tracker_(symbols, *this) {}

profile::hart_state& profile::state(std::uint32_t hart) {
  if (hart >= harts_.size()) harts_.resize(hart + 1);
  return harts_[hart];
}

void profile::instruction(std::uint32_t hart, const rv64::executed_instruction& what) {
  hart_state& h = state(hart);
  if (h.started && what.at_cycle > h.end) {
    const cost waited{0, 0, what.at_cycle - h.end};
    costs_.at(h.pc) += waited;
    h.spent += waited;
    if (h.trapped) h.open.back().at_entry += waited;  // it is not the handler's
  }
  h.trapped = false;
  tracker_.instruction(hart, what);
  const cost charged{1, what.cycles, 0};
  costs_.at(what.pc) += charged;
  h.spent += charged;
  h.pc = what.pc;
  h.end = what.at_cycle + what.cycles;
  h.started = true;
  h.undone = false;
}

void profile::trap(std::uint32_t hart, std::uint64_t cause, std::uint64_t epc, std::uint64_t value,
                   std::uint64_t handler) {
  hart_state& h = state(hart);
  if ((cause & interrupt_bit) == 0 && h.started && !h.undone && epc == h.pc) {
    --costs_.at(epc).instructions;
    --h.spent.instructions;
    h.undone = true;
  }
  tracker_.trap(hart, cause, epc, value, handler);
  h.trapped = true;
}

void profile::entered(std::uint32_t hart, const activation& what, std::size_t /*depth*/, std::uint64_t /*unit*/) {
  hart_state& h = state(hart);
  const std::uint64_t callee = what.callee->begin;
  ++records_[callee].calls;
  h.open.push_back({h.spent, h.active[callee]++ == 0});
  if (what.caller != nullptr) ++edges_[{what.caller->begin, what.site, callee}].calls;
}

void profile::left(std::uint32_t hart, const activation& what, std::size_t /*depth*/, std::uint64_t /*unit*/) {
  hart_state& h = state(hart);
  const open_call call = h.open.back();
  h.open.pop_back();
  const std::uint64_t callee = what.callee->begin;
  const cost inclusive = h.spent - call.at_entry;
  --h.active[callee];
  if (call.outermost) records_[callee].inclusive += inclusive;
  if (what.caller != nullptr) edges_[{what.caller->begin, what.site, callee}].inclusive += inclusive;
}

cost profile::total() const {
  cost sum;
  for (const hart_state& h : harts_) sum += h.spent;
  return sum;
}

std::vector<function_cost> profile::by_function() {
  std::map<std::uint64_t, function_cost> table;
  costs_.for_each([&](std::uint64_t address, const cost& spent) {
    if (spent == cost()) return;
    table[functions_.at(address).begin].self += spent;
  });
  std::vector<function_cost> rows;
  for (auto& [begin, row] : table) {
    const function_record& record = records_[begin];
    row.begin = begin;
    row.name = functions_.at(begin).name;
    row.calls = record.calls;
    row.inclusive = record.inclusive;
    rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const function_cost& a, const function_cost& b) { return a.self.cycles > b.self.cycles; });
  return rows;
}

std::string profile::flat(std::size_t rows) {
  const cost all = total();
  std::string text = "     cycles       %  incl. %  instructions       %     waiting      calls  function\n";
  const std::vector<function_cost> table = by_function();
  for (std::size_t i = 0; i < std::min(rows, table.size()); ++i) {
    const function_cost& f = table[i];
    char line[160];
    std::snprintf(line, sizeof line, "%11llu  %6.2f   %6.2f  %12llu  %6.2f %11llu %10llu  ",
                  static_cast<unsigned long long>(f.self.cycles), percent(f.self.cycles, all.cycles),
                  percent(f.inclusive.cycles, all.cycles), static_cast<unsigned long long>(f.self.instructions),
                  percent(f.self.instructions, all.instructions), static_cast<unsigned long long>(f.self.waiting),
                  static_cast<unsigned long long>(f.calls));
    text += line + f.name + "\n";
  }
  if (table.size() > rows) text += "  and " + std::to_string(table.size() - rows) + " more\n";
  return text;
}

}  // namespace dvp::cpu::trace
