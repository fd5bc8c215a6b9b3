#include "tlm/numerics/converter.h"

#include <algorithm>
#include <cstring>

namespace dvp::numerics {

namespace {

// value / 2^shift, a tie to the even integer.
constexpr std::int32_t shift_to_nearest_even(std::int32_t value, std::uint32_t shift) {
  const std::int32_t floor = value >> shift;
  const std::int32_t rest = value - floor * (1 << shift);  // 0 to 2^shift - 1
  const std::int32_t twice = 2 * rest - (1 << shift);
  return floor + (twice > 0 || (twice == 0 && shift != 0 && (floor & 1) != 0) ? 1 : 0);
}

// Bits that p drops from a q8 code.
constexpr std::uint32_t dropped_bits(const view& v) {
  return 8U - v.precision;
}

std::int32_t fitted(const view& v, std::int32_t q) {
  if (v.precision == 2) return (q > v.threshold ? 1 : 0) - (q < -std::int32_t{v.threshold} ? 1 : 0);
  const std::int32_t clip = v.clip;
  return std::clamp(shift_to_nearest_even(std::clamp(q, -clip, clip), v.shift), -8, 7);
}

// N elements per byte, whole bytes first.
template <std::size_t N>
void pack(const std::array<std::uint8_t, 256>& table, std::span<const std::byte> codes,
          std::span<std::byte> delivered) {
  constexpr std::size_t width = 8 / N;
  const std::size_t whole = codes.size() / N;
  const auto one_byte = [&](std::size_t first, std::size_t count) {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < count; ++i) {
      bits |= std::uint32_t{table[std::to_integer<std::size_t>(codes[first + i])]} << (i * width);
    }
    return static_cast<std::byte>(bits);
  };
  for (std::size_t b = 0; b < whole; ++b) delivered[b] = one_byte(b * N, N);
  if (codes.size() % N != 0) delivered[whole] = one_byte(whole * N, codes.size() % N);
}

}  // namespace

std::int8_t convert(const view& v, std::int8_t q) {
  if (v.precision == 0) return 0;
  if (v.precision == 8) return q;
  const std::uint32_t dropped = dropped_bits(v);
  const std::int32_t least = -(1 << (v.precision - 1));
  switch (v.mode) {
    case view_mode::round:
      return static_cast<std::int8_t>(std::clamp(shift_to_nearest_even(q, dropped), least, -least - 1));
    case view_mode::fitted:
      return static_cast<std::int8_t>(fitted(v, q));
    default:
      return static_cast<std::int8_t>(q >> dropped);
  }
}

std::int32_t array_value(const view& v, std::int8_t code) {
  if (v.precision == 0) return 0;
  if (v.precision == 8) return code;
  const std::uint32_t dropped = dropped_bits(v);
  if (v.mode == view_mode::midpoint) return code * (1 << dropped) + (1 << (dropped - 1));
  return code * (1 << (v.mode == view_mode::fitted && v.precision == 4 ? v.shift : dropped));
}

std::int8_t code_at(std::span<const std::byte> delivered, std::size_t i, std::uint32_t precision) {
  const std::size_t bit = i * precision;
  const auto low = std::to_integer<std::uint32_t>(delivered[bit / 8]) >> (bit % 8);
  const auto top = static_cast<std::int8_t>(low << (8 - precision));
  return static_cast<std::int8_t>(top >> (8 - precision));
}

converter::converter(const view& v) : view_(v), table_{} {
  const std::uint32_t mask = (1U << v.precision) - 1;
  for (std::int32_t q = -128; q < 128; ++q) {
    const std::int8_t code = convert(v, static_cast<std::int8_t>(q));
    table_[static_cast<std::uint8_t>(q)] = static_cast<std::uint8_t>(static_cast<std::uint32_t>(code) & mask);
  }
}

void converter::convert_all(std::span<const std::byte> codes, std::span<std::byte> delivered) const {
  switch (view_.precision) {
    case 8:
      if (!codes.empty()) std::memmove(delivered.data(), codes.data(), codes.size());
      break;
    case 4:
      pack<2>(table_, codes, delivered);
      break;
    case 2:
      pack<4>(table_, codes, delivered);
      break;
    default:
      break;
  }
}

}  // namespace dvp::numerics
