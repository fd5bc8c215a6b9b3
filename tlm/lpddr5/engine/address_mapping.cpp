#include "tlm/lpddr5/engine/address_mapping.h"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string_view>

namespace dvp::lpddr5 {

namespace {

constexpr std::uint32_t most_address_bits = 60;

struct component_kind {
  std::string_view name;
  std::uint32_t location::*field;
  bit_list mapping_bits::*bits;
  std::uint32_t (*size)(const organisation& shape, std::uint32_t channels);
};

// The order in which components are packed into a word for encoding.
constexpr component_kind kinds[] = {
    {"byte", &location::byte, &mapping_bits::byte,
     [](const organisation& o, std::uint32_t) { return o.width_bits / 8; }},
    {"column", &location::column, &mapping_bits::column,
     [](const organisation& o, std::uint32_t) { return o.columns; }},
    {"bank group", &location::bank_group, &mapping_bits::bank_group,
     [](const organisation& o, std::uint32_t) { return o.bank_groups; }},
    {"bank", &location::bank, &mapping_bits::bank,
     [](const organisation& o, std::uint32_t) { return o.banks_per_group; }},
    {"rank", &location::rank, &mapping_bits::rank, [](const organisation& o, std::uint32_t) { return o.ranks; }},
    {"row", &location::row, &mapping_bits::row, [](const organisation& o, std::uint32_t) { return o.rows; }},
    {"channel", &location::channel, &mapping_bits::channel,
     [](const organisation&, std::uint32_t channels) { return channels; }}};

[[noreturn]] void refuse(const std::string& what) {
  throw std::invalid_argument("address mapping: " + what);
}

// Number of address bits of a component with `size` values.
std::uint32_t bits_for(std::string_view name, std::uint32_t size) {
  if (!std::has_single_bit(size)) {
    refuse("the device has " + std::to_string(size) + " values of " + std::string(name) +
           "; a mapping by address bits needs a power of two");
  }
  return static_cast<std::uint32_t>(std::countr_zero(size));
}

constexpr std::uint64_t bit(std::uint32_t i) {
  return std::uint64_t{1} << i;
}

std::uint32_t parity(std::uint64_t word) {
  return static_cast<std::uint32_t>(std::popcount(word)) & 1U;
}

// The inverse of a square matrix over GF(2), a row per element; empty when there is none.
std::vector<std::uint64_t> inverted(std::vector<std::uint64_t> matrix) {
  const std::size_t n = matrix.size();
  std::vector<std::uint64_t> inverse(n);
  for (std::uint32_t i = 0; i < n; ++i) inverse[i] = bit(i);
  for (std::uint32_t column = 0; column < n; ++column) {
    std::size_t pivot = column;
    while (pivot < n && (matrix[pivot] & bit(column)) == 0) ++pivot;
    if (pivot == n) return {};
    std::swap(matrix[pivot], matrix[column]);
    std::swap(inverse[pivot], inverse[column]);
    for (std::size_t other = 0; other < n; ++other) {
      if (other != column && (matrix[other] & bit(column)) != 0) {
        matrix[other] ^= matrix[column];
        inverse[other] ^= inverse[column];
      }
    }
  }
  return inverse;
}

// One bit_list as masks, each element checked by itself.
std::vector<std::uint64_t> masks_of(const bit_list& bits, std::string_view name, std::uint32_t address_bits) {
  std::vector<std::uint64_t> masks;
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const std::string place = std::string(name) + " bit " + std::to_string(i);
    if (bits[i].empty()) refuse(place + " is made of no address bit; name at least one");
    std::uint64_t mask = 0;
    for (const std::uint32_t b : bits[i]) {
      if (b >= address_bits) {
        refuse(place + " uses address bit " + std::to_string(b) + ", but the memory has only " +
               std::to_string(address_bits) + " address bits, 0 to " + std::to_string(address_bits - 1));
      }
      if ((mask & bit(b)) != 0) refuse(place + " uses address bit " + std::to_string(b) + " twice; name it once");
      mask |= bit(b);
    }
    masks.push_back(mask);
  }
  return masks;
}

// An address bit that selects two things alone, or nothing at all, has a clearer name than a singular matrix.
void check_uses(const mapping_bits& bits, std::uint32_t address_bits) {
  std::vector<std::string> alone(address_bits);
  std::uint64_t used = 0;
  for (const component_kind& kind : kinds) {
    const bit_list& list = bits.*(kind.bits);
    for (std::size_t i = 0; i < list.size(); ++i) {
      for (const std::uint32_t b : list[i]) used |= bit(b);
      if (list[i].size() != 1) continue;
      std::string& owner = alone[list[i].front()];
      const std::string place = std::string(kind.name) + " bit " + std::to_string(i);
      if (!owner.empty()) {
        refuse("address bit " + std::to_string(list[i].front()) + " is used twice, as " + owner + " and as " + place +
               "; use each once");
      }
      owner = place;
    }
  }
  for (std::uint32_t b = 0; b < address_bits; ++b) {
    if ((used & bit(b)) == 0) {
      refuse("address bit " + std::to_string(b) + " is never used; all of 0 to " + std::to_string(address_bits - 1) +
             " must select something");
    }
  }
}

// The bytes of a burst must be neighbours: accesses are split at multiples of burst_bytes.
void check_bursts(const mapping_bits& bits, std::uint32_t byte_bits, std::uint32_t burst_column_bits) {
  const std::uint32_t burst_bits = byte_bits + burst_column_bits;
  const std::string rule = "; the lowest " + std::to_string(burst_bits) + " address bits must be, in order, the " +
                           std::to_string(byte_bits) + " byte bits and the lowest " +
                           std::to_string(burst_column_bits) + " column bits, so that a burst is contiguous";
  for (const component_kind& kind : kinds) {
    const bit_list& list = bits.*(kind.bits);
    for (std::uint32_t i = 0; i < list.size(); ++i) {
      const bool is_byte = kind.field == &location::byte;
      const bool in_burst = is_byte || (kind.field == &location::column && i < burst_column_bits);
      const std::uint32_t expected = is_byte ? i : byte_bits + i;
      const bool plain = list[i].size() == 1 && list[i].front() == expected;
      const bool low = std::any_of(list[i].begin(), list[i].end(), [&](std::uint32_t b) { return b < burst_bits; });
      if (in_burst ? !plain : low)
        refuse(std::string(kind.name) + " bit " + std::to_string(i) + " is misplaced" + rule);
    }
  }
}

}  // namespace

address_mapping::address_mapping(const mapping_bits& bits, const organisation& shape, std::uint32_t channels)
    : channels_(channels) {
  for (const component_kind& kind : kinds) {
    const std::uint32_t expected = bits_for(kind.name, kind.size(shape, channels));
    const std::size_t given = (bits.*(kind.bits)).size();
    if (given != expected) {
      refuse(std::string(kind.name) + " has " + std::to_string(given) + " bits, but " +
             std::to_string(kind.size(shape, channels)) + " values need " + std::to_string(expected));
    }
    address_bits_ += expected;
  }
  if (address_bits_ > most_address_bits) {
    refuse(std::to_string(address_bits_) + " address bits are more than " + std::to_string(most_address_bits));
  }
  std::vector<std::uint64_t> matrix;
  for (const component_kind& kind : kinds) {
    component c;
    c.field = kind.field;
    c.masks = masks_of(bits.*(kind.bits), kind.name, address_bits_);
    matrix.insert(matrix.end(), c.masks.begin(), c.masks.end());
    if (c.masks.empty()) continue;
    c.shift = static_cast<std::uint32_t>(std::countr_zero(c.masks.front()));
    c.mask = static_cast<std::uint32_t>(bit(static_cast<std::uint32_t>(c.masks.size())) - 1);
    c.contiguous = true;
    for (std::uint32_t i = 0; i < c.masks.size(); ++i) {
      c.contiguous = c.contiguous && c.shift + i < most_address_bits && c.masks[i] == bit(c.shift + i);
    }
    components_.push_back(c);
  }
  check_uses(bits, address_bits_);
  check_bursts(bits, bits_for("byte", shape.width_bits / 8), bits_for("burst length", shape.burst_length));
  inverse_ = inverted(std::move(matrix));
  if (inverse_.size() != address_bits_) {
    refuse(
        "two addresses would select the same cell, because some component bits are the XOR of others; give every "
        "component bit an address bit of its own");
  }
}

location address_mapping::decode(std::uint64_t address) const {
  location where;
  for (const component& c : components_) {
    if (c.contiguous) {
      where.*(c.field) = static_cast<std::uint32_t>(address >> c.shift) & c.mask;
      continue;
    }
    std::uint32_t value = 0;
    for (std::uint32_t i = 0; i < c.masks.size(); ++i) value |= parity(address & c.masks[i]) << i;
    where.*(c.field) = value;
  }
  return where;
}

std::uint64_t address_mapping::encode(const location& where) const {
  std::uint64_t packed = 0;
  std::uint32_t at = 0;
  for (const component& c : components_) {
    packed |= std::uint64_t{where.*(c.field) & c.mask} << at;
    at += static_cast<std::uint32_t>(c.masks.size());
  }
  std::uint64_t address = 0;
  for (std::uint32_t b = 0; b < address_bits_; ++b) address |= std::uint64_t{parity(packed & inverse_[b])} << b;
  return address;
}

namespace {

struct standard_order {
  std::string name;
  std::uint32_t run_bits;                             // column bits right above the burst
  std::vector<bit_list mapping_bits::*> low_to_high;  // above those, channel apart
};

const std::vector<standard_order>& standard_orders() {
  using m = mapping_bits;
  static const std::vector<standard_order> orders = {
      {"row-bank-column-group-channel", 0, {&m::bank_group, &m::column, &m::bank, &m::rank, &m::row}},
      {"row-bank-column-group-quad-channel", 2, {&m::bank_group, &m::column, &m::bank, &m::rank, &m::row}},
      {"row-bank-column-channel", 0, {&m::column, &m::rank, &m::bank_group, &m::bank, &m::row}},
      {"row-column-bank-channel", 0, {&m::bank_group, &m::bank, &m::column, &m::rank, &m::row}},
      {"bank-row-column-channel", 0, {&m::column, &m::row, &m::bank_group, &m::bank, &m::rank}}};
  return orders;
}

}  // namespace

const std::vector<std::string>& standard_mapping_orders() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const standard_order& order : standard_orders()) result.push_back(order.name);
    return result;
  }();
  return names;
}

mapping_bits standard_mapping(const std::string& order, const organisation& shape, std::uint32_t channels,
                              std::uint64_t interleave_bytes, bool xor_banks) {
  const auto& orders = standard_orders();
  const auto known = std::find_if(orders.begin(), orders.end(), [&](const auto& o) { return o.name == order; });
  if (known == orders.end()) {
    std::string list;
    for (const auto& o : orders) list += (list.empty() ? "" : ", ") + o.name;
    refuse("there is no order \"" + order + "\"; there are: " + list);
  }
  if (!std::has_single_bit(interleave_bytes) || interleave_bytes < shape.burst_bytes()) {
    refuse("interleave_bytes " + std::to_string(interleave_bytes) + " is not a power of two of at least one burst, " +
           std::to_string(shape.burst_bytes()) + " bytes");
  }
  if (interleave_bytes > shape.bytes_per_channel()) {
    refuse("interleave_bytes " + std::to_string(interleave_bytes) + " is more than a channel holds, " +
           std::to_string(shape.bytes_per_channel()) + " bytes");
  }
  if (shape.columns < shape.burst_length) {
    refuse("a row of " + std::to_string(shape.columns) + " columns is shorter than a burst of " +
           std::to_string(shape.burst_length));
  }
  const std::uint32_t channel_bits = bits_for("channel", channels);
  const auto channel_at = static_cast<std::uint32_t>(std::countr_zero(interleave_bytes));

  mapping_bits bits;
  std::uint32_t next = 0;
  const auto append = [&](bit_list& list, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      list.push_back({next < channel_at ? next : next + channel_bits});
      ++next;
    }
  };
  const std::uint32_t burst_column_bits = bits_for("burst length", shape.burst_length);
  append(bits.byte, bits_for("byte", shape.width_bits / 8));
  const std::uint32_t column_bits = bits_for("columns", shape.columns);
  const std::uint32_t low_column_bits = std::min(column_bits, burst_column_bits + known->run_bits);
  append(bits.column, low_column_bits);
  for (const auto part : known->low_to_high) {
    const auto kind = std::find_if(std::begin(kinds), std::end(kinds), [&](const auto& k) { return k.bits == part; });
    const std::uint32_t count = bits_for(kind->name, kind->size(shape, channels));
    append(bits.*part, part == &mapping_bits::column ? count - low_column_bits : count);
  }
  for (std::uint32_t i = 0; i < channel_bits; ++i) bits.channel.push_back({channel_at + i});
  if (xor_banks) {
    std::size_t row = 0;
    for (bit_list* list : {&bits.bank_group, &bits.bank}) {
      for (auto& element : *list) {
        if (row < bits.row.size()) element.push_back(bits.row[row++].front());
      }
    }
  }
  return bits;
}

}  // namespace dvp::lpddr5
