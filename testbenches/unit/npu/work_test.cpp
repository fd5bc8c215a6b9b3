#include "tlm/npu/work.h"

#include <gtest/gtest.h>

#include "testbenches/unit/npu/descriptors.h"

namespace dvp::npu {
namespace {

using namespace test;
using f = gen::vector_function;

std::uint64_t macs(const work& done, gen::precision format) {
  return done.macs[static_cast<std::size_t>(format)];
}

gen::gemm_descriptor product(gen::precision format, std::uint32_t tokens, std::uint32_t vectors,
                             std::uint32_t reduction) {
  gen::gemm_descriptor d;
  d.header.op = gen::opcode::gemm;
  d.header.tag_precision = format;
  d.tokens = tokens;
  d.vectors = vectors;
  d.reduction = reduction;
  d.group = format == gen::precision::bf16 ? reduction : 32;
  return d;
}

TEST(work, a_product_reads_what_it_streams_once_for_every_tile_of_tokens) {
  npu_config config;
  ASSERT_EQ(config.array.columns, 16U);
  const std::uint64_t x = 40 * 64 * 2, w = 10 * 64, scales = 10 * 2 * 2, out = 40 * 10 * 4;
  work done = work_of(config, descriptor_view(product(gen::precision::q8, 40, 10, 64)));
  EXPECT_EQ(macs(done, gen::precision::q8), 40U * 10 * 64);
  EXPECT_EQ(macs(done, gen::precision::bf16), 0U);
  EXPECT_EQ(done.scratchpad_bytes, x + 3 * (w + scales) + out);
  EXPECT_EQ(done.vector_passes + done.sampling_elements, 0U);

  const auto wide = product(gen::precision::bf16, 40, 10, 64);
  done = work_of(config, descriptor_view(with(wide, gen::descriptor_flag::accumulate)));
  EXPECT_EQ(macs(done, gen::precision::bf16), 40U * 10 * 64);
  EXPECT_EQ(done.scratchpad_bytes, x + 3 * 2 * w + 2 * out);
}

TEST(work, narrow_codes_are_packed_in_the_scratchpad) {
  npu_config config;
  const std::uint64_t x = 16 * 64 * 2, out = 16 * 10 * 4, scales = 10 * 2 * 2;
  for (const auto& [format, bytes] : {std::pair{gen::precision::q4, 32U}, std::pair{gen::precision::q2, 16U}}) {
    const work done = work_of(config, descriptor_view(product(format, 16, 10, 64)));
    EXPECT_EQ(macs(done, format), 16U * 10 * 64);
    EXPECT_EQ(done.scratchpad_bytes, x + 10 * bytes + scales + out);
  }
}

TEST(work, passes_and_bytes_follow_the_table_of_costs) {
  npu_config config;
  const work softmax = work_of(config, descriptor_view(vector(f::softmax, 8, 100, {0, 400}, {}, {0x8000, 200})));
  EXPECT_EQ(softmax.vector_passes, 3U * 800) << "two element passes and a serial one";
  EXPECT_EQ(softmax.scratchpad_bytes, 800U * (4 + 2));
  const work chunk = work_of(config, descriptor_view(sample(20, 1000, {0, 4000}, 0x20000, 0x20800, 0)));
  EXPECT_EQ(chunk.sampling_elements, 20U * 1000);
  EXPECT_EQ(chunk.vector_passes, 0U);
}

TEST(work, transfers_move_their_bytes_and_fences_none) {
  npu_config config;
  EXPECT_EQ(work_of(config, descriptor_view(load(0x1000, 0, 96))).scratchpad_bytes, 96U);
  EXPECT_EQ(work_of(config, descriptor_view(fence())).scratchpad_bytes, 0U);
  EXPECT_EQ(work_of(config, descriptor_view(stage(0x1000, 0x2000, 96))).scratchpad_bytes, 0U) << "memory to memory";
  work sum = work_of(config, descriptor_view(load(0x1000, 0, 96)));
  sum += work_of(config, descriptor_view(product(gen::precision::q8, 1, 1, 32)));
  EXPECT_EQ(sum.scratchpad_bytes, 96U + 64 + 32 + 2 + 4);
  EXPECT_EQ(macs(sum, gen::precision::q8), 32U);
}

}  // namespace
}  // namespace dvp::npu
