// Compressed decodes through an address window: whatever the policy and the window, tokens, what the statistics count
// and what is read are those of an NPU that sees all of memory.
#include <algorithm>
#include <cstring>
#include <iostream>
#include <random>
#include <utility>
#include <vector>

#include "dvp_gen/system.h"
#include "gtest/gtest.h"
#include "testbenches/unit/firmware/compressed_bench.h"

namespace dvp {
namespace {

using gen::ffn_mode;
using gen::kv_format;
using gen::precision;
using gen::purpose;
using gen::result_code;
using gen::swap_policy;
using testbench::compressed_bench;
using testbench::tiny_model;
using testbench::tiny_options;

constexpr swap_policy policies[] = {swap_policy::none, swap_policy::naive, swap_policy::lru, swap_policy::somr};

struct job {
  tiny_options model;
  gen::compression_record record;
  std::uint32_t prompt = 40;
  float threshold = 0.5f;
  std::uint32_t drafts = 0;
  std::uint32_t retries = 0;
  std::uint64_t hurt = 0;  // running number of a descriptor that fails; 0: none does
};

// Main memory as an NPU sees it whose reads find what the CPU wrote only after the page was flushed or mapped.
class stale_memory {
 public:
  stale_memory(testbench::functional_machine& machine, std::uint32_t page)
      : machine_(machine), page_(page), seen_(machine.dram().begin(), machine.dram().end()) {}

  void command(const npu::window_command& c) {
    take_written();
    for (std::uint64_t p = 0; p < c.pages; ++p) {
      if (c.operation == gen::npu::window_operation::map) {
        see(c.bus + p * page_, page_);
      } else if (c.operation == gen::npu::window_operation::flush) {
        see(machine_.window().find((c.page + p) * page_).bus, page_);
      }
    }
  }

  void descriptor(const npu::descriptor_view& view) {
    take_written();
    const auto d = view.as<gen::dma_descriptor>();
    switch (view.op()) {
      case gen::opcode::dma_load:
        for_rows(d, [&](std::uint64_t device, std::uint64_t bytes) { read(device, bytes, d); });
        break;
      case gen::opcode::dma_gather:
        read(d.list_address, std::uint64_t{d.rows} * 4, d);
        break;
      case gen::opcode::dma_store:
        for_rows(d, [&](std::uint64_t device, std::uint64_t bytes) { written_.emplace_back(bus_of(device), bytes); });
        break;
      case gen::opcode::stage:
        written_.emplace_back(bus_of(d.dram_address), d.row_bytes);
        break;
      default:
        break;
    }
  }

 private:
  template <class Work>
  static void for_rows(const gen::dma_descriptor& d, Work&& work) {
    const bool narrow = d.header.tag_precision == precision::q4 || d.header.tag_precision == precision::q2;
    const std::uint64_t bytes = d.row_bytes * (!narrow ? 1u : d.header.tag_precision == precision::q4 ? 2u : 4u);
    for (std::uint64_t plane = 0; plane < d.planes; ++plane) {
      for (std::uint64_t row = 0; row < d.rows; ++row) {
        work(d.dram_address + plane * d.dram_plane_stride + row * d.dram_stride, bytes);
      }
    }
  }
  std::uint64_t bus_of(std::uint64_t device) const { return machine_.window().find(device).bus; }
  void see(std::uint64_t bus, std::uint64_t bytes) {
    const std::uint64_t first = bus - gen::system::dram_base;
    const auto memory = machine_.dram().subspan(first, bytes);
    std::copy(memory.begin(), memory.end(), seen_.begin() + static_cast<std::ptrdiff_t>(first));
  }
  // What the NPU wrote since.
  void take_written() {
    for (const auto& [bus, bytes] : written_) {
      see(bus, bytes);
    }
    written_.clear();
  }
  void read(std::uint64_t device, std::uint64_t bytes, const gen::dma_descriptor& d) {
    const std::uint64_t first = bus_of(device) - gen::system::dram_base;
    const auto memory = machine_.dram().subspan(first, bytes);
    if (!std::equal(memory.begin(), memory.end(), seen_.begin() + static_cast<std::ptrdiff_t>(first)) && !reported_) {
      reported_ = true;
      ADD_FAILURE() << "read before it was flushed: " << bytes << " bytes at " << std::hex << first << " of "
                    << gen::name_of(static_cast<gen::operator_label>(d.header.label & 0xffff));
    }
  }

  testbench::functional_machine& machine_;
  std::uint32_t page_;
  std::vector<std::byte> seen_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> written_;
  bool reported_ = false;
};

struct decoded {
  std::vector<std::uint32_t> tokens;
  gen::result_record result;
  std::vector<gen::layer_statistics> statistics;
  std::vector<std::uint64_t> moved;  // by purpose and precision
  std::vector<gen::swap_plan_entry> plan;
};

constexpr std::uint64_t plan_address = gen::system::dram_base + (7u << 20);
constexpr std::uint32_t plan_room = 8192;

decoded decode(const job& j, swap_policy policy, const npu::window_config& window,
               result_code expected = result_code::ok) {
  tiny_model model(j.model);
  compressed_bench b(model, {.window = window}, testbench::random_tokens(model, j.prompt, 5), j.record);
  gen::request_record& r = b.request();
  r.generate_tokens = 72;
  r.block_length = 32;
  r.sub_block_length = 8;
  r.threshold = j.threshold;
  r.draft_trigger = r.draft_look_ahead = j.drafts;
  r.draft_threshold = 0.02f;
  r.retries = static_cast<std::uint16_t>(j.retries);
  r.swap = policy;
  r.plan_address = plan_address;
  r.plan_entries = plan_room;
  decoded d;
  testbench::functional_machine& machine = b.machine();
  stale_memory stale(machine, std::max(window.page_bytes, 1u));
  machine.tamper = [&, seen = std::uint64_t{0}](npu::descriptor_view& descriptor) mutable {
    if (seen++ == j.hurt && j.hurt != 0) {
      auto changed = descriptor.as<gen::vector_descriptor>();
      changed.header.op = static_cast<gen::opcode>(99);
      descriptor = npu::descriptor_view(changed);
    } else if (window.bytes != 0) {
      stale.descriptor(descriptor);
    }
  };
  machine.tamper_window = [&](npu::window_command& command) { stale.command(command); };
  EXPECT_EQ(b.run(), expected);
  for (const std::string& hazard : machine.hazards()) {
    ADD_FAILURE() << hazard;
  }
  d.tokens = b.tokens(std::max(b.result().total_tokens, 1u));
  d.result = b.result();
  for (std::uint32_t layer = 0; layer < j.model.layers; ++layer) {
    d.statistics.push_back(b.statistics(layer));
  }
  for (const purpose p : {purpose::weights, purpose::scales, purpose::prefix_kv, purpose::kv_metadata,
                          purpose::ffn_state, purpose::corrections, purpose::embedding}) {
    for (const precision tag : {precision::raw, precision::bf16, precision::q8, precision::q4, precision::q2}) {
      d.moved.push_back(machine.moved(p, tag));
    }
  }
  const auto* plan = machine.at<gen::swap_plan_entry>(plan_address);
  d.plan.assign(plan, plan + std::min(d.result.plan_length, plan_room));
  return d;
}

void expect_same_run(const decoded& a, const decoded& b) {
  EXPECT_EQ(a.tokens, b.tokens);
  EXPECT_EQ(a.result.state_hash, b.result.state_hash);
  EXPECT_EQ(a.result.forwards, b.result.forwards);
  EXPECT_EQ(a.result.committed, b.result.committed);
  EXPECT_EQ(a.result.drafts_accepted, b.result.drafts_accepted);
  EXPECT_EQ(a.moved, b.moved);
  ASSERT_EQ(a.statistics.size(), b.statistics.size());
  for (std::size_t layer = 0; layer < a.statistics.size(); ++layer) {
    EXPECT_EQ(std::memcmp(&a.statistics[layer], &b.statistics[layer], sizeof(gen::layer_statistics)), 0) << layer;
  }
}

// The smallest window of a policy, in bytes, as a refusal in a window of one page tells it.
std::uint64_t smallest_window(const job& j, swap_policy policy, std::uint32_t page) {
  const decoded refused =
      decode(j, policy, {.bytes = page, .entries = 256, .page_bytes = page}, result_code::window_too_small);
  EXPECT_NE(refused.result.plan_bytes, 0u);
  EXPECT_EQ(refused.result.map_calls, 0u);
  return refused.result.plan_bytes;
}

job random_job(std::mt19937& random, std::uint32_t round) {
  const auto pick = [&](std::uint32_t least, std::uint32_t most) {
    return std::uniform_int_distribution<std::uint32_t>(least, most)(random);
  };
  // Every technique alone, both, and the store of whole codes.
  constexpr std::pair<kv_format, ffn_mode> techniques[] = {{kv_format::brq, ffn_mode::whole},
                                                           {kv_format::bf16, ffn_mode::dat},
                                                           {kv_format::brq, ffn_mode::dat},
                                                           {kv_format::q8, ffn_mode::dat}};
  job j;
  tiny_options& m = j.model;
  m = {.seed = pick(1, 1000), .block_causal = true, .shift_logits = true, .channels = true};
  m.rope_halves = pick(0, 1) == 0;
  m.qkv_bias = pick(0, 1) == 0;
  m.tied = pick(0, 1) == 0;
  m.width = 32 * pick(1, 3);
  m.layers = pick(1, 4);
  m.kv_heads = pick(1, 2);
  m.heads = m.kv_heads * pick(1, 2);
  m.head_length = 32;
  m.ffn_width = 32 * pick(1, 6);
  m.correction_rank = 4 * pick(0, 1);
  const auto [kv, ffn] = techniques[round % std::size(techniques)];
  j.record = testbench::compression_of(kv, ffn);
  j.record.rank = pick(0, 3);
  j.record.basis_refresh = 32 * pick(0, 1);
  j.record.correction_rank = m.correction_rank / (1 + pick(0, 1));
  j.record.map_span = static_cast<gen::compression_span>(pick(0, 1));
  j.record.anchor_span = static_cast<gen::compression_span>(pick(0, 1));
  j.record.touch_gain = 0.5f * static_cast<float>(pick(1, 6));
  j.prompt = pick(1, 70);
  j.threshold = pick(0, 1) == 0 ? 2.0f : 0.5f;
  j.drafts = 4 * pick(0, 1);
  return j;
}

TEST(swap_compression, policies_decode_alike) {
  constexpr std::uint32_t seed = 11;
  std::cout << "seed " << seed << '\n';
  std::mt19937 random(seed);
  std::uint32_t staged_channels = 0, remapped = 0;
  for (std::uint32_t round = 0; round < 8; ++round) {
    const job j = random_job(random, round);
    const std::uint32_t page = 256u << random() % 5;
    const decoded whole = decode(j, swap_policy::none, {});
    const std::uint64_t all = smallest_window(j, swap_policy::none, page);
    for (const swap_policy policy : policies) {
      const std::uint64_t least = policy == swap_policy::none ? all : smallest_window(j, policy, page);
      const std::uint64_t most = std::max(all, least);
      const std::uint64_t between = least + (most - least) / page * (random() % 100) / 100 * page;
      for (const std::uint64_t bytes : {least, between, most}) {
        SCOPED_TRACE(::testing::Message() << "round " << round << " policy " << gen::name_of(policy) << " window "
                                          << bytes << " of " << all << " page " << page);
        const decoded d = decode(j, policy, {.bytes = bytes, .entries = 256, .page_bytes = page});
        expect_same_run(whole, d);
        staged_channels += std::any_of(d.plan.begin(), d.plan.end(), [](const gen::swap_plan_entry& e) {
          return e.how == gen::residence::staged &&
                 e.operator_name == static_cast<std::uint16_t>(gen::operator_label::ffn_update);
        });
        remapped += policy == swap_policy::lru && d.result.unmap_calls != 0 ? 1 : 0;
        if (policy == swap_policy::somr && bytes == most) {
          EXPECT_EQ(d.result.bytes_staged, 0u) << "everything fits";
        }
        if (::testing::Test::HasFailure()) {
          return;
        }
      }
      decode(j, policy, {.bytes = least - page, .entries = 256, .page_bytes = page}, result_code::window_too_small);
    }
  }
  std::cout << staged_channels << " runs staged channels, " << remapped << " lru runs unmapped\n";
  EXPECT_GT(staged_channels, 3u);
  EXPECT_GT(remapped, 5u);
}

// Everything is mapped and staged anew, and what the failed forward left is made good.
TEST(swap_compression, a_forward_that_fails_is_made_good) {
  std::mt19937 random(3);
  for (const std::uint32_t technique : {0u, 2u}) {
    job j = random_job(random, technique);
    j.model.layers = 3;
    j.prompt = 70;
    j.retries = 1;
    const decoded clean = decode(j, swap_policy::none, {});
    for (const swap_policy policy : policies) {
      const std::uint64_t bytes = smallest_window(j, policy, 1024);
      for (std::uint64_t part = 1; part < 4; ++part) {
        SCOPED_TRACE(::testing::Message() << technique << ' ' << gen::name_of(policy) << ' ' << part);
        j.hurt = clean.result.descriptors * part / 4;
        const decoded d = decode(j, policy, {.bytes = bytes, .entries = 256, .page_bytes = 1024});
        EXPECT_EQ(d.result.retried, 1u);
        if (technique == 0) {  // an anchor is made anew where one would have been moved
          EXPECT_EQ(d.tokens, clean.tokens);
          EXPECT_EQ(d.result.state_hash, clean.result.state_hash);
        }
      }
      j.hurt = 0;
    }
  }
}

// What no policy can do is refused for what asks for it: a window that holds everything but a page of the channels.
TEST(swap_compression, a_refusal_names_the_channels) {
  job j;
  j.model = {.seed = 4, .block_causal = true, .shift_logits = true, .ffn_width = 320, .channels = true};
  j.record = testbench::compression_of(kv_format::bf16, ffn_mode::dat);
  constexpr auto update = static_cast<std::uint16_t>(gen::operator_label::ffn_update);
  for (const swap_policy policy : {swap_policy::naive, swap_policy::lru}) {
    const npu::window_config window{
        .bytes = smallest_window(j, policy, 1024) - 1024, .entries = 256, .page_bytes = 1024};
    EXPECT_EQ(decode(j, policy, window, result_code::window_too_small).result.plan_operator, update);
  }
}

}  // namespace
}  // namespace dvp
