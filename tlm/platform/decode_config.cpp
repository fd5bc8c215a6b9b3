#include "tlm/platform/decode_config.h"

#include "tlm/platform/files.h"

namespace dvp::platform {

namespace {

using nlohmann::ordered_json;

// The value called `name`; the schema lets only known names through.
template <class Enum>
Enum value_of(const std::string& name, std::initializer_list<Enum> values) {
  for (const Enum value : values) {
    if (name == gen::name_of(value)) return value;
  }
  throw usage_error(name + ": is not a name that the request knows");
}

// A list of pairs, or the name of a file with them.
void read_latencies(const ordered_json& latency, const std::string& file, decode_config& c) {
  if (latency.is_string()) {
    c.latency_file = latency;
    return;
  }
  latency_stairs only;
  for (const auto& pair : latency) only.entries.push_back({pair[0].get<std::uint32_t>(), pair[1].get<std::uint32_t>()});
  require_rising(only.entries, file + ": decode.mbsd.latency");
  if (!only.entries.empty()) c.latencies.push_back(std::move(only));
}

void read_revision(const ordered_json& dppr, decode_config& c) {
  c.visibility = dppr["visibility"];
  c.stability = dppr["stability"];
  c.revisions = dppr["revisions"];
  c.revision_order = value_of(dppr["order"], {gen::revision_choice::oldest, gen::revision_choice::low_confidence});
  c.refresh_first_layer = dppr["refresh"]["first_layer"];
  c.refresh_layers = dppr["refresh"]["layers"];
  c.sweep_steps = dppr["sweep_steps"];
  c.revision_wait = dppr["wait"];
}

// Compression is the NPU's, in the loop of block-causal models.
void refuse_with_compression(const decode_config& c, const std::string& file) {
  const auto refuse = [&](const std::string& key, const std::string& remedy) {
    throw usage_error(file + ": decode." + key + " and decode.compression." +
                      (c.compression.kv != gen::kv_format::bf16
                           ? "kv " + std::string(gen::name_of(c.compression.kv))
                           : "ffn " + std::string(gen::name_of(c.compression.ffn))) +
                      " do not go together; " + remedy + ", or compression off (kv bf16, ffn whole)");
  };
  if (c.engine == gen::forward_engine::cpu) refuse("engine cpu", "set the engine to npu");
  if (c.fast_dllm_v1) refuse("loop fast_dllm_v1", "set the loop to model");
}

}  // namespace

decode_config decode_from(const ordered_json& json, const std::string& file) {
  decode_config c;
  c.row_tile = json["row_tile"];
  c.watchdog_us = json["watchdog_us"];
  c.fast_dllm_v1 = json["loop"] == "fast_dllm_v1";
  c.cache = value_of(json["cache"], {gen::cache_mode::none, gen::cache_mode::prefix, gen::cache_mode::dual});
  c.rule = value_of(json["rule"], {gen::commit_rule::by_loop, gen::commit_rule::count, gen::commit_rule::threshold,
                                   gen::commit_rule::factor});
  c.factor = json["factor"];
  c.edit_threshold = json["edit"]["threshold"];
  c.edit_steps = json["edit"]["steps"];
  const ordered_json& mbsd = json["mbsd"];
  c.draft_trigger = mbsd["trigger"];
  c.draft_look_ahead = mbsd["look_ahead"];
  c.draft_threshold = mbsd["threshold"];
  read_latencies(mbsd["latency"], file, c);
  c.engine = value_of(json["engine"], {gen::forward_engine::npu, gen::forward_engine::cpu});
  c.swap = value_of(json["swap"],
                    {gen::swap_policy::none, gen::swap_policy::naive, gen::swap_policy::lru, gen::swap_policy::somr});
  c.retries = json["retries"];
  read_revision(json["dppr"], c);
  c.compression = compression_from(json["compression"], file);
  if (c.compression.any()) refuse_with_compression(c, file);
  if (c.cache != gen::cache_mode::none && !c.fast_dllm_v1) {
    throw usage_error(
        file + ": decode.cache: only the loop fast_dllm_v1 has one; set decode.loop too, and use --model tiny-llada");
  }
  if (c.draft_trigger != 0 && c.fast_dllm_v1 && c.cache != gen::cache_mode::dual) {
    throw usage_error(file +
                      ": decode.mbsd.trigger: with decode.loop fast_dllm_v1, drafts need decode.cache dual; set that "
                      "too, or the trigger to 0");
  }
  if (c.visibility > 0 && c.cache != gen::cache_mode::dual) {
    throw usage_error(
        file +
        ": decode.dppr.visibility: staged stabilisation needs decode.loop fast_dllm_v1 and decode.cache dual; "
        "set those too, or the visibility to 0");
  }
  if (c.visibility > 0 && c.edit_threshold > 0) {
    throw usage_error(file +
                      ": decode.dppr.visibility: staged stabilisation and decode.edit are two ways to change a token; "
                      "set one of them to 0");
  }
  if (c.visibility > c.stability) {
    throw usage_error(file + ": decode.dppr.stability: is below decode.dppr.visibility; no token would stay visible");
  }
  return c;
}

void require_rising(const std::vector<gen::latency_entry>& entries, const std::string& where) {
  for (std::size_t i = 1; i < entries.size(); ++i) {
    if (entries[i].rows > entries[i - 1].rows && entries[i].ns >= entries[i - 1].ns) continue;
    throw usage_error(where + ": [" + std::to_string(entries[i].rows) + ", " + std::to_string(entries[i].ns) +
                      "] does not follow the pair before it; give rising rows and times that do not fall");
  }
}

const std::vector<gen::latency_entry>& latencies_for(const decode_config& config, std::uint64_t positions) {
  static const std::vector<gen::latency_entry> none;
  for (const auto& table : config.latencies) {
    if (table.keys >= positions) return table.entries;
  }
  return config.latencies.empty() ? none : config.latencies.back().entries;
}

void refuse_unfit(const decode_config& c, bool block_causal, const std::string& model) {
  const auto refuse = [&](const std::string& key, const std::string& why) {
    throw usage_error("decode." + key + ": " + why + "; " + model + " is " +
                      (block_causal ? "block-causal; use --model tiny-llada" : "bidirectional"));
  };
  using gen::commit_rule;
  const bool counts = c.rule == commit_rule::count;
  if (block_causal) {
    if (c.fast_dllm_v1) refuse("loop", "fast_dllm_v1 is for bidirectional models");
    if (c.edit_threshold > 0) refuse("edit.threshold", "editing is for bidirectional models");
    if (counts) refuse("rule", "count is for bidirectional models");
  } else if (!c.fast_dllm_v1 && !counts && c.rule != commit_rule::by_loop) {
    refuse("rule", std::string(gen::name_of(c.rule)) + " needs decode.loop fast_dllm_v1");
  }
}

void apply_platform(const decode_config& c, gen::request_record& request) {
  request.row_tile = c.row_tile;
  request.watchdog_us = c.watchdog_us;
  request.engine = c.engine;
  request.swap = c.swap;
  request.retries = static_cast<std::uint16_t>(c.retries);
}

void apply(const decode_config& c, bool block_causal, std::uint64_t latency_address, gen::request_record& request) {
  request.loop = block_causal     ? gen::decode_loop::fast_dllm_v2
                 : c.fast_dllm_v1 ? gen::decode_loop::fast_dllm_v1
                                  : gen::decode_loop::llada;
  // The published loop commits at the threshold too.
  if (c.fast_dllm_v1) request.flags |= gen::request_flag::threshold_inclusive;
  apply_platform(c, request);
  request.cache = c.cache;
  request.rule = c.rule;
  request.factor = c.factor;
  request.edit_threshold = c.edit_threshold;
  request.edit_steps = c.edit_steps;
  request.draft_trigger = c.draft_trigger;
  request.draft_look_ahead = c.draft_look_ahead;
  request.draft_threshold = c.draft_threshold;
  request.latency_address = latency_address;
  request.latency_entries = static_cast<std::uint32_t>(
      latencies_for(c, std::uint64_t{request.prompt_tokens} + request.generate_tokens).size());
  if (c.visibility == 0) return;
  if (c.revision_wait) request.flags |= gen::request_flag::revision_wait;
  request.revision_order = c.revision_order;
  request.visibility = c.visibility;
  request.stability = c.stability;
  request.revisions = c.revisions;
  request.refresh_first_layer = c.refresh_first_layer;
  request.refresh_layers = c.refresh_layers;
  request.sweep_steps = c.sweep_steps;
}

}  // namespace dvp::platform
