// Narrow views of 8-bit codes, made when memory is read: one q8 code and a view descriptor in, a p-bit signed code out.
//
// With q in [-128, 127], t the delivered code and all shifts arithmetic (towards minus infinity):
//
//   mode      p = 4                                              p = 2
//   midpoint  t = q >> 4                                         t = q >> 6
//   truncate  the same codes; only the value the array uses for them differs (comparison mode)
//   round     t = clamp(rne(q / 16), -8, 7)                      t = clamp(rne(q / 64), -2, 1)
//   fitted    t = clamp(rne(clamp(q, -clip, clip) / 2^shift),    t = +1 when q > threshold, -1 when q < -threshold,
//                       -8, 7)                                   else 0
//
// rne rounds to the nearest integer, a tie to the even one. In `fitted` the clip comes first, then the rounding shift,
// and last the range of 4 bits, which matters only when clip / 2^shift leaves it. A field that no formula above names
// has no effect. p = 8 passes every code through, p = 0 delivers nothing.
//
// Packing is little-endian: element i occupies the bits [i p, (i + 1) p) of the delivered bits, counted from the least
// significant bit of byte 0; the bits after the last element are 0.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace dvp::numerics {

enum class view_mode : std::uint8_t { midpoint, round, fitted, truncate };

struct view {
  std::uint8_t precision = 8;  // p: 8, 4, 2 or 0
  view_mode mode = view_mode::midpoint;
  std::uint8_t clip = 127;      // fitted, p = 4: 0 to 127
  std::uint8_t shift = 4;       // fitted, p = 4: 0 to 7
  std::uint8_t threshold = 32;  // fitted, p = 2: 0 to 127

  friend bool operator==(const view&, const view&) = default;
};

// Every field in its range, also those without effect.
constexpr bool is_valid(const view& v) {
  return (v.precision == 8 || v.precision == 4 || v.precision == 2 || v.precision == 0) &&
         v.mode <= view_mode::truncate && v.clip <= 127 && v.shift <= 7 && v.threshold <= 127;
}

// The definition: the code of one element, sign extended; 0 for p = 0. The view is valid.
std::int8_t convert(const view& v, std::int8_t q);

// What the array multiplies for a delivered code, in units of the q8 scale when nothing is calibrated:
//   p = 8: t    midpoint: (t << 4) | 8 or (t << 6) | 32    truncate, round: 16 t or 64 t
//   fitted: 2^shift t (p = 4) or 64 t (p = 2); a calibrated scale replaces the factor    p = 0: 0
std::int32_t array_value(const view& v, std::int8_t code);

// Bytes that n elements take: ceil(n p / 8).
constexpr std::uint64_t delivered_bytes(std::uint64_t elements, std::uint32_t precision) {
  return elements / 8 * precision + (elements % 8 * precision + 7) / 8;
}

// Element i of delivered bytes, sign extended; precision 8, 4 or 2.
std::int8_t code_at(std::span<const std::byte> delivered, std::size_t i, std::uint32_t precision);

// The same conversion for many elements: convert() of all 256 codes, looked up.
class converter {
 public:
  explicit converter(const view& v);

  const view& descriptor() const { return view_; }
  // `delivered` holds delivered_bytes(codes.size(), p) bytes; it must not overlap `codes` unless p is 8 and it is the
  // same memory.
  void convert_all(std::span<const std::byte> codes, std::span<std::byte> delivered) const;

 private:
  view view_;
  std::array<std::uint8_t, 256> table_;  // by the code's bits: p bits of the result
};

}  // namespace dvp::numerics
