// The block as software sees it when nothing goes wrong: results, exact times, counters, interrupts, records.
#include <gtest/gtest.h>

#include <bit>
#include <nlohmann/json.hpp>

#include "testbenches/lib/scratch_file.h"
#include "testbenches/unit/npu/descriptors.h"
#include "testbenches/unit/npu/npu_bench.h"

namespace dvp::npu {
namespace {

using namespace test;
using gen::npu::counter;
namespace flag = gen::descriptor_flag;
namespace reg = gen::npu;

constexpr std::uint64_t data = npu_bench::data_base;

std::uint16_t bf16_of_small_integer(int value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16);
}

// The array's share of the counters is the whole time.
void expect_array_time_adds_up(npu_bench& b) {
  const std::uint64_t blocked = b.block.engine_cycles(engine_id::array, engine_state::blocked);
  EXPECT_EQ(
      b.counter(counter::array_busy) + b.counter(counter::stall_dependency) + blocked + b.counter(counter::stall_empty),
      b.counter(counter::cycles));
}

TEST(block, registers_tell_the_configuration_and_refuse_other_accesses) {
  npu_bench b;
  EXPECT_EQ(b.read(reg::id::offset), 0x64767001U);
  const std::uint32_t capability = b.read(reg::capability::offset);
  EXPECT_EQ(reg::capability::rows.get(capability), 8U);
  EXPECT_EQ(reg::capability::columns.get(capability), 8U);
  EXPECT_EQ(reg::capability::queues.get(capability), 2U);
  EXPECT_EQ(b.read(reg::scratchpad_size::offset), 0x10000U);
  EXPECT_EQ(b.read(reg::scratchpad_banks::offset), 16U);
  EXPECT_EQ(b.read(reg::accumulator::offset), 512U);
  EXPECT_EQ(b.initiator.write(reg::status::offset, {0, 0, 0, 0}).status, tlm::TLM_COMMAND_ERROR_RESPONSE);
  EXPECT_EQ(b.initiator.write(reg::control::offset, {1, 0}).status, tlm::TLM_BURST_ERROR_RESPONSE);
  EXPECT_EQ(b.initiator.write(0xffc, {0, 0, 0, 0}).status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  b.run_ns(500);
  EXPECT_EQ(b.counter(counter::cycles), 0U) << "not enabled yet";
}

// FNV-1a as published: 64 bits, offset basis and prime in decimal.
std::uint64_t fnv1a(const std::byte* bytes, std::size_t count) {
  std::uint64_t hash = 14695981039346656037U;
  for (std::size_t i = 0; i < count; ++i) hash = (hash ^ std::to_integer<std::uint64_t>(bytes[i])) * 1099511628211U;
  return hash;
}

TEST(block, descriptors_fetched_are_hashed_queue_by_queue_until_a_reset) {
  ASSERT_EQ(fnv1a(reinterpret_cast<const std::byte*>("a"), 1), 0xaf63dc4c8601ec8cU) << "published value";
  npu_bench b;
  b.enable();
  const std::uint64_t nothing = fnv1a(nullptr, 0);
  EXPECT_EQ(b.block.fetched_hash(0), nothing);
  // More than one fetch, and the ring wraps.
  constexpr std::uint32_t count = npu_bench::ring_entries + 5;
  std::vector<std::byte> sent;
  for (std::uint32_t i = 0; i < count; ++i) {
    const descriptor_view each(load(data + 64 * i, 0x0000, 64));
    sent.insert(sent.end(), each.bytes.begin(), each.bytes.end());
    b.submit(0, each);
    if (i % 7 == 0) b.run();
  }
  b.run();
  EXPECT_EQ(b.head(0), count);
  EXPECT_EQ(b.block.fetched_hash(0), fnv1a(sent.data(), sent.size()));
  EXPECT_EQ(b.block.fetched_hash(1), nothing);
  b.submit(1, load(data, 0x0000, 64));
  b.run();
  EXPECT_EQ(b.block.fetched_hash(1), fnv1a(b.dram() + npu_bench::ring_base(1), 64));
  b.soft_reset();
  EXPECT_EQ(b.block.fetched_hash(0), nothing);
  EXPECT_EQ(b.block.fetched_hash(1), nothing);
}

// Load x, w, scales; multiply; convert; store; fence. All times below are computed by hand: memory 100 ns after the
// last byte at 64 bytes per ns, one cycle per ns, 8x8 array.
TEST(block, a_program_takes_the_times_computed_by_hand) {
  const dvp::test::scratch_file trace("npu.json");
  {
    npu_bench b(small_npu(), nullptr, trace.path());
    for (std::uint32_t t = 0; t < 8; ++t) {
      for (std::uint32_t k = 0; k < 32; ++k) {
        b.set_dram(data + (t * 32 + k) * 2, bf16_of_small_integer(static_cast<int>(t + k) % 5));
      }
    }
    for (std::uint32_t i = 0; i < 512; ++i) b.set_dram(data + 0x1000 + i, static_cast<std::int8_t>(i % 7 - 3));
    for (std::uint32_t v = 0; v < 16; ++v) b.set_dram<std::uint16_t>(data + 0x2000 + 2 * v, 0x3800);  // 0.5
    b.enable();
    gen::gemm_descriptor product = after(
        {3, 2, 1}, gemm(gen::precision::q8, {8, 16, 32, 32}, {0x0000, 64}, {0x1000, 32}, {0x2000, 2}, {0x3000, 64}));
    product.header.label = 7 << 16 | 3;
    b.submit(0, load(data, 0x0000, 512), load(data + 0x1000, 0x1000, 512), load(data + 0x2000, 0x2000, 32), product,
             after({1}, vector(gen::vector_function::to_bf16, 8, 16, {0x3000, 64}, {}, {0x4000, 32})),
             after({1}, store(data + 0x3000, 0x4000, 256)), fence(flag::interrupt | flag::record));
    // Fetch of 448 bytes 0..107, dispatch every 2 cycles from 109 on.
    // x: bursts issued 109, 113; complete 213, 217. w: 117, 121; 221, 225. scales: 125; 225.5, that is 226.
    // gemm: 226 + (8 + 3 * 18 + 16 + 17) + 4 = 325.
    // to_bf16: 2 + max(128 / 16, (512 + 256) / 64) = 14: 339. store: 339 + 4 + 100 = 443. Record: 443 + 100.25: 544.
    b.run_ns(500);
    EXPECT_EQ(b.head(0), 6U) << "the fence is done but not recorded";
    EXPECT_EQ(b.read(reg::status::offset), reg::status::busy.mask());
    b.run();
    EXPECT_EQ(b.line.rises, std::vector<std::uint64_t>{544});
    EXPECT_EQ(b.head(0), 7U);
    EXPECT_EQ(b.read(reg::status::offset), 0U);
    const gen::completion_record record = b.record(0, 6);
    EXPECT_EQ(record.index, 6U);
    EXPECT_EQ(record.error, 0U);
    EXPECT_EQ(record.op, static_cast<std::uint16_t>(gen::opcode::fence));
    EXPECT_EQ(record.end_cycle, 443U);

    EXPECT_EQ(b.counter(counter::cycles), 544U);
    EXPECT_EQ(b.counter(counter::array_busy), 99U);
    EXPECT_EQ(b.counter(counter::stall_dependency), 226U) << "from the doorbell on there was work";
    EXPECT_EQ(b.counter(counter::stall_empty), 544U - 99 - 226);
    EXPECT_EQ(b.counter(counter::vector_busy), 14U);
    EXPECT_EQ(b.counter(counter::dma_load_busy), 226U - 109);
    EXPECT_EQ(b.counter(counter::dma_store_busy), 104U);
    EXPECT_EQ(b.counter(counter::sampling_busy), 0U);
    EXPECT_EQ(b.counter(counter::stall_scratchpad), 0U);
    EXPECT_EQ(b.counter(counter::macs), 8U * 16 * 32);
    EXPECT_EQ(b.counter(counter::bytes_read), 448U + 512 + 512 + 32);
    EXPECT_EQ(b.counter(counter::bytes_written), 256U + 16);
    EXPECT_EQ(b.counter(counter::descriptors), 7U);
    expect_array_time_adds_up(b);
    for (std::uint32_t t = 0; t < 8; ++t) {
      for (std::uint32_t v = 0; v < 16; ++v) {
        int sum = 0;
        for (std::uint32_t k = 0; k < 32; ++k) {
          sum += static_cast<int>(t + k) % 5 * (static_cast<int>(v * 32 + k) % 7 - 3);
        }
        const auto stored = b.dram_at<std::uint16_t>(data + 0x3000 + (t * 16 + v) * 2);
        ASSERT_EQ(std::bit_cast<float>(std::uint32_t{stored} << 16), 0.5F * static_cast<float>(sum)) << t << ' ' << v;
      }
    }
    b.block.update_figures();
    EXPECT_EQ(b.figures.count_of("npu.engines.array.busy_cycles"), 99U);
    EXPECT_EQ(b.figures.count_of("npu.descriptors.dma_load"), 3U);
    EXPECT_EQ(b.figures.count_of("npu.work.macs_q8"), 8U * 16 * 32);
    EXPECT_EQ(b.figures.count_of("npu.work.macs_bf16"), 0U);
    EXPECT_EQ(b.figures.count_of("npu.work.vector_passes"), 8U * 16);
    // Loads; the product's x, weights, scales and result; to_bf16; the store.
    EXPECT_EQ(b.figures.count_of("npu.work.scratchpad_bytes"),
              512U + 512 + 32 + (512 + 512 + 32 + 512) + (512 + 256) + 256);
    EXPECT_EQ(b.figures.count_of("dram.traffic.read.commands.raw_bytes"), 448U);
  }
  const nlohmann::json events = nlohmann::json::parse(trace.text());
  int slices = 0;
  for (const auto& event : events.at("traceEvents")) {
    if (event.at("ph") != "X" || event.at("name") != "gemm 8x16x32") continue;
    ++slices;
    EXPECT_EQ(event.at("ts"), 0.226);
    EXPECT_EQ(event.at("dur"), 0.099);
    EXPECT_EQ(event.at("args").at("operator"), name_of(static_cast<gen::operator_label>(3)));
    EXPECT_EQ(event.at("args").at("layer"), 7);
  }
  EXPECT_EQ(slices, 1);
}

// Rows 3 and 1 of a cache, rank 1, by 2 * U + 0.5 * code, fresh channels behind them: on the vector engine, in order.
TEST(block, the_vector_engine_rebuilds_and_updates) {
  const dvp::test::scratch_file trace("npu.json");
  {
    npu_bench b(small_npu(), nullptr, trace.path());
    const auto put = [&](std::uint32_t address, auto value) {
      std::memcpy(b.pad().data() + address, &value, sizeof value);
    };
    const auto pad_at = [&](std::uint32_t address) {
      std::uint16_t code = 0;
      std::memcpy(&code, b.pad().data() + address, 2);
      return std::bit_cast<float>(std::uint32_t{code} << 16);
    };
    gen::rebuild_descriptor rebuild;
    rebuild.header.op = gen::opcode::rebuild;
    rebuild.header.tag_precision = gen::precision::q4;
    rebuild.header.function = gen::rebuild_mode::half_step;
    rebuild.rows = 2;
    rebuild.columns = 4;
    rebuild.codes = 0x0000;
    rebuild.codes_stride = 2;
    rebuild.terms = 0x1000;
    rebuild.terms_stride = 4;
    rebuild.basis = 0x2000;
    rebuild.list = 0x3000;
    rebuild.d = 0x4000;
    rebuild.d_stride = 8;
    rebuild.rank_limit = 1 | 4 << 8;
    put(0x0000, std::uint32_t{0x7f10'3210});  // 0 1 2 3, 0 1 -1 7
    for (std::uint32_t entry = 0; entry < 4; ++entry) {
      put(0x1000 + 4 * entry, bf16_of_small_integer(static_cast<int>(entry)));
      put(0x1002 + 4 * entry, std::uint16_t{0x3800});  // 0.5
    }
    for (std::uint32_t i = 0; i < 4; ++i) put(0x2000 + 2 * i, bf16_of_small_integer(static_cast<int>(i)));
    put(0x3000, std::uint32_t{3});
    put(0x3004, std::uint32_t{1});

    gen::update_descriptor update;
    update.header.op = gen::opcode::update;
    update.header.function = gen::update_mode::fresh;
    update.rows = 3;
    update.columns = 2;
    update.gate = 0x5000;
    update.up = 0x6000;
    update.sums_stride = 8;
    update.state = 0x7000;
    update.state_rows = 3;
    update.list = gen::no_list;
    update.scales = 0x8000;
    update.scale_stride = 2;
    update.d = 0x9000;
    update.d_stride = 4;
    for (std::uint32_t i = 0; i < 6; ++i) {
      put(0x5000 + 4 * i, 200.0F);  // silu(200) is 200
      put(0x6000 + 4 * i, static_cast<float>(i));
    }
    for (std::uint32_t r = 0; r < 3; ++r) put(0x8000 + 2 * r, std::uint16_t{0x4000});  // 2

    b.enable();
    b.submit(0, rebuild, update, fence(flag::interrupt));
    b.run();
    ASSERT_EQ(b.error(0), reg::error_code::none);
    for (std::uint32_t i = 0; i < 4; ++i) {
      const int codes[] = {0, 1, 2, 3, 0, 1, -1, 7};
      const auto expected = [&](int entry, int code) {
        return static_cast<float>(entry * static_cast<int>(i) + 8 * code + 4);
      };
      EXPECT_EQ(pad_at(0x4000 + 2 * i), expected(3, codes[i]));
      EXPECT_EQ(pad_at(0x4008 + 2 * i), expected(1, codes[4 + i]));
    }
    for (std::uint32_t i = 0; i < 6; ++i) {
      EXPECT_EQ(pad_at(0x9000 + 2 * i), 400.0F * static_cast<float>(i));
      EXPECT_EQ(pad_at(0x7000 + 8 * (i / 2) + 2 * (i % 2)), 200.0F);
      EXPECT_EQ(pad_at(0x7004 + 8 * (i / 2) + 2 * (i % 2)), static_cast<float>(i));
    }
    // 24 + (2 + 1) passes over 8 elements in 16 lanes; 24 + 3 passes over 6.
    EXPECT_EQ(b.counter(counter::vector_busy), 24U + 3 + 24 + 3);
    b.block.update_figures();
    EXPECT_EQ(b.figures.count_of("npu.descriptors.rebuild"), 1U);
    EXPECT_EQ(b.figures.count_of("npu.descriptors.update"), 1U);
  }
  const nlohmann::json events = nlohmann::json::parse(trace.text());
  std::vector<std::string> slices;
  for (const auto& event : events.at("traceEvents")) {
    if (event.at("ph") == "X" && event.at("args").contains("rows")) slices.push_back(event.at("name"));
  }
  EXPECT_EQ(slices, (std::vector<std::string>{"rebuild", "update"}));
}

TEST(block, loads_overlap_the_array) {
  npu_bench b;
  b.enable();
  const auto product = gemm(gen::precision::q8, {8, 256, 32, 32}, {0, 64}, {0x1000, 32}, {0x3000, 2}, {0x4000, 1024});
  b.submit(0, product, load(data, 0x8000, 0x4000), fence(flag::interrupt, {2, 1}));
  b.run();
  // Fetch 103, gemm dispatched 105 for 8 + 3 * 256 + 256 + 17 + 4 cycles; load dispatched 107.
  const std::uint64_t gemm_cycles = 8 + 3 * 256 + 256 + 17 + 4;
  const std::uint64_t load_cycles = 0x4000 / 64 + 100;
  EXPECT_EQ(b.counter(counter::array_busy), gemm_cycles);
  EXPECT_EQ(b.counter(counter::dma_load_busy), load_cycles);
  EXPECT_EQ(b.line.rises, std::vector<std::uint64_t>{105 + gemm_cycles});
  expect_array_time_adds_up(b);
}

TEST(block, loads_reach_the_memory_bandwidth) {
  npu_bench b;
  b.enable();
  // Two loads in a row: the second starts before the last data of the first is here.
  b.submit(0, load(data, 0, 0x4000), load(data + 0x4000, 0x4000, 0x4000));
  b.run();
  EXPECT_EQ(b.counter(counter::dma_load_busy), 0x8000U / 64 + 100);
}

TEST(block, a_small_window_limits_bandwidth) {
  npu_config config = small_npu();
  config.dma_max_outstanding = 2;
  npu_bench b(config);
  b.enable();
  b.submit(0, load(data, 0, 0x1000));
  b.run();
  // 16 bursts of 4 ns each; bursts 0 and 1 are issued at 0 and 4, every later one when the one before last is complete:
  // burst 2n at 104 n, burst 2n + 1 at 104 n + 4. Burst 15 is complete at 7 * 104 + 4 + 104.
  EXPECT_EQ(b.counter(counter::dma_load_busy), 7U * 104 + 4 + 104);
}

TEST(block, three_dimensions_and_gather_move_the_right_bytes) {
  npu_bench b;
  for (std::uint32_t i = 0; i < 0x4000; ++i) b.set_dram(data + i, static_cast<std::uint8_t>(i * 7 + (i >> 8)));
  std::ranges::fill(b.pad(), std::byte{0xee});
  gen::dma_descriptor box = load(data + 3, 0x101, 5);
  box.rows = 3;
  box.planes = 4;
  box.dram_stride = 300;  // crosses burst boundaries unaligned
  box.dram_plane_stride = 1111;
  box.scratchpad_stride = 40;
  box.scratchpad_plane_stride = 10;  // planes interleave with rows
  gen::dma_descriptor gather = load(data + 0x100, 0x2000, 600);
  gather.header.op = gen::opcode::dma_gather;
  gather.rows = 4;
  gather.dram_stride = 700;
  gather.scratchpad_stride = 640;
  gather.list_address = data + 0x8004;
  const std::uint32_t indices[] = {9, 0, 9, 15};
  for (std::uint32_t r = 0; r < 4; ++r) b.set_dram(gather.list_address + 4 * r, indices[r]);
  gen::dma_descriptor out = store(data + 0x9001, 0x101, 5);
  out.rows = 4;
  out.planes = 3;
  out.dram_stride = 16;
  out.dram_plane_stride = 100;
  out.scratchpad_stride = 10;
  out.scratchpad_plane_stride = 40;
  b.enable();
  b.submit(0, box, gather, after({2}, out), fence(flag::interrupt));
  b.run();
  ASSERT_EQ(b.head(0), 4U);
  std::vector<std::byte> expected(0x10000, std::byte{0xee});
  for (std::uint32_t p = 0; p < 4; ++p) {
    for (std::uint32_t r = 0; r < 3; ++r) {
      std::memcpy(&expected[0x101 + p * 10 + r * 40], b.dram() + data + 3 + p * 1111 + r * 300, 5);
      EXPECT_EQ(std::memcmp(b.dram() + data + 0x9001 + p * 16 + r * 100, &expected[0x101 + p * 10 + r * 40], 5), 0);
    }
  }
  for (std::uint32_t r = 0; r < 4; ++r) {
    std::memcpy(&expected[0x2000 + r * 640], b.dram() + data + 0x100 + indices[r] * 700, 600);
  }
  EXPECT_TRUE(std::ranges::equal(b.pad(), expected));
}

TEST(block, the_time_of_a_gather_depends_on_which_rows_are_neighbours_only) {
  npu_bench b;
  gen::dma_descriptor gather = load(data, 0, 700);
  gather.header.op = gen::opcode::dma_gather;
  gather.rows = 6;
  gather.dram_stride = 700;  // rows meet burst boundaries in different places
  gather.scratchpad_stride = 700;
  gather.list_address = data + 0xa000;
  for (const std::uint32_t step : {0U, 2U, 7U, 1U}) {
    b.soft_reset();
    b.enable();
    for (std::uint32_t r = 0; r < 6; ++r) b.set_dram(gather.list_address + 4 * r, r * step);
    b.submit(0, gather);
    b.run();
    // The list: 24 bytes in 100.375, that is 101. Rows of 256, 256 and 188 bytes: 4 + 4 + 3 cycles to issue; the last
    // row is issued from 55 on, its last burst at 63 takes 2.9375. Neighbours are one piece of 4200 bytes: 16 bursts
    // of 256, and one of 104 bytes, issued at 64, that takes 1.625.
    EXPECT_EQ(b.counter(counter::dma_load_busy), step == 1 ? 101U + 64 + 102 : 101U + 63 + 103) << "step " << step;
  }
}

// Both work on bank 4: the array reads x there, the vector unit writes there.
TEST(block, compute_engines_take_turns_at_a_bank_and_dma_does_not_mind) {
  npu_bench b;
  b.enable();
  const auto convert = vector(gen::vector_function::to_bf16, 16, 64, {0x0000, 256}, {}, {0x4000, 128});
  const auto product = gemm(gen::precision::bf16, {8, 8, 8, 8}, {0x4f00, 16}, {0x8000, 16}, {}, {0x9000, 32});
  b.submit(0, convert, product, load(data, 0x4f80, 64), fence(flag::interrupt));
  // Fetch 104; to_bf16 from 106 for 2 + max(1024 / 16, (4096 + 2048) / 64) = 98 cycles; gemm dispatched 108, blocked
  // to 204; load from 110 for 101 cycles.
  b.run();
  EXPECT_EQ(b.counter(counter::vector_busy), 98U);
  EXPECT_EQ(b.counter(counter::stall_scratchpad), 204U - 108);
  EXPECT_EQ(b.counter(counter::array_busy), 8U + 8 + 17 + 4);
  EXPECT_EQ(b.counter(counter::dma_load_busy), 101U);
  EXPECT_EQ(b.line.rises, std::vector<std::uint64_t>{204 + 37});
  expect_array_time_adds_up(b);
}

// A quick descriptor overtakes a slow one, yet its interrupt waits for the head: whoever wakes finds the head beyond
// it.
TEST(block, interrupts_come_in_queue_order) {
  npu_bench b;
  b.enable();
  const auto quick = vector(gen::vector_function::to_bf16, 1, 16, {0x8000, 64}, {}, {0x9000, 32});
  b.submit(0, load(data, 0, 0x4000), with(quick, flag::interrupt));
  b.run_ns(150);
  EXPECT_EQ(b.counter(counter::descriptors), 1U) << "the quick one is done";
  EXPECT_FALSE(b.block.interrupt.read());
  EXPECT_EQ(b.head(0), 0U);
  b.run();
  EXPECT_EQ(b.head(0), 2U);
  EXPECT_TRUE(b.block.interrupt.read());
  EXPECT_EQ(b.line.rises.size(), 1U);
}

TEST(block, interrupts_follow_status_and_enable) {
  npu_bench b;
  b.enable();
  b.write(reg::irq_enable::offset, 0);
  b.submit(0, fence(flag::interrupt));
  b.submit(1, fence(), fence(flag::interrupt));
  b.run();
  EXPECT_TRUE(b.line.rises.empty());
  EXPECT_EQ(b.read(reg::irq_status::offset), 3U);
  b.write(reg::irq_enable::offset, 2);
  b.run_ns(1);
  EXPECT_EQ(b.line.rises.size(), 1U);
  b.write(reg::irq_status::offset, 1);
  EXPECT_TRUE(b.block.interrupt.read());
  b.write(reg::irq_status::offset, 2);
  b.run_ns(1);
  EXPECT_FALSE(b.block.interrupt.read());
  EXPECT_EQ(b.read(reg::irq_status::offset), 0U);
  EXPECT_EQ(b.line.rises.size(), 1U);
}

TEST(block, records_come_as_descriptors_complete_and_the_head_in_order) {
  npu_bench b;
  b.enable();
  // A long load; a short vector operation; a fence that waits for the load by being one.
  b.submit(0, with(load(data, 0, 0x8000), flag::record),
           with(vector(gen::vector_function::add, 1, 16, {0x8000, 64}, {0x8100, 64}, {0x8200, 64}), flag::record),
           with(fence(), flag::record));
  b.run_ns(400);
  EXPECT_EQ(b.record(0, 1).end_cycle, 103U + 4 + 4 + 3) << "complete before its predecessor";
  EXPECT_EQ(b.head(0), 0U);
  EXPECT_EQ(b.record(0, 0).end_cycle, 0U);
  b.run();
  EXPECT_EQ(b.head(0), 3U);
  // The record of the vector operation took the memory 0.25 ns in between.
  const std::uint64_t load_end = 105 + 0x8000 / 64 + 100 + 1;
  EXPECT_EQ(b.record(0, 0).end_cycle, load_end);
  EXPECT_EQ(b.record(0, 0).op, static_cast<std::uint16_t>(gen::opcode::dma_load));
  EXPECT_EQ(b.record(0, 2).end_cycle, load_end + 101) << "a fence follows the records of what it fences";
}

TEST(block, rings_wrap_and_many_descriptors_pass) {
  npu_bench b;
  b.enable();
  std::uint32_t submitted = 0;
  while (submitted < 1000) {
    // No multiple of what one fetch brings, so fetches meet the end of the ring everywhere.
    for (std::uint32_t i = 0; i < 37; ++i, ++submitted) {
      b.put(0, after({static_cast<std::uint16_t>(submitted % 4 == 0 ? 0 : 1)},
                     load(data + submitted, submitted % 0x800, 1 + submitted % 300)));
    }
    b.ring_doorbell(0);
    b.run();
    ASSERT_EQ(b.head(0), submitted);
  }
  b.block.update_figures();
  EXPECT_EQ(b.figures.count_of("npu.descriptors.dma_load"), submitted);
}

}  // namespace
}  // namespace dvp::npu
