// Loads and gathers tagged q4 and q2, from the descriptor to the memory that converts and back: bytes against the
// definition of one code, accesses and traffic counted by hand, refusals.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "testbenches/lib/scratch_file.h"
#include "testbenches/unit/npu/descriptors.h"
#include "testbenches/unit/npu/npu_bench.h"
#include "tlm/numerics/converter.h"

namespace dvp::npu {
namespace {

using namespace test;
using gen::precision;
using gen::npu::counter;
using gen::npu::error_code;
using numerics::view;
using numerics::view_mode;

constexpr std::uint64_t data = npu_bench::data_base;
constexpr std::uint64_t page = 4096;
constexpr view midpoint4{4, view_mode::midpoint}, midpoint2{2, view_mode::midpoint};
constexpr view fitted4{4, view_mode::fitted, 101, 3, 0}, fitted2{2, view_mode::fitted, 0, 0, 50};
constexpr view round4{4, view_mode::round};

std::vector<std::byte> memory_of(npu_bench& b) {
  return {b.dram(), b.dram() + npu_bench::memory_bytes};
}

void fill(npu_bench& b, std::mt19937& random) {
  for (std::uint64_t i = data; i < npu_bench::memory_bytes; ++i) b.dram()[i] = static_cast<std::byte>(random());
  std::ranges::generate(b.pad(), [&] { return static_cast<std::byte>(random()); });
}

gen::dma_descriptor tagged(gen::dma_descriptor d, precision tag, std::uint8_t view_number = 0) {
  d.header.tag_precision = tag;
  d.header.function = view_number;
  d.header.bytes_purpose = gen::purpose::prefix_kv;
  return d;
}

// Rows of `bytes`, dense on both sides at this tag.
gen::dma_descriptor rows_of(std::uint32_t bytes, std::uint32_t rows, precision tag) {
  gen::dma_descriptor d = tagged(load(data, 0, bytes), tag);
  d.rows = rows;
  d.dram_stride = bytes * (tag == precision::q4 ? 2 : tag == precision::q2 ? 4 : 1);
  d.scratchpad_stride = bytes;
  return d;
}

// One row, whose address no burst boundary lies behind; the list at `list` names row 0.
gen::dma_descriptor gathered(gen::dma_descriptor d, npu_bench& b, std::uint64_t list) {
  d.header.op = gen::opcode::dma_gather;
  d.list_address = list;
  b.set_dram(list, 0U);
  return d;
}

// What `bytes` delivered bytes are, of the codes that start at `stored`, element by element.
void deliver(std::byte* out, const std::byte* stored, std::uint64_t bytes, const view& v) {
  const std::uint64_t per_byte = 8 / v.precision;
  for (std::uint64_t i = 0; i < bytes; ++i) {
    std::uint32_t packed = 0;
    for (std::uint64_t e = 0; e < per_byte; ++e) {
      const auto code = numerics::convert(v, static_cast<std::int8_t>(stored[i * per_byte + e]));
      packed |= (static_cast<std::uint32_t>(code) & ((1U << v.precision) - 1)) << e * v.precision;
    }
    out[i] = static_cast<std::byte>(packed);
  }
}

class random_transfers {
 public:
  random_transfers(const npu_config& config, std::uint32_t seed) : bench_(config), random_(seed) {
    fill(bench_, random_);
    EXPECT_TRUE(bench_.memory->set_view(1, fitted4));
    EXPECT_TRUE(bench_.memory->set_view(2, fitted2));
    EXPECT_TRUE(bench_.memory->set_view(128, round4));
    bench_.enable();
  }

  void run(std::uint32_t transfers) {
    const std::vector<std::byte> masters(bench_.dram() + data, bench_.dram() + npu_bench::memory_bytes);
    std::vector<std::byte> pad(bench_.pad().begin(), bench_.pad().end());
    std::uint64_t delivered[2] = {0, 0};
    for (std::uint32_t n = 0; n < transfers && !testing::Test::HasFailure(); ++n) {
      SCOPED_TRACE("transfer " + std::to_string(n));
      const view v = draw_view();
      const bool gathers = below(2) == 0;
      const gen::dma_descriptor d = draw(v, gathers);
      const std::vector<std::uint32_t> list = gathers ? write_list(d) : std::vector<std::uint32_t>();
      for (std::uint32_t p = 0; p < d.planes; ++p) {
        for (std::uint32_t r = 0; r < d.rows; ++r) {
          const std::uint64_t from = d.dram_address + std::uint64_t{p} * d.dram_plane_stride +
                                     std::uint64_t{gathers ? list[r] : r} * d.dram_stride;
          const std::uint32_t to = d.scratchpad_address + p * d.scratchpad_plane_stride + r * d.scratchpad_stride;
          deliver(&pad[to], &masters[from - data], d.row_bytes, v);
        }
      }
      delivered[v.precision == 4 ? 0 : 1] += std::uint64_t{d.row_bytes} * d.rows * d.planes;
      bench_.submit(0, d);
      bench_.run();
      ASSERT_EQ(bench_.error(0), error_code::none);
      ASSERT_EQ(bench_.head(0), n + 1);
      ASSERT_TRUE(std::ranges::equal(bench_.pad(), pad));
    }
    EXPECT_TRUE(std::equal(masters.begin(), masters.begin() + list_base - data, bench_.dram() + data));
    EXPECT_EQ(bench_.figures.count_of("dram.traffic.read.prefix_kv.q4_bytes"), delivered[0]);
    EXPECT_EQ(bench_.figures.count_of("dram.traffic.read.prefix_kv.q2_bytes"), delivered[1]);
    EXPECT_GT(std::min(delivered[0], delivered[1]), 10'000U);
  }

 private:
  static constexpr std::uint64_t list_base = 0xf0000;

  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

  view draw_view() {
    constexpr view all[] = {midpoint4, midpoint2, fitted4, fitted2, round4};
    return all[below(5)];
  }

  gen::dma_descriptor draw(const view& v, bool gathers) {
    const std::uint32_t stored = 8U / v.precision;
    gen::dma_descriptor d = tagged(load(data + stored * below(5000), below(0x1000), 1 + below(300)),
                                   v.precision == 4 ? precision::q4 : precision::q2,
                                   v == fitted4   ? 1
                                   : v == fitted2 ? 2
                                   : v == round4  ? 128
                                                  : 0);
    d.rows = 1 + below(9);
    // Dense on both sides, on one, or on none; rows in DRAM may overlap.
    d.dram_stride = stored * (below(2) == 0 ? d.row_bytes : below(400));
    d.scratchpad_stride = d.row_bytes + (below(2) == 0 ? 0 : below(20));
    if (gathers) {
      d.header.op = gen::opcode::dma_gather;
      d.list_address = list_base + 4 * below(100);
      return d;
    }
    d.planes = 1 + below(3);
    d.dram_plane_stride = below(2) == 0 ? d.dram_stride * d.rows : stored * below(5000);
    d.scratchpad_plane_stride = d.scratchpad_stride * d.rows + (below(2) == 0 ? 0 : below(50));
    return d;
  }

  // Runs of neighbours, and others.
  std::vector<std::uint32_t> write_list(const gen::dma_descriptor& d) {
    std::vector<std::uint32_t> list(d.rows);
    for (std::uint32_t r = 0; r < d.rows; ++r) {
      list[r] = r != 0 && below(3) != 0 ? list[r - 1] + 1 : below(60);
      bench_.set_dram(d.list_address + 4 * r, list[r]);
    }
    return list;
  }

  npu_bench bench_;
  std::mt19937 random_;
};

TEST(tagged, what_arrives_is_the_codes_converted_one_by_one) {
  const std::uint32_t seed = 31;
  SCOPED_TRACE("seed " + std::to_string(seed));
  random_transfers(small_npu(), seed).run(400);
}

TEST(tagged, what_arrives_is_the_same_from_dram_that_reorders) {
  const std::uint32_t seed = 32;
  SCOPED_TRACE("seed " + std::to_string(seed));
  random_transfers(small_non_blocking_npu(), seed).run(400);
}

TEST(tagged, what_arrives_in_blocks_is_the_same) {
  const std::uint32_t seed = 33;
  SCOPED_TRACE("seed " + std::to_string(seed));
  random_transfers(small_block_npu(), seed).run(400);
}

// Bursts of at most 256 delivered bytes, ending at multiples of 256 delivered bytes.
TEST(tagged, accesses_are_as_few_as_the_delivered_bytes_allow) {
  npu_bench b;
  b.enable();
  const auto accesses = [&](gen::dma_descriptor d, const std::vector<std::uint32_t>& list = {}) {
    if (!list.empty()) {
      d.header.op = gen::opcode::dma_gather;
      d.rows = static_cast<std::uint32_t>(list.size());
      d.list_address = data + 0x8000;
      for (std::size_t i = 0; i < list.size(); ++i) b.set_dram(d.list_address + 4 * i, list[i]);
    }
    const std::uint64_t before = b.figures.count_of("dram.accesses");
    b.submit(0, d);
    b.run();
    EXPECT_EQ(b.error(0), error_code::none);
    // Without the read of the descriptor, and of the list.
    return b.figures.count_of("dram.accesses") - before - 1 - (list.empty() ? 0 : 1);
  };
  EXPECT_EQ(accesses(tagged(load(data, 0, 512), precision::q8)), 2U);
  EXPECT_EQ(accesses(tagged(load(data, 0, 512), precision::q4)), 2U);
  EXPECT_EQ(accesses(tagged(load(data + 0x100, 0, 512), precision::q4)), 3U) << "128, 256, 128";
  EXPECT_EQ(accesses(tagged(load(data + 0x100, 0, 512), precision::q2)), 3U) << "192, 256, 64";
  EXPECT_EQ(accesses(tagged(load(data + 0x200, 0, 128), precision::q2)), 1U);

  for (const precision tag : {precision::q8, precision::q4, precision::q2}) {
    SCOPED_TRACE(gen::name_of(tag));
    const gen::dma_descriptor dense = rows_of(16, 8, tag);
    EXPECT_EQ(accesses(dense), 1U);
    gen::dma_descriptor apart = dense;
    apart.dram_stride += 4;
    EXPECT_EQ(accesses(apart), 8U) << "a gap in DRAM";
    apart = dense;
    apart.scratchpad_stride += 4;
    EXPECT_EQ(accesses(apart), 8U) << "a gap in the scratchpad";
    gen::dma_descriptor planes = dense;
    planes.planes = 2;
    planes.dram_plane_stride = 8 * dense.dram_stride;
    planes.scratchpad_plane_stride = 128;
    EXPECT_EQ(accesses(planes), 1U);

    EXPECT_EQ(accesses(dense, {4, 5, 6, 9, 10, 2, 3, 7}), 4U);
    EXPECT_EQ(accesses(dense, {3, 3, 4, 3, 2}), 4U) << "3; 3, 4; 3; 2";
    EXPECT_EQ(accesses(dense, {10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26}), 2U)
        << "272 bytes, whatever the address";
    gen::dma_descriptor wide = dense;
    wide.dram_stride += 4;
    EXPECT_EQ(accesses(wide, {4, 5, 6, 9}), 4U);
  }
  gen::dma_descriptor overlapping = rows_of(16, 8, precision::q4);
  overlapping.dram_stride = 16;  // as if the delivered bytes were stored
  EXPECT_EQ(accesses(overlapping), 8U);
}

TEST(tagged, a_load_takes_the_time_of_what_is_delivered) {
  for (const precision tag : {precision::raw, precision::q8, precision::q4, precision::q2}) {
    static npu_bench b;
    b.soft_reset();
    b.enable();
    b.submit(0, tagged(load(data, 0, 1024), tag));
    b.run();
    // Four bursts of 256 bytes, 4 ns each on the bus and 4 cycles at the scratchpad; 100 ns latency.
    EXPECT_EQ(b.counter(counter::dma_load_busy), 4U * 4 + 100) << gen::name_of(tag);
  }
}

TEST(tagged, the_timeline_tells_precisions_apart) {
  const dvp::test::scratch_file trace("tagged.json");
  {
    npu_bench b(small_npu(), nullptr, trace.path());
    b.enable();
    b.submit(0, tagged(load(data, 0, 1000), precision::q8), tagged(load(data, 0, 500), precision::q4),
             tagged(load(data, 0, 250), precision::q2));
    b.run();
  }
  const nlohmann::json file = nlohmann::json::parse(trace.text());
  std::map<std::string, nlohmann::json> slices, graphs;
  for (const nlohmann::json& event : file.at("traceEvents")) {
    if (event.at("ph") == "C" && !graphs.contains(event.at("name"))) graphs[event.at("name")] = event.at("args");
    if (event.at("ph") == "X" && event.at("args").contains("precision")) slices[event.at("name")] = event.at("args");
  }
  EXPECT_EQ(graphs, (std::map<std::string, nlohmann::json>{{"dram read q8 GB/s", {{"value", 0.1}}},
                                                           {"dram read q4 GB/s", {{"value", 0.05}}},
                                                           {"dram read q2 GB/s", {{"value", 0.025}}}}));
  ASSERT_EQ(slices.size(), 3U);
  EXPECT_EQ(slices.at("prefix_kv").at("precision"), "q8");
  EXPECT_EQ(slices.at("prefix_kv q4").at("bytes"), 500);
  EXPECT_EQ(slices.at("prefix_kv q2").at("bytes"), 250);
}

TEST(tagged, descriptors_that_make_no_sense_are_refused) {
  npu_bench b;
  std::mt19937 random(33);
  fill(b, random);
  const auto before = memory_of(b);
  struct row {
    const char* what;
    gen::dma_descriptor d;
  };
  gen::dma_descriptor odd_stride = rows_of(16, 2, precision::q2), odd_plane = rows_of(16, 2, precision::q2);
  odd_stride.dram_stride = 66;
  odd_plane.planes = 2;
  odd_plane.dram_plane_stride = 130;
  odd_plane.scratchpad_plane_stride = 32;
  gen::dma_descriptor odd_gather = rows_of(16, 1, precision::q4);
  odd_gather.header.op = gen::opcode::dma_gather;
  odd_gather.dram_stride = 33;
  odd_gather.list_address = data;
  gen::dma_descriptor wraps = tagged(load(~std::uint64_t{0} - 63, 0, 32), precision::q2);
  const row rows[] = {
      {"a store of q4", tagged(store(data, 0, 16), precision::q4)},
      {"a store of q2", tagged(store(data, 0, 16), precision::q2)},
      {"a stage of q4", tagged(stage(data, data + 0x1000, 16), precision::q4)},
      {"a view no table has", tagged(load(data, 0, 16), precision::q4, 129)},
      {"a view of q8", tagged(load(data, 0, 16), precision::q8, 1)},
      {"a view of a store", tagged(store(data, 0, 16), precision::q8, 1)},
      {"q4 from an odd address", tagged(load(data + 1, 0, 16), precision::q4)},
      {"q2 from between two", tagged(load(data + 2, 0, 16), precision::q2)},
      {"rows from between two", odd_stride},
      {"planes from between two", odd_plane},
      {"a gather from between two", odd_gather},
      {"stored bytes that wrap", wraps},
  };
  const std::vector<std::byte> pad(b.pad().begin(), b.pad().end());
  for (const row& r : rows) {
    SCOPED_TRACE(r.what);
    b.soft_reset();
    b.enable();
    b.submit(0, r.d);
    b.run();
    EXPECT_EQ(b.error(0), error_code::bad_operand);
    EXPECT_TRUE(std::ranges::equal(b.pad(), pad));
  }
  EXPECT_TRUE(std::equal(before.begin() + data, before.end(), b.dram() + data));
}

void memory_refuses(const npu_config& config) {
  npu_bench b(config);
  ASSERT_TRUE(b.memory->set_view(7, fitted4));
  std::mt19937 random(34);
  fill(b, random);
  const std::vector<std::byte> pad(b.pad().begin(), b.pad().end());
  const std::uint64_t end = b.memory->bytes();
  struct row {
    const char* what;
    gen::dma_descriptor d;
    std::uint64_t fault;
  };
  const row rows[] = {
      {"a view that is not set", tagged(load(data + 64, 0, 16), precision::q4, 8), data + 64},
      {"a view of the other precision", tagged(load(data + 64, 0, 16), precision::q2, 7), data + 64},
      {"elements beyond the memory", gathered(tagged(load(end - 64, 0, 33), precision::q4), b, data), end - 64},
  };
  for (const row& r : rows) {
    SCOPED_TRACE(r.what);
    b.soft_reset();
    b.run();
    b.enable();
    b.submit(0, r.d);
    b.run();
    EXPECT_EQ(b.error(0), error_code::bus_error);
    EXPECT_EQ(b.error_index(0), 0U);
    EXPECT_EQ(b.fault_address(0), r.fault);
    EXPECT_TRUE(std::ranges::equal(b.pad(), pad));
  }
}

TEST(tagged, what_the_memory_refuses_stops_the_queue) {
  memory_refuses(small_npu());
}

TEST(tagged, what_dram_refuses_stops_the_queue) {
  memory_refuses(small_non_blocking_npu());
}
TEST(tagged, a_memory_refuses_blocks_too) {
  memory_refuses(small_block_npu());
}

// Device pages 20 and 21, then 22: not together on the bus.
void read_through_window(npu_config config) {
  config.window = {.bytes = 64 * page, .entries = 8, .page_bytes = page};
  npu_bench b(config);
  std::mt19937 random(35);
  fill(b, random);
  using operation = gen::npu::window_operation;
  const window_command maps[] = {{operation::map, 0, 0, 0, data / page},
                                 {operation::map, 1, 0x4'0000, 20, 2},
                                 {operation::map, 2, 0x2'0000, 22, 1}};
  for (const window_command& m : maps) {
    b.window(m);
    b.run();
    ASSERT_EQ(b.window_result(), gen::npu::window_result::ok);
  }
  b.enable();
  std::vector<std::byte> pad(b.pad().begin(), b.pad().end());
  std::vector<std::byte> stored(b.dram() + 0x4'0000, b.dram() + 0x4'0000 + 2 * page);
  stored.insert(stored.end(), b.dram() + 0x2'0000, b.dram() + 0x2'0000 + page);
  deliver(&pad[0x10], &stored[2 * page - 100], 120, midpoint2);
  deliver(&pad[0x300], &stored[2 * page - 100], 120, midpoint4);
  b.submit(0, tagged(load(22 * page - 100, 0x10, 120), precision::q2),
           tagged(load(22 * page - 100, 0x300, 120), precision::q4));
  b.run();
  ASSERT_EQ(b.error(0), error_code::none);
  EXPECT_TRUE(std::ranges::equal(b.pad(), pad));

  // The delivered bytes would fit in front of the end, the stored ones do not.
  b.submit(0, gathered(tagged(load(23 * page - 100, 0, 64), precision::q2), b, 0xf000));
  b.run();
  EXPECT_EQ(b.error(0), error_code::window_fault);
  EXPECT_EQ(b.fault_address(0), 23 * page);
  EXPECT_TRUE(std::ranges::equal(b.pad(), pad));
}

TEST(tagged, the_window_translates_what_is_stored) {
  read_through_window(small_npu());
}

TEST(tagged, the_window_translates_what_is_stored_in_dram) {
  read_through_window(small_non_blocking_npu());
}
TEST(tagged, blocks_do_so_too) {
  read_through_window(small_block_npu());
}

}  // namespace
}  // namespace dvp::npu
