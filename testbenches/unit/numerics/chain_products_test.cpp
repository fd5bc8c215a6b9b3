// The array's arithmetic: the reference against plain hardware loops and hand-worked corner cases, the fast version
// against the reference, bit for bit.
#include "tlm/numerics/chain_products.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "testbenches/unit/numerics/values.h"
#include "tlm/numerics/accumulate.h"
#include "tlm/numerics/converter.h"
#include "tlm/numerics/fp32.h"

namespace dvp::numerics::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

float widen(std::uint16_t code) {
  return value_of(static_cast<std::uint32_t>(code) << 16);
}

struct problem {
  chain_operands shape;
  std::vector<std::uint16_t> stationary;
  std::vector<std::int8_t> codes;
  std::vector<std::uint16_t> elements;
  std::vector<float> preset;
  std::vector<float> out;

  chain_operands operands(bool with_preset = true) {
    chain_operands o = shape;
    o.stationary = stationary.data();
    o.stream = shape.format == stream_format::q8 ? static_cast<const void*>(codes.data()) : elements.data();
    o.preset = with_preset && !preset.empty() ? preset.data() : nullptr;
    out.assign(static_cast<std::size_t>(o.chains()) * o.vectors * o.columns, -1.0f);
    o.out = out.data();
    return o;
  }
};

problem random_problem(operand_source& source) {
  problem p;
  p.shape.format = source.below(2) ? stream_format::q8 : stream_format::bf16;
  p.shape.columns = 1 + source.below(source.below(4) ? 16 : 40);
  p.shape.vectors = 1 + source.below(21);
  p.shape.group = 1 + source.below(source.below(4) ? 33 : 300);
  p.shape.reduction = p.shape.group * (1 + source.below(4));
  p.shape.stream_stride = p.shape.reduction + source.below(5);
  for (std::uint32_t i = 0; i < p.shape.reduction * p.shape.columns; ++i) p.stationary.push_back(source.bf16());
  for (std::size_t i = 0; i < p.shape.vectors * p.shape.stream_stride; ++i) {
    p.codes.push_back(source.code());
    p.elements.push_back(source.bf16());
  }
  if (source.below(2)) {
    for (std::uint32_t i = 0; i < p.shape.vectors * p.shape.columns; ++i) p.preset.push_back(source.fp32());
  }
  return p;
}

// Plain arithmetic of the host in the order of the contract; volatile keeps every rounding where it is written.
std::vector<float> by_hand(problem& p) {
  const chain_operands o = p.operands();
  std::vector<float> result;
  for (std::uint32_t g = 0; g < o.reduction / o.group; ++g) {
    for (std::uint32_t v = 0; v < o.vectors; ++v) {
      for (std::uint32_t c = 0; c < o.columns; ++c) {
        volatile float sum = g == 0 && o.preset ? o.preset[v * o.columns + c] : 0.0f;
        for (std::uint32_t k = g * o.group; k < (g + 1) * o.group; ++k) {
          const std::size_t at = v * o.stream_stride + k;
          const float w = o.format == stream_format::q8 ? static_cast<float>(p.codes[at]) : widen(p.elements[at]);
          volatile float product = w * widen(p.stationary[k * o.columns + c]);
          sum = sum + product;
        }
        result.push_back(std::isnan(sum) ? value_of(0x7fc0'0000) : sum);
      }
    }
  }
  return result;
}

void expect_same(const std::vector<float>& actual, const std::vector<float>& expected, const char* what) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    ASSERT_EQ(bits(actual[i]), bits(expected[i]))
        << what << ", element " << i << ": " << actual[i] << " for " << expected[i];
  }
}

class random_shapes : public testing::TestWithParam<double> {};

TEST_P(random_shapes, same_bits) {
  constexpr std::uint32_t seed = 20240817;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  operand_source source(seed, GetParam());
  for (int i = 0; i < 150; ++i) {
    problem p = random_problem(source);
    SCOPED_TRACE(testing::Message() << "problem " << i << ": columns " << p.shape.columns << ", vectors "
                                    << p.shape.vectors << ", group " << p.shape.group);
    const std::vector<float> expected = by_hand(p);
    chain_products_reference(p.operands());
    ASSERT_NO_FATAL_FAILURE(expect_same(p.out, expected, "reference against hand"));
    chain_products(p.operands());
    ASSERT_NO_FATAL_FAILURE(expect_same(p.out, expected, "fast against hand"));
  }
}

INSTANTIATE_TEST_SUITE_P(special_share, random_shapes, testing::Values(0.0, 0.002, 0.2));

// One column, one vector, one chain.
float chain(std::vector<std::int8_t> codes, std::vector<float> tokens, const float* preset = nullptr) {
  problem p;
  p.shape = {.format = stream_format::q8,
             .columns = 1,
             .vectors = 1,
             .reduction = static_cast<std::uint32_t>(codes.size()),
             .group = static_cast<std::uint32_t>(codes.size()),
             .stream_stride = codes.size()};
  p.codes = std::move(codes);
  for (float x : tokens) p.stationary.push_back(static_cast<std::uint16_t>(bits(x) >> 16));
  chain_operands o = p.operands(false);
  o.preset = preset;
  chain_products_reference(o);
  const float reference = p.out[0];
  o = p.operands(false);
  o.preset = preset;
  chain_products(o);
  EXPECT_EQ(bits(p.out[0]), bits(reference));
  return p.out[0];
}

TEST(corner_cases, signs_and_infinities) {
  EXPECT_EQ(bits(chain({0}, {-1.0f})), 0u) << "+0 + -0 = +0";
  EXPECT_EQ(bits(chain({0}, {infinity})), 0x7fc0'0000u);
  EXPECT_EQ(bits(chain({1, 1}, {infinity, -infinity})), 0x7fc0'0000u);
  EXPECT_EQ(bits(chain({0}, {value_of(0xffff'0000)})), 0x7fc0'0000u);
  EXPECT_EQ(chain({-128}, {1.5f}), -192.0f);
  EXPECT_EQ(bits(chain({5, -5}, {3.0f, 3.0f})), 0u) << "exact cancellation is +0";
  const float minus_zero = -0.0f;
  EXPECT_EQ(bits(chain({0}, {-1.0f}, &minus_zero)), 0x8000'0000u) << "-0 + -0 = -0";
  const float payload = value_of(0xff80'0001);
  EXPECT_EQ(bits(chain({1}, {1.0f}, &payload)), 0x7fc0'0000u);
}

TEST(corner_cases, range_ends) {
  const float largest = value_of(0x7f7f'0000);
  EXPECT_EQ(chain({2}, {largest}), infinity);
  EXPECT_EQ(chain({1, 1}, {largest, largest}), infinity);
  EXPECT_EQ(chain({-128}, {value_of(0x0001'0000)}), -128 * 0x1p-133f) << "subnormal activation";
  EXPECT_EQ(bits(chain({1, -1}, {0x1p-126f, value_of(0x007f'0000)})), 0x0001'0000u) << "subnormal difference";
}

TEST(corner_cases, ties_of_the_sum) {
  EXPECT_EQ(chain({1, 1}, {0x1p24f, 1.0f}), 0x1p24f) << "tie to the even below";
  EXPECT_EQ(chain({1, 1, 1}, {0x1p24f, 2.0f, 1.0f}), 0x1p24f + 4.0f) << "tie to the even above";
  EXPECT_EQ(chain({1, 1, 1}, {0x1p24f, 1.0f, 1.0f}), 0x1p24f) << "ascending order, no reassociation";
}

TEST(products, bf16_by_code_is_exact_for_every_finite_pair) {
  problem p;
  p.shape = {
      .format = stream_format::q8, .columns = 16, .vectors = 256, .reduction = 255, .group = 1, .stream_stride = 255};
  for (int code = -128; code < 128; ++code) p.codes.insert(p.codes.end(), 255, static_cast<std::int8_t>(code));
  for (std::uint32_t first = 0; first < 65536; first += 16 * 255) {
    p.stationary.clear();
    for (std::uint32_t i = 0; i < 16 * 255; ++i)
      p.stationary.push_back(static_cast<std::uint16_t>((first + i) % 65536));
    chain_products(p.operands());
    const float* out = p.out.data();
    for (std::uint32_t k = 0; k < 255; ++k) {
      for (int code = -128; code < 128; ++code) {
        for (std::uint32_t c = 0; c < 16; ++c, ++out) {
          const float x = widen(p.stationary[k * 16 + c]);
          if (!std::isfinite(x)) continue;
          const double exact = static_cast<double>(x) * code;
          if (std::fabs(exact) < 0x1p128) {
            ASSERT_EQ(static_cast<double>(*out), exact) << std::hexfloat << x << " * " << code;
          } else {
            ASSERT_EQ(*out, exact > 0 ? infinity : -infinity);
          }
        }
      }
    }
  }
}

TEST(products, bf16_by_bf16_rounds_below_the_subnormals) {
  problem p;
  p.shape = {.format = stream_format::bf16, .columns = 1, .vectors = 3, .reduction = 1, .group = 1, .stream_stride = 1};
  p.stationary = {0x1f80};                // 2^-64
  p.elements = {0x1500, 0x1540, 0x14c0};  // 2^-85, 1.5 * 2^-85, 1.5 * 2^-86
  chain_products(p.operands());
  EXPECT_EQ(bits(p.out[0]), 1u);  // exactly 2^-149
  EXPECT_EQ(bits(p.out[1]), 2u);  // 1.5 steps: tie to even
  EXPECT_EQ(bits(p.out[2]), 1u);  // 0.75 steps
}

// Vectors of any format after one another, codes packed by the converter.
struct mixed_problem : problem {
  std::vector<std::vector<std::byte>> delivered;
  std::vector<stream_vector> each;
  std::vector<std::vector<float>> values;  // what the elements stand for; empty for q0

  mixed_problem(operand_source& source, bool uniform) {
    static_cast<problem&>(*this) = random_problem(source);
    const std::size_t stride = (shape.reduction + 3) / 4 * 4;
    const std::uint32_t chosen = source.below(5);
    const bool chosen_half = source.below(2) != 0;
    for (std::uint32_t v = 0; v < shape.vectors; ++v) {
      const auto format = static_cast<stream_format>(uniform ? chosen : source.below(5));
      const bool half_step = uniform ? chosen_half : source.below(2) != 0;
      std::vector<std::byte> bytes(stride * element_bits(format) / 8 + 2);
      std::vector<float> numbers;
      if (format == stream_format::bf16) {
        for (std::size_t k = 0; k < shape.reduction; ++k) {
          const std::uint16_t number = source.bf16();
          bytes[2 * k] = static_cast<std::byte>(number & 0xff);
          bytes[2 * k + 1] = static_cast<std::byte>(number >> 8);
          numbers.push_back(widen(number));
        }
      } else if (format != stream_format::q0) {
        std::vector<std::byte> stored(shape.reduction);
        for (auto& code : stored) code = static_cast<std::byte>(source.code());
        const view described{.precision = static_cast<std::uint8_t>(element_bits(format))};
        converter(described).convert_all(stored, bytes);
        for (const std::byte code : stored) {
          const std::int8_t narrow = convert(described, static_cast<std::int8_t>(code));
          numbers.push_back(static_cast<float>(half_step ? array_value(described, narrow) : narrow));
        }
      }
      delivered.push_back(bytes);
      values.push_back(numbers);
      each.push_back({format, half_step, nullptr});
    }
    for (std::uint32_t v = 0; v < shape.vectors; ++v) each[v].elements = delivered[v].data();
    if (!uniform) {
      shape.each = each.data();
      return;
    }
    // One after another, a whole number of bytes apart.
    shape.format = each[0].format;
    shape.half_step = each[0].half_step;
    shape.stream_stride = stride;
    const std::size_t pitch = stride * element_bits(shape.format) / 8;
    together.resize(pitch * shape.vectors + 2);
    for (std::uint32_t v = 0; v < shape.vectors; ++v) {
      std::copy_n(delivered[v].begin(), pitch, together.begin() + static_cast<std::ptrdiff_t>(v * pitch));
    }
  }

  chain_operands mixed_operands() {
    chain_operands o = operands();
    if (shape.each == nullptr) o.stream = together.data();
    return o;
  }

  std::vector<float> expected() {
    const chain_operands o = operands();
    std::vector<float> result;
    for (std::uint32_t g = 0; g < o.reduction / o.group; ++g) {
      for (std::uint32_t v = 0; v < o.vectors; ++v) {
        for (std::uint32_t c = 0; c < o.columns; ++c) {
          volatile float sum = g == 0 && o.preset ? o.preset[v * o.columns + c] : 0.0f;
          for (std::uint32_t k = g * o.group; k < (g + 1) * o.group && !values[v].empty(); ++k) {
            volatile float product = values[v][k] * widen(stationary[k * o.columns + c]);
            sum = sum + product;
          }
          result.push_back(std::isnan(sum) ? value_of(0x7fc0'0000) : sum);
        }
      }
    }
    return result;
  }

  std::vector<std::byte> together;
};

TEST(formats, delivered_codes_uniform_and_changing_with_every_vector) {
  constexpr std::uint32_t seed = 20240818;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  operand_source source(seed, 0.01);
  for (int i = 0; i < 200; ++i) {
    mixed_problem p(source, i % 2 == 0);
    SCOPED_TRACE(testing::Message() << "problem " << i << ": columns " << p.shape.columns << ", vectors "
                                    << p.shape.vectors << ", group " << p.shape.group);
    const std::vector<float> expected = p.expected();
    chain_products_reference(p.mixed_operands());
    ASSERT_NO_FATAL_FAILURE(expect_same(p.out, expected, "reference against hand"));
    chain_products(p.mixed_operands());
    ASSERT_NO_FATAL_FAILURE(expect_same(p.out, expected, "fast against hand"));
  }
}

TEST(formats, q0_keeps_its_start_where_it_lies) {
  std::vector<float> sums = {1.5f, -0.0f, value_of(0xff80'0001), 2.0f};
  const std::vector<std::uint16_t> stationary(8, 0x7f80);
  chain_operands o;
  o.format = stream_format::q0;
  o.columns = 2;
  o.vectors = 2;
  o.reduction = o.group = 4;
  o.stationary = stationary.data();
  o.preset = o.out = sums.data();
  for (const auto run : {chain_products_reference, chain_products}) {
    run(o);
    EXPECT_EQ(sums[0], 1.5f);
    EXPECT_EQ(bits(sums[1]), 0x8000'0000u);
    EXPECT_EQ(bits(sums[2]), 0x7fc0'0000u);
    EXPECT_EQ(sums[3], 2.0f);
  }
}

TEST(accumulate, groups_ascend) {
  constexpr std::uint32_t seed = 7;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  operand_source source(seed, 0.01);
  for (std::uint32_t columns : {1u, 5u, 16u, 21u}) {
    constexpr std::uint32_t groups = 6;
    constexpr std::uint32_t vectors = 9;
    std::vector<float> chains(groups * vectors * columns), scales(vectors * groups), sums(vectors * columns);
    for (float& x : chains) x = source.fp32();
    for (float& x : scales) x = source.fp32();
    for (float& x : sums) x = source.fp32();
    std::vector<float> expected = sums;
    for (std::uint32_t v = 0; v < vectors; ++v) {
      for (std::uint32_t c = 0; c < columns; ++c) {
        volatile float sum = sums[v * columns + c];
        for (std::uint32_t g = 0; g < groups; ++g) {
          volatile float product = scales[v * groups + g] * chains[(g * vectors + v) * columns + c];
          sum = sum + product;
        }
        expected[v * columns + c] = std::isnan(sum) ? value_of(0x7fc0'0000) : sum;
      }
    }
    scale_accumulate(chains.data(), scales.data(), groups, vectors, columns, sums.data());
    expect_same(sums, expected, "scale_accumulate");
  }
}

}  // namespace
}  // namespace dvp::numerics::test
