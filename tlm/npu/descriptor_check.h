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
//   bad_operand       header: unknown flag bits, flags of another opcode or vector function, a check byte where there
//   is
//                     none, tag or purpose unknown, a function or mode bits where there are none or none such
//                     shapes: a count of 0, the limit of a rebuild and the rows of a state or a gathered source
//                     included; more vectors than the accumulator holds; a group that does not divide the reduction,
//                     or is not the reduction with bf16 or unscaled codes; scaled codes of more than gemm_most_groups;
//                     unscaled or half_step of a format that has none; columns no multiple of 32 (dequantise), of the
//                     even head length (rope) or of 2 (rebuild); a rank above most_rank; a base of encode that is
//                     neither there nor not; a second destination of a function that has none; a precision the engine
//                     does not stream; a temperature below 0 or not finite; a gather with planes; a DMA of more bytes
//                     than the scratchpad has, with DRAM addresses that wrap, or with an unaligned list; a store
//                     tagged q4 or q2, a load or gather tagged so of a view number no table has, or whose address or
//                     used strides in DRAM are no multiple of the stored bytes behind a delivered one, and any other
//                     DMA with a view number; a stage of no bytes, with addresses that wrap, with several rows or
//                     planes, or with fields it does not use that are not 0; token ids that wrap
//                     operands: an address or used stride that is no multiple of the element size; destination rows
//                     closer to each other than they are long
//   scratchpad_range  an operand that leaves the scratchpad
gen::npu::error_code check(const descriptor_view& descriptor, std::uint64_t index, const check_limits& limits);

}  // namespace dvp::npu
