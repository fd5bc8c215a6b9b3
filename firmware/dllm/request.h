// Reads a request (gen/spec/formats/request.json) and finds room for everything the run needs.
#pragma once

#include <cstdint>
#include <span>

#include "dvp_gen/request.h"
#include "firmware/dllm/compression.h"
#include "firmware/dllm/compression_space.h"
#include "firmware/kernels/model.h"
#include "firmware/kernels/run_state.h"

namespace dvp::dllm {

// The CPU's views of the request's buffers.
struct request_buffers {
  std::span<std::uint32_t> tokens;  // [tokens_capacity]
  gen::result_record* result = nullptr;
  gen::progress_record* progress = nullptr;
  compression_request compression;
};

// Where the parts of the work buffer lie; bus addresses. A compressed cache may be in the cache's buffer.
struct work_layout {
  std::uint64_t ring = 0;
  std::uint64_t records = 0;  // of completion, as many as the ring has entries
  std::uint64_t results = 0;
  std::uint64_t identity = 0;
  std::uint64_t residual = 0;
  kernels::cpu_workspace engine;         // forward_engine::cpu only
  kernels::cpu_workspace cpu_workspace;  // with revisions: of their passes, all layers kept
  std::uint64_t revision_entries = 0;    // with a visibility: one per position to generate
  std::uint64_t shadow_kv = 0;           // with revisions: a second cache, as large as the first
  compression_space compression;
  std::uint64_t npu_end = 0;  // the NPU uses what is from the ring to here
  std::uint64_t end = 0;      // from here on the work buffer is free
};

inline constexpr std::uint32_t ring_entries = 512;

// What can be said without the model: version, loop, flags, numbers, and that the buffers are main memory, aligned and
// apart from one another and from the record itself. request: a copy of the record at bus address `address` that nobody
// else writes. Codes: ok, bad_request.
[[nodiscard]] gen::result_code check_request(const gen::request_record& request, std::uint64_t address,
                                             request_buffers& buffers);

// What depends on the model: the loop suits its attention, the prompt's tokens exist, sequence, cache and activations
// fit. Codes: ok, bad_request, too_long.
[[nodiscard]] gen::result_code place_run(const gen::request_record& request, const request_buffers& buffers,
                                         const kernels::config& model, work_layout& work, kernels::kv_cache& cache);

// Positions that may come to hold a token, masks included: prompt and answer; fast_dllm_v2 up to the end of the
// answer's last block.
std::uint64_t sequence_length(const gen::request_record& request);

}  // namespace dvp::dllm
