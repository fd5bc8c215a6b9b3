// The part `decode.compression` of a configuration: how the prefix is kept and read, and how much of the feed-forward
// network a step recomputes.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dvp_gen/compression.h"
#include "dvp_gen/image.h"

namespace dvp::platform {

struct compression_config {
  std::string sidecar;  // "shipped", a file, or "": none
  gen::kv_format kv = gen::kv_format::bf16;
  gen::compression_span map_span = gen::compression_span::block;
  std::uint32_t basis_tokens = 0;
  std::uint32_t rank = 0;
  std::uint32_t refresh = 0;  // 0: never
  std::uint32_t iterations = 0;
  std::vector<float> shares;  // q8, q4, q2; empty: the sidecar's
  gen::ffn_mode ffn = gen::ffn_mode::whole;
  gen::compression_span anchor_span = gen::compression_span::block;
  std::uint32_t setting = 0;  // row of the sidecar's table
  std::vector<float> touch;   // gain, q8, q4; empty: the setting's
  float smoothing = 0;
  float gain = 0;
  std::uint32_t corrections = 0;  // rank used

  bool any() const { return kv != gen::kv_format::bf16 || ffn != gen::ffn_mode::whole; }
  bool needs_shares() const { return kv == gen::kv_format::brq && shares.empty(); }
  bool needs_touch() const { return ffn == gen::ffn_mode::dat && touch.empty(); }
  // dat reads its channels from there.
  bool needs_sidecar() const { return needs_shares() || ffn == gen::ffn_mode::dat; }
};

// Reads decode.compression of a configuration that the schema accepts. usage_error naming file and key for shares that
// add up to more than 1, and for lists of neither none nor three numbers.
compression_config compression_from(const nlohmann::ordered_json& json, const std::string& file);

// usage_error naming the key when a model like this cannot be decoded so.
void refuse_unfit(const compression_config& config, const gen::image_header& model, const std::string& name);

// The record for a request. Nothing is left to the sidecar: shares and touch are filled in where they are used.
gen::compression_record record_from(const compression_config& config);

}  // namespace dvp::platform
