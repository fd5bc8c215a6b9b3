// Platform-level interrupt controller: sources to harts (gen/spec/blocks/plic.json, RISC-V PLIC specification 1.0.0).
//
// Each source has a level gateway: while its line is high and no earlier request is under way, the gateway makes a
// request, which shows in `pending` and stays although the line falls. A read of `claim` takes the request of the best
// source of the context (pending, enabled there, of the highest priority above 0, then of the lowest number) and 0 when
// there is none; the threshold has no say. A write of the source's number to `claim` of a context that has it enabled
// completes it: the gateway looks at the line again and makes the next request if it is high. Other writes are ignored.
//
// The interrupt of context c is high while a pending source is enabled there with a priority above its threshold. It
// follows one delta cycle after what changes it.
//
// A driver clears the device before it completes, and some simulated time lies between the two register accesses on any
// bus with a latency: the gateway sees the device's line after it has fallen.
//
// Registers of contexts that there are not keep what is written and do nothing; their claim reads 0.
#pragma once

#include <array>
#include <cstdint>
#include <systemc>

#include "dvp_gen/plic_regs.h"
#include "tlm/core/register_target.h"

namespace dvp::plic {

class plic : public core::register_target {
 public:
  static constexpr std::uint32_t sources = gen::plic::source::count - 1;  // numbered from 1
  static constexpr std::uint32_t most_contexts = gen::plic::context::count;
  // A line that may be left open: it is low then.
  using input = sc_core::sc_port<sc_core::sc_signal_in_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;

  // contexts: 1 to most_contexts; another number is a fatal report with the module's name.
  plic(const sc_core::sc_module_name& name, std::uint32_t contexts);

  // One per context: machine mode of the hart of that number.
  sc_core::sc_vector<sc_core::sc_out<bool>> interrupt;

  // Line of source id, 1 to sources.
  input& source(std::uint32_t id) { return lines_.at(id - 1); }

 private:
  void attach_registers();
  void attach_context(std::uint32_t context);
  bool is_high(std::uint32_t id) const;
  void sample();
  void drive_interrupts();
  std::uint32_t best(std::uint32_t context, std::uint32_t threshold) const;
  void claim(std::uint32_t id);
  void complete(std::uint32_t context, std::uint32_t id);

  sc_core::sc_vector<input> lines_;
  sc_core::sc_event changed_;
  std::uint32_t pending_ = 0;     // bit i: source i
  std::uint32_t in_service_ = 0;  // claimed and not completed
};

}  // namespace dvp::plic
