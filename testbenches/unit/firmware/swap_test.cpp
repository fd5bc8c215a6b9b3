// Whole decodes through an address window: whatever the policy and the window, the tokens are those of an NPU that sees
// all of memory, no schedule races, and what cannot be is refused with the size it would take.
#include <algorithm>
#include <cstring>
#include <iostream>
#include <random>
#include <vector>

#include "dvp_gen/npu_regs.h"
#include "dvp_gen/system.h"
#include "gtest/gtest.h"
#include "testbenches/unit/firmware/bench.h"

namespace dvp {
namespace {

using gen::result_code;
using gen::swap_policy;
using testbench::bench;
using testbench::functional_options;
using testbench::tiny_model;
using testbench::tiny_options;

constexpr std::uint64_t plan_address = gen::system::dram_base + (7u << 20);
constexpr std::uint32_t plan_room = 4096;

struct decoded {
  std::vector<std::uint32_t> tokens;
  gen::result_record result;
  std::vector<gen::swap_plan_entry> plan;
};

struct job {
  tiny_options model;
  gen::cache_mode cache = gen::cache_mode::none;
  std::uint32_t prompt = 20;
  std::uint32_t row_tile = 0;
  std::uint32_t drafts = 0;
};

decoded decode(const job& j, swap_policy policy, const npu::window_config& window,
               result_code expected = result_code::ok) {
  tiny_model model(j.model);
  functional_options options;
  options.window = window;
  bench b(model, options, testbench::random_tokens(model, j.prompt, 5));
  gen::request_record& r = b.request();
  if (!j.model.block_causal) {
    r.loop = j.cache == gen::cache_mode::none ? gen::decode_loop::llada : gen::decode_loop::fast_dllm_v1;
  }
  r.cache = j.cache;
  r.generate_tokens = 64;
  r.steps = 4;
  r.rule = gen::commit_rule::by_loop;
  r.threshold = 0.04f;
  r.row_tile = j.row_tile;
  r.draft_trigger = j.drafts;
  r.draft_look_ahead = j.drafts;
  r.draft_threshold = 0.02f;
  r.swap = policy;
  r.plan_address = plan_address;
  r.plan_entries = plan_room;
  EXPECT_EQ(b.run(), expected);
  for (const std::string& hazard : b.machine().hazards()) {
    ADD_FAILURE() << hazard;
  }
  decoded d{b.tokens(std::max(b.result().total_tokens, 1u)), b.result(), {}};
  const auto* plan = b.machine().at<gen::swap_plan_entry>(plan_address);
  d.plan.assign(plan, plan + std::min(d.result.plan_length, plan_room));
  return d;
}

void expect_same_run(const decoded& a, const decoded& b) {
  EXPECT_EQ(a.tokens, b.tokens);
  EXPECT_EQ(a.result.state_hash, b.result.state_hash);
  EXPECT_EQ(a.result.forwards, b.result.forwards);
  EXPECT_EQ(a.result.committed, b.result.committed);
}

// The smallest window of a policy, in bytes, as a refusal in a window of one page tells it.
std::uint64_t smallest_window(const job& j, swap_policy policy, std::uint32_t page) {
  const decoded refused =
      decode(j, policy, {.bytes = page, .entries = 256, .page_bytes = page}, result_code::window_too_small);
  EXPECT_NE(refused.result.plan_bytes, 0u);
  EXPECT_EQ(refused.result.map_calls, 0u);
  return refused.result.plan_bytes;
}

job random_job(std::mt19937& random) {
  const auto pick = [&](std::uint32_t least, std::uint32_t most) {
    return std::uniform_int_distribution<std::uint32_t>(least, most)(random);
  };
  job j;
  tiny_options& m = j.model;
  m.seed = pick(1, 1000);
  m.block_causal = pick(0, 3) == 0;
  m.shift_logits = m.block_causal || pick(0, 1) == 0;
  m.rope_halves = pick(0, 1) == 0;
  m.qkv_bias = pick(0, 1) == 0;
  m.tied = pick(0, 1) == 0;
  m.quantised = pick(0, 3) != 0;
  m.vocabulary = pick(40, 140);
  m.width = 32 * pick(1, 3);
  m.layers = pick(1, 3);
  m.kv_heads = pick(1, 2);
  m.heads = m.kv_heads * pick(1, 2);
  m.head_length = 32;
  m.ffn_width = 32 * pick(1, 6);
  j.prompt = pick(1, 50);
  j.row_tile = pick(0, 2) == 0 ? 16 : 0;
  if (!m.block_causal) {
    j.cache = static_cast<gen::cache_mode>(pick(0, 2));
    j.drafts = j.cache == gen::cache_mode::dual && pick(0, 1) == 0 ? 8 : 0;
  }
  return j;
}

TEST(swap, policies_decode_alike) {
  constexpr std::uint32_t seed = 7;
  std::cout << "seed " << seed << '\n';
  std::mt19937 random(seed);
  std::uint32_t staged = 0;
  std::uint32_t remapped = 0;
  for (std::uint32_t round = 0; round < 24; ++round) {
    const job j = random_job(random);
    const std::uint32_t page = 256u << random() % 5;
    const decoded whole = decode(j, swap_policy::none, {});
    EXPECT_EQ(whole.result.map_calls, 0u);
    const std::uint64_t all = smallest_window(j, swap_policy::none, page);
    expect_same_run(whole, decode(j, swap_policy::none, {.bytes = all, .entries = 256, .page_bytes = page}));
    for (const swap_policy policy : {swap_policy::naive, swap_policy::lru, swap_policy::somr}) {
      const std::uint64_t least = smallest_window(j, policy, page);

      // Buffers that share a page are mapped apart, so that an operator may take more than everything mapped at once.
      const std::uint64_t most = std::max(all, least);
      const std::uint64_t between = least + (most - least) / page * (random() % 100) / 100 * page;
      for (const std::uint64_t bytes : {least, between, most}) {
        SCOPED_TRACE(::testing::Message() << "round " << round << " policy " << gen::name_of(policy) << " window "
                                          << bytes << " of " << all << " page " << page);
        const decoded d = decode(j, policy, {.bytes = bytes, .entries = 256, .page_bytes = page});
        expect_same_run(whole, d);
        EXPECT_FALSE(d.plan.empty());
        EXPECT_NE(d.result.map_calls, 0u);
        staged += d.result.bytes_staged != 0 ? 1 : 0;
        remapped += policy == swap_policy::lru && d.result.unmap_calls != 0 ? 1 : 0;
        EXPECT_TRUE(policy == swap_policy::somr || d.result.bytes_staged == 0);
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
  std::cout << staged << " runs staged, " << remapped << " lru runs unmapped\n";
  EXPECT_TRUE(staged > 20 && remapped > 10);
}

// A window with few map entries: the smallest number that works, found by counting up, and one fewer is refused.
TEST(swap, map_entries_limit_every_policy) {
  const job j{.model = {.seed = 3, .qkv_bias = true, .layers = 2}};
  const decoded whole = decode(j, swap_policy::none, {});
  for (const swap_policy policy : {swap_policy::none, swap_policy::naive, swap_policy::lru, swap_policy::somr}) {
    SCOPED_TRACE(gen::name_of(policy));
    std::uint32_t entries = 1;
    const auto window = [&](std::uint32_t n) {
      return npu::window_config{.bytes = 4u << 20, .entries = n, .page_bytes = 1024};
    };
    tiny_model model(j.model);
    for (;; ++entries) {
      ASSERT_LT(entries, 20u);
      functional_options options;
      options.window = window(entries);
      bench b(model, options, testbench::random_tokens(model, j.prompt, 5));
      b.request().steps = 4;
      b.request().swap = policy;
      const result_code code = b.run();
      if (code == result_code::ok) {
        break;
      }
      ASSERT_EQ(code, result_code::window_too_small);
      EXPECT_LE(b.result().plan_bytes, options.window.bytes) << "bytes are not what is short";
    }
    EXPECT_GT(entries, 1u);
    expect_same_run(whole, decode(j, policy, window(entries)));
  }
}

// An access that leaves the window ends the run with the error, the descriptor and the address as the NPU saw it.
TEST(swap, an_access_outside_the_window_is_reported) {
  tiny_model model({.seed = 4});
  for (const swap_policy policy : {swap_policy::none, swap_policy::naive, swap_policy::lru, swap_policy::somr}) {
    SCOPED_TRACE(gen::name_of(policy));
    functional_options options;
    options.window = {.bytes = 1u << 20, .entries = 64, .page_bytes = 4096};
    bench b(model, options, testbench::random_tokens(model, 20, 5));
    b.request().swap = policy;
    b.request().steps = 4;
    constexpr std::uint64_t outside = (1u << 20) + 4096 + 64;
    std::uint32_t loads = 0;
    std::uint32_t index = 0;
    b.machine().tamper = [&](npu::descriptor_view& d) {
      ++index;
      if (d.op() != gen::opcode::dma_load || ++loads != 30) {
        return;
      }
      auto dma = d.as<gen::dma_descriptor>();
      dma.dram_address = outside;
      std::memcpy(d.bytes.data(), &dma, sizeof(dma));
    };
    ASSERT_EQ(b.run(), result_code::npu_error);
    EXPECT_EQ(b.result().npu_error, static_cast<std::uint32_t>(gen::npu::error_code::window_fault));
    EXPECT_EQ(b.result().npu_error_index, index - 1);
    EXPECT_EQ(b.result().fault_address, outside);

    // The same again as a retry: everything is mapped and staged anew, and the answer is the right one.
    bench again(model, options, testbench::random_tokens(model, 20, 5));
    again.request().swap = policy;
    again.request().steps = 4;
    again.request().retries = 1;
    loads = 0;
    index = 0;
    again.machine().tamper = b.machine().tamper;
    ASSERT_EQ(again.run(), result_code::ok);
    EXPECT_EQ(again.result().retried, 1u);
    const decoded whole = decode({.model = {.seed = 4}}, swap_policy::none, {});
    EXPECT_EQ(again.result().state_hash, whole.result.state_hash);
  }
}

// A window that somr stages in: smaller than everything by a third of the layers.
npu::window_config tight_window(const job& j) {
  constexpr std::uint32_t page = 1024;
  const std::uint64_t least = smallest_window(j, swap_policy::somr, page);
  const std::uint64_t all = smallest_window(j, swap_policy::none, page);
  return {.bytes = least + (all - least) / page / 2 * page, .entries = 64, .page_bytes = page};
}

// A bench for one request of `j` with somr.
struct somr_bench {
  explicit somr_bench(const job& j, const npu::window_config& window)
      : model(j.model), options{.window = window}, run(model, options, testbench::random_tokens(model, j.prompt, 5)) {
    run.request().steps = 4;
    run.request().swap = swap_policy::somr;
  }

  tiny_model model;
  functional_options options;
  bench run;
};

// The planner's time is paid once for requests that are alike, and again when one is longer.
TEST(swap, a_plan_is_kept_while_it_is_the_same) {
  const job j{.model = {.seed = 9, .layers = 3}};
  somr_bench b(j, tight_window(j));
  const auto tokens_spent = [&] {
    const std::uint64_t before = b.run.machine().spent(hal::work::token);
    EXPECT_EQ(b.run.run(), result_code::ok);
    return b.run.machine().spent(hal::work::token) - before;
  };
  const std::uint64_t planning = tokens_spent();
  const std::uint64_t first_hash = b.run.result().state_hash;
  const std::uint64_t kept = tokens_spent();
  EXPECT_LT(kept, planning);
  EXPECT_EQ(b.run.result().state_hash, first_hash);
  EXPECT_NE(b.run.result().bytes_staged, 0u);
  b.run.request().kv_address += 4096;
  b.run.request().kv_bytes -= 4096;
  EXPECT_GT(tokens_spent(), kept);
  EXPECT_EQ(b.run.result().state_hash, first_hash);
  EXPECT_EQ(tokens_spent(), kept);
}

// Every descriptor counts, also the fence behind the copies that nobody needs any more; and when one of these copies
// fails, the answer stands and the NPU is left without the error.
TEST(swap, what_is_staged_behind_the_last_forward) {
  const job j{.model = {.seed = 9, .layers = 3}};
  const npu::window_config window = tight_window(j);
  somr_bench whole(j, window);
  std::uint32_t stages = 0;
  std::uint64_t behind = 0;
  whole.run.machine().tamper = [&](npu::descriptor_view& d) {
    behind = d.op() == gen::opcode::stage ? 0 : behind + 1;
    stages += d.op() == gen::opcode::stage ? 1 : 0;
  };
  ASSERT_EQ(whole.run.run(), result_code::ok);
  ASSERT_EQ(behind, 1u) << "only the fence comes behind the last copy";
  EXPECT_EQ(whole.run.result().descriptors, whole.run.machine().descriptors());

  somr_bench failing(j, window);
  failing.run.machine().tamper = [&, left = stages](npu::descriptor_view& d) mutable {
    if (d.op() == gen::opcode::stage && --left == 0) {
      auto stage = d.as<gen::dma_descriptor>();
      stage.list_address = 64;
      std::memcpy(d.bytes.data(), &stage, sizeof(stage));
    }
  };
  EXPECT_EQ(failing.run.run(), result_code::ok);
  EXPECT_EQ(failing.run.result().state_hash, whole.run.result().state_hash);
  EXPECT_EQ(failing.run.machine().read32(gen::system::npu_base + gen::npu::status::offset), 0u);
}

// A command that the window refuses is told as that, with or without retries, and is no contradiction of a record.
TEST(swap, a_refused_command_has_its_own_code) {
  const job j{.model = {.seed = 4}};
  for (const swap_policy policy : {swap_policy::none, swap_policy::naive, swap_policy::lru, swap_policy::somr}) {
    somr_bench b(j, {.bytes = 1u << 20, .entries = 64, .page_bytes = 4096});
    b.run.request().swap = policy;
    b.run.request().retries = 1;
    b.run.machine().tamper_window = [](npu::window_command& command) {
      command.bus += command.operation == gen::npu::window_operation::map ? 8 : 0;
    };
    EXPECT_EQ(b.run.run(), result_code::window_error) << gen::name_of(policy);
    EXPECT_EQ(b.run.result().npu_error, 0u);
  }
}

TEST(swap, a_policy_needs_a_window) {
  for (const swap_policy policy : {swap_policy::naive, swap_policy::lru, swap_policy::somr}) {
    somr_bench b({.model = {.seed = 4}}, {});
    b.run.request().swap = policy;
    EXPECT_EQ(b.run.run(), result_code::bad_request) << gen::name_of(policy);
  }
}

// What the CPU wrote is flushed before the first forward: the identity as well as the parameters.
TEST(swap, what_the_cpu_wrote_is_flushed) {
  const job j{.model = {.seed = 4, .quantised = false}};
  for (const swap_policy policy : {swap_policy::none, swap_policy::lru}) {
    somr_bench b(j, {.bytes = 4u << 20, .entries = 64, .page_bytes = 1024});
    b.run.request().swap = policy;
    testbench::functional_machine& machine = b.run.machine();
    std::vector<std::uint64_t> flushed;
    machine.tamper_window = [&](npu::window_command& command) {
      for (std::uint64_t p = 0; command.operation == gen::npu::window_operation::flush && p < command.pages; ++p) {
        flushed.push_back(machine.window().find((command.page + p) * 1024).bus);
      }
    };
    ASSERT_EQ(b.run.run(), result_code::ok);
    // A row of the identity and the next one's zero behind it: bf16 one, 32 zeros, one.
    std::vector<std::uint16_t> pattern(34);
    pattern.front() = pattern.back() = 0x3f80;
    const auto work =
        machine.dram().subspan(b.run.request().work_address - gen::system::dram_base, b.run.request().work_bytes);
    const auto bytes = std::as_bytes(std::span(pattern));
    const auto found = std::search(work.begin(), work.end(), bytes.begin(), bytes.end());
    ASSERT_NE(found, work.end());
    const std::uint64_t page = (b.run.request().work_address + (found - work.begin())) / 1024 * 1024;
    EXPECT_NE(std::find(flushed.begin(), flushed.end(), page), flushed.end()) << gen::name_of(policy);
  }
}

// Cached keys and values are flushed before the forwards behind which the CPU put some there, and no others.
TEST(swap, the_cache_is_flushed_when_a_revision_landed_there) {
  const job j{.model = {.seed = 168}};
  for (const swap_policy policy : {swap_policy::none, swap_policy::lru}) {
    for (const bool lands : {false, true}) {
      SCOPED_TRACE(::testing::Message() << gen::name_of(policy) << (lands ? ", landing" : ", never in time"));
      somr_bench b(j, {.bytes = 4u << 20, .entries = 64, .page_bytes = 1024});
      gen::request_record& r = b.run.request();
      r.swap = policy;
      r.loop = gen::decode_loop::fast_dllm_v1;
      r.cache = gen::cache_mode::dual;
      r.block_length = 16;
      r.generate_tokens = 64;
      r.visibility = 0.2f;
      r.stability = 0.6f;
      r.revisions = 4;
      r.flags = lands ? gen::request_flag::revision_wait : 0;
      testbench::functional_machine& machine = b.run.machine();
      machine.on_start_hart = [=](std::uint32_t, void (*work)(void*), void* argument) {
        work(argument);
        return true;
      };
      machine.on_hart_idle = [=](std::uint32_t) { return lands; };
      std::uint64_t flushes = 0;
      machine.tamper_window = [&](npu::window_command& command) {
        if (command.operation == gen::npu::window_operation::flush) {
          const std::uint64_t bus = machine.window().find(command.page * std::uint64_t{1024}).bus;
          flushes += bus >= r.kv_address && bus < r.kv_address + r.kv_bytes ? 1 : 0;
        }
      };
      ASSERT_EQ(b.run.run(), result_code::ok);
      EXPECT_NE(b.run.result().revisions_picked, 0u);
      if (!lands) {
        EXPECT_EQ(flushes, 0u);
        continue;
      }
      const std::uint64_t most = policy == swap_policy::none ? 1 : j.model.layers;  // flushes of a forward
      EXPECT_NE(flushes, 0u);
      EXPECT_LT(flushes, most * (b.run.result().forwards - 1));
    }
  }
}

TEST(swap, a_plan_among_other_buffers_is_refused) {
  tiny_model model({.seed = 4});
  bench b(model, {}, testbench::random_tokens(model, 20, 5));
  b.request().plan_entries = 2;
  for (const std::uint64_t address : {b.request().tokens_address, b.request().kv_address + 4096,
                                      b.request().work_address, b.request().result_address, std::uint64_t{8}}) {
    b.request().plan_address = address;
    EXPECT_EQ(b.run(), result_code::bad_request) << std::hex << address;
  }
}

// What the record of the plan says is what the NPU is given: every entry lies in the window, and what somr does not pin
// it stages.
TEST(swap, the_plan_covers_the_first_forward) {
  const job j{.model = {.seed = 9, .layers = 3}, .row_tile = 96};
  constexpr std::uint32_t page = 1024;
  const std::uint64_t least = smallest_window(j, swap_policy::somr, page);
  const decoded d = decode(j, swap_policy::somr, {.bytes = least + 16 * page, .entries = 64, .page_bytes = page});
  std::uint64_t staged = 0;
  std::uint32_t before = 0;
  for (const gen::swap_plan_entry& e : d.plan) {
    EXPECT_LE(e.device_address + e.bytes, least + 16 * page);
    EXPECT_GE(e.operator_index, before);
    EXPECT_EQ(e.how == gen::residence::pinned, e.operator_index == 0);
    before = e.operator_index;
    staged += e.how == gen::residence::staged ? e.bytes : 0;
  }
  EXPECT_NE(staged, 0u);
  // Beside the first forward's: the others', and what the last one staged in advance.
  EXPECT_GE(d.result.bytes_staged, staged * d.result.forwards);
  EXPECT_LE(d.result.bytes_staged, staged * (d.result.forwards + 1));
  EXPECT_EQ(d.result.plan_length, d.plan.size());

  const decoded none = decode(j, swap_policy::none, {});
  EXPECT_TRUE(none.plan.empty());
  EXPECT_EQ(none.result.mapping_ns, 0u);
}

}  // namespace
}  // namespace dvp
