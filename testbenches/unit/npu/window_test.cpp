// The address window: what its commands do and how long they take, computed by hand, and what accesses find behind it,
// against a model that knows one bus address per page.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <vector>

#include "testbenches/lib/scratch_file.h"
#include "testbenches/unit/npu/descriptors.h"
#include "testbenches/unit/npu/npu_bench.h"

namespace dvp::npu {
namespace {

using namespace test;
using gen::npu::counter;
using gen::npu::error_code;
using operation = gen::npu::window_operation;
using result = gen::npu::window_result;
namespace flag = gen::descriptor_flag;
namespace reg = gen::npu;

constexpr std::uint64_t data = npu_bench::data_base;
constexpr std::uint64_t page = 4096;
constexpr std::uint32_t window_bit = 1U << reg::irq_status::window.lsb;
// The rings and what lies below data_base.
constexpr window_command map_rings{operation::map, 0, 0, 0, data / page};

// 64 pages, 8 entries; calls 100, 50 and 30 ns, pages 10.25 and 5 ns, flush 4096 ns per page.
npu_config windowed(npu_config config = small_npu()) {
  config.window = {.bytes = 64 * page,
                   .entries = 8,
                   .page_bytes = page,
                   .map_call_ns = 100,
                   .map_page_ns = 10.25,
                   .unmap_call_ns = 50,
                   .unmap_page_ns = 5,
                   .flush_call_ns = 30,
                   .flush_bytes_per_second = 1'000'000'000};
  return config;
}

window_command map(std::uint32_t entry, std::uint64_t bus, std::uint64_t first, std::uint64_t pages) {
  return {operation::map, entry, bus, first, pages};
}
window_command unmap(std::uint32_t entry) {
  return {operation::unmap, entry, 0, 0, 0};
}
window_command flush(std::uint64_t first, std::uint64_t pages) {
  return {operation::flush, 0, 0, first, pages};
}

void carry_out(npu_bench& b, const window_command& command) {
  b.window(command);
  b.run();
  EXPECT_EQ(b.window_result(), result::ok);
}

TEST(window, registers_tell_its_geometry) {
  npu_config config = windowed();
  config.window.bytes = std::uint64_t{7} << 31;
  config.window.page_bytes = 1 << 16;
  npu_bench b(config);
  EXPECT_EQ(b.read(reg::window_size_lo::offset), 0x8000'0000U);
  EXPECT_EQ(b.read(reg::window_size_hi::offset), 3U);
  EXPECT_EQ(reg::window_geometry::entries.get(b.read(reg::window_geometry::offset)), 8U);
  EXPECT_EQ(reg::window_geometry::page_shift.get(b.read(reg::window_geometry::offset)), 16U);
}

TEST(window, without_one_the_registers_say_so_and_commands_are_refused) {
  npu_bench b;
  b.enable();
  EXPECT_EQ(b.read(reg::window_size_lo::offset), 0U);
  EXPECT_EQ(b.read(reg::window_size_hi::offset), 0U);
  EXPECT_EQ(b.read(reg::window_geometry::offset), 0U);
  b.window(map(0, 0, 0, 1));
  EXPECT_EQ(b.window_result(), result::no_window);
  EXPECT_FALSE(b.window_busy());
  EXPECT_EQ(b.read(reg::irq_status::offset), window_bit);
}

TEST(window, commands_take_the_times_computed_by_hand_and_raise_the_line) {
  const dvp::test::scratch_file trace("window.json");
  {
    npu_bench b(windowed(), nullptr, trace.path());
    b.enable();
    const auto timed = [&](const window_command& command, std::uint64_t ns) {
      b.write(reg::irq_status::offset, window_bit);
      b.run_ns(1);
      const std::uint64_t begin = npu_bench::now_ns();
      const std::size_t rises = b.line.rises.size();
      b.window(command);
      EXPECT_TRUE(b.window_busy());
      b.run_ns(ns - 1);
      EXPECT_TRUE(b.window_busy());
      b.run();
      EXPECT_FALSE(b.window_busy());
      EXPECT_EQ(b.window_result(), result::ok);
      EXPECT_EQ(b.read(reg::irq_status::offset), window_bit);
      ASSERT_EQ(b.line.rises.size(), rises + 1);
      EXPECT_EQ(b.line.rises.back(), begin + ns);
    };
    timed(map(3, 0x4'0000, 10, 7), 172);  // 100 + 7 * 10.25 = 171.75, at the next edge
    timed(map(1, 0x1000, 63, 1), 111);    // 110.25
    timed(flush(12, 3), 30 + 3 * 4096);
    timed(unmap(3), 50 + 7 * 5);
    timed(map(3, 0x4'0000, 10, 2), 121);  // 120.5
    b.block.update_figures();
    EXPECT_EQ(b.figures.count_of("npu.window.map_calls"), 3U);
    EXPECT_EQ(b.figures.count_of("npu.window.unmap_calls"), 1U);
    EXPECT_EQ(b.figures.count_of("npu.window.flush_calls"), 1U);
    EXPECT_EQ(b.figures.count_of("npu.window.pages_mapped"), 10U);
    EXPECT_EQ(b.figures.count_of("npu.window.faults"), 0U);
    EXPECT_EQ(b.figures.count_of("npu.window.busy_ps"), (172U + 111 + 12318 + 85 + 121) * 1000);
  }
  const nlohmann::json events = nlohmann::json::parse(trace.text());
  std::vector<std::string> slices;
  std::vector<double> mapped;
  for (const auto& event : events.at("traceEvents")) {
    if (event.at("ph") == "C" && event.at("name") == "mapped bytes") {
      mapped.push_back(event.at("args").begin().value());
    }
    if (event.at("ph") != "X") continue;
    slices.push_back(event.at("name"));
    if (slices.size() != 1) continue;
    EXPECT_EQ(event.at("dur"), 0.172);
    EXPECT_EQ(event.at("args").at("entry"), 3);
    EXPECT_EQ(event.at("args").at("bus"), 0x4'0000);
    EXPECT_EQ(event.at("args").at("device"), 10 * page);
    EXPECT_EQ(event.at("args").at("pages"), 7);
  }
  EXPECT_EQ(slices, (std::vector<std::string>{"map", "map", "flush", "unmap", "map"}));
  EXPECT_EQ(mapped, (std::vector<double>{7 * page, 8 * page, page, 3 * page}));
}

TEST(window, commands_that_break_a_rule_end_at_once_and_change_nothing) {
  npu_bench b(windowed());
  carry_out(b, map(2, 0x2'0000, 20, 10));
  carry_out(b, map(5, 0x5'0000, 40, 1));
  constexpr std::uint64_t top = ~std::uint64_t{0} - (page - 1);
  struct row {
    window_command command;
    result expected;
  };
  window_command nothing;
  window_command unknown = map(0, 0, 0, 1);
  unknown.operation = static_cast<operation>(0xff);
  const row rows[] = {
      {nothing, result::bad_command},
      {unknown, result::bad_command},
      {map(8, 0, 0, 1), result::bad_entry},
      {map(0xffff, 0, 0, 1), result::bad_entry},
      {map(2, 0, 0, 1), result::bad_entry},
      {unmap(0), result::bad_entry},
      {unmap(8), result::bad_entry},
      {map(0, 0x800, 0, 1), result::not_page_aligned},
      {map(0, 1, 200, 0), result::not_page_aligned},
      {map(0, 0, 0, 0), result::bad_range},
      {map(0, 0, 63, 2), result::bad_range},
      {map(0, 0, 64, 1), result::bad_range},
      {map(0, 0, 0xffff'ffff, 1), result::bad_range},
      {map(0, 0, 1, 0xffff'ffff), result::bad_range},
      {map(0, top, 0, 2), result::bad_range},
      {flush(20, 0), result::bad_range},
      {flush(19, 2), result::bad_range},
      {flush(29, 2), result::bad_range},
      {flush(64, 1), result::bad_range},
      {map(0, 0, 20, 1), result::overlap},
      {map(0, 0, 29, 1), result::overlap},
      {map(0, 0, 10, 11), result::overlap},
      {map(0, 0, 25, 20), result::overlap},
      {map(0, 0, 39, 25), result::overlap},
      {map(0, 0, 0, 64), result::overlap},
  };
  const std::uint64_t before = npu_bench::now_ns();
  for (const row& each : rows) {
    b.write(reg::irq_status::offset, window_bit);
    b.window(each.command);
    EXPECT_FALSE(b.window_busy());
    EXPECT_EQ(b.window_result(), each.expected)
        << reg::name_of(each.expected) << ": entry " << each.command.entry << " page " << each.command.page;
    EXPECT_EQ(b.read(reg::irq_status::offset), window_bit);
    b.run();
  }
  EXPECT_EQ(npu_bench::now_ns(), before);
  // What may be done next to all that: the last bus page, pages between entries, both neighbours.
  carry_out(b, map(0, top, 10, 1));
  carry_out(b, map(1, 0, 30, 10));
  carry_out(b, map(3, 0, 19, 1));
  carry_out(b, flush(19, 22));
  carry_out(b, unmap(2));
  carry_out(b, map(7, 0, 20, 10));
}

TEST(window, one_command_at_a_time) {
  npu_bench b(windowed());
  const auto refused = [&] { return reg::window_status::refused.get(b.read(reg::window_status::offset)) != 0; };
  b.window(map(0, 0x1'0000, 0, 16));
  EXPECT_FALSE(refused());
  b.window(map(1, 0x2'0000, 16, 16));
  EXPECT_TRUE(refused());
  EXPECT_TRUE(b.window_busy());
  b.run();
  EXPECT_TRUE(refused()) << "until the next one is accepted";
  EXPECT_EQ(b.window_result(), result::ok) << "of the one accepted";
  EXPECT_EQ(b.line.rises.size(), 0U) << "nothing is enabled";
  b.window(unmap(1));
  EXPECT_FALSE(refused());
  EXPECT_EQ(b.window_result(), result::bad_entry) << "the refused one had no effect";
  b.window(unmap(0));
  b.run();
  EXPECT_EQ(b.window_result(), result::ok);
}

TEST(window, pages_are_there_from_the_end_of_a_map_and_gone_from_the_write_of_an_unmap) {
  npu_bench b(windowed());
  const auto start_over = [&] {
    b.soft_reset();
    b.run();
    carry_out(b, map_rings);
    b.enable();
  };
  const auto expect_fault = [&](std::uint64_t address, std::uint64_t faults) {
    EXPECT_EQ(b.error(0), error_code::window_fault);
    EXPECT_EQ(b.error_index(0), 0U);
    EXPECT_EQ(b.fault_address(0), address);
    b.block.update_figures();
    EXPECT_EQ(b.figures.count_of("npu.window.faults"), faults) << "since power-on";
  };
  b.set_dram<std::uint32_t>(0x5'0000 + 0x10, 0x12345678);
  const auto one = load(20 * page + 0x10, 0x100, 4);
  start_over();
  b.window(map(1, 0x5'0000, 20, 40));  // 510 ns
  b.submit(0, one);
  b.run_ns(500);
  expect_fault(20 * page + 0x10, 1);

  start_over();
  b.window(map(1, 0x5'0000, 20, 40));
  b.run_ns(511);
  EXPECT_FALSE(b.window_busy());
  b.submit(0, one);
  b.run();
  EXPECT_EQ(b.head(0), 1U);
  std::uint32_t loaded = 0;
  std::memcpy(&loaded, b.pad().data() + 0x100, 4);
  EXPECT_EQ(loaded, 0x12345678U);

  b.window(unmap(1));
  b.submit(0, one);
  b.run_ns(240);  // of 250
  EXPECT_TRUE(b.window_busy());
  EXPECT_EQ(b.error(0), error_code::window_fault);
  EXPECT_EQ(b.error_index(0), 1U);

  // A load of 160 KiB under way for 2.5 us.
  start_over();
  carry_out(b, map(1, 0x5'0000, 20, 40));
  gen::dma_descriptor slow = load(20 * page, 0, 0x8000);
  slow.rows = 2;
  slow.scratchpad_stride = 0;
  slow.dram_stride = 0x8000;
  b.submit(0, slow);
  b.run_ns(300);
  b.window(unmap(1));
  b.run();
  EXPECT_EQ(b.error(0), error_code::window_fault);
  EXPECT_GT(b.fault_address(0), 20 * page);
  EXPECT_LT(b.fault_address(0), 20 * page + 300 * 64) << "64 bytes per ns, at most the quantum ahead";
  EXPECT_EQ(b.fault_address(0) % 256, 0U) << "a burst";
}

TEST(window, rings_records_and_lists_are_behind_it_too) {
  npu_bench b(windowed());
  b.enable();
  b.submit(0, fence());
  b.run();
  EXPECT_EQ(b.error(0), error_code::window_fault);
  EXPECT_EQ(b.error_index(0), 0U);
  EXPECT_EQ(b.fault_address(0), npu_bench::ring_base(0));
  EXPECT_EQ(b.counter(counter::bytes_read), 0U) << "nothing went out";

  b.soft_reset();
  carry_out(b, map(0, 0, 0, npu_bench::record_base(0) / page));
  b.enable();
  b.submit(0, fence(), with(fence(), flag::record));
  b.run();
  EXPECT_EQ(b.error(0), error_code::window_fault);
  EXPECT_EQ(b.error_index(0), 1U);
  EXPECT_EQ(b.fault_address(0), npu_bench::record_base(0) + 16);

  b.soft_reset();
  carry_out(b, map_rings);
  b.enable();
  gen::dma_descriptor gather = load(0, 0, 16);
  gather.header.op = gen::opcode::dma_gather;
  gather.rows = 8;
  gather.list_address = 16 * page - 8;  // two indices are mapped, six are not
  b.submit(0, gather);
  b.run();
  EXPECT_EQ(b.error(0), error_code::window_fault);
  EXPECT_EQ(b.fault_address(0), 16 * page);
  b.soft_reset();
  b.enable();
  b.submit(0, fence());
  b.run();
  EXPECT_EQ(b.error(0), error_code::window_fault) << "a soft reset frees every entry";
}

// The map as a table: one bus address per page.
class page_model {
 public:
  static constexpr std::uint64_t pages = 64;
  struct where {
    std::uint32_t entry;
    std::uint64_t bus;
  };

  explicit page_model(std::uint32_t entries) : entries_(entries) {}

  result apply(const window_command& c) {
    if (c.operation == operation::unmap) {
      if (c.entry >= entries_ || !uses(c.entry)) return result::bad_entry;
      for (auto& each : table_) {
        if (each && each->entry == c.entry) each.reset();
      }
      return result::ok;
    }
    if (c.entry >= entries_ || uses(c.entry)) return result::bad_entry;
    if (c.bus % page != 0) return result::not_page_aligned;
    if (c.pages == 0) return result::bad_range;
    for (std::uint64_t i = 0; i < c.pages; ++i) {
      if (c.page + i >= pages) return result::bad_range;
    }
    for (std::uint64_t i = 0; i < c.pages; ++i) {
      if (table_[c.page + i]) return result::overlap;
    }
    for (std::uint64_t i = 0; i < c.pages; ++i) table_[c.page + i] = where{c.entry, c.bus + i * page};
    return result::ok;
  }
  void clear() { table_ = {}; }

  std::optional<where> at(std::uint64_t device) const {
    if (device / page >= pages || !table_[device / page]) return {};
    return where{table_[device / page]->entry, table_[device / page]->bus + device % page};
  }

 private:
  bool uses(std::uint32_t entry) const {
    return std::ranges::any_of(table_, [&](const auto& each) { return each && each->entry == entry; });
  }

  std::uint32_t entries_;
  std::array<std::optional<where>, pages> table_;
};

struct machine_state {
  std::vector<std::byte> dram, pad;
};

struct outcome {
  error_code error = error_code::none;
  std::uint64_t address = 0;
};

// One burst: all of its device addresses are mapped or nothing moves; what lies in different entries goes to the bus
// one after another.
outcome move_burst(machine_state& m, const page_model& map, bool stores, std::uint64_t device, std::uint64_t pad,
                   std::uint64_t bytes) {
  for (std::uint64_t i = 0; i < bytes; ++i) {
    if (!map.at(device + i)) return {error_code::window_fault, device + i};
  }
  outcome first;
  for (std::uint64_t i = 0; i < bytes;) {
    const auto start = *map.at(device + i);
    std::uint64_t n = 1;
    while (i + n < bytes && map.at(device + i + n)->entry == start.entry) ++n;
    if (start.bus + n > m.dram.size()) {
      if (first.error == error_code::none) first = {error_code::bus_error, device + i};
    } else {
      std::byte* const outside = m.dram.data() + start.bus;
      std::byte* const inside = m.pad.data() + pad + i;
      std::memcpy(stores ? outside : inside, stores ? inside : outside, n);
    }
    i += n;
  }
  return first;
}

outcome interpret(machine_state& m, const page_model& map, const gen::dma_descriptor& d) {
  const bool gathers = d.header.op == gen::opcode::dma_gather;
  std::vector<std::uint32_t> list(d.rows);
  if (gathers) {
    machine_state scratch{m.dram, std::vector<std::byte>(d.rows * 4)};
    for (std::uint64_t at = 0; at < d.rows * 4;) {
      const std::uint64_t address = d.list_address + at;
      const std::uint64_t n = std::min<std::uint64_t>(d.rows * 4 - at, 256 - address % 256);
      const outcome read = move_burst(scratch, map, false, address, at, n);
      if (read.error != error_code::none) return read;
      at += n;
    }
    std::memcpy(list.data(), scratch.pad.data(), scratch.pad.size());
  }
  for (std::uint32_t r = 0; r < d.rows; ++r) {
    const std::uint64_t device = d.dram_address + std::uint64_t{gathers ? list[r] : r} * d.dram_stride;
    for (std::uint64_t at = 0; at < d.row_bytes;) {
      const std::uint64_t position = gathers ? at : device + at;
      const std::uint64_t n = std::min<std::uint64_t>(d.row_bytes - at, 256 - position % 256);
      const outcome moved = move_burst(m, map, d.header.op == gen::opcode::dma_store, device + at,
                                       d.scratchpad_address + std::uint64_t{r} * d.scratchpad_stride + at, n);
      if (moved.error != error_code::none) return moved;
      at += n;
    }
  }
  return {};
}

class random_traffic {
 public:
  // stray: whether entries may lead beyond the memory.
  random_traffic(const npu_config& config, bool stray, std::uint32_t seed)
      : bench_(config), map_(config.window.entries), stray_(stray), random_(seed) {
    for (std::uint64_t a = 0; a < npu_bench::memory_bytes; ++a) {
      bench_.dram()[a] = static_cast<std::byte>(random_());
    }
    std::ranges::generate(bench_.pad(), [&] { return static_cast<std::byte>(random_()); });
  }

  void run(int rounds) {
    for (int round = 0; round < rounds && !testing::Test::HasFailure(); ++round) {
      SCOPED_TRACE("round " + std::to_string(round));
      begin_round();
      bool stopped = false;
      for (int i = 0; i < 12 && !stopped; ++i) {
        for (std::uint32_t n = below(3); n > 0; --n) change_map();
        stopped = !move_once();
      }
    }
    EXPECT_GT(moves_, 200) << "descriptors that moved their bytes";
    EXPECT_GT(crossings_, 20) << "of these, over entries apart on the bus";
    EXPECT_GT(faults_, 20);
    EXPECT_EQ(errors_ > 5, stray_);
    bench_.block.update_figures();
    EXPECT_EQ(bench_.figures.count_of("npu.window.faults"), faults_);
  }

 private:
  std::uint32_t below(std::uint64_t n) { return static_cast<std::uint32_t>(random_() % n); }

  // The ring, on the bus at 0, in two pages anywhere; 16 pages of data around it.
  void begin_round() {
    bench_.soft_reset();
    bench_.run();
    map_.clear();
    index_ = 0;
    ring_ = 2 * below(32);
    command(map(0, 0, ring_, 2));
    bench_.enable();
    bench_.write(reg::queue::base_lo::at(0), static_cast<std::uint32_t>(ring_ * page));
    bench_.write(reg::queue::completion_lo::at(0), 0);
    for (int i = 0; i < 40; ++i) change_map();
  }

  void command(const window_command& c) {
    const result expected = map_.apply(c);
    bench_.window(c);
    bench_.run();
    ASSERT_EQ(bench_.window_result(), expected) << "entry " << c.entry << " page " << c.page << " of " << c.pages;
  }

  void change_map() {
    const std::uint32_t entry = 1 + below(16);
    if (below(6) == 0) return command(unmap(entry));
    // Data from bus address 0x10000 on, whatever else is there: the memory's last page, or beyond.
    std::uint64_t bus = data + page * below((npu_bench::memory_bytes - data) / page - 8);
    if (stray_ && below(6) == 0) bus = npu_bench::memory_bytes - page * below(2);
    if (below(16) == 0) bus += 1 + below(page - 1);
    command(map(entry, bus, below(66), below(8)));
  }

  // A border of pages, mostly one that is mapped on both sides.
  std::uint64_t border() {
    for (int tries = 0; tries < 40; ++tries) {
      const std::uint64_t found = page * below(65);
      if (found != 0 && map_.at(found - 1) && map_.at(found)) return found;
    }
    return page * below(65);
  }

  gen::dma_descriptor draw() {
    const std::uint64_t edge = below(6) == 0 ? page * below(65) : border();
    const std::uint32_t longest = below(8) == 0 ? 9000 : 700;
    gen::dma_descriptor d = below(2) == 0 ? load(0, 0, 1 + below(longest)) : store(0, 0, 1 + below(longest));
    d.dram_address = edge - std::min<std::uint64_t>(edge, below(1000));
    d.rows = 1 + below(3);
    d.dram_stride = d.row_bytes + (below(2) == 0 ? 0 : below(300));
    d.scratchpad_stride = d.row_bytes + below(3) * 7;
    d.scratchpad_address = below(0x4000);
    if (below(3) != 0) return d;
    d.header.op = gen::opcode::dma_gather;
    d.rows = 1 + below(6);
    d.dram_stride = 1 + below(300);
    d.list_address = border() - 4 * below(10);
    // A list that names near rows, where it can be written.
    for (std::uint32_t r = 0; r < d.rows; ++r) {
      const auto place = map_.at(d.list_address + 4 * r);
      if (place && place->bus >= data && place->bus + 4 <= npu_bench::memory_bytes) {
        bench_.set_dram<std::uint32_t>(place->bus, below(4));
      }
    }
    return d;
  }

  bool crosses_apart(const gen::dma_descriptor& d) const {
    for (std::uint64_t a = d.dram_address / page + 1; a * page < d.dram_address + d.row_bytes; ++a) {
      const auto before = map_.at(a * page - 1);
      const auto after = map_.at(a * page);
      if (before && after && before->bus + 1 != after->bus) return true;
    }
    return false;
  }

  bool overwrites_ring(const gen::dma_descriptor& d) const {
    if (d.header.op != gen::opcode::dma_store) return false;
    const std::uint64_t end = d.dram_address + std::uint64_t{d.rows} * d.dram_stride + d.row_bytes;
    return d.dram_address < (ring_ + 2) * page && end > ring_ * page;
  }

  // False when the queue stopped.
  bool move_once() {
    const gen::dma_descriptor d = draw();
    if (overwrites_ring(d)) return true;
    machine_state expected{{bench_.dram(), bench_.dram() + npu_bench::memory_bytes},
                           {bench_.pad().begin(), bench_.pad().end()}};
    bench_.put(0, d);
    std::memcpy(expected.dram.data(), bench_.dram(), data);
    const outcome end = interpret(expected, map_, d);
    bench_.ring_doorbell(0);
    bench_.run();
    EXPECT_EQ(bench_.error(0), end.error);
    EXPECT_EQ(bench_.fault_address(0), end.address);
    EXPECT_TRUE(std::ranges::equal(bench_.pad(), expected.pad));
    EXPECT_TRUE(std::equal(expected.dram.begin(), expected.dram.end(), bench_.dram()));
    if (end.error == error_code::none) {
      ++index_;
      ++moves_;
      crossings_ += crosses_apart(d) ? 1 : 0;
    } else {
      EXPECT_EQ(bench_.error_index(0), index_);
      (end.error == error_code::window_fault ? faults_ : errors_) += 1;
    }
    EXPECT_EQ(bench_.head(0), index_);
    return end.error == error_code::none;
  }

  npu_bench bench_;
  page_model map_;
  bool stray_;
  std::mt19937 random_;
  std::uint64_t ring_ = 0;
  std::uint32_t index_ = 0;
  int moves_ = 0;
  int crossings_ = 0;
  std::uint64_t faults_ = 0;
  std::uint64_t errors_ = 0;
};

npu_config many_entries(npu_config config) {
  config = windowed(config);
  config.window.entries = 16;
  return config;
}

TEST(window, random_maps_and_traffic_move_the_right_bytes_or_fault) {
  const std::uint32_t seed = 20'261'130;
  SCOPED_TRACE("seed " + std::to_string(seed));
  random_traffic(many_entries(small_npu()), true, seed).run(300);
}
TEST(window, they_do_so_over_a_memory_that_pushes_back_and_answers_out_of_order) {
  const std::uint32_t seed = 20'261'201;
  SCOPED_TRACE("seed " + std::to_string(seed));
  random_traffic(many_entries(small_non_blocking_npu()), false, seed).run(300);
}
TEST(window, they_do_so_in_blocks) {
  const std::uint32_t seed = 20'261'202;
  SCOPED_TRACE("seed " + std::to_string(seed));
  random_traffic(many_entries(small_block_npu()), false, seed).run(300);
}

// Two accesses to the bus instead of one: 4 + 4 bytes around the border of two entries.
TEST(window, a_burst_over_two_entries_is_two_accesses_and_one_answer) {
  npu_bench b(windowed());
  carry_out(b, map_rings);
  carry_out(b, map(1, 0x2'0000, 20, 1));
  carry_out(b, map(2, 0x9'0000, 21, 1));
  b.set_dram<std::uint32_t>(0x2'0ffc, 0x11111111);
  b.set_dram<std::uint32_t>(0x9'0000, 0x22222222);
  b.enable();
  gen::dma_descriptor gather = load(21 * page - 4, 0, 8);
  gather.header.op = gen::opcode::dma_gather;
  gather.list_address = 0xf000;
  b.set_dram<std::uint32_t>(0xf000, 0);
  b.submit(0, gather);
  b.run();
  EXPECT_EQ(b.head(0), 1U);
  std::uint64_t loaded = 0;
  std::memcpy(&loaded, b.pad().data(), 8);
  EXPECT_EQ(loaded, 0x22222222'11111111U);
  EXPECT_EQ(b.counter(counter::bytes_read), 64U + 4 + 8);
  // The list in 100.0625, that is 101; both pieces handed over then, 100.125 for the second: 101.
  EXPECT_EQ(b.counter(counter::dma_load_busy), 101U + 101);

  // The second of them fails.
  carry_out(b, unmap(2));
  carry_out(b, map(2, npu_bench::memory_bytes, 21, 1));
  b.submit(0, gather);
  b.run();
  EXPECT_EQ(b.error(0), error_code::bus_error);
  EXPECT_EQ(b.fault_address(0), 21 * page);
}

void reset_at_any_time(const npu_config& config) {
  npu_bench b(config);
  for (std::uint64_t ns = 0; ns < 700; ns += 7) {
    SCOPED_TRACE(testing::Message() << "reset after " << ns << " ns");
    carry_out(b, map_rings);
    b.enable();
    b.window(map(4, data, 16, 40));
    b.run_ns(ns);
    b.soft_reset();
    EXPECT_EQ(b.read(reg::window_status::offset), 0U);
    if (ns % 2 == 0) b.run();
    EXPECT_EQ(b.read(reg::irq_status::offset), 0U);
    // The entry and all pages are free, and there is no trace of the command's end.
    b.window(map(4, data, 0, 64));
    EXPECT_TRUE(b.window_busy());
    b.run_ns(100 + 656 - 1);
    EXPECT_TRUE(b.window_busy());
    b.run();
    EXPECT_FALSE(b.window_busy());
    EXPECT_EQ(b.window_result(), result::ok);
    b.soft_reset();
  }
}

TEST(window, a_soft_reset_at_any_time_frees_everything) {
  reset_at_any_time(windowed());
}

TEST(window, configurations_that_cannot_be_are_refused) {
  const auto refusal = [](const window_config& window) -> std::string {
    npu_config config = small_npu();
    config.window = window;
    try {
      validate(config);
    } catch (const std::invalid_argument& problem) {
      return problem.what();
    }
    return "";
  };
  window_config good = windowed().window;
  EXPECT_EQ(refusal(good), "");
  const auto broken = [&](auto&& change) {
    window_config bad = good;
    change(bad);
    return refusal(bad);
  };
  EXPECT_EQ(broken([](auto& w) { w.bytes += 1; }),
            "npu: window.bytes is 262145, it must be whole pages of page_bytes, at most 1 TiB");
  EXPECT_NE(broken([](auto& w) { w.bytes = std::uint64_t{1} << 41; }), "");
  EXPECT_NE(broken([](auto& w) { w.page_bytes = 2048; }), "");
  EXPECT_NE(broken([](auto& w) { w.page_bytes = 12288; }), "");
  EXPECT_NE(broken([](auto& w) { w.entries = 0; }), "");
  EXPECT_NE(broken([](auto& w) { w.entries = 65536; }), "");
  EXPECT_NE(broken([](auto& w) { w.map_page_ns = -1; }), "");
  EXPECT_NE(broken([](auto& w) { w.unmap_call_ns = 1e7; }), "");
  EXPECT_NE(broken([](auto& w) { w.flush_bytes_per_second = 0; }), "");
  EXPECT_EQ(broken([](auto& w) {
              w = {};
              w.bytes = 0;
              w.page_bytes = 3;
            }),
            "")
      << "nothing else counts without a window";
}

}  // namespace
}  // namespace dvp::npu
