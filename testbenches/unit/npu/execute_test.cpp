// The functional part of the engines against plain loops: operand addressing, tiles, strides, accumulation. Bytes no
// operand owns must stay as they were.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <stdexcept>
#include <vector>

#include "testbenches/unit/npu/descriptors.h"
#include "tlm/array/model_array.h"
#include "tlm/npu/descriptor_check.h"
#include "tlm/npu/execute_gemm.h"
#include "tlm/npu/execute_sample.h"
#include "tlm/npu/execute_vector.h"
#include "tlm/npu/operands.h"

namespace dvp::npu {
namespace {

using namespace test;

constexpr std::uint32_t scratchpad_bytes = 0x10000;

float from_half_up(std::uint16_t bf16) {
  return std::bit_cast<float>(std::uint32_t{bf16} << 16);
}

std::uint16_t nearest_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t low = bits & 0xffff;
  const bool up = low > 0x8000 || (low == 0x8000 && (bits >> 16 & 1) != 0);
  return static_cast<std::uint16_t>((bits >> 16) + (up ? 1 : 0));
}

// Binary16, normal numbers: fraction 10 bits, exponent offset 15.
float from_half(std::uint16_t code) {
  const float fraction = 1.0F + static_cast<float>(code & 0x3ff) / 1024.0F;
  return std::ldexp((code & 0x8000) != 0 ? -fraction : fraction, (code >> 10 & 31) - 15);
}

// A scratchpad of random moderate floats, with typed access by byte address.
struct pad {
  std::vector<std::uint64_t> words = std::vector<std::uint64_t>(scratchpad_bytes / 8);
  std::mt19937 random{99};

  pad() {
    std::normal_distribution<float> normal;
    for (std::uint32_t a = 0; a < scratchpad_bytes; a += 4) put<float>(a, normal(random));
  }
  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(words)); }
  template <typename T>
  T get(std::size_t address) {
    T value;
    std::memcpy(&value, bytes().data() + address, sizeof value);
    return value;
  }
  template <typename T>
  void put(std::size_t address, T value) {
    std::memcpy(bytes().data() + address, &value, sizeof value);
  }
  // Halves between 2^-7 and 2^8 in magnitude.
  void fill_halves(std::uint32_t address, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      put<std::uint16_t>(address + 2 * i, static_cast<std::uint16_t>((random() & 0x83ff) | (8 + random() % 15) << 10));
    }
  }
  void fill_bf16(std::uint32_t address, std::uint32_t count) {
    std::normal_distribution<float> normal;
    for (std::uint32_t i = 0; i < count; ++i) put<std::uint16_t>(address + 2 * i, nearest_bf16(normal(random)));
  }
};

// Every byte outside the written operands of d is as in `before`.
void expect_rest_untouched(pad& before, pad& after, const descriptor_view& d) {
  std::vector<bool> owned(scratchpad_bytes, false);
  for (const operand& item : operands_of(d)) {
    for (std::uint64_t r = 0; item.written && r < item.rows; ++r) {
      for (std::uint64_t b = 0; b < item.row_bytes; ++b) owned[item.address + r * item.stride + b] = true;
    }
  }
  for (std::uint32_t a = 0; a < scratchpad_bytes; ++a) {
    if (owned[a]) continue;
    ASSERT_EQ(after.bytes()[a], before.bytes()[a]) << "byte " << a;
  }
}

void expect_valid(const descriptor_view& d) {
  ASSERT_EQ(check(d, 0, {scratchpad_bytes, 512}), gen::npu::error_code::none);
}

class gemm_shapes : public testing::TestWithParam<std::tuple<gen::precision, gemm_shape, bool>> {};

TEST_P(gemm_shapes, match_plain_loops) {
  const auto [format, shape, accumulate] = GetParam();
  const bool q8 = format == gen::precision::q8;
  const std::uint32_t x_stride = 2 * shape.reduction + 6;
  const std::uint32_t w_stride = (q8 ? 1 : 2) * shape.reduction + 10;
  const std::uint32_t groups = shape.reduction / shape.group;
  const gen::gemm_descriptor d = with(gemm(format, shape, {0x2, x_stride}, {0x4002, w_stride}, {0x8002, 2 * groups + 2},
                                           {0xa004, 4 * shape.vectors + 12}),
                                      accumulate ? gen::descriptor_flag::accumulate : std::uint8_t{0});
  expect_valid(descriptor_view(d));
  pad memory;
  memory.fill_bf16(0, 0x2000);
  memory.fill_halves(0x8002, 0xfff);
  if (!q8) memory.fill_bf16(0x4002, 0x1fff);
  pad before = memory;
  array::model_array seat({8, 4});
  gemm_executor executor(seat, 4);
  const std::uint64_t cycles = executor.run(d, memory.bytes());

  const std::uint32_t tiles = (shape.tokens + 3) / 4;
  EXPECT_EQ(executor.jobs(), tiles);
  EXPECT_EQ(cycles, tiles * array::job_cycles({8, 4}, shape.vectors, shape.reduction, shape.group));
  for (std::uint32_t t = 0; t < shape.tokens; ++t) {
    for (std::uint32_t v = 0; v < shape.vectors; ++v) {
      const std::uint32_t out = d.out + t * d.out_stride + 4 * v;
      float sum = accumulate ? before.get<float>(out) : 0.0F;
      for (std::uint32_t g = 0; g < groups; ++g) {
        float chain = q8 ? 0.0F : sum;
        for (std::uint32_t k = g * shape.group; k < (g + 1) * shape.group; ++k) {
          const float x = from_half_up(before.get<std::uint16_t>(d.x + t * x_stride + 2 * k));
          const float w = q8 ? static_cast<float>(before.get<std::int8_t>(d.w + v * w_stride + k))
                             : from_half_up(before.get<std::uint16_t>(d.w + v * w_stride + 2 * k));
          chain = chain + w * x;
        }
        const float scale = q8 ? from_half(before.get<std::uint16_t>(d.scales + v * d.scale_stride + 2 * g)) : 0.0F;
        sum = q8 ? sum + scale * chain : chain;
      }
      ASSERT_EQ(memory.get<float>(out), sum) << "token " << t << " vector " << v;
    }
  }
  expect_rest_untouched(before, memory, descriptor_view(d));
}

constexpr gen::precision q8 = gen::precision::q8;
constexpr gen::precision bf16 = gen::precision::bf16;
INSTANTIATE_TEST_SUITE_P(
    tiles, gemm_shapes,
    testing::Values(std::tuple(q8, gemm_shape{4, 16, 64, 32}, false), std::tuple(q8, gemm_shape{4, 16, 64, 32}, true),
                    std::tuple(q8, gemm_shape{1, 1, 1, 1}, false), std::tuple(q8, gemm_shape{5, 7, 96, 32}, false),
                    std::tuple(q8, gemm_shape{11, 33, 60, 12}, true), std::tuple(q8, gemm_shape{2, 100, 24, 24}, false),
                    std::tuple(bf16, gemm_shape{4, 16, 64, 64}, false),
                    std::tuple(bf16, gemm_shape{4, 16, 64, 64}, true), std::tuple(bf16, gemm_shape{1, 1, 1, 1}, true),
                    std::tuple(bf16, gemm_shape{9, 31, 77, 77}, true),
                    std::tuple(bf16, gemm_shape{3, 50, 13, 13}, false)));

TEST(gemm_executor, buffers_of_a_large_shape_do_not_leak_into_a_small_one) {
  array::model_array seat({8, 4});
  gemm_executor used(seat, 4);
  gemm_executor fresh(seat, 4);
  pad one;
  used.run(gemm(q8, {9, 40, 128, 32}, {0, 256}, {0x4000, 128}, {0x8000, 8}, {0xa000, 160}), one.bytes());
  pad two;
  pad three;
  const gen::gemm_descriptor small = gemm(q8, {3, 5, 64, 32}, {0, 256}, {0x4000, 128}, {0x8000, 8}, {0xa000, 160});
  used.run(small, two.bytes());
  fresh.run(small, three.bytes());
  EXPECT_EQ(two.words, three.words);
}

// Elements of s0, s1 and d of a vector descriptor over 3 x 64, by row and column, from the memory before.
struct elements {
  pad& memory;
  const gen::vector_descriptor& d;
  float s0(std::uint32_t r, std::uint32_t c) const { return memory.get<float>(d.s0 + r * d.s0_stride + 4 * c); }
  float s1(std::uint32_t r, std::uint32_t c) const { return memory.get<float>(d.s1 + r * d.s1_stride + 4 * c); }
};

gen::vector_descriptor three_rows(gen::vector_function function) {
  gen::vector_descriptor d = vector(function, 3, 64, {0x10, 260}, {0x1004, 268}, {0x2008, 264});
  d.scalar0 = 0.125F;
  d.scalar_int = 16;
  return d;
}

template <typename Expected>
void expect_vector(const gen::vector_descriptor& d, pad& memory, double tolerance, Expected expected) {
  expect_valid(descriptor_view(d));
  pad before = memory;
  execute_vector(d, memory.bytes());
  const bool wide = d.header.function == gen::vector_function::dequantise ||
                    d.header.function == gen::vector_function::add ||
                    d.header.function == gen::vector_function::add_row;
  const elements source{before, d};
  for (std::uint32_t r = 0; r < d.rows; ++r) {
    for (std::uint32_t c = 0; c < d.columns; ++c) {
      const std::uint32_t out = d.d + r * d.d_stride + (wide ? 4 : 2) * c;
      const double value = wide ? memory.get<float>(out) : from_half_up(memory.get<std::uint16_t>(out));
      const double wanted = expected(source, r, c);
      ASSERT_NEAR(value, wanted, tolerance * (std::abs(wanted) + 1e-3)) << r << ' ' << c;
    }
  }
  expect_rest_untouched(before, memory, descriptor_view(d));
}

// A bf16 result is right to half a unit in the last of 8 bits, and a little for the functions' own error.
constexpr double bf16_error = 0x1p-8;

TEST(execute_vector, exact_functions) {
  using f = gen::vector_function;
  pad memory;
  expect_vector(three_rows(f::add), memory, 0,
                [](const elements& e, auto r, auto c) { return e.s0(r, c) + e.s1(r, c); });
  expect_vector(three_rows(f::add_row), memory, 0,
                [](const elements& e, auto r, auto c) { return e.s0(r, c) + e.s1(0, c); });
  expect_vector(three_rows(f::to_bf16), memory, 0,
                [](const elements& e, auto r, auto c) { return from_half_up(nearest_bf16(e.s0(r, c))); });
  gen::vector_descriptor in_place = three_rows(f::add);
  in_place.d = in_place.s0;
  in_place.d_stride = in_place.s0_stride;
  expect_vector(in_place, memory, 0, [](const elements& e, auto r, auto c) { return e.s0(r, c) + e.s1(r, c); });
  const gen::vector_descriptor dequantise = three_rows(f::dequantise);
  memory.fill_halves(dequantise.s1, 400);
  expect_vector(dequantise, memory, 0, [](const elements& e, auto r, auto c) {
    const float scale = from_half(e.memory.get<std::uint16_t>(e.d.s1 + r * e.d.s1_stride + c / 32 * 2));
    return scale * static_cast<float>(e.memory.get<std::int8_t>(e.d.s0 + r * e.d.s0_stride + c));
  });
}

TEST(execute_vector, transpose) {
  pad memory;
  const gen::vector_descriptor d =
      vector(gen::vector_function::transpose_to_bf16, 5, 33, {0x10, 148}, {}, {0x2002, 14});
  expect_valid(descriptor_view(d));
  pad before = memory;
  execute_vector(d, memory.bytes());
  for (std::uint32_t r = 0; r < 5; ++r) {
    for (std::uint32_t c = 0; c < 33; ++c) {
      ASSERT_EQ(memory.get<std::uint16_t>(0x2002 + c * 14 + r * 2),
                nearest_bf16(before.get<float>(0x10 + r * 148 + c * 4)));
    }
  }
  expect_rest_untouched(before, memory, descriptor_view(d));
}

TEST(execute_vector, rounded_functions_match_double_precision) {
  using f = gen::vector_function;
  pad memory;
  expect_vector(three_rows(f::silu_multiply), memory, bf16_error, [](const elements& e, auto r, auto c) {
    const double x = e.s0(r, c);
    return x / (1 + std::exp(-x)) * e.s1(r, c);
  });
  expect_vector(three_rows(f::softmax), memory, bf16_error, [](const elements& e, auto r, auto c) {
    double sum = 0;
    for (std::uint32_t i = 0; i < 64; ++i) sum += std::exp(0.125 * e.s0(r, i));
    return std::exp(0.125 * e.s0(r, c)) / sum;
  });
  expect_vector(three_rows(f::rms_norm), memory, bf16_error, [](const elements& e, auto r, auto c) {
    double squares = 0;
    for (std::uint32_t i = 0; i < 64; ++i) squares += double{e.s0(r, i)} * e.s0(r, i);
    return e.s0(r, c) / std::sqrt(squares / 64 + 0.125) * e.s1(0, c);
  });
  const auto rotated = [](const elements& e, std::uint32_t r, std::uint32_t c, bool halves) {
    const std::uint32_t head = c / 16 * 16;
    const std::uint32_t place = c % 16;
    const std::uint32_t pair = halves ? place % 8 : place / 2;
    const bool second = halves ? place >= 8 : place % 2 == 1;
    const double a = e.s0(r, head + (halves ? pair : 2 * pair));
    const double b = e.s0(r, head + (halves ? pair + 8 : 2 * pair + 1));
    const double cosine = e.s1(r, pair);
    const double sine = e.s1(r, pair + 8);
    return second ? a * sine + b * cosine : a * cosine - b * sine;
  };
  expect_vector(three_rows(f::rope_interleaved), memory, 2 * bf16_error,
                [&](const elements& e, auto r, auto c) { return rotated(e, r, c, false); });
  expect_vector(three_rows(f::rope_halves), memory, 2 * bf16_error,
                [&](const elements& e, auto r, auto c) { return rotated(e, r, c, true); });
}

// Two rows of 90 logits, cut at every place, against the softmax in double precision.
TEST(execute_sample, chunks_keep_state_and_the_last_one_leaves_the_record) {
  constexpr std::uint32_t state = 0x4000;
  constexpr std::uint32_t result = 0x5000;
  for (const std::uint32_t cut : {1U, 17U, 89U}) {
    pad memory;
    pad before = memory;
    const std::uint32_t best = 60;
    memory.put<float>(best * 4, 9.0F);
    memory.put<float>(400 + 5 * 4, 30.0F);  // row 1: suppressed
    memory.put<float>(400 + 7 * 4, 8.0F);
    memory.put<float>(400 + 70 * 4, 8.0F);  // a tie goes to the lower token
    gen::sample_descriptor first = sample(2, cut, {0, 400}, state, result, gen::descriptor_flag::first_chunk);
    first.first_token = 1000;
    first.suppressed_token = 1005;
    gen::sample_descriptor rest = first;
    rest.header.flags = gen::descriptor_flag::last_chunk;
    rest.columns = 90 - cut;
    rest.logits += 4 * cut;
    rest.first_token += cut;
    expect_valid(descriptor_view(first));
    expect_valid(descriptor_view(rest));
    pad prepared = memory;
    execute_sample(first, memory.bytes());
    EXPECT_EQ(memory.get<std::uint64_t>(result), before.get<std::uint64_t>(result)) << "written before the last chunk";
    execute_sample(rest, memory.bytes());
    for (std::uint32_t r = 0; r < 2; ++r) {
      double sum = 0;
      for (std::uint32_t c = 0; c < 90; ++c) {
        if (c != 5) sum += std::exp(double{prepared.get<float>(400 * r + 4 * c)});
      }
      const std::uint32_t token = r == 0 ? best : 7;
      EXPECT_EQ(memory.get<std::uint32_t>(result + 8 * r), 1000 + token);
      const double probability = std::exp(double{prepared.get<float>(400 * r + 4 * token)}) / sum;
      EXPECT_NEAR(memory.get<float>(result + 8 * r + 4), probability, 1e-5);
    }
    expect_rest_untouched(prepared, memory, descriptor_view(rest));
  }
}

TEST(execute_sample, noise_depends_on_key_position_and_token_only) {
  const auto tokens = [](std::uint32_t key_hi, std::uint32_t first_row, std::uint32_t rows) {
    pad memory;
    for (std::uint32_t a = 0; a < 0x4000; a += 4) memory.put<float>(a, 0.0F);
    gen::sample_descriptor d = sample(rows, 256, {0, 1024}, 0x4000, 0x5000,
                                      gen::descriptor_flag::first_chunk | gen::descriptor_flag::last_chunk);
    d.temperature = 0.7F;
    d.noise_key_lo = 42;
    d.noise_key_hi = key_hi;
    d.first_row = first_row;
    execute_sample(d, memory.bytes());
    std::vector<std::uint32_t> chosen;
    for (std::uint32_t r = 0; r < rows; ++r) {
      chosen.push_back(memory.get<std::uint32_t>(0x5000 + 8 * r));
      EXPECT_NEAR(memory.get<float>(0x5004 + 8 * r), 1.0 / 256, 1e-8);
    }
    return chosen;
  };
  const auto all = tokens(1, 10, 8);
  EXPECT_EQ(tokens(1, 14, 4), std::vector(all.begin() + 4, all.end()));
  EXPECT_NE(tokens(2, 10, 8), all);
}

}  // namespace
}  // namespace dvp::npu
