#include "tlm/platform/simulate.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iomanip>
#include <sstream>

#include "tlm/platform/interruption.h"
#include "tlm/platform/rv64_seat.h"

namespace dvp::platform {

namespace {

constexpr unsigned mepc = 0x341, mcause = 0x342, mtval = 0x343;

std::string hexadecimal(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

// "0x80001234 (main+0x10)"
std::string place(std::uint64_t pc, const core::symbol_table& symbols) {
  const std::string address = hexadecimal(pc);
  const std::string name = symbols.locate(pc);
  return name == address ? address : name + " (" + address + ")";
}

// Names every "pc 0x..." of a sentence.
std::string with_names(const std::string& sentence, const core::symbol_table& symbols) {
  constexpr std::string_view mark = "pc 0x";
  std::string text;
  std::size_t from = 0;
  for (std::size_t at = 0; (at = sentence.find(mark, from)) != std::string::npos;) {
    const std::size_t digits = at + mark.size();
    const std::size_t end = std::min(sentence.find_first_not_of("0123456789abcdef", digits), sentence.size());
    text += sentence.substr(from, at + 3 - from);
    text += place(std::strtoull(sentence.substr(digits, end - digits).c_str(), nullptr, 16), symbols);
    from = end;
  }
  return text + sentence.substr(from);
}

std::string now() {
  std::ostringstream text;
  text << std::fixed << std::setprecision(3) << "at " << sc_core::sc_time_stamp().to_seconds() * 1e6 << " us";
  return text.str();
}

// Where every hart is.
std::string whereabouts(const platform& chip, const core::symbol_table& symbols) {
  std::string text;
  if (chip.rv64 == nullptr) return text;
  for (std::uint32_t h = 0; h < chip.rv64->harts(); ++h) {
    const auto& hart = chip.rv64->hart(h);
    text += (h == 0 ? "; hart " : ", hart ") + std::to_string(h) + (hart.asleep() ? " asleep in " : " in ") +
            place(hart.core().pc(), symbols);
  }
  return text;
}

const char* name_of_cause(std::uint64_t cause) {
  constexpr std::uint64_t interrupt = std::uint64_t{1} << 63;
  switch (cause) {
    case interrupt | 3:
      return "software interrupt";
    case interrupt | 7:
      return "timer interrupt";
    case interrupt | 11:
      return "external interrupt";
    case 0:
      return "misaligned fetch";
    case 1:
      return "instruction access fault";
    case 2:
      return "illegal instruction";
    case 3:
      return "breakpoint";
    case 4:
      return "misaligned load";
    case 5:
      return "load access fault";
    case 6:
      return "misaligned store";
    case 7:
      return "store access fault";
    case 11:
      return "environment call";
    default:
      return "trap";
  }
}

}  // namespace

simulation_end simulate(std::optional<std::uint64_t> limit_us) {
  // In steps, which change nothing for the models: signals are looked for between them.
  const sc_core::sc_time between_looks(10, sc_core::SC_US);
  const sc_core::sc_time limit =
      limit_us ? sc_core::sc_time(static_cast<double>(*limit_us), sc_core::SC_US) : sc_core::sc_max_time();
  const interruption signals;
  sc_core::sc_time step = between_looks;
  bool stopped = false;
  bool goes_on = true;
  bool limit_reached = false;
  do {
    sc_core::sc_start(std::min(step, limit - sc_core::sc_time_stamp()), sc_core::SC_EXIT_ON_STARVATION);
    stopped = sc_core::sc_get_status() == sc_core::SC_STOPPED;
    goes_on = sc_core::sc_pending_activity();
    const sc_core::sc_time to_next = sc_core::sc_time_to_pending_activity();
    step = std::max(between_looks, to_next);
    // Time stands at the last event, which may be before the limit with the next one beyond it.
    limit_reached = sc_core::sc_time_stamp() >= limit || to_next > limit - sc_core::sc_time_stamp();
  } while (!stopped && goes_on && !interruption::asked() && !limit_reached);
  // The end of the simulation is where models write their last figures and slices.
  if (!stopped) sc_core::sc_stop();
  if (interruption::asked()) return simulation_end::interrupted;
  if (stopped) return simulation_end::stopped;
  return goes_on ? simulation_end::time_limit : simulation_end::nothing_left;
}

std::string cpu_trouble(platform& chip, simulation_end how, const core::symbol_table& symbols,
                        std::optional<std::uint64_t> limit_us) {
  if (const std::string fault = chip.cpu->fault(); !fault.empty()) return with_names(fault, symbols);
  if (chip.finished()) {
    switch (chip.finished()->outcome) {
      case gen::finisher::outcome::pass:
        return {};
      case gen::finisher::outcome::fail:
        return "the program failed " + now() + " with code " + std::to_string(chip.finished()->code) +
               trap_in_hand(chip, symbols);
      case gen::finisher::outcome::reset:
        return "the program asked for a reset " + now() + ", which ends the run";
    }
  }
  switch (how) {
    case simulation_end::stopped:
      return {};
    case simulation_end::time_limit:
      return "the time limit" + (limit_us ? " of " + std::to_string(*limit_us) + " us" : std::string()) +
             " ended the run; the last event was " + now() + whereabouts(chip, symbols);
    case simulation_end::interrupted:
      return interruption::name() + " ended the run " + now() + whereabouts(chip, symbols);
    case simulation_end::nothing_left:
      return "the simulation ended " + now() + " because the CPU waits for something that never comes" +
             whereabouts(chip, symbols);
  }
  return {};
}

std::string trap_in_hand(platform& chip, const core::symbol_table& symbols) {
  if (chip.rv64 == nullptr) return {};
  for (std::uint32_t h = 0; h < chip.rv64->harts(); ++h) {
    auto& hart = chip.rv64->hart(h).core();
    if (!hart.in_trap()) continue;
    const std::uint64_t cause = hart.csr(mcause).value_or(0);
    return "; hart " + std::to_string(h) + ": " + name_of_cause(cause) + " at pc " +
           place(hart.csr(mepc).value_or(0), symbols) + ", value " + hexadecimal(hart.csr(mtval).value_or(0));
  }
  return {};
}

}  // namespace dvp::platform
