#include "tlm/lpddr5/config/mapping_json.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace dvp::lpddr5 {

namespace {

using nlohmann::ordered_json;

constexpr std::uint64_t default_interleave_bytes = 256;
constexpr std::uint64_t highest_address_bit = 63;

std::uint32_t address_bit(const core::json_object& json, const std::string& place, const ordered_json& value) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > highest_address_bit) {
    json.fail(place, "is not an address bit; give a whole number from 0 to 63");
  }
  return value.get<std::uint32_t>();
}

bit_list read_bits(const core::json_object& json, const char* key) {
  bit_list bits;
  if (!json.has(key)) return bits;
  const ordered_json& list = json.raw(key);
  if (!list.is_array()) json.fail(key, "is not a list of address bits; write [ ... ] here");
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string place = std::string(key) + "[" + std::to_string(i) + "]";
    std::vector<std::uint32_t> element;
    if (list[i].is_array()) {
      if (list[i].empty()) json.fail(place, "is made of no address bit; name at least one");
      for (const auto& part : list[i]) element.push_back(address_bit(json, place, part));
    } else {
      element.push_back(address_bit(json, place, list[i]));
    }
    bits.push_back(std::move(element));
  }
  return bits;
}

void apply_xor(const core::json_object& json, const std::vector<bit_list*>& lists) {
  if (!json.has("XOR")) return;
  for (const auto& pair : json.objects("XOR")) {
    const auto first = static_cast<std::uint32_t>(pair.whole("FIRST", 0, highest_address_bit));
    const auto second = static_cast<std::uint32_t>(pair.whole("SECOND", 0, highest_address_bit));
    pair.finish();
    bool found = false;
    for (bit_list* list : lists) {
      for (auto& element : *list) {
        if (element.front() != first) continue;
        element.push_back(second);
        found = true;
      }
    }
    if (!found) pair.fail("FIRST", "address bit " + std::to_string(first) + " selects nothing; name a bit that does");
  }
}

}  // namespace

mapping_bits read_address_mapping(const core::json_object& json, const organisation& shape) {
  if (json.has("CONGEN")) {
    const auto inner = json.object("CONGEN");
    json.finish();
    return read_address_mapping(inner, shape);
  }
  for (const char* key : {"STACK_BIT", "PSEUDOCHANNEL_BIT"}) {
    if (json.has(key) && !json.raw(key).empty()) json.fail(key, "LPDDR5 has none; this mapping is for HBM");
  }
  mapping_bits bits;
  bits.byte = read_bits(json, "BYTE_BIT");
  bit_list burst = read_bits(json, "BURST_BIT");
  bits.column = read_bits(json, "COLUMN_BIT");
  bits.bank = read_bits(json, "BANK_BIT");
  bits.bank_group = read_bits(json, "BANKGROUP_BIT");
  bits.row = read_bits(json, "ROW_BIT");
  bits.rank = read_bits(json, "RANK_BIT");
  bits.channel = read_bits(json, "CHANNEL_BIT");
  if (!burst.empty()) {
    if (!bits.byte.empty()) json.fail("BURST_BIT", "stands beside BYTE_BIT; use one of them");
    const auto bytes = static_cast<std::size_t>(std::countr_zero(std::bit_floor(shape.width_bits / 8)));
    const std::size_t split = std::min(bytes, burst.size());
    const auto middle = burst.begin() + static_cast<std::ptrdiff_t>(split);
    bits.byte.assign(burst.begin(), middle);
    bits.column.insert(bits.column.begin(), middle, burst.end());
  }
  apply_xor(json, {&bits.byte, &bits.column, &bits.bank, &bits.bank_group, &bits.row, &bits.rank, &bits.channel});
  json.finish();
  return bits;
}

mapping_bits default_mapping(const organisation& shape, std::uint32_t channels) {
  const auto interleave = std::max<std::uint64_t>(default_interleave_bytes, shape.burst_bytes());
  return standard_mapping(standard_mapping_orders().front(), shape, channels, interleave, false);
}

mapping_bits read_mapping(const core::json_object& json, const organisation& shape, std::uint32_t channels) {
  if (json.has("bits")) {
    const mapping_bits bits = read_address_mapping(json.object("bits"), shape);
    for (const char* key : {"order", "interleave_bytes", "xor_banks"}) {
      if (json.has(key)) json.fail(key, "stands beside bits, which say all; remove one of them");
    }
    json.finish();
    return bits;
  }
  const std::string order = json.text_or("order", standard_mapping_orders().front());
  const auto least = std::max<std::uint64_t>(default_interleave_bytes, shape.burst_bytes());
  const std::uint64_t interleave = json.whole_or("interleave_bytes", least, 1, std::uint64_t{1} << 44);
  const bool xor_banks = json.flag_or("xor_banks", false);
  json.finish();
  try {
    return standard_mapping(order, shape, channels, interleave, xor_banks);
  } catch (const std::invalid_argument& error) {
    json.fail("", error.what());
  }
}

}  // namespace dvp::lpddr5
