#include "tlm/npu/work.h"

#include "tlm/npu/operands.h"
#include "tlm/npu/timing.h"

namespace dvp::npu {
namespace {

// The operands of a gemm that are read anew for every tile of tokens lie between x, the first, and out, the last.
std::uint64_t gemm_bytes(const npu_config& config, const descriptor_view& descriptor) {
  const std::uint64_t tokens = descriptor.as<gen::gemm_descriptor>().tokens;
  const std::uint64_t tiles = (tokens + config.array.columns - 1) / config.array.columns;
  const bool accumulate = descriptor.flag(gen::descriptor_flag::accumulate);
  const operand_list operands = operands_of(descriptor);
  const std::uint64_t x = operands.begin()->bytes();
  const std::uint64_t out = (operands.end() - 1)->bytes();
  const std::uint64_t streamed = port_bytes(descriptor) - x - out;
  return x + tiles * streamed + (accumulate ? 2 : 1) * out;
}

}  // namespace

work& work::operator+=(const work& other) {
  for (std::size_t i = 0; i < macs.size(); ++i) macs[i] += other.macs[i];
  vector_passes += other.vector_passes;
  sampling_elements += other.sampling_elements;
  scratchpad_bytes += other.scratchpad_bytes;
  return *this;
}

work work_of(const npu_config& config, const descriptor_view& descriptor) {
  work done;
  switch (descriptor.op()) {
    case gen::opcode::gemm: {
      const auto d = descriptor.as<gen::gemm_descriptor>();
      done.macs[static_cast<std::size_t>(d.header.tag_precision)] = gemm_macs(d);
      done.scratchpad_bytes = gemm_bytes(config, descriptor);
      return done;
    }
    case gen::opcode::vector:
    case gen::opcode::rebuild:
    case gen::opcode::update:
      done.vector_passes = vector_passes(config, descriptor);
      break;
    case gen::opcode::sample: {
      const auto d = descriptor.as<gen::sample_descriptor>();
      done.sampling_elements = std::uint64_t{d.rows} * d.columns;
      break;
    }
    default:
      break;
  }
  done.scratchpad_bytes = port_bytes(descriptor);
  return done;
}

}  // namespace dvp::npu
