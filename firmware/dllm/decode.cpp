#include "firmware/dllm/decode.h"

#include "firmware/dllm/converter_views.h"
#include "firmware/dllm/dual_path.h"
#include "firmware/dllm/fast_dllm_v2.h"
#include "firmware/dllm/image.h"
#include "firmware/dllm/llada.h"
#include "firmware/dllm/profile.h"
#include "firmware/dllm/request.h"
#include "firmware/hal/hal.h"

namespace dvp::dllm {
namespace {

using drivers::npu_code;
using gen::result_code;

// bf16 one and zero; exact.
constexpr std::uint16_t one = 0x3f80;

void write_identity(std::uint64_t address) {
  const auto elements = hal::objects<std::uint16_t>(address, kernels::weight_group * kernels::weight_group);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    elements[i] = i % (kernels::weight_group + 1) == 0 ? one : 0;
  }
}

struct npu_side {
  drivers::npu npu;
  drivers::npu_window window;
  swap_policies swap;
};

// Rows that are stored or anchored are one tile.
void describe(const compression_request& compression, const kernels::kv_store& store, std::uint32_t block_length,
              const kernels::channel_weights& channels, kernels::plan_request& wanted) {
  if (compression.any() && wanted.tile_rows == 0) {
    wanted.tile_rows = block_length;
  }
  wanted.store_entries = store.capacity;
  wanted.store_rank = store.rank;
  wanted.anchored = compression.anchors();
  if (compression.anchors() && compression.record.correction_rank != 0) {
    wanted.correction_rank = channels.correction_q4_outputs.columns;
  }
}

result_code start_npu(const gen::request_record& request, const work_layout& work,
                      const compression_request& compression, std::uint64_t npu_base, decode_memory& memory,
                      npu_side& side) {
  drivers::npu& npu = side.npu;
  if (npu.probe(npu_base) != npu_code::ok) {
    return result_code::npu_absent;
  }
  side.window.open(npu_base, request.watchdog_us);
  if (side.window.present()) {
    const swapped_run run{request, work, compression, memory.model, memory.weights, memory.anchors, memory.state};
    const result_code code = memory.swap.plan(run, side.window, side.swap);
    if (code != result_code::ok) {
      return code;
    }
    npu.see_memory_from(memory.swap.memory_base());
  } else if (request.swap != gen::swap_policy::none) {
    return result_code::bad_request;
  }
  return npu.start(work.ring, work.records, ring_entries, request.watchdog_us) == npu_code::ok
             ? result_code::ok
             : result_code::bad_request;
}

// The NPU has everything it needs to reach what is kept.
void start_compression(const gen::request_record& request, const request_buffers& buffers, const work_layout& work,
                       decode_memory& memory) {
  const compression_request& compression = buffers.compression;
  kernels::run_state& state = memory.state;
  state.compressed = compression.stores() ? &memory.cache : nullptr;
  state.anchors = compression.anchors() ? &memory.anchors : nullptr;
  memory.compression.start(compression, work.compression, memory.model,
                           static_cast<std::uint32_t>(sequence_length(request)), request.block_length, state);
}

// Everything between an accepted image and the first forward.
result_code prepare(const gen::request_record& request, const request_buffers& buffers, std::uint64_t npu_base,
                    std::uint64_t converter_base, decode_memory& memory, npu_side& side, work_layout& work) {
  drivers::npu& npu = side.npu;
  kernels::run_state& state = memory.state;
  result_code code = place_run(request, buffers, memory.model, work, state.cache);
  if (code != result_code::ok) {
    return code;
  }
  state.tokens = request.tokens_address;
  state.results = work.results;
  state.residual = work.residual;
  state.identity = work.identity;
  state.engine = work.engine;
  if (request.engine == gen::forward_engine::cpu) {
    state.plan.tile_rows = kernels::cpu_panel_rows;
    return result_code::ok;
  }
  const compression_request& compression = buffers.compression;
  if (compression.anchors() && !has_channels(memory.model, memory.anchors.layers, compression.record.correction_rank)) {
    return result_code::bad_image;
  }
  code = start_npu(request, work, compression, npu_base, memory, side);
  if (code != result_code::ok) {
    return code;
  }
  code = set_views(compression, converter_base, memory.model.layers, memory.anchors);
  if (code != result_code::ok) {
    npu.reset();
    return code;
  }
  state.limits = npu.limits();
  state.stream.start(npu, ring_entries);
  kernels::plan_request wanted =
      kernels::request_plan(memory.model, memory.weights, request.row_tile,
                            static_cast<std::uint32_t>(sequence_length(request)), state.stream.granule_bytes());
  describe(compression, work.compression.store, request.block_length, memory.anchors.layers[0], wanted);
  if (wanted.identity) {
    write_identity(work.identity);
  }
  if (!kernels::plan_scratchpad(memory.model, state.limits, wanted, state.plan)) {
    npu.reset();
    return result_code::scratchpad_too_small;
  }
  if (side.window.present()) {
    memory.swap.start(state, wanted.identity);
  }
  start_compression(request, buffers, work, memory);
  return result_code::ok;
}

// Which error it was, into the result; the code that tells it.
result_code explain(const drivers::npu_fault& fault, gen::result_record& result) {
  result.npu_error = static_cast<std::uint32_t>(fault.error);
  result.npu_error_index = fault.index;
  result.fault_address = fault.address;
  return fault.error == gen::npu::error_code::memory_error ? result_code::memory_error : result_code::npu_error;
}

result_code run_loop(session& s, const work_layout& work) {
  switch (s.request().loop) {
    case gen::decode_loop::llada:
    case gen::decode_loop::fast_dllm_v1:
      return s.request().visibility > 0 ? run_dual_path(s, work) : run_llada(s);
    case gen::decode_loop::fast_dllm_v2:
      return run_fast_dllm_v2(s);
    case gen::decode_loop::profile:
      return run_profile(s);
  }
  return result_code::bad_request;
}

result_code run(const gen::request_record& request, const request_buffers& buffers, std::uint64_t npu_base,
                drivers::interrupt_line npu_line, std::uint64_t converter_base, decode_memory& memory, observer& host) {
  npu_side side{drivers::npu(npu_line), drivers::npu_window(npu_line), {}};
  drivers::npu& npu = side.npu;
  work_layout work;
  result_code code = read_image(request.image_address, memory.model, memory.weights, memory.anchors.layers);
  if (code == result_code::ok) {
    code = prepare(request, buffers, npu_base, converter_base, memory, side, work);
  }
  gen::result_record& result = *buffers.result;
  result = {};
  result.code = code;
  memory.swap.report(result);
  if (code == result_code::ok) {
    session s(request, memory.model, memory.weights, memory.state, buffers.tokens, result, *buffers.progress, host);
    if (buffers.compression.any()) {
      s.compress(memory.compression);
    }
    s.report(gen::progress_kind::started, {}, 0, request.prompt_tokens);
    code = run_loop(s, work);
    if (code == result_code::npu_error) {
      code = explain(npu.fault(), result);
    }
    result.code = code;
    if (buffers.compression.any()) {
      memory.compression.report();
    }
    memory.swap.finish(memory.state, result);
    memory.swap.report(result);
    s.report(gen::progress_kind::finished, {}, 0, result.total_tokens);
    if (request.engine == gen::forward_engine::cpu) {
      return code;
    }
    // What is copied ahead of a forward that never comes may fail too.
    if (code == result_code::ok && memory.state.stream.status() == npu_code::ok) {
      npu.disable();
    } else {
      npu.reset();
    }
  }
  return code;
}

}  // namespace

result_code decode(std::uint64_t request_address, std::uint64_t npu_base, drivers::interrupt_line npu_line,
                   std::uint64_t converter_base, decode_memory& memory, observer& host) {
  const auto requests = hal::objects<gen::request_record>(request_address, 1);
  if (requests.empty()) {
    return result_code::bad_request;
  }
  // The record is main memory, which others write: what is checked is what the run then goes by.
  const gen::request_record request = requests[0];
  request_buffers buffers;
  const result_code code = check_request(request, request_address, buffers);
  if (code != result_code::ok) {
    const auto results = hal::objects<gen::result_record>(request.result_address, 1);
    if (!results.empty()) {
      results[0] = {};
      results[0].code = code;
    }
    return code;
  }
  memory.state = {};
  memory.swap.clear();
  return run(request, buffers, npu_base, npu_line, converter_base, memory, host);
}

}  // namespace dvp::dllm
