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
          {"opcode", error_code::bad_opcode, [](v& d) { d.header.op = static_cast<gen::opcode>(10); }},
          {"opcode 255", error_code::bad_opcode, [](v& d) { d.header.op = static_cast<gen::opcode>(255); }},
          {"function", error_code::bad_opcode, [](v& d) { d.header.function = 17; }},
          {"unknown flag", error_code::bad_operand, [](v& d) { d.header.flags = 0x20; }},
          {"foreign flag", error_code::bad_operand, [](v& d) { d.header.flags = gen::descriptor_flag::accumulate; }},
          {"check byte without checks", error_code::bad_operand, [](v& d) { d.header.check = 1; }},
          {"tag", error_code::bad_operand, [](v& d) { d.header.tag_precision = static_cast<gen::precision>(5); }},
          {"purpose", error_code::bad_operand, [](v& d) { d.header.bytes_purpose = static_cast<gen::purpose>(13); }},
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
                       {"q0", operand, [](d& x) { x.header.tag_precision = gen::precision::q0; }},
                       {"view of no narrow read", operand, [](d& x) { x.header.function = 1; }},
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

// Reads tagged q4 or q2: addresses in DRAM count stored bytes, 2 or 4 behind each that arrives.
TEST(descriptor_check, narrow_dma) {
  using d = gen::dma_descriptor;
  const auto operand = error_code::bad_operand;
  for (const gen::precision tag : {gen::precision::q4, gen::precision::q2}) {
    d good = good_dma();
    good.header.tag_precision = tag;
    good.header.function = 128;
    expect_faults<d>(good, {
                               {"store", operand, [](d& x) { x.header.op = gen::opcode::dma_store; }},
                               {"view", operand, [](d& x) { x.header.function = 129; }},
                               {"address", operand, [](d& x) { x.dram_address += 1; }},
                               {"stride", operand, [](d& x) { x.dram_stride += 1; }},
                               {"plane stride", operand, [](d& x) { x.dram_plane_stride += 1; }},
                               {"stored bytes wrap", operand, [](d& x) { x.dram_address = ~std::uint64_t{0} - 2367; }},
                           });
    good.dram_address = ~std::uint64_t{0} - 2000 - 300 - 259;
    EXPECT_EQ(checked(descriptor_view(good)), error_code::none) << "stored bytes end with the address space";
    good.rows = good.planes = 1;
    good.dram_stride = good.dram_plane_stride = 1;
    EXPECT_EQ(checked(descriptor_view(good)), error_code::none) << "strides nothing uses";
  }
  d odd = good_dma();
  odd.header.tag_precision = gen::precision::q2;
  odd.dram_address += 2;
  EXPECT_EQ(checked(descriptor_view(odd)), operand);
  odd.header.tag_precision = gen::precision::q4;
  EXPECT_EQ(checked(descriptor_view(odd)), error_code::none);
  odd.header.op = gen::opcode::dma_gather;
  odd.planes = odd.rows = 1;
  odd.dram_stride = 101;
  EXPECT_EQ(checked(descriptor_view(odd)), operand) << "a single row of a gather uses the stride";
}

TEST(descriptor_check, gemm) {
  using g = gen::gemm_descriptor;
  const auto range = error_code::scratchpad_range;
  const auto operand = error_code::bad_operand;
  expect_faults<g>(good_gemm(),
                   {
                       {"no tokens", operand, [](g& d) { d.tokens = 0; }},
                       {"no vectors", operand, [](g& d) { d.vectors = 0; }},
                       {"accumulator", operand, [](g& d) { d.vectors = 513; }},
                       {"no reduction", operand, [](g& d) { d.reduction = 0; }},
                       {"no group", operand, [](g& d) { d.group = 0; }},
                       {"group", operand, [](g& d) { d.group = 24; }},
                       {"q0", operand, [](g& d) { d.header.tag_precision = gen::precision::q0; }},
                       {"mode", operand, [](g& d) { d.header.function = 16; }},
                       {"halves of q8", operand, [](g& d) { d.header.function = gen::gemm_mode::half_step; }},
                       {"unscaled groups", operand, [](g& d) { d.header.function = gen::gemm_mode::unscaled; }},
                       {"x turned", operand,
                        [](g& d) {
                          d.header.function = gen::gemm_mode::transposed_x;
                          d.x_stride = 127;
                        }},
                       {"x turned out", range,
                        [](g& d) {
                          d.header.function = gen::gemm_mode::transposed_x;
                          d.x = scratchpad_bytes - 63 * 128 - 8;
                        }},
                       {"out turned overlaps", operand,
                        [](g& d) {
                          d.header.function = gen::gemm_mode::transposed_out;
                          d.out_stride = 16;
                        }},
                       {"out turned out", range,
                        [](g& d) {
                          d.header.function = gen::gemm_mode::transposed_out;
                          d.out_stride = 20;
                          d.out = scratchpad_bytes - 512 * 20 + 4;
                        }},
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
  bf16.header.function = gen::gemm_mode::unscaled;
  EXPECT_EQ(checked(descriptor_view(bf16)), operand) << "it has no scales";
  bf16.header.function = gen::gemm_mode::half_step;
  EXPECT_EQ(checked(descriptor_view(bf16)), operand);
  bf16.header.function = 0;
  bf16.w_stride = 97;
  EXPECT_EQ(checked(descriptor_view(bf16)), operand);
}

TEST(descriptor_check, narrow_gemm) {
  using g = gen::gemm_descriptor;
  const auto range = error_code::scratchpad_range;
  const auto operand = error_code::bad_operand;
  // 63 codes of 2 bits take 16 bytes.
  g narrow =
      gemm(gen::precision::q2, {2, 8, 63, 63}, {0, 126}, {scratchpad_bytes - 7 * 17 - 16, 17}, {1, 1}, {0x800, 32});
  narrow.header.function = gen::gemm_mode::unscaled | gen::gemm_mode::half_step;
  expect_faults<g>(narrow, {
                               {"w out", range, [](g& d) { d.w += 1; }},
                               {"q4", range, [](g& d) { d.header.tag_precision = gen::precision::q4; }},
                               {"scales", operand, [](g& d) { d.header.function = gen::gemm_mode::half_step; }},
                               {"group", operand, [](g& d) { d.group = 21; }},
                               {"q0", operand, [](g& d) { d.header.tag_precision = gen::precision::q0; }},
                           });
  narrow.header.function = 0;
  narrow.scales = 0x400;
  narrow.scale_stride = 6;
  narrow.group = 21;
  EXPECT_EQ(checked(descriptor_view(narrow)), error_code::none) << "groups may end inside a byte";
}

TEST(descriptor_check, vector_functions) {
  using f = gen::vector_function;
  using v = gen::vector_descriptor;
  const auto range = error_code::scratchpad_range;
  const auto operand = error_code::bad_operand;
  for (std::uint8_t i = 0; i <= static_cast<std::uint8_t>(f::transpose_to_bf16); ++i) {
    const auto function = static_cast<f>(i);
    SCOPED_TRACE(gen::name_of(function));
    expect_faults<v>(good_vector(function),
                     {
                         {"rows", operand, [](v& d) { d.rows = 0; }},
                         {"columns", operand, [](v& d) { d.columns = 0; }},
                         {"d odd", operand, [](v& d) { d.d |= 1; }},
                         {"e", operand, [](v& d) { d.e = 0x4000; }},
                         {"e stride", operand, [](v& d) { d.e_stride = 2; }},
                         {"accumulate", operand, [](v& d) { d.header.flags = gen::descriptor_flag::accumulate; }},
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

TEST(descriptor_check, vector_functions_of_compressed_data) {
  using f = gen::vector_function;
  using v = gen::vector_descriptor;
  namespace flag = gen::descriptor_flag;
  const auto range = error_code::scratchpad_range;
  const auto operand = error_code::bad_operand;
  const auto good = [](f function, std::uint32_t rows, std::uint32_t columns, placed s0, placed s1, placed d) {
    return vector(function, rows, columns, s0, s1, d);
  };
  v encode = good(f::encode, 3, 64, {0, 256}, {0x1000, 256}, {0x2001, 65});
  encode.scalar_int = 1;
  encode.e = 0x3002;
  encode.e_stride = 6;
  expect_faults<v>(encode, {
                               {"base", operand, [](v& d) { d.scalar_int = 2; }},
                               {"accumulate", operand, [](v& d) { d.header.flags = flag::accumulate; }},
                               {"e odd", operand, [](v& d) { d.e += 1; }},
                               {"e stride odd", operand, [](v& d) { d.e_stride = 5; }},
                               {"e rows overlap", operand, [](v& d) { d.e_stride = 0; }},
                               {"d rows overlap", operand, [](v& d) { d.d_stride = 63; }},
                               {"base out", range, [](v& d) { d.s1 = scratchpad_bytes - 764; }},
                               {"e out", range, [](v& d) { d.e = scratchpad_bytes - 12; }},
                           });
  encode.scalar_int = 0;
  encode.s1 = largest;
  EXPECT_EQ(checked(descriptor_view(encode)), error_code::none) << "no base, no s1";

  v difference = good(f::difference, 3, 64, {2, 130}, {0x1000, 128}, {0x2000, 128});
  difference.e = 0x3004;
  expect_faults<v>(difference, {
                                   {"e odd", operand, [](v& d) { d.e += 2; }},
                                   {"e stride", operand, [](v& d) { d.e_stride = 8; }},
                                   {"s1 odd", operand, [](v& d) { d.s1 += 1; }},
                                   {"e out", range, [](v& d) { d.e = scratchpad_bytes - 4; }},
                                   {"s1 out", range, [](v& d) { d.s1_stride = 0x8000; }},
                               });

  v column_max = good(f::column_max, 3, 64, {0, 260}, {}, {scratchpad_bytes - 256, 1});
  expect_faults<v>(column_max, {
                                   {"d not aligned", operand, [](v& d) { d.d -= 2; }},
                                   {"d out", range, [](v& d) { d.d += 4; }},
                                   {"e", operand, [](v& d) { d.e = 4; }},
                                   {"first chunk", operand, [](v& d) { d.header.flags = flag::first_chunk; }},
                               });
  column_max.header.flags = flag::accumulate;
  EXPECT_EQ(checked(descriptor_view(column_max)), error_code::none);

  expect_faults<v>(good(f::scale_columns, 3, 64, {0, 128}, {scratchpad_bytes - 128, 1}, {0, 128}),
                   {
                       {"s1 odd", operand, [](v& d) { d.s1 -= 1; }},
                       {"s1 out", range, [](v& d) { d.s1 += 2; }},
                       {"s0 out", range, [](v& d) { d.s0_stride = 0x8000; }},
                   });

  v gather = good(f::gather_transpose, 5, 3, {0, 8}, {scratchpad_bytes - 20, 1}, {0x2000, 10});
  gather.scalar_int = 1000;
  expect_faults<v>(gather, {
                               {"no rows to pick", operand, [](v& d) { d.scalar_int = 0; }},
                               {"list not aligned", operand, [](v& d) { d.s1 -= 2; }},
                               {"list out", range, [](v& d) { d.s1 += 4; }},
                               {"d rows overlap", operand, [](v& d) { d.d_stride = 8; }},
                               {"table out", range, [](v& d) { d.scalar_int = 8193; }},
                           });

  v codes = good(f::transpose_codes, 5, 7, {scratchpad_bytes - 4 * 3 - 2, 3}, {}, {0x2001, 3});
  codes.header.tag_precision = gen::precision::q2;
  expect_faults<v>(codes, {
                              {"bf16", operand, [](v& d) { d.header.tag_precision = gen::precision::bf16; }},
                              {"raw", operand, [](v& d) { d.header.tag_precision = gen::precision::raw; }},
                              {"q0", operand, [](v& d) { d.header.tag_precision = gen::precision::q0; }},
                              {"d rows overlap", operand, [](v& d) { d.d_stride = 1; }},
                              {"q4", range, [](v& d) { d.header.tag_precision = gen::precision::q4; }},
                              {"s0 out", range, [](v& d) { d.s0 += 1; }},
                          });

  expect_faults<v>(good(f::row_abs_sum, 5, 64, {0, 128}, {}, {scratchpad_bytes - 4 * 12 - 4, 12}),
                   {
                       {"d not aligned", operand, [](v& d) { d.d -= 2; }},
                       {"d rows overlap", operand, [](v& d) { d.d_stride = 0; }},
                       {"d out", range, [](v& d) { d.d += 4; }},
                   });
}

TEST(descriptor_check, rebuild) {
  using r = gen::rebuild_descriptor;
  namespace mode = gen::rebuild_mode;
  const auto range = error_code::scratchpad_range;
  const auto operand = error_code::bad_operand;
  r good;
  good.header.op = gen::opcode::rebuild;
  good.header.tag_precision = gen::precision::q4;
  good.header.function = mode::rotate | mode::halves | mode::half_step;
  good.rows = 6;
  good.columns = 10;
  good.codes = 0x101;
  good.codes_stride = 5;
  good.terms = 0x200;
  good.terms_stride = 36;
  good.basis = 0x1002;
  good.rope = 0x2004;
  good.list = 0x4004;
  good.d = 0x5002;
  good.d_stride = 20;
  good.rank_limit = 16 | 30 << 8;
  const auto set = [](auto member, std::uint32_t value) { return [=](r& d) { d.*member = value; }; };
  expect_faults<r>(good, {
                             {"flag", operand, [](r& d) { d.header.flags = gen::descriptor_flag::accumulate; }},
                             {"mode", operand, [](r& d) { d.header.function = 8; }},
                             {"bf16", operand, [](r& d) { d.header.tag_precision = gen::precision::bf16; }},
                             {"raw", operand, [](r& d) { d.header.tag_precision = gen::precision::raw; }},
                             {"tag", operand, [](r& d) { d.header.tag_precision = static_cast<gen::precision>(6); }},
                             {"no rows", operand, set(&r::rows, 0)},
                             {"no columns", operand, set(&r::columns, 0)},
                             {"odd columns", operand, set(&r::columns, 9)},
                             {"rank", operand, set(&r::rank_limit, 17 | 30 << 8)},
                             {"no limit", operand, set(&r::rank_limit, 16)},
                             {"terms odd", operand, set(&r::terms, 0x201)},
                             {"terms stride odd", operand, set(&r::terms_stride, 35)},
                             {"basis odd", operand, set(&r::basis, 0x1001)},
                             {"rope not aligned", operand, set(&r::rope, 0x2002)},
                             {"list not aligned", operand, set(&r::list, 0x4002)},
                             {"d odd", operand, set(&r::d, 0x5001)},
                             {"d rows overlap", operand, set(&r::d_stride, 18)},
                             {"codes out", range, set(&r::codes, scratchpad_bytes - 29)},
                             {"terms out", range, set(&r::terms, scratchpad_bytes - 29 * 36 - 32)},
                             {"basis out", range, set(&r::basis, scratchpad_bytes - 318)},
                             {"rope out", range, set(&r::rope, scratchpad_bytes - 1196)},
                             {"list out", range, set(&r::list, scratchpad_bytes - 20)},
                             {"d out", range, set(&r::d, scratchpad_bytes - 118)},
                             {"limit out", range, set(&r::rank_limit, 16 | 0xffffffU << 8)},
                         });
  r bare = good;
  bare.header.tag_precision = gen::precision::q0;
  bare.header.function = 0;
  bare.rank_limit = 30 << 8;
  bare.codes = bare.rope = bare.basis = largest;
  EXPECT_EQ(checked(descriptor_view(bare)), error_code::none)
      << "no codes, no rank, no rotation: none of these is used";
  bare.header.tag_precision = gen::precision::q8;
  EXPECT_EQ(checked(descriptor_view(bare)), range);
}

TEST(descriptor_check, update) {
  using u = gen::update_descriptor;
  const auto range = error_code::scratchpad_range;
  const auto operand = error_code::bad_operand;
  u good;
  good.header.op = gen::opcode::update;
  good.header.function = gen::update_mode::add_state | gen::update_mode::fresh;
  good.rows = 6;
  good.columns = 5;
  good.gate = 0x100;
  good.up = 0x200;
  good.sums_stride = 20;
  good.state = 0x302;
  good.state_rows = 20;
  good.list = 0x1000;
  good.scales = 0x1102;
  good.scale_stride = 4;
  good.d = 0x1202;
  good.d_stride = 10;
  const auto set = [](auto member, std::uint32_t value) { return [=](u& d) { d.*member = value; }; };
  expect_faults<u>(good, {
                             {"flag", operand, [](u& d) { d.header.flags = gen::descriptor_flag::accumulate; }},
                             {"mode", operand, [](u& d) { d.header.function = 4; }},
                             {"q0", operand, [](u& d) { d.header.tag_precision = gen::precision::q0; }},
                             {"no rows", operand, set(&u::rows, 0)},
                             {"no columns", operand, set(&u::columns, 0)},
                             {"no state", operand, set(&u::state_rows, 0)},
                             {"gate not aligned", operand, set(&u::gate, 0x102)},
                             {"up not aligned", operand, set(&u::up, 0x202)},
                             {"sums stride not aligned", operand, set(&u::sums_stride, 22)},
                             {"state odd", operand, set(&u::state, 0x301)},
                             {"list not aligned", operand, set(&u::list, 0x1002)},
                             {"scales odd", operand, set(&u::scales, 0x1101)},
                             {"scale stride odd", operand, set(&u::scale_stride, 3)},
                             {"d odd", operand, set(&u::d, 0x1201)},
                             {"d rows overlap", operand, set(&u::d_stride, 8)},
                             {"gate out", range, set(&u::gate, scratchpad_bytes - 116)},
                             {"up out", range, set(&u::up, scratchpad_bytes - 116)},
                             {"state out", range, set(&u::state, scratchpad_bytes - 398)},
                             {"state rows out", range, set(&u::state_rows, largest)},
                             {"list out", range, set(&u::list, scratchpad_bytes - 20)},
                             {"scales out", range, set(&u::scales, scratchpad_bytes - 20)},
                             {"d out", range, set(&u::d, scratchpad_bytes - 58)},
                         });
  good.list = gen::no_list;
  EXPECT_EQ(checked(descriptor_view(good)), error_code::none) << "rows in order";
}

TEST(descriptor_check, sample) {
  using s = gen::sample_descriptor;
  const auto range = error_code::scratchpad_range;
  const auto operand = error_code::bad_operand;
  expect_faults<s>(good_sample(), {
                                      {"rows", operand, [](s& d) { d.rows = 0; }},
                                      {"columns", operand, [](s& d) { d.columns = 0; }},
                                      {"function", operand, [](s& d) { d.header.function = 1; }},
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
                       {"view", operand, [](d& x) { x.header.function = 1; }},
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
  const std::uint8_t opcodes = static_cast<std::uint8_t>(gen::opcode::update) + 1;
  std::array<int, opcodes> accepted_of{};
  for (int i = 0; i < 400'000; ++i) {
    std::array<std::uint32_t, 16> words{};
    for (auto& word : words) word = random() % 8 == 0 ? static_cast<std::uint32_t>(random()) : corners[random() % 12];
    auto d = std::bit_cast<gen::vector_descriptor>(words);
    d.header = {};
    d.header.op = static_cast<gen::opcode>(random() % opcodes);
    const bool plain = d.header.op < gen::opcode::gemm || d.header.op == gen::opcode::stage;
    d.header.function = static_cast<std::uint8_t>(plain ? 0 : random() % 17);
    d.header.tag_precision = static_cast<gen::precision>(random() % 6);
    const descriptor_view view(d);
    if (checked(view) != error_code::none) continue;
    ++accepted;
    ++accepted_of[static_cast<std::size_t>(d.header.op)];
    for (const operand& item : operands_of(view)) {
      const std::uint64_t last = item.address + (item.rows - 1) * item.stride + (item.planes - 1) * item.plane_stride;
      ASSERT_LE(last + item.row_bytes, scratchpad_bytes);
      ASSERT_LE(item.rows * item.planes, 1ULL << 32);
    }
  }
  EXPECT_GT(accepted, 100);
  for (std::uint8_t op = 0; op < opcodes; ++op) {
    // A stage has too many fields that must be 0 to be met by chance.
    const bool rare = op == static_cast<std::uint8_t>(gen::opcode::stage);
    EXPECT_TRUE(rare || accepted_of[op] != 0) << gen::name_of(static_cast<gen::opcode>(op));
  }
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
