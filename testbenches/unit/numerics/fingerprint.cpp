#include "testbenches/unit/numerics/fingerprint.h"

#include <bit>
#include <cstddef>
#include <initializer_list>

#include "tlm/numerics/accumulate.h"
#include "tlm/numerics/chain_products.h"
#include "tlm/numerics/compressed_rows.h"
#include "tlm/numerics/rotary.h"
#include "tlm/numerics/rows.h"
#include "tlm/numerics/sampling.h"
#include "tlm/numerics/special.h"

namespace dvp::numerics::test {

namespace {

class hash {
 public:
  void take(std::uint32_t word) {
    for (int shift = 0; shift < 32; shift += 8) value_ = (value_ ^ ((word >> shift) & 0xff)) * 0x100'0000'01b3u;
  }
  void take(std::uint16_t code) { take(static_cast<std::uint32_t>(code)); }
  void take(float x) { take(std::bit_cast<std::uint32_t>(x)); }
  template <typename T>
  void take(const T* values, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) take(values[i]);
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf2'9ce4'8422'2325u;
};

class generator {
 public:
  std::uint32_t word() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state_ >> 32);
  }
  // One in `special_one_in` any bits, else a value in about -8..8.
  float value(std::uint32_t special_one_in = 64) {
    const std::uint32_t w = word();
    if (w % special_one_in == 0) return std::bit_cast<float>(word());
    return static_cast<float>(static_cast<std::int32_t>(word()) >> 4) * 0x1p-24f;
  }
  std::uint16_t bf16() { return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value(4096)) >> 16); }

 private:
  std::uint64_t state_ = 1;
};

constexpr std::uint32_t n = 160;

std::uint64_t of_special() {
  hash h;
  for (std::uint64_t code = 0; code < 0x1'0000'0000u; code += 100'003) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(code));
    for (float y : {exp(x), log(x), rsqrt(x), reciprocal(x), sigmoid(x), silu(x)}) h.take(y);
  }
  return h.value();
}

std::uint64_t of_rotary() {
  hash h;
  for (std::uint32_t position = 0; position <= 131072; position += 97) {
    const rotation r = rotary(position, position % 64, 128, 1e6f);
    h.take(r.cosine);
    h.take(r.sine);
  }
  return h.value();
}

std::uint64_t of_rows() {
  hash h;
  generator g;
  float a[n], b[n], d[n];
  std::int8_t codes[n];
  std::uint16_t d16[n], scales[n / 32];
  for (int round = 0; round < 100; ++round) {
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::uint32_t special_one_in = round % 2 ? 2048 : 0xffff'ffff;
      a[i] = g.value(special_one_in);
      b[i] = g.value(special_one_in);
      codes[i] = static_cast<std::int8_t>(g.word());
    }
    for (std::uint16_t& s : scales) s = static_cast<std::uint16_t>(g.word());
    dequantise_row(codes, scales, 32, d, n);
    h.take(d, n);
    add_row(a, b, d, n);
    h.take(d, n);
    rms_norm_row(a, b, 1e-5f, d16, n);
    h.take(d16, n);
    rope_row(a, b, b + 16, round % 4 < 2, 32, d16, n);
    h.take(d16, n);
    softmax_row(a, 0.3f, d16, n);
    h.take(d16, n);
    silu_multiply_row(a, b, d16, n);
    h.take(d16, n);
    to_bf16_row(a, d16, n);
    h.take(d16, n);
  }
  return h.value();
}

std::uint64_t of_sampling() {
  hash h;
  generator g;
  float logits[n];
  for (std::uint32_t round = 0; round < 200; ++round) {
    for (float& l : logits) l = g.value(round % 2 ? 512 : 0xffff'ffff);
    running_sample state = start();
    update(state, logits, n, 0, round, round % 4 < 2 ? 0.0f : 0.8f, 42, round);
    const sample s = finish(state);
    h.take(s.token);
    h.take(s.confidence);
  }
  return h.value();
}

std::uint64_t of_chains() {
  constexpr std::uint32_t vectors = 11;
  constexpr std::uint32_t columns = 13;
  constexpr std::uint32_t groups = 2;
  hash h;
  generator g;
  std::uint16_t x[n * columns], w16[vectors * n];
  std::int8_t w8[vectors * n];
  float out[groups * vectors * columns], sums[vectors * columns] = {}, scales[vectors * groups];
  for (int round = 0; round < 20; ++round) {
    for (std::uint16_t& v : x) v = g.bf16();
    for (std::uint16_t& v : w16) v = g.bf16();
    for (std::int8_t& v : w8) v = static_cast<std::int8_t>(g.word());
    for (float& v : scales) v = g.value(0xffff'ffff);
    chain_operands o;
    o.format = round % 2 ? stream_format::bf16 : stream_format::q8;
    o.columns = columns;
    o.vectors = vectors;
    o.reduction = n;
    o.group = n / groups;
    o.stationary = x;
    o.stream = round % 2 ? static_cast<const void*>(w16) : w8;
    o.stream_stride = n;
    o.preset = round % 4 < 2 ? nullptr : sums;
    o.out = out;
    chain_products(o);
    h.take(out, groups * vectors * columns);
    scale_accumulate(out, scales, groups, vectors, columns, sums);
    h.take(sums, vectors * columns);
  }
  return h.value();
}

std::uint64_t of_compressed() {
  constexpr std::uint32_t rank = 3;
  hash h;
  generator g;
  float a[n], b[n], x[n], most[n] = {};
  std::uint16_t p[n], q[n], basis[rank * n], d16[n];
  std::byte packed[n], turned[2 * n];
  std::int8_t codes[n];
  for (std::uint32_t round = 0; round < 100; ++round) {
    const std::uint32_t special_one_in = round % 2 ? 2048 : 0xffff'ffff;
    for (float& v : a) v = g.value(special_one_in);
    for (float& v : b) v = g.value(special_one_in);
    for (std::uint16_t& v : p) v = g.bf16();
    for (std::uint16_t& v : q) v = g.bf16();
    for (std::uint16_t& v : basis) v = g.bf16();
    for (std::byte& v : packed) v = static_cast<std::byte>(g.word());
    h.take(encode_row(a, round % 3 ? b : nullptr, codes, n));
    for (const std::int8_t c : codes) h.take(static_cast<std::uint32_t>(c));
    const squares sums = difference_row(p, q, d16, n);
    h.take(d16, n);
    h.take(sums.moved);
    h.take(sums.anchored);
    maximum_row(a, most, n);
    h.take(most, n);
    scale_columns_row(p, q, d16, n);
    h.take(d16, n);
    h.take(absolute_sum(p, n));
    const std::uint32_t precision = round % 3 == 0 ? 8 : round % 3 == 1 ? 4 : 2;
    expand_codes(packed, precision, round % 2 != 0, b, n);
    low_rank_row(p, basis, round % (rank + 1), 0.01f, round % 5 ? b : nullptr, x, n);
    h.take(x, n);
    const channel_update mode{.add_state = round % 2 != 0, .fresh = round % 4 == 2};
    update_row(mode, a, x, p, q, 0.3f, d16, n);
    h.take(p, n);
    h.take(q, n);
    h.take(d16, n);
    transpose_codes(packed, 10, 16, 10, precision, turned, 16);
    for (std::uint32_t c = 0; c < 10; ++c) {
      for (std::uint32_t i = 0; i < 2 * precision; ++i) h.take(std::to_integer<std::uint32_t>(turned[16 * c + i]));
    }
  }
  return h.value();
}

}  // namespace

std::uint64_t fingerprint(part which) {
  switch (which) {
    case part::special:
      return of_special();
    case part::rotary:
      return of_rotary();
    case part::rows:
      return of_rows();
    case part::sampling:
      return of_sampling();
    case part::chains:
      return of_chains();
    case part::compressed:
      return of_compressed();
  }
  return 0;
}

}  // namespace dvp::numerics::test
