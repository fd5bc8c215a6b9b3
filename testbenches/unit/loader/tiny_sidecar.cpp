#include "testbenches/unit/loader/tiny_sidecar.h"

#include <random>
#include <utility>
#include <vector>

#include "testbenches/unit/loader/tiny_model.h"

namespace dvp::testbenches {
namespace {

byte_string random_bytes(std::uint64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  byte_string bytes;
  for (std::uint64_t i = 0; i < count; ++i) append(bytes, static_cast<std::uint8_t>(random()));
  return bytes;
}

byte_string channel_scales(const sidecar_options& o, std::uint64_t seed) {
  const std::uint32_t used = 2 * (o.width / 32) + 1;
  const byte_string values = random_data(f16, std::uint64_t{3} * o.channels * used, seed);
  byte_string padded;
  for (std::uint32_t row = 0; row < 3 * o.channels; ++row) {
    padded.insert(padded.end(), values.begin() + 2 * row * used, values.begin() + 2 * (row + 1) * used);
    padded.resize(padded.size() + 2 * (o.slots - used));
  }
  return padded;
}

byte_string lengths(std::uint32_t count) {
  byte_string bytes;
  for (std::uint32_t i = 0; i < count; ++i) append(bytes, 0.5f * static_cast<float>(i));
  return bytes;
}

}  // namespace

gguf_writer tiny_sidecar(const sidecar_options& o) {
  gguf_writer file;
  file.set("general.architecture", "dvp-compression");
  file.set("dvp.compression.version", std::uint32_t{1});
  file.set("dvp.compression.model_sha256", o.model_sha256);
  file.set("dvp.compression.model", "tiny");
  file.set("dvp.compression.data", "made up");
  file.set("dvp.compression.tool", "tiny_sidecar");
  file.set("dvp.compression.seed", o.seed);
  file.set("dvp.compression.group", std::uint32_t{32});
  file.set("dvp.compression.correction_rank", o.correction_rank);
  file.set("dvp.compression.basis_tokens", std::uint32_t{64});
  file.set_array<float>("dvp.compression.shares", {0.5f, 0.25f, 0.125f});
  std::vector<float> settings;
  for (int i = 0; i < 7; ++i) settings.insert(settings.end(), {0.25f * static_cast<float>(i), 0.5f, 0.25f});
  file.set_array("dvp.compression.settings", settings);

  const auto add = [&](const std::string& name, std::vector<std::uint64_t> shape, std::uint32_t type,
                       byte_string data) {
    file.tensors.push_back({name, std::move(shape), type, std::move(data), {}});
  };
  for (std::uint32_t layer = 0; layer < o.layers; ++layer) {
    const std::string blk = "blk." + std::to_string(layer) + ".";
    const std::uint64_t seed = 100 * o.seed + 10 * layer, channels = o.channels, width = o.width;
    add(blk + "ffn_channels.codes", {3 * width, channels}, i8, random_bytes(3 * width * channels, seed));
    add(blk + "ffn_channels.scales", {3 * std::uint64_t{o.slots}, channels}, f16, channel_scales(o, seed + 1));
    add(blk + "ffn_importance", {channels}, f32, lengths(o.channels));
    byte_string views;
    append(views, std::uint32_t{4 | 2 << 4 | 3 << 8 | 56 << 16});  // fitted q4, shift 3, clip 56
    append(views, std::uint32_t{2});                               // midpoint q2
    add(blk + "ffn_views", {2}, i32, views);
    if (o.correction_rank == 0) continue;
    const std::uint64_t k = o.correction_rank;
    std::uint64_t part = seed + 2;
    for (const std::string stage : {"correction_q4.", "correction_q2."}) {
      add(blk + stage + "inputs", {width, 2 * k}, bf16, random_data(bf16, 2 * k * width, part++));
      add(blk + stage + "channels", {3 * k, channels}, bf16, random_data(bf16, 3 * k * channels, part++));
      add(blk + stage + "outputs", {k, width}, bf16, random_data(bf16, k * width, part++));
    }
  }
  return file;
}

}  // namespace dvp::testbenches
