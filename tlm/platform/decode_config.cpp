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

std::vector<gen::latency_entry> latencies_from(const ordered_json& list, const std::string& file) {
  std::vector<gen::latency_entry> entries;
  for (const auto& pair : list) {
    const gen::latency_entry next{pair[0].get<std::uint32_t>(), pair[1].get<std::uint32_t>()};
    if (!entries.empty() && (next.rows <= entries.back().rows || next.ns < entries.back().ns)) {
      throw usage_error(file + ": decode.mbsd.latency: [" + std::to_string(next.rows) + ", " + std::to_string(next.ns) +
                        "] does not follow the pair before it; give rising rows and times that do not fall");
    }
    entries.push_back(next);
  }
  return entries;
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
  c.latencies = latencies_from(mbsd["latency"], file);
  if (c.cache != gen::cache_mode::none && !c.fast_dllm_v1) {
    throw usage_error(file + ": decode.cache: only the loop fast_dllm_v1 has one; set decode.loop too");
  }
  if (c.draft_trigger != 0 && c.cache != gen::cache_mode::dual) {
    throw usage_error(file + ": decode.mbsd.trigger: drafts need decode.cache dual; set that too, or the trigger to 0");
  }
  return c;
}

void refuse_unfit(const decode_config& c, bool block_causal, const std::string& model) {
  const auto refuse = [&](const std::string& key, const std::string& why) {
    throw usage_error("decode." + key + ": " + why + "; " + model + " is " +
                      (block_causal ? "block-causal" : "bidirectional"));
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

void apply(const decode_config& c, bool block_causal, std::uint64_t latency_address, gen::request_record& request) {
  request.loop = block_causal     ? gen::decode_loop::fast_dllm_v2
                 : c.fast_dllm_v1 ? gen::decode_loop::fast_dllm_v1
                                  : gen::decode_loop::llada;
  // The published loop commits at the threshold too.
  if (c.fast_dllm_v1) request.flags |= gen::request_flag::threshold_inclusive;
  request.row_tile = c.row_tile;
  request.watchdog_us = c.watchdog_us;
  request.cache = c.cache;
  request.rule = c.rule;
  request.factor = c.factor;
  request.edit_threshold = c.edit_threshold;
  request.edit_steps = c.edit_steps;
  request.draft_trigger = c.draft_trigger;
  request.draft_look_ahead = c.draft_look_ahead;
  request.draft_threshold = c.draft_threshold;
  request.latency_address = latency_address;
  request.latency_entries = static_cast<std::uint32_t>(c.latencies.size());
}

}  // namespace dvp::platform
