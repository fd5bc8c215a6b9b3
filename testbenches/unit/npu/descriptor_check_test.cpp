#include "tlm/npu/descriptor_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>

#include "testbenches/unit/npu/descriptors.h"
#include "tlm/npu/operands.h"

namespace dvp::npu {
namespace {

using gen::npu::error_code;
using namespace test;

constexpr std::uint32_t scratchpad_bytes = 0x10000;
constexpr check_limits limits{scratchpad_bytes, 512};
constexpr std::uint32_t largest = std::numeric_limits<std::uint32_t>::max();

error_code checked(const descriptor_view& d, std::uint64_t index = 10) {
  return check(d, index, limits);
}

gen::dma_descriptor good_dma() {
  gen::dma_descriptor d = load(0x1000, 0x100, 64);
  d.rows = 4;
  d.planes = 3;
  d.dram_stride = 100;
  d.dram_plane_stride = 1000;
  d.scratchpad_stride = 64;
  d.scratchpad_plane_stride = 256;
  return d;
}

gen::gemm_descriptor good_gemm() {
  return gemm(gen::precision::q8, {5, 512, 64, 32}, {0, 128}, {0x1001, 65}, {0xa000, 4}, {0xb000, 2048});
}

gen::vector_descriptor good_vector(gen::vector_function function) {
  gen::vector_descriptor v = vector(function, 3, 64, {0, 256}, {0x1000, 256}, {0x2000, 256});
  v.scalar_int = 16;
  return v;
}

gen::sample_descriptor good_sample() {
  return sample(2, 100, {0, 400}, 0x1000, 0x2000, gen::descriptor_flag::last_chunk);
}

// One fault each, put into a good descriptor.
template <typename Record>
struct fault {
  const char* what;
  error_code code;
  std::function<void(Record&)> make;
};

template <typename Record>
void expect_faults(const Record& good, const std::vector<fault<Record>>& faults) {
  ASSERT_EQ(checked(descriptor_view(good)), error_code::none);
  for (const fault<Record>& each : faults) {
    Record bad = good;
    each.make(bad);
    EXPECT_EQ(checked(descriptor_view(bad)), each.code) << each.what << ": " << gen::npu::name_of(each.code);
  }
}

TEST(descriptor_check, header) {
  using v = gen::vector_descriptor;
  expect_faults<v>(
      good_vector(gen::vector_function::add),
      {
          {"opcode", error_code::bad_opcode, [](v& d) { d.header.op = static_cast<gen::opcode>(8); }},
          {"opcode 255", error_code::bad_opcode, [](v& d) { d.header.op = static_cast<gen::opcode>(255); }},
          {"function", error_code::bad_opcode, [](v& d) { d.header.function = static_cast<gen::vector_function>(10); }},
          {"unknown flag", error_code::bad_operand, [](v& d) { d.header.flags = 0x20; }},
          {"foreign flag", error_code::bad_operand, [](v& d) { d.header.flags = gen::descriptor_flag::accumulate; }},
          {"check byte without checks", error_code::bad_operand, [](v& d) { d.header.check = 1; }},
          {"tag", error_code::bad_operand, [](v& d) { d.header.tag_precision = static_cast<gen::precision>(5); }},
          {"purpose", error_code::bad_operand, [](v& d) { d.header.bytes_purpose = static_cast<gen::purpose>(10); }},
          {"wait before the first", error_code::bad_dependency, [](v& d) { d.header.wait[2] = 11; }},
      });
  EXPECT_EQ(checked(descriptor_view(fence(0, {10, 1, 3}))), error_code::none);
  EXPECT_EQ(checked(descriptor_view(fence(0, {1})), 0), error_code::bad_dependency);
  EXPECT_EQ(checked(descriptor_view(fence(0, {65535})), 1ULL << 33), error_code::none);
}

TEST(descriptor_check, dma) {
  using d = gen::dma_descriptor;
  const auto range = error_code::scratchpad_range;
  const auto operand = error_code::bad_operand;
  expect_faults<d>(good_dma(),
                   {
                       {"no bytes", operand, [](d& x) { x.row_bytes = 0; }},
                       {"no rows", operand, [](d& x) { x.rows = 0; }},
                       {"no planes", operand, [](d& x) { x.planes = 0; }},
                       {"q4", operand, [](d& x) { x.header.tag_precision = gen::precision::q4; }},
                       {"q2", operand, [](d& x) { x.header.tag_precision = gen::precision::q2; }},
                       {"behind the end", range, [](d& x) { x.scratchpad_address = scratchpad_bytes - 767; }},
                       {"address far out", range, [](d& x) { x.scratchpad_address = largest; }},
                       {"row stride leads out", range, [](d& x) { x.scratchpad_stride = largest; }},
                       {"plane stride leads out", range, [](d& x) { x.scratchpad_plane_stride = largest; }},
                       {"more than the scratchpad in place", operand,
                        [](d& x) {
                          x.rows = 342;
                          x.scratchpad_stride = 0;
                        }},
                       {"product of 96 bits", operand, [](d& x) { x.rows = x.planes = x.row_bytes = largest; }},
                       {"DRAM wraps", operand, [](d& x) { x.dram_address = ~std::uint64_t{0} - 2000; }},
                   });
  d last = good_dma();
  last.scratchpad_address = scratchpad_bytes - 768;
  last.dram_address = ~std::uint64_t{0} - (2 * 1000 + 3 * 100 + 64);
  EXPECT_EQ(checked(descriptor_view(last)), error_code::none) << "ends with the scratchpad and the address space";
  d gather = load(0, 0, 4);
  gather.header.op = gen::opcode::dma_gather;
  gather.rows = 5;
  gather.scratchpad_stride = 4;
  expect_faults<d>(gather, {
                               {"planes", operand, [](d& x) { x.planes = 2; }},
                               {"list not aligned", operand, [](d& x) { x.list_address = 2; }},
                               {"list wraps", operand, [](d& x) { x.list_address = ~std::uint64_t{0} - 15; }},
                               {"table wraps", operand,
                                [](d& x) {
                                  x.dram_stride = largest;
                                  x.dram_address = std::uint64_t{1} << 33;
                                }},
                           });
}

TEST(descriptor_check, gemm) {
  using g = gen::gemm_descriptor;
  const auto range = error_code::scratchpad_range;
  const auto operand = error_code::bad_operand;
  expect_faults<g>(good_gemm(), {
                                    {"no tokens", operand, [](g& d) { d.tokens = 0; }},
                                    {"no vectors", operand, [](g& d) { d.vectors = 0; }},
                                    {"accumulator", operand, [](g& d) { d.vectors = 513; }},
                                    {"no reduction", operand, [](g& d) { d.reduction = 0; }},
                                    {"no group", operand, [](g& d) { d.group = 0; }},
                                    {"group", operand, [](g& d) { d.group = 24; }},
                                    {"q4", operand, [](g& d) { d.header.tag_precision = gen::precision::q4; }},
                                    {"raw", operand, [](g& d) { d.header.tag_precision = gen::precision::raw; }},
                                    {"x odd", operand, [](g& d) { d.x = 1; }},
                                    {"x stride odd", operand, [](g& d) { d.x_stride = 129; }},
                                    {"scales odd", operand, [](g& d) { d.scales |= 1; }},
                                    {"out not aligned", operand, [](g& d) { d.out += 2; }},
                                    {"out rows overlap", operand, [](g& d) { d.out_stride = 2044; }},
                                    {"x out", range, [](g& d) { d.x = scratchpad_bytes - 4 * 128 - 126; }},
                                    {"w out", range, [](g& d) { d.w_stride = largest; }},
                                    {"scales out", range, [](g& d) { d.scales = scratchpad_bytes - 2; }},
                                    {"out out", range, [](g& d) { d.out = largest - 3; }},
                                    {"tokens out", range, [](g& d) { d.tokens = largest; }},
                                    {"reduction out", range, [](g& d) { d.reduction = 4096 * 32; }},
                                    {"groups", operand, [](g& d) { d.reduction = 4097 * 32; }},
                                });
  g bf16 = gemm(gen::precision::bf16, {1, 4, 48, 48}, {0, 1}, {0x100, 96}, {1, 1}, {0x1000, 3});
  EXPECT_EQ(checked(descriptor_view(bf16)), error_code::none) << "strides of a single row and scales do not matter";
  bf16.group = 24;
  EXPECT_EQ(checked(descriptor_view(bf16)), operand);
  bf16.group = 48;
  bf16.w_stride = 97;
  EXPECT_EQ(checked(descriptor_view(bf16)), operand);
}

TEST(descriptor_check, vector_functions) {
  using f = gen::vector_function;
  using v = gen::vector_descriptor;
  const auto range = error_code::scratchpad_range;
  const auto operand = error_code::bad_operand;
  for (std::uint8_t i = 0; i < 10; ++i) {
    const auto function = static_cast<f>(i);
    SCOPED_TRACE(gen::name_of(function));
    expect_faults<v>(good_vector(function), {
                                                {"rows", operand, [](v& d) { d.rows = 0; }},
                                                {"columns", operand, [](v& d) { d.columns = 0; }},
                                                {"d odd", operand, [](v& d) { d.d |= 1; }},
                                                {"d stride short", operand, [](v& d) { d.d_stride = 4; }},
                                                {"s0 out", range, [](v& d) { d.s0 = scratchpad_bytes - 64; }},
                                                {"d out", range, [](v& d) { d.d = scratchpad_bytes - 4; }},
                                                {"all large", range,
                                                 [](v& d) {
                                                   d.rows = 1U << 29;
                                                   d.s0_stride = d.d_stride = largest - 3;
                                                 }},
                                            });
  }
  expect_faults<v>(good_vector(f::rope_halves), {
                                                    {"odd head", operand, [](v& d) { d.scalar_int = 1; }},
                                                    {"no head", operand, [](v& d) { d.scalar_int = 0; }},
                                                    {"head", operand, [](v& d) { d.scalar_int = 48; }},
                                                    {"table out", range, [](v& d) { d.s1_stride = 0x8000; }},
                                                });
  expect_faults<v>(good_vector(f::dequantise), {{"group", operand, [](v& d) { d.columns = 33; }}});
  v shared = good_vector(f::add_row);
  shared.s1 = scratchpad_bytes - 256;
  shared.s1_stride = largest;
  EXPECT_EQ(checked(descriptor_view(shared)), error_code::none) << "the one row of s1 has no stride";
  v unused = good_vector(f::to_bf16);
  unused.s1 = largest;
  unused.s1_stride = largest;
  EXPECT_EQ(checked(descriptor_view(unused)), error_code::none) << "to_bf16 has no s1";
  v transposed = vector(f::transpose_to_bf16, 3, 64, {0, 256}, {}, {0x2000, 6});
  EXPECT_EQ(checked(descriptor_view(transposed)), error_code::none);
  transposed.d_stride = 4;
  EXPECT_EQ(checked(descriptor_view(transposed)), operand);
}

TEST(descriptor_check, sample) {
  using s = gen::sample_descriptor;
  const auto range = error_code::scratchpad_range;
  const auto operand = error_code::bad_operand;
  expect_faults<s>(good_sample(), {
                                      {"rows", operand, [](s& d) { d.rows = 0; }},
                                      {"columns", operand, [](s& d) { d.columns = 0; }},
                                      {"cold", operand, [](s& d) { d.temperature = -0.5F; }},
                                      {"nan", operand, [](s& d) { d.temperature = std::nanf(""); }},
                                      {"infinite", operand, [](s& d) { d.temperature = HUGE_VALF; }},
                                      {"tokens wrap", operand, [](s& d) { d.first_token = largest - 99; }},
                                      {"state odd", operand, [](s& d) { d.state += 2; }},
                                      {"result odd", operand, [](s& d) { d.result += 2; }},
                                      {"logits out", range, [](s& d) { d.logits_stride = largest - 3; }},
                                      {"state out", range, [](s& d) { d.state = scratchpad_bytes - 36; }},
                                      {"result out", range, [](s& d) { d.result = scratchpad_bytes - 12; }},
                                  });
  s middle = good_sample();
  middle.header.flags = 0;
  middle.result = largest;
  middle.first_token = largest - 100;
  EXPECT_EQ(checked(descriptor_view(middle)), error_code::none) << "result is used with the last chunk only";
}

TEST(descriptor_check, stage) {
  using d = gen::dma_descriptor;
  const auto operand = error_code::bad_operand;
  constexpr std::uint64_t top = std::numeric_limits<std::uint64_t>::max();
  expect_faults<d>(stage(0x1000, 0x9'0000'0000, 100),
                   {
                       {"no bytes", operand, [](d& x) { x.row_bytes = 0; }},
                       {"no rows", operand, [](d& x) { x.rows = 0; }},
                       {"rows", operand, [](d& x) { x.rows = 2; }},
                       {"no planes", operand, [](d& x) { x.planes = 0; }},
                       {"planes", operand, [](d& x) { x.planes = 2; }},
                       {"pad", operand, [](d& x) { x.scratchpad_address = 64; }},
                       {"a", operand, [](d& x) { x.dram_stride = 100; }},
                       {"b", operand, [](d& x) { x.scratchpad_stride = 100; }},
                       {"c", operand, [](d& x) { x.dram_plane_stride = 1; }},
                       {"d", operand, [](d& x) { x.scratchpad_plane_stride = 1; }},
                       {"q4", operand, [](d& x) { x.header.tag_precision = gen::precision::q4; }},
                       {"source wraps", operand, [](d& x) { x.list_address = top - 98; }},
                       {"destination wraps", operand, [](d& x) { x.dram_address = top - 98; }},
                   });
  d whole = stage(0, 1, largest);
  EXPECT_EQ(checked(descriptor_view(whole)), error_code::none) << "neither the scratchpad nor alignment limits it";
  EXPECT_EQ(operands_of(descriptor_view(whole)).size(), 0U);
}

// Whatever the bits, the check ends, and what it accepts stays inside the scratchpad.
TEST(descriptor_check, random_bits_never_get_an_operand_past_the_end) {
  const std::uint32_t seed = 20'240'613;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::uint32_t corners[] = {0, 1, 2, 4, 32, 64, 512, 0xff00, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff};
  int accepted = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::array<std::uint32_t, 16> words{};
    for (auto& word : words) word = random() % 8 == 0 ? static_cast<std::uint32_t>(random()) : corners[random() % 12];
    auto d = std::bit_cast<gen::vector_descriptor>(words);
    d.header = {};
    d.header.op = static_cast<gen::opcode>(random() % 8);
    d.header.function = static_cast<gen::vector_function>(random() % 10);
    d.header.tag_precision = static_cast<gen::precision>(random() % 2);
    const descriptor_view view(d);
    if (checked(view) != error_code::none) continue;
    ++accepted;
    for (const operand& item : operands_of(view)) {
      const std::uint64_t last = item.address + (item.rows - 1) * item.stride + (item.planes - 1) * item.plane_stride;
      ASSERT_LE(last + item.row_bytes, scratchpad_bytes);
      ASSERT_LE(item.rows * item.planes, 1ULL << 32);
    }
  }
  EXPECT_GT(accepted, 100);
}

// A check byte finds every burst of up to eight bits, wherever it starts, and lines that are all zeros or all ones.
TEST(descriptor_check, check_byte) {
  constexpr check_limits with_check{scratchpad_bytes, 512, true};
  descriptor_view good(good_gemm());
  std::byte all{0xff};
  for (const std::byte byte : good.bytes) all ^= byte;
  good.bytes[5] = all;
  EXPECT_EQ(check(good, 10, with_check), error_code::none);
  if (all != std::byte{0}) {
    EXPECT_EQ(check(good, 10, limits), error_code::bad_operand) << "nobody asked for one";
  }
  for (std::size_t first = 0; first < 8 * good.bytes.size(); ++first) {
    for (std::uint32_t pattern = 1; pattern < 256; pattern += 2) {
      descriptor_view bad = good;
      for (std::size_t bit = 0; bit < 8 && first + bit < 8 * bad.bytes.size(); ++bit) {
        if ((pattern >> bit & 1) != 0) bad.bytes[(first + bit) / 8] ^= std::byte{1} << ((first + bit) % 8);
      }
      ASSERT_EQ(check(bad, 10, with_check), error_code::bad_check) << "bit " << first << ", pattern " << pattern;
    }
  }
  descriptor_view flat;
  EXPECT_EQ(check(flat, 10, with_check), error_code::bad_check);
  flat.bytes.fill(std::byte{0xff});
  EXPECT_EQ(check(flat, 10, with_check), error_code::bad_check);
}

}  // namespace
}  // namespace dvp::npu
