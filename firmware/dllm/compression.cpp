#include "firmware/dllm/compression.h"

#include <algorithm>
#include <limits>

#include "firmware/dllm/subspace.h"
#include "firmware/hal/hal.h"

namespace dvp::dllm {
namespace {

using gen::compression_record;
using gen::request_record;
using gen::result_code;

// Shares come from decimal fractions: this much more than 1 is still 1.
constexpr double rounding = 1e-6;

// Neither negative nor NaN nor infinite.
bool amount(float value) {
  return value >= 0 && value <= std::numeric_limits<float>::max();
}

bool share(float value) {
  return value >= 0 && value <= 1;
}

bool known(gen::compression_span span) {
  return span == gen::compression_span::block || span == gen::compression_span::sub_block;
}

bool good_modes(const compression_record& c) {
  return (c.kv == gen::kv_format::bf16 || c.kv == gen::kv_format::q8 || c.kv == gen::kv_format::brq) &&
         (c.ffn == gen::ffn_mode::whole || c.ffn == gen::ffn_mode::dat) && known(c.map_span) && known(c.anchor_span);
}

bool good_tiers(const compression_record& c, std::uint32_t block_length) {
  return c.basis_tokens != 0 && c.basis_tokens % block_length == 0 && c.rank <= most_basis_rank &&
         c.basis_refresh % block_length == 0 && c.basis_iterations != 0 &&
         c.basis_iterations <= most_basis_iterations && share(c.share_q8) && share(c.share_q4) && share(c.share_q2) &&
         static_cast<double>(c.share_q8) + c.share_q4 + c.share_q2 <= 1 + rounding;
}

bool good_channels(const compression_record& c) {
  return amount(c.touch_gain) && share(c.touch_q8) && share(c.touch_q4) &&
         static_cast<double>(c.touch_q8) + c.touch_q4 <= 1 + rounding && share(c.smoothing) && amount(c.drift_gain) &&
         c.correction_rank <= most_correction_rank;
}

bool good_record(const compression_record& c, std::uint32_t block_length) {
  return c.version == gen::compression_version && good_modes(c) && c.unused0 == 0 &&
         std::all_of(std::begin(c.unused), std::end(c.unused), [](auto u) { return u == 0; }) &&
         (c.kv != gen::kv_format::brq || good_tiers(c, block_length)) &&
         (c.ffn != gen::ffn_mode::dat || good_channels(c));
}

// Rows that are stored or anchored are one tile.
bool good_request(const request_record& r) {
  return r.loop == gen::decode_loop::fast_dllm_v2 && r.engine == gen::forward_engine::npu &&
         (r.row_tile == 0 || r.row_tile >= r.block_length);
}

}  // namespace

result_code read_compression(const request_record& request, compression_request& compression) {
  compression = {};
  if (request.compression_address == 0) {
    return result_code::ok;
  }
  const auto records = hal::objects<compression_record>(request.compression_address, 1);
  if (records.empty() || !good_request(request)) {
    return result_code::bad_request;
  }
  compression.record = records[0];
  const compression_record& c = compression.record;
  compression.statistics = hal::objects<gen::layer_statistics>(c.statistics_address, c.statistics_entries);
  return good_record(c, request.block_length) && compression.statistics.size() == c.statistics_entries
             ? result_code::ok
             : result_code::bad_request;
}

bool suits(const compression_request& compression, const kernels::config& model) {
  // Two bits of every element of a head are whole bytes.
  constexpr std::uint32_t narrow_unit = 4;
  const std::size_t room = compression.statistics.size();
  return (room == 0 || room >= model.layers) &&
         (!compression.ranks() ||
          (compression.record.rank <= model.head_length && model.head_length % narrow_unit == 0));
}

}  // namespace dvp::dllm
