// One request from its record to its result record.
#pragma once

#include <cstdint>

#include "dvp_gen/request.h"
#include "firmware/dllm/session.h"
#include "firmware/dllm/swap.h"
#include "firmware/drivers/npu.h"
#include "firmware/kernels/run_state.h"

namespace dvp::dllm {

// Everything large that a run needs. Placed by the program, so that nothing is allocated. What a run leaves here only
// saves the next one the time to make the same swap plan again.
struct decode_memory {
  kernels::config model;
  kernels::weights weights;
  kernels::run_state state;
  kernels::compressed_cache cache;
  kernels::anchored_ffn anchors;
  compression_run compression;
  swap_runtime swap;
};

// Runs the request at bus address `request_address` on the NPU at `npu_base` and tells `host` about progress. npu_line:
// the NPU's interrupt, open at its controller. converter_base: the memory's converter, looked at only by requests whose
// reads are narrowed. Writes the result record when the request names a usable one. When the
// run ends the NPU is disabled; after a failure it is reset too. A request for the engine cpu neither needs nor touches
// it. Every result_code is possible.
[[nodiscard]] gen::result_code decode(std::uint64_t request_address, std::uint64_t npu_base,
                                      drivers::interrupt_line npu_line, std::uint64_t converter_base,
                                      decode_memory& memory, observer& host);

}  // namespace dvp::dllm
