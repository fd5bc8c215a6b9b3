#include "tlm/cpu/trace/function_trace.h"

#include <algorithm>
#include <cstdio>

#include "tlm/cpu/trace/trace_text.h"

namespace dvp::cpu::trace {

namespace {

constexpr std::size_t deepest_indentation = 60;  // levels

}  // namespace

function_trace::function_trace(const std::string& path, std::uint64_t clock_hz, const core::symbol_table& symbols)
    : file_(path), clock_hz_(clock_hz), symbols_(symbols), tracker_(symbols, *this) {
  file_.write("#             ns hart\n");
}

void function_trace::line(std::uint32_t hart, char sign, const std::string& text, std::size_t depth,
                          std::uint64_t unit) {
  char number[16];
  std::snprintf(number, sizeof number, " %4u ", hart);
  file_.write(at_time(unit, clock_hz_) + number + std::string(2 * std::min(depth, deepest_indentation), ' ') + sign +
              " " + text + "\n");
}

void function_trace::entered(std::uint32_t hart, const activation& what, std::size_t depth, std::uint64_t unit) {
  std::string text = what.name();
  if (what.how == entry::tail_call) text += "  (tail call)";
  if (what.how == entry::trap) text += "  (" + trap_text(what.cause, what.site, what.value, symbols_) + ")";
  line(hart, '>', text, depth, unit);
}

void function_trace::left(std::uint32_t hart, const activation& what, std::size_t depth, std::uint64_t unit) {
  line(hart, '<', what.name(), depth, unit);
}

void function_trace::finish() {
  tracker_.finish();
  file_.finish();
}

}  // namespace dvp::cpu::trace
