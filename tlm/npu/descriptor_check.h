// What the sequencer refuses before anything runs. Pure; no combination of field values overflows or faults.
#pragma once

#include <cstdint>

#include "dvp_gen/npu_regs.h"
#include "tlm/npu/descriptor_view.h"

namespace dvp::npu {

struct check_limits {
  std::uint32_t scratchpad_bytes = 0;
  std::uint32_t accumulator_vectors = 0;
  bool with_check_byte = false;  // the ring's descriptors carry one
};

// The first rule the descriptor breaks, in this order; none when it may run.
//   bad_check         a check byte that contradicts the rest, where there is one
//   bad_opcode        an opcode, or the function of a vector descriptor, that does not exist
//   bad_dependency    a wait distance above `index`, the number of descriptors before this one in its queue
//   bad_operand       header: unknown flag bits, flags of another opcode, a check byte where there is none, tag
//                     or purpose unknown
//                     shapes: a count of 0; more vectors than the accumulator holds; a group that does not divide the
//                     reduction, or is not the reduction with bf16; columns no multiple of 32 (dequantise) or of the
//                     even head length (rope); a precision the engine does not stream; a temperature below 0 or not
//                     finite; a gather with planes; a DMA of more bytes than the scratchpad has, with DRAM addresses
//                     that wrap, or with an unaligned list; a stage of no bytes, with addresses that wrap, with
//                     several rows or planes, or with fields it does not use that are not 0; token ids that wrap
//                     operands: an address or used stride that is no multiple of the element size; destination rows
//                     closer to each other than they are long
//   scratchpad_range  an operand that leaves the scratchpad
gen::npu::error_code check(const descriptor_view& descriptor, std::uint64_t index, const check_limits& limits);

}  // namespace dvp::npu
