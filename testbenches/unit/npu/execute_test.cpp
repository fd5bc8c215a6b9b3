// The functional part of the engines against plain loops: operand addressing, tiles, strides, accumulation. Bytes no
// operand owns must stay as they were.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <random>
#include <vector>

#include "testbenches/unit/npu/descriptors.h"
#include "testbenches/unit/npu/pad.h"
#include "tlm/array/model_array.h"
#include "tlm/npu/execute_gemm.h"
#include "tlm/npu/execute_sample.h"
#include "tlm/npu/execute_vector.h"
#include "tlm/numerics/converter.h"

namespace dvp::npu {
namespace {

using namespace test;

constexpr gen::precision q8 = gen::precision::q8;
constexpr gen::precision q4 = gen::precision::q4;
constexpr gen::precision q2 = gen::precision::q2;
constexpr gen::precision bf16 = gen::precision::bf16;
namespace mode = gen::gemm_mode;

struct product_case {
  gen::precision format;
  gemm_shape shape;
  bool accumulate = false;
  std::uint8_t modes = 0;
};

std::ostream& operator<<(std::ostream& out, const product_case& c) {
  return out << gen::name_of(c.format) << " tokens " << c.shape.tokens << " vectors " << c.shape.vectors
             << " reduction " << c.shape.reduction << " group " << c.shape.group << " accumulate " << c.accumulate
             << " modes " << int{c.modes};
}

std::uint32_t bits_of(gen::precision format) {
  return format == bf16 ? 16 : format == q8 ? 8 : format == q4 ? 4 : 2;
}

// Element k of the streamed vector at `address`, bit after bit.
float streamed(pad& memory, std::uint32_t address, std::uint32_t k, gen::precision format, bool half_step) {
  if (format == bf16) return from_half_up(memory.get<std::uint16_t>(address + 2 * k));
  const std::uint32_t bits = bits_of(format);
  int code = 0;
  for (std::uint32_t b = 0; b < bits; ++b) {
    const std::uint32_t at = k * bits + b;
    const int bit = memory.get<std::uint8_t>(address + at / 8) >> at % 8 & 1;
    code += (b + 1 == bits ? -bit : bit) << b;
  }
  if (!half_step) return static_cast<float>(code);
  return static_cast<float>(format == q4 ? 16 * code + 8 : 64 * code + 32);
}

class gemm_shapes : public testing::TestWithParam<product_case> {};

TEST_P(gemm_shapes, match_plain_loops) {
  const auto [format, shape, accumulate, modes] = GetParam();
  const bool scaled = format != bf16 && (modes & mode::unscaled) == 0;
  const bool turned_x = (modes & mode::transposed_x) != 0;
  const bool turned_out = (modes & mode::transposed_out) != 0;
  const std::uint32_t x_stride = 2 * (turned_x ? shape.tokens : shape.reduction) + 6;
  const std::uint32_t w_stride = (bits_of(format) * shape.reduction + 7) / 8 + (format == bf16 ? 10 : 3);
  const std::uint32_t groups = shape.reduction / shape.group;
  gen::gemm_descriptor d = with(gemm(format, shape, {0x2, x_stride}, {0x4002, w_stride}, {0x8002, 2 * groups + 2},
                                     {0xa004, 4 * (turned_out ? shape.tokens : shape.vectors) + 12}),
                                accumulate ? gen::descriptor_flag::accumulate : std::uint8_t{0});
  d.header.function = modes;
  expect_valid(descriptor_view(d));
  pad memory;
  memory.fill_bf16(0, 0x2000);
  memory.fill_halves(0x8002, 0xfff);
  if (format == bf16) memory.fill_bf16(0x4002, 0x1fff);
  pad before = memory;
  const array::array_shape shape_of_array{.rows = 8, .columns = 4, .packing = true};
  array::model_array seat(shape_of_array);
  gemm_executor executor(seat, 4);
  const std::uint64_t cycles = executor.run(d, memory.bytes());

  // Two q4 or four q2 vectors share a beat.
  const std::uint32_t together = format == q4 ? 2 : format == q2 ? 4 : 1;
  const std::uint32_t tiles = (shape.tokens + 3) / 4;
  EXPECT_EQ(executor.jobs(), tiles);
  EXPECT_EQ(cycles, tiles * array::job_cycles(shape_of_array, (shape.vectors + together - 1) / together,
                                              shape.reduction, shape.group));
  for (std::uint32_t t = 0; t < shape.tokens; ++t) {
    for (std::uint32_t v = 0; v < shape.vectors; ++v) {
      const std::uint32_t out = d.out + (turned_out ? v * d.out_stride + 4 * t : t * d.out_stride + 4 * v);
      float sum = accumulate ? before.get<float>(out) : 0.0F;
      for (std::uint32_t g = 0; g < groups; ++g) {
        float chain = scaled ? 0.0F : sum;
        for (std::uint32_t k = g * shape.group; k < (g + 1) * shape.group; ++k) {
          const std::uint32_t at = d.x + (turned_x ? k * x_stride + 2 * t : t * x_stride + 2 * k);
          chain = chain + streamed(before, d.w + v * w_stride, k, format, (modes & mode::half_step) != 0) *
                              from_half_up(before.get<std::uint16_t>(at));
        }
        const float scale = scaled ? from_half(before.get<std::uint16_t>(d.scales + v * d.scale_stride + 2 * g)) : 0.0F;
        sum = scaled ? sum + scale * chain : chain;
      }
      ASSERT_EQ(memory.get<float>(out), sum) << "token " << t << " vector " << v;
    }
  }
  expect_rest_untouched(before, memory, descriptor_view(d));
}

INSTANTIATE_TEST_SUITE_P(tiles, gemm_shapes,
                         testing::Values(product_case{q8, {4, 16, 64, 32}}, product_case{q8, {4, 16, 64, 32}, true},
                                         product_case{q8, {1, 1, 1, 1}}, product_case{q8, {5, 7, 96, 32}},
                                         product_case{q8, {11, 33, 60, 12}, true}, product_case{q8, {2, 100, 24, 24}},
                                         product_case{bf16, {4, 16, 64, 64}}, product_case{bf16, {4, 16, 64, 64}, true},
                                         product_case{bf16, {1, 1, 1, 1}, true},
                                         product_case{bf16, {9, 31, 77, 77}, true},
                                         product_case{bf16, {3, 50, 13, 13}}));

INSTANTIATE_TEST_SUITE_P(
    modes, gemm_shapes,
    testing::Values(product_case{q4, {5, 7, 96, 32}}, product_case{q4, {5, 7, 63, 21}, true, mode::half_step},
                    product_case{q2, {6, 9, 64, 32}, false, mode::half_step}, product_case{q2, {3, 5, 35, 7}, true},
                    product_case{q8, {5, 7, 96, 96}, true, mode::unscaled},
                    product_case{q4, {9, 10, 45, 45}, true, mode::unscaled | mode::half_step},
                    product_case{q2, {9, 11, 33, 33}, false, mode::unscaled | mode::half_step},
                    product_case{q2, {1, 1, 1, 1}, true, mode::unscaled},
                    product_case{bf16, {9, 6, 31, 31}, true, mode::transposed_x},
                    product_case{q8, {10, 7, 64, 32}, true, mode::transposed_out},
                    product_case{q8, {6, 9, 64, 32}, false, mode::transposed_x | mode::transposed_out},
                    product_case{q4,
                                 {11, 14, 39, 39},
                                 true,
                                 mode::unscaled | mode::half_step | mode::transposed_x | mode::transposed_out},
                    product_case{q2, {7, 13, 48, 16}, true, mode::transposed_x | mode::transposed_out}));

// What the memory delivers for 8-bit codes, multiplied as the views say, is within the reach of a double's loop over
// the codes' narrowed values; how far those are from the codes is the view's business.
TEST(gemm_executor, narrow_codes_as_the_memory_converts_them_give_the_product_of_their_values) {
  constexpr std::uint32_t tokens = 5, vectors = 12, reduction = 128, group = 32;
  std::mt19937 random(5);
  for (const std::uint8_t bits : {std::uint8_t{4}, std::uint8_t{2}}) {
    for (const bool fitted : {false, true}) {
      SCOPED_TRACE(testing::Message() << int{bits} << " bits, fitted " << fitted);
      const numerics::view view{bits, fitted ? numerics::view_mode::fitted : numerics::view_mode::midpoint, 96, 4, 40};
      const numerics::converter converter(view);
      const std::uint32_t row_bytes = reduction * bits / 8;
      pad memory;
      memory.fill_bf16(0, tokens * reduction);
      memory.fill_halves(0x8000, vectors * (reduction / group));
      std::vector<std::int8_t> codes(vectors * reduction);
      for (auto& q : codes) q = static_cast<std::int8_t>(random());
      converter.convert_all(std::as_bytes(std::span(codes)), memory.bytes().subspan(0x4000, vectors * row_bytes));
      gen::gemm_descriptor d = gemm(bits == 4 ? q4 : q2, {tokens, vectors, reduction, group}, {0, 2 * reduction},
                                    {0x4000, row_bytes}, {0x8000, 2 * (reduction / group)}, {0xa000, 4 * vectors});
      d.header.function = fitted ? std::uint8_t{0} : std::uint8_t{mode::half_step};
      expect_valid(descriptor_view(d));
      array::model_array seat({8, 4});
      gemm_executor(seat, 4).run(d, memory.bytes());
      for (std::uint32_t t = 0; t < tokens; ++t) {
        for (std::uint32_t v = 0; v < vectors; ++v) {
          double sum = 0, magnitude = 0;
          for (std::uint32_t k = 0; k < reduction; ++k) {
            const int q = codes[v * reduction + k];
            // Midpoint: the middle of the 16 or 64 codes that share the upper bits. Fitted: see converter.h.
            const int step = bits == 4 ? 16 : 64;
            double value = std::floor(static_cast<double>(q) / step) * step + step / 2;
            if (fitted && bits == 4) value = std::clamp(std::nearbyint(std::clamp(q, -96, 96) / 16.0), -8.0, 7.0);
            if (fitted && bits == 2) value = q > 40 ? 1 : q < -40 ? -1 : 0;
            const double scale = from_half(memory.get<std::uint16_t>(d.scales + v * d.scale_stride + k / group * 2));
            const double term = scale * value * from_half_up(memory.get<std::uint16_t>(t * 2 * reduction + 2 * k));
            sum += term;
            magnitude += std::abs(term);
          }
          ASSERT_NEAR(memory.get<float>(d.out + t * d.out_stride + 4 * v), sum, magnitude * 0x1p-18);
        }
      }
    }
  }
}

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
  const auto function = static_cast<gen::vector_function>(d.header.function);
  const bool wide = function == gen::vector_function::dequantise || function == gen::vector_function::add ||
                    function == gen::vector_function::add_row;
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
