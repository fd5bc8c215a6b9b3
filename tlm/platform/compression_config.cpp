#include "tlm/platform/compression_config.h"

#include <initializer_list>

#include "tlm/loader/compression_sidecar.h"
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
  throw usage_error(name + ": is not a name that the compression record knows");
}

gen::compression_span span_of(const ordered_json& json) {
  return value_of(json["span"], {gen::compression_span::block, gen::compression_span::sub_block});
}

// None or three numbers; those from `first` on are shares.
std::vector<float> triple(const ordered_json& list, std::size_t first, const std::string& where) {
  if (!list.empty() && list.size() != 3) {
    throw usage_error(where + ": has " + std::to_string(list.size()) +
                      " numbers; give three, or none for the sidecar's");
  }
  std::vector<float> numbers;
  double total = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    numbers.push_back(list[i]);
    if (i < first) continue;
    if (list[i] > 1) throw usage_error(where + ": " + list[i].dump() + " is no share; give 0 to 1");
    total += numbers.back();
  }
  if (total > 1 + loader::share_rounding) {
    throw usage_error(where + ": the shares of " + list.dump() + " add up to more than 1");
  }
  return numbers;
}

}  // namespace

compression_config compression_from(const ordered_json& json, const std::string& file) {
  compression_config c;
  c.sidecar = json["sidecar"];
  c.kv = value_of(json["kv"], {gen::kv_format::bf16, gen::kv_format::q8, gen::kv_format::brq});
  const ordered_json& brq = json["brq"];
  c.map_span = span_of(brq);
  c.basis_tokens = brq["basis_tokens"];
  c.rank = brq["rank"];
  c.refresh = brq["refresh"];
  c.iterations = brq["iterations"];
  c.shares = triple(brq["shares"], 0, file + ": decode.compression.brq.shares");
  c.ffn = value_of(json["ffn"], {gen::ffn_mode::whole, gen::ffn_mode::dat});
  const ordered_json& dat = json["dat"];
  c.anchor_span = span_of(dat);
  c.setting = dat["setting"];
  c.touch = triple(dat["table"], 1, file + ": decode.compression.dat.table");
  c.smoothing = dat["smoothing"];
  c.gain = dat["gain"];
  c.corrections = dat["corrections"];
  return c;
}

void refuse_unfit(const compression_config& c, const gen::image_header& model, const std::string& name) {
  if (!c.any()) return;
  if ((model.flags & gen::image_flag::block_causal) == 0) {
    const bool kv = c.kv != gen::kv_format::bf16;
    throw usage_error(std::string("decode.compression.") +
                      (kv ? "kv: " + std::string(gen::name_of(c.kv)) : "ffn: " + std::string(gen::name_of(c.ffn))) +
                      " is for block-causal models; " + name + " is bidirectional; use --model tiny-fdllm2");
  }
  if (c.kv != gen::kv_format::brq) return;
  const auto require_blocks = [&](const char* key, std::uint32_t tokens) {
    if (tokens % model.block_length == 0) return;
    throw usage_error(std::string("decode.compression.brq.") + key + ": " + std::to_string(tokens) +
                      " is no multiple of the " + std::to_string(model.block_length) + " tokens of a block of " + name);
  };
  require_blocks("basis_tokens", c.basis_tokens);
  require_blocks("refresh", c.refresh);
  // A row of a head at q2 is whole bytes.
  if (model.head_length % 4 != 0) {
    throw usage_error("decode.compression.kv: brq needs heads of a multiple of 4 elements; those of " + name +
                      " have " + std::to_string(model.head_length));
  }
  if (c.rank > model.head_length) {
    throw usage_error("decode.compression.brq.rank: " + std::to_string(c.rank) + " is more than the " +
                      std::to_string(model.head_length) + " elements of a head of " + name);
  }
}

gen::compression_record record_from(const compression_config& c) {
  gen::compression_record record;
  record.version = gen::compression_version;
  record.kv = c.kv;
  record.ffn = c.ffn;
  if (c.kv == gen::kv_format::brq) {
    record.map_span = c.map_span;
    record.basis_tokens = c.basis_tokens;
    record.rank = c.rank;
    record.basis_refresh = c.refresh;
    record.basis_iterations = c.iterations;
    record.share_q8 = c.shares.at(0);
    record.share_q4 = c.shares.at(1);
    record.share_q2 = c.shares.at(2);
  }
  if (c.ffn == gen::ffn_mode::dat) {
    record.anchor_span = c.anchor_span;
    record.touch_gain = c.touch.at(0);
    record.touch_q8 = c.touch.at(1);
    record.touch_q4 = c.touch.at(2);
    record.smoothing = c.smoothing;
    record.drift_gain = c.gain;
    record.correction_rank = c.corrections;
  }
  return record;
}

}  // namespace dvp::platform
