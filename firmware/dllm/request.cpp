#include "firmware/dllm/request.h"

#include <algorithm>
#include <array>
#include <limits>

#include "firmware/dllm/alignment.h"
#include "firmware/dllm/commit.h"
#include "firmware/dllm/drafts.h"
#include "firmware/dllm/revision.h"
#include "firmware/dllm/session.h"
#include "firmware/hal/hal.h"

namespace dvp::dllm {
namespace {

using gen::cache_mode;
using gen::commit_rule;
using gen::decode_loop;
using gen::request_record;
using gen::result_code;

constexpr std::uint32_t most_row_tile = 256;
constexpr std::uint32_t most_edit_steps = 64;
constexpr std::uint32_t most_draft_trigger = 64;
constexpr std::uint32_t most_sweep_steps = 64;
constexpr std::uint32_t most_retries = 100;
constexpr std::uint16_t known_flags = gen::request_flag::threshold_inclusive | gen::request_flag::allow_mask |
                                      gen::request_flag::stop_at_end | gen::request_flag::clear_cache |
                                      gen::request_flag::revision_wait;

// Neither negative nor NaN nor infinite.
bool amount(float value) {
  return value >= 0 && value <= std::numeric_limits<float>::max();
}

// Steps for every block alike.
bool good_steps(const request_record& r) {
  return r.generate_tokens % r.block_length == 0 && r.steps != 0 && r.steps % (r.generate_tokens / r.block_length) == 0;
}

bool bidirectional(decode_loop loop) {
  return loop != decode_loop::fast_dllm_v2;
}

// The rule is one that the loop knows, and its number can be used.
bool good_rule(const request_record& r) {
  if (r.loop == decode_loop::profile) {
    return r.rule == commit_rule::by_loop;
  }
  switch (r.rule) {
    case commit_rule::by_loop:
      return r.loop == decode_loop::llada ? good_steps(r) : amount(r.threshold);
    case commit_rule::count:
      return r.loop != decode_loop::fast_dllm_v2 && good_steps(r);
    case commit_rule::threshold:
      return r.loop != decode_loop::llada && amount(r.threshold);
    case commit_rule::factor:
      return r.loop != decode_loop::llada && amount(r.factor);
  }
  return false;
}

bool good_cache(const request_record& r) {
  const bool clears = (r.flags & gen::request_flag::clear_cache) != 0;
  switch (r.cache) {
    case cache_mode::none:
      return !clears;
    case cache_mode::prefix:
    case cache_mode::dual:
      return r.loop == decode_loop::fast_dllm_v1;
  }
  return false;
}

bool good_edits(const request_record& r) {
  return amount(r.edit_threshold) && r.edit_steps <= most_edit_steps &&
         (r.edit_threshold == 0 || bidirectional(r.loop));
}

bool good_latencies(const request_record& r) {
  if (r.latency_entries > most_latency_entries) {
    return false;
  }
  const auto entries = hal::objects<gen::latency_entry>(r.latency_address, r.latency_entries);
  if (entries.size() != r.latency_entries) {
    return false;
  }
  gen::latency_entry before;
  for (const gen::latency_entry& entry : entries) {
    if (entry.rows <= before.rows || entry.ns < before.ns) {
      return false;
    }
    before = entry;
  }
  return true;
}

bool good_drafts(const request_record& r) {
  return r.draft_trigger <= most_draft_trigger && r.draft_look_ahead <= most_look_ahead && amount(r.draft_threshold) &&
         (r.draft_trigger == 0 || r.cache == cache_mode::dual || r.loop == decode_loop::fast_dllm_v2) &&
         good_latencies(r);
}

bool good_engine(const request_record& r) {
  switch (r.swap) {
    case gen::swap_policy::none:
    case gen::swap_policy::naive:
    case gen::swap_policy::lru:
    case gen::swap_policy::somr:
      break;
    default:
      return false;
  }
  if (r.engine != gen::forward_engine::npu && r.engine != gen::forward_engine::cpu) {
    return false;
  }
  const auto plan = hal::objects<gen::swap_plan_entry>(r.plan_address, r.plan_entries);
  return plan.size() == r.plan_entries;
}

// Without visibility every other field of it is 0.
bool good_revision(const request_record& r) {
  const bool waits = (r.flags & gen::request_flag::revision_wait) != 0;
  if (r.revision_order != gen::revision_choice::oldest && r.revision_order != gen::revision_choice::low_confidence) {
    return false;
  }
  if (r.visibility == 0) {
    return !waits && r.stability == 0 && r.revisions == 0 && r.refresh_first_layer == 0 && r.refresh_layers == 0 &&
           r.sweep_steps == 0 && r.revision_order == gen::revision_choice::oldest;
  }
  return amount(r.visibility) && amount(r.stability) && r.visibility <= r.stability && r.revisions <= most_revisions &&
         r.sweep_steps <= most_sweep_steps && r.cache == cache_mode::dual && r.edit_threshold == 0 &&
         (r.flags & gen::request_flag::clear_cache) == 0;
}

// Nothing is generated, and every entry's rows are positions of the prompt and can all be asked at once.
bool good_profile(const request_record& r) {
  const auto entries = hal::objects<gen::latency_entry>(r.latency_address, r.latency_entries);
  return r.generate_tokens == 0 && r.edit_threshold == 0 && !entries.empty() &&
         entries.back().rows <= r.prompt_tokens && entries.back().rows <= most_logits_rows;
}

bool good_numbers(const request_record& r) {
  if (r.version != gen::request_version || (r.flags & ~known_flags) != 0 || r.prompt_tokens == 0 ||
      (r.generate_tokens == 0) != (r.loop == decode_loop::profile) || r.retries > most_retries || r.block_length == 0 ||
      r.block_length > most_block_length || !amount(r.temperature) || r.row_tile > most_row_tile || r.unused0 != 0 ||
      std::any_of(std::begin(r.unused), std::end(r.unused), [](auto u) { return u != 0; }) || !good_rule(r) ||
      !good_cache(r) || !good_edits(r) || !good_drafts(r) || !good_engine(r) || !good_revision(r)) {
    return false;
  }
  switch (r.loop) {
    case decode_loop::llada:
    case decode_loop::fast_dllm_v1:
      return r.generate_tokens % r.block_length == 0;
    case decode_loop::fast_dllm_v2:
      return r.sub_block_length != 0 && r.block_length % r.sub_block_length == 0;
    case decode_loop::profile:
      return good_profile(r);
  }
  return false;
}

struct extent {
  std::uint64_t address;
  std::uint64_t bytes;
};

bool apart(const extent& a, const extent& b) {
  return a.address + a.bytes <= b.address || b.address + b.bytes <= a.address;
}

bool good_buffers(const request_record& r, std::uint64_t address, const compression_request& compression) {
  constexpr std::size_t required = 6;  // the others may be empty
  const gen::compression_record& c = compression.record;
  const std::array<extent, 10> extents = {
      {{address, sizeof(request_record)},
       {r.tokens_address, std::uint64_t{4} * r.tokens_capacity},
       {r.kv_address, r.kv_bytes},
       {r.work_address, r.work_bytes},
       {r.result_address, sizeof(gen::result_record)},
       {r.progress_address, sizeof(gen::progress_record)},
       {r.latency_address, std::uint64_t{r.latency_entries} * sizeof(gen::latency_entry)},
       {r.plan_address, std::uint64_t{r.plan_entries} * sizeof(gen::swap_plan_entry)},
       {r.compression_address, r.compression_address != 0 ? sizeof(gen::compression_record) : 0},
       {c.statistics_address, compression.statistics.size_bytes()}}};
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (extents[i].bytes == 0 && i >= required) {
      continue;
    }
    if (extents[i].bytes == 0 || hal::memory(extents[i].address, extents[i].bytes) == nullptr) {
      return false;
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (extents[j].bytes != 0 && !apart(extents[i], extents[j])) {
        return false;
      }
    }
  }
  return r.kv_address % alignment == 0 && r.work_address % alignment == 0;
}

}  // namespace

std::uint64_t sequence_length(const request_record& r) {
  const std::uint64_t length = std::uint64_t{r.prompt_tokens} + r.generate_tokens;
  return bidirectional(r.loop) ? length : (length + r.block_length - 1) / r.block_length * r.block_length;
}

result_code check_request(const request_record& request, std::uint64_t address, request_buffers& buffers) {
  if (!good_numbers(request) || read_compression(request, buffers.compression) != result_code::ok ||
      !good_buffers(request, address, buffers.compression)) {
    return result_code::bad_request;
  }
  buffers.tokens = hal::objects<std::uint32_t>(request.tokens_address, request.tokens_capacity);
  const auto results = hal::objects<gen::result_record>(request.result_address, 1);
  const auto progress = hal::objects<gen::progress_record>(request.progress_address, 1);
  if (buffers.tokens.empty() || results.empty() || progress.empty()) {
    return result_code::bad_request;
  }
  buffers.result = &results[0];
  buffers.progress = &progress[0];
  return result_code::ok;
}

result_code place_run(const request_record& request, const request_buffers& buffers, const kernels::config& model,
                      work_layout& work, kernels::kv_cache& cache) {
  const bool block_causal = request.loop == decode_loop::fast_dllm_v2;
  if (model.block_causal != block_causal || (block_causal && !model.shift_logits)) {
    return result_code::bad_request;
  }
  if (request.visibility > 0 && (request.refresh_first_layer >= model.layers ||
                                 request.refresh_layers > model.layers - request.refresh_first_layer)) {
    return result_code::bad_request;
  }
  if (!suits(buffers.compression, model)) {
    return result_code::bad_request;
  }
  const std::uint64_t length = sequence_length(request);
  if (length > model.context || length > buffers.tokens.size()) {
    return result_code::too_long;
  }
  for (const std::uint32_t token : buffers.tokens.first(request.prompt_tokens)) {
    if (token >= model.vocabulary) {
      return result_code::bad_request;
    }
  }

  // Feature rows of values start aligned where there is room for that. Beside a store, only rows in work are cached.
  const std::uint64_t cached = buffers.compression.stores() ? request.block_length : length;
  cache = {.address = request.kv_address, .capacity = static_cast<std::uint32_t>(align_up(cached))};
  if (cache.bytes(model) > request.kv_bytes) {
    cache.capacity = static_cast<std::uint32_t>(cached);
  }
  if (cache.bytes(model) > request.kv_bytes) {
    return result_code::too_long;
  }

  const std::uint64_t most_rows = bidirectional(request.loop) ? length : request.block_length;
  work.ring = request.work_address;
  work.records = work.ring + std::uint64_t{ring_entries} * gen::descriptor_bytes;
  work.results = work.records + std::uint64_t{ring_entries} * sizeof(gen::completion_record);
  work.identity = work.results + align_up(std::uint64_t{most_logits_rows} * sizeof(gen::sample_record));
  work.residual = work.identity + align_up(2 * kernels::weight_group * kernels::weight_group);
  std::uint64_t end = work.residual + align_up(most_rows * model.width * sizeof(float));
  work.npu_end = end;
  const auto place = [&](std::uint64_t rows, std::uint32_t kept_layers) {
    const kernels::cpu_workspace space{.address = end,
                                       .rows = static_cast<std::uint32_t>(rows),
                                       .keys = static_cast<std::uint32_t>(length),
                                       .kept_layers = kept_layers};
    end += space.bytes(model);
    return space;
  };
  if (request.engine == gen::forward_engine::cpu) {
    work.engine = place(most_rows, 0);
  }
  if (request.revisions != 0) {
    // With shifted logits each revision also works on the row that predicts it.
    work.cpu_workspace = place(std::uint64_t{request.revisions} * (model.shift_logits ? 2 : 1), model.layers);
    work.shadow_kv = end;
    end += align_up(cache.bytes(model));
  }
  if (request.visibility > 0) {
    work.revision_entries = end;
    end += std::uint64_t{request.generate_tokens} * sizeof(revision_entry);
  }
  free_memory rest{.next = end, .end = request.work_address + request.work_bytes};
  free_memory behind_cache{.next = align_up(request.kv_address + cache.bytes(model)),
                           .end = request.kv_address + request.kv_bytes};
  const bool fits = place_compression(buffers.compression, model, static_cast<std::uint32_t>(length),
                                      request.retries != 0, behind_cache, rest, work.compression);
  work.end = rest.next;
  return fits ? result_code::ok : result_code::too_long;
}

}  // namespace dvp::dllm
