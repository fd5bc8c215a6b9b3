// Every way a run can end badly: the code it ends with, and that the next run works.
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <set>
#include <vector>

#include "firmware/dllm/request.h"
#include "gtest/gtest.h"
#include "testbenches/unit/firmware/bench.h"

namespace dvp {
namespace {

using gen::request_record;
using gen::result_code;
using testbench::bench;
using testbench::functional_options;
using testbench::tiny_model;
using testbench::tiny_options;

const tiny_options causal = {
    .seed = 51, .block_causal = true, .shift_logits = true, .rope_halves = true, .qkv_bias = true, .kv_heads = 2};

constexpr std::uint32_t prompt_tokens = 20;

result_code run_changed(
    const tiny_options& options, const std::function<void(request_record&, bench&)>& change,
    const std::function<void(tiny_model&)>& damage = [](tiny_model&) {}, const functional_options& machine = {}) {
  tiny_model model(options);
  const auto prompt = testbench::random_tokens(model, prompt_tokens, 52);
  damage(model);
  bench b(model, machine, prompt);
  change(b.request(), b);
  const result_code code = b.run();
  EXPECT_TRUE(b.machine().hazards().empty());
  return code;
}

TEST(faults, requests) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinite = std::numeric_limits<float>::infinity();
  struct row {
    const char* what;
    bool causal_model;
    std::function<void(request_record&, bench&)> change;
    result_code code;
  };
  const auto bad = result_code::bad_request;
  const auto v1 = [](request_record& r) {
    r.loop = gen::decode_loop::fast_dllm_v1;
    r.cache = gen::cache_mode::dual;
    r.draft_trigger = 4;
    r.draft_threshold = 0.5f;
  };
  // A latency table of two entries.
  const auto latencies = [v1](request_record& r, bench& b, gen::latency_entry first, gen::latency_entry second) {
    v1(r);
    r.latency_address = r.progress_address + 4096;
    r.latency_entries = 2;
    *b.machine().at<gen::latency_entry>(r.latency_address) = first;
    *b.machine().at<gen::latency_entry>(r.latency_address + 8) = second;
  };
  const auto plan = [](request_record& r, std::uint64_t address) {
    r.plan_address = address;
    r.plan_entries = 1;
  };
  const row rows[] = {
      {"nothing", false, [](auto&, auto&) {}, result_code::ok},
      {"nothing", true, [](auto&, auto&) {}, result_code::ok},
      {"version", true, [](auto& r, auto&) { r.version = 1; }, bad},
      {"loop", true, [](auto& r, auto&) { r.loop = static_cast<gen::decode_loop>(4); }, bad},
      {"loop of the other attention", true, [](auto& r, auto&) { r.loop = gen::decode_loop::llada; }, bad},
      {"loop of the other attention", false, [](auto& r, auto&) { r.loop = gen::decode_loop::fast_dllm_v2; }, bad},
      {"flag", true, [](auto& r, auto&) { r.flags = 0x8000; }, bad},
      {"unused field", true, [](auto& r, auto&) { r.unused[7] = 1; }, bad},
      {"loop 2", false, [v1](auto& r, auto&) { v1(r); }, result_code::ok},
      {"loop 2 on a block-causal model", true, [v1](auto& r, auto&) { v1(r); }, bad},
      {"loop 2 without cache or drafts", false,
       [](auto& r, auto&) {
         r.loop = gen::decode_loop::fast_dllm_v1;
         r.steps = 0;
       },
       result_code::ok},
      {"part of a block in loop 2", false,
       [v1](auto& r, auto&) {
         v1(r);
         r.generate_tokens = 48;
       },
       bad},
      {"cache mode", false,
       [v1](auto& r, auto&) {
         v1(r);
         r.cache = static_cast<gen::cache_mode>(3);
       },
       bad},
      {"cache in loop 1", false, [](auto& r, auto&) { r.cache = gen::cache_mode::prefix; }, bad},
      {"cache in loop 3", true, [](auto& r, auto&) { r.cache = gen::cache_mode::dual; }, bad},
      {"clear without a cache", false, [](auto& r, auto&) { r.flags = gen::request_flag::clear_cache; }, bad},
      {"rule", false, [](auto& r, auto&) { r.rule = static_cast<gen::commit_rule>(4); }, bad},
      {"rule of another loop", false, [](auto& r, auto&) { r.rule = gen::commit_rule::threshold; }, bad},
      {"factor in loop 1", false, [](auto& r, auto&) { r.rule = gen::commit_rule::factor; }, bad},
      {"count in loop 3", true, [](auto& r, auto&) { r.rule = gen::commit_rule::count; }, bad},
      {"factor in loop 3", true,
       [](auto& r, auto&) {
         r.rule = gen::commit_rule::factor;
         r.factor = 1.0f;
         r.threshold = nan;  // not looked at
       },
       result_code::ok},
      {"factor NaN", true,
       [](auto& r, auto&) {
         r.rule = gen::commit_rule::factor;
         r.factor = nan;
       },
       bad},
      {"count without steps in loop 2", false,
       [v1](auto& r, auto&) {
         v1(r);
         r.rule = gen::commit_rule::count;
         r.steps = 0;
       },
       bad},
      {"threshold of loop 2", false,
       [v1](auto& r, auto&) {
         v1(r);
         r.threshold = -1;
       },
       bad},
      {"edit threshold below 0", false, [](auto& r, auto&) { r.edit_threshold = -0.1f; }, bad},
      {"edit threshold infinite", false, [](auto& r, auto&) { r.edit_threshold = infinite; }, bad},
      {"editing in loop 3", true, [](auto& r, auto&) { r.edit_threshold = 0.9f; }, bad},
      {"edit steps", false, [](auto& r, auto&) { r.edit_steps = 65; }, bad},
      {"most edit steps", false,
       [](auto& r, auto&) {
         r.edit_threshold = 0.9f;
         r.edit_steps = 64;
       },
       result_code::ok},
      {"drafts without the dual cache", false,
       [v1](auto& r, auto&) {
         v1(r);
         r.cache = gen::cache_mode::prefix;
       },
       bad},
      {"drafts in loop 1", false, [](auto& r, auto&) { r.draft_trigger = 1; }, bad},
      {"draft trigger", false,
       [v1](auto& r, auto&) {
         v1(r);
         r.draft_trigger = 65;
       },
       bad},
      {"look-ahead", false,
       [v1](auto& r, auto&) {
         v1(r);
         r.draft_look_ahead = 33;
       },
       bad},
      {"draft threshold NaN", false,
       [v1](auto& r, auto&) {
         v1(r);
         r.draft_threshold = nan;
       },
       bad},
      {"latencies", false,
       [latencies](auto& r, auto& b) {
         latencies(r, b, {32, 5}, {64, 5});
       },
       result_code::ok},
      {"latencies of no rows", false,
       [latencies](auto& r, auto& b) {
         latencies(r, b, {0, 5}, {64, 5});
       },
       bad},
      {"latencies of equal rows", false,
       [latencies](auto& r, auto& b) {
         latencies(r, b, {64, 5}, {64, 6});
       },
       bad},
      {"latencies that fall", false,
       [latencies](auto& r, auto& b) {
         latencies(r, b, {32, 6}, {64, 5});
       },
       bad},
      {"too many latencies", false,
       [latencies](auto& r, auto& b) {
         latencies(r, b, {32, 5}, {64, 5});
         r.latency_entries = 65;
       },
       bad},
      {"latencies outside memory", false,
       [latencies](auto& r, auto& b) {
         latencies(r, b, {32, 5}, {64, 5});
         r.latency_address = ~0ull - 15;
       },
       bad},
      {"latencies not aligned", false,
       [latencies](auto& r, auto& b) {
         latencies(r, b, {32, 5}, {64, 5});
         r.latency_address += 2;
       },
       bad},
      {"latencies in a buffer", false,
       [latencies](auto& r, auto& b) {
         latencies(r, b, {32, 5}, {64, 5});
         *b.machine().template at<std::array<gen::latency_entry, 2>>(r.kv_address) = {{{32, 5}, {64, 5}}};
         r.latency_address = r.kv_address;
       },
       bad},
      {"empty prompt", true, [](auto& r, auto&) { r.prompt_tokens = 0; }, bad},
      {"nothing to generate", true, [](auto& r, auto&) { r.generate_tokens = 0; }, bad},
      {"no block", true, [](auto& r, auto&) { r.block_length = 0; }, bad},
      {"block of 65", false,
       [](auto& r, auto&) {
         r.block_length = 65;
         r.generate_tokens = 65;
       },
       bad},
      {"sub-block does not divide", true, [](auto& r, auto&) { r.sub_block_length = 12; }, bad},
      {"no sub-block", true, [](auto& r, auto&) { r.sub_block_length = 0; }, bad},
      {"part of a block", false, [](auto& r, auto&) { r.generate_tokens = 48; }, bad},
      {"steps do not divide", false, [](auto& r, auto&) { r.steps = 15; }, bad},
      {"no steps", false, [](auto& r, auto&) { r.steps = 0; }, bad},
      {"threshold NaN", true, [](auto& r, auto&) { r.threshold = nan; }, bad},
      {"threshold below 0", true, [](auto& r, auto&) { r.threshold = -0.5f; }, bad},
      {"temperature NaN", false, [](auto& r, auto&) { r.temperature = nan; }, bad},
      {"temperature infinite", false, [](auto& r, auto&) { r.temperature = infinite; }, bad},
      {"row tile", true, [](auto& r, auto&) { r.row_tile = 1000; }, bad},
      {"no such token", true, [](auto&, auto& b) { b.tokens()[3] = 1000; }, bad},
      {"tokens outside memory", true, [](auto& r, auto&) { r.tokens_address = 0x1000; }, bad},
      {"tokens not aligned", true, [](auto& r, auto&) { r.tokens_address += 2; }, bad},
      {"cache not aligned", true, [](auto& r, auto&) { r.kv_address += 32; }, bad},
      {"work outside memory", true, [](auto& r, auto&) { r.work_bytes = 1ull << 40; }, bad},
      {"buffers overlap", true, [](auto& r, auto&) { r.work_address = r.kv_address; }, bad},
      {"result in the request", true, [](auto& r, auto& b) { r.result_address = b.request_address() + 64; }, bad},
      {"request in the work buffer", true,
       [](auto& r, auto& b) {
         const std::uint64_t end = r.work_address + r.work_bytes;
         r.work_address = b.request_address() / 4096 * 4096;
         r.work_bytes = end - r.work_address;
         r.tokens_address = end + (1u << 20);
         r.kv_address = end + (2u << 20);
       },
       bad},
      {"a plan beside everything", false, [plan](auto& r, auto&) { plan(r, r.progress_address + 8192); },
       result_code::ok},
      {"plan over the latencies", false,
       [latencies, plan](auto& r, auto& b) {
         latencies(r, b, {32, 5}, {64, 5});
         plan(r, r.latency_address + 8);
       },
       bad},
      {"plan over the request", false, [plan](auto& r, auto& b) { plan(r, b.request_address() + 128); }, bad},
      {"most retries", false, [](auto& r, auto&) { r.retries = 100; }, result_code::ok},
      {"retries", false, [](auto& r, auto&) { r.retries = 101; }, bad},
      {"address wraps", true, [](auto& r, auto&) { r.kv_address = ~0ull - 63; }, bad},
      {"longer than the context", true, [](auto& r, auto&) { r.generate_tokens = 200; }, result_code::too_long},
      {"longer than can be counted", true, [](auto& r, auto&) { r.generate_tokens = ~0u; }, result_code::too_long},
      {"prompt beyond the buffer", true, [](auto& r, auto&) { r.prompt_tokens = ~0u; }, result_code::too_long},
      {"buffer too short", false, [](auto& r, auto&) { r.tokens_capacity = 83; }, result_code::too_long},
      {"buffer just long enough", false, [](auto& r, auto&) { r.tokens_capacity = 84; }, result_code::ok},
      {"cache too small", true, [](auto& r, auto&) { r.kv_bytes = 4096; }, result_code::too_long},
      {"work too small", false, [](auto& r, auto&) { r.work_bytes = 36 << 10; }, result_code::too_long},
      {"no image", true, [](auto& r, auto&) { r.image_address = 0; }, result_code::bad_image},
      {"image not aligned", true, [](auto& r, auto&) { r.image_address += 4; }, result_code::bad_image},
      {"tile too large", true, [](auto& r, auto&) { r.row_tile = 256; }, result_code::scratchpad_too_small},
  };
  for (const row& r : rows) {
    SCOPED_TRACE(r.what);
    EXPECT_EQ(run_changed(r.causal_model ? causal : tiny_options{.seed = 51}, r.change, [](tiny_model&) {},
                          {.scratchpad_bytes = 256u << 10}),
              r.code);
  }
}

TEST(faults, a_request_that_changes_after_its_check_changes_nothing) {
  std::vector<std::vector<std::uint32_t>> answers;
  for (const bool changes : {false, true}) {
    tiny_model model({.seed = 51});
    bench b(model, {}, testbench::random_tokens(model, prompt_tokens, 52));
    const request_record asked = b.request();
    b.machine().on_progress = [&] {
      if (changes && b.progress().kind == gen::progress_kind::started) {
        std::memset(b.machine().memory(b.request_address() + 8, sizeof asked - 8), 0xff, sizeof asked - 8);
        b.request().progress_address = asked.progress_address;  // where this test looks
      }
    };
    EXPECT_EQ(b.run(), result_code::ok);
    b.request() = asked;
    answers.push_back(b.tokens(prompt_tokens + asked.generate_tokens));
    EXPECT_TRUE(b.machine().hazards().empty());
  }
  EXPECT_EQ(answers[0], answers[1]);
}

gen::tensor_entry& entry_of(tiny_model& m, gen::tensor_kind kind) {
  for (gen::tensor_entry& e : m.entries()) {
    if (e.kind == kind) {
      return e;
    }
  }
  throw std::logic_error("no such tensor");
}

TEST(faults, images) {
  using kind = gen::tensor_kind;
  struct row {
    const char* what;
    std::function<void(tiny_model&)> damage;
  };
  const row rows[] = {
      {"magic", [](auto& m) { m.header().magic ^= 1; }},
      {"version", [](auto& m) { m.header().version = 7; }},
      {"architecture", [](auto& m) { m.header().arch = static_cast<gen::architecture>(9); }},
      {"length", [](auto& m) { m.header().total_bytes = 64; }},
      {"length beyond memory", [](auto& m) { m.header().total_bytes = 1ull << 33; }},
      {"last tensor cut", [](auto& m) { m.header().total_bytes -= 4; }},
      {"table beyond the image", [](auto& m) { m.header().tensor_count = 1u << 30; }},
      {"tensor missing", [](auto& m) { m.header().tensor_count -= 1; }},
      {"no layers", [](auto& m) { m.header().layers = 0; }},
      {"too many layers", [](auto& m) { m.header().layers = 65; }},
      {"heads and KV heads", [](auto& m) { m.header().kv_heads = 3; }},
      {"odd head", [](auto& m) { m.header().head_length = 15; }},
      {"huge", [](auto& m) { m.header().width = 1u << 31; }},
      {"epsilon", [](auto& m) { m.header().norm_epsilon = std::nanf(""); }},
      {"mask", [](auto& m) { m.header().mask_token = m.header().vocabulary; }},
      {"end", [](auto& m) { m.header().end_token = m.header().vocabulary; }},
      {"layer", [](auto& m) { entry_of(m, kind::attn_q).layer = 2; }},
      {"twice", [](auto& m) { entry_of(m, kind::attn_k).kind = kind::attn_v; }},
      {"kind", [](auto& m) { entry_of(m, kind::attn_k).kind = static_cast<kind>(99); }},
      {"shape", [](auto& m) { entry_of(m, kind::ffn_up).rows -= 1; }},
      {"format of a matrix", [](auto& m) { entry_of(m, kind::ffn_up).format = gen::tensor_format::fp32; }},
      {"format of a norm", [](auto& m) { entry_of(m, kind::ffn_norm).format = gen::tensor_format::bf16; }},
      {"offset", [](auto& m) { entry_of(m, kind::ffn_gate).data_offset += 32; }},
      {"offset wraps", [](auto& m) { entry_of(m, kind::ffn_gate).data_offset = ~0ull - 63; }},
      {"rows overlap", [](auto& m) { entry_of(m, kind::ffn_gate).row_bytes -= 2; }},
      {"scales outside", [](auto& m) { entry_of(m, kind::ffn_gate).scale_offset = m.header().total_bytes; }},
      {"bias that the flags deny", [](auto& m) { m.header().flags &= ~gen::image_flag::qkv_bias; }},
      {"head that the flags deny", [](auto& m) { m.header().flags |= gen::image_flag::tied_head; }},
  };
  for (const row& r : rows) {
    SCOPED_TRACE(r.what);
    EXPECT_EQ(run_changed(
                  causal, [](auto&, auto&) {}, r.damage),
              result_code::bad_image);
  }
}

// Weights that are NaN leave nothing to choose from.
TEST(faults, a_model_without_numbers) {
  const auto damage = [](tiny_model& m) {
    const gen::tensor_entry& e = entry_of(m, gen::tensor_kind::output_norm);
    std::uint32_t* weight = reinterpret_cast<std::uint32_t*>(const_cast<std::byte*>(m.image().data()) + e.data_offset);
    weight[0] = 0x7fc00000;
  };
  EXPECT_EQ(run_changed(
                causal, [](auto&, auto&) {}, damage),
            result_code::bad_image);
}

TEST(faults, no_npu) {
  EXPECT_EQ(run_changed(
                causal, [](auto&, auto&) {}, [](tiny_model&) {}, {.npu_present = false}),
            result_code::npu_absent);
}

TEST(faults, scratchpad_too_small) {
  EXPECT_EQ(run_changed(
                causal, [](auto&, auto&) {}, [](tiny_model&) {}, {.scratchpad_bytes = 2u << 10}),
            result_code::scratchpad_too_small);
}

class npu_faults : public ::testing::Test {
 protected:
  npu_faults() : model_(causal), bench_(model_, {}, testbench::random_tokens(model_, prompt_tokens, 53)) {}

  // After a fault, the same machine does the same request.
  void expect_recovery() {
    bench_.machine().tamper = [](npu::descriptor_view&) {};
    bench_.machine().tamper_record = [](gen::completion_record&) {};
    bench_.machine().lose_interrupt = [] { return false; };
    bench_.machine().stuck_at = ~std::uint64_t{0};
    EXPECT_EQ(bench_.run(), result_code::ok);
    EXPECT_EQ(bench_.result().npu_error, 0u);
  }

  // The descriptors with these running numbers, counted over all there ever are, get an opcode that does not exist.
  void damage(std::set<std::uint64_t> which) {
    bench_.machine().tamper = [which, seen = std::uint64_t{0}](npu::descriptor_view& d) mutable {
      if (which.contains(seen++)) {
        auto changed = d.as<gen::vector_descriptor>();
        changed.header.op = static_cast<gen::opcode>(99);
        d = npu::descriptor_view(changed);
      }
    };
  }
  // What a run without a fault leaves.
  gen::result_record clean() {
    EXPECT_EQ(bench_.run(), result_code::ok);
    clean_tokens_ = bench_.tokens(bench_.result().total_tokens);
    return bench_.result();
  }
  void expect_clean_answer(const gen::result_record& right) {
    EXPECT_EQ(bench_.result().code, result_code::ok);
    EXPECT_EQ(bench_.result().state_hash, right.state_hash);
    EXPECT_EQ(bench_.result().forwards, right.forwards);
    EXPECT_EQ(bench_.tokens(bench_.result().total_tokens), clean_tokens_);
    EXPECT_TRUE(bench_.machine().hazards().empty());
  }

  tiny_model model_;
  bench bench_;
  std::vector<std::uint32_t> clean_tokens_;
};

TEST_F(npu_faults, bad_descriptor) {
  std::uint32_t seen = 0;
  bench_.machine().tamper = [&](npu::descriptor_view& d) {
    if (seen++ == 700) {
      auto changed = d.as<gen::vector_descriptor>();
      changed.header.op = static_cast<gen::opcode>(99);
      d = npu::descriptor_view(changed);
    }
  };
  EXPECT_EQ(bench_.run(), result_code::npu_error);
  EXPECT_EQ(bench_.result().code, result_code::npu_error);
  EXPECT_EQ(bench_.result().npu_error, static_cast<std::uint32_t>(gen::npu::error_code::bad_opcode));
  EXPECT_EQ(bench_.result().npu_error_index, 700u);
  expect_recovery();
}

TEST_F(npu_faults, bus_error) {
  bench_.machine().tamper = [&](npu::descriptor_view& d) {
    if (d.op() == gen::opcode::dma_store) {
      auto changed = d.as<gen::dma_descriptor>();
      changed.dram_address = 0x1000;
      d = npu::descriptor_view(changed);
    }
  };
  EXPECT_EQ(bench_.run(), result_code::npu_error);
  EXPECT_EQ(bench_.result().npu_error, static_cast<std::uint32_t>(gen::npu::error_code::bus_error));
  expect_recovery();
}

// Wherever the driver is: waiting for the end of a forward, with its ring full, at the first descriptor after a reset.
TEST_F(npu_faults, a_forward_that_fails_is_tried_again) {
  bench_.request().row_tile = 1;
  const gen::result_record right = clean();
  bench_.request().retries = 2;
  ASSERT_GT(right.descriptors / right.forwards, dllm::ring_entries) << "a forward fills the ring";
  struct row {
    std::set<std::uint64_t> damaged;
    std::uint32_t retried;
  };
  const row rows[] = {{{0}, 1},          {{1}, 1},        {{700}, 1},
                      {{700, 701}, 2},   {{300, 800}, 2}, {{right.descriptors - 1}, 1},
                      {{100, 20'000}, 2}};
  for (const row& r : rows) {
    SCOPED_TRACE(*r.damaged.begin());
    damage(r.damaged);
    EXPECT_EQ(bench_.run(), result_code::ok);
    EXPECT_EQ(bench_.result().retried, r.retried);
    EXPECT_GE(bench_.result().descriptors, right.descriptors);
    expect_clean_answer(right);
  }
}

TEST_F(npu_faults, retries_are_counted_for_each_forward_and_then_run_out) {
  const gen::result_record right = clean();
  bench_.request().retries = 1;
  damage({10, 11});
  EXPECT_EQ(bench_.run(), result_code::npu_error);
  EXPECT_EQ(bench_.result().retried, 1u);
  EXPECT_EQ(bench_.result().npu_error, static_cast<std::uint32_t>(gen::npu::error_code::bad_opcode));
  EXPECT_EQ(bench_.result().npu_error_index, 0u) << "the first after the reset";
  expect_recovery();
  expect_clean_answer(right);

  // The second forward has its own.
  const std::uint64_t second = right.descriptors / right.forwards + 50;
  damage({10, second + 100});
  EXPECT_EQ(bench_.run(), result_code::ok);
  EXPECT_EQ(bench_.result().retried, 2u);
  expect_clean_answer(right);
}

TEST_F(npu_faults, the_noise_of_a_forward_is_the_same_when_it_is_tried_again) {
  bench_.request().temperature = 1;
  bench_.request().retries = 1;
  const gen::result_record right = clean();
  damage({700});
  EXPECT_EQ(bench_.run(), result_code::ok);
  EXPECT_EQ(bench_.result().retried, 1u);
  expect_clean_answer(right);
}

TEST_F(npu_faults, a_lost_interrupt_is_no_failure) {
  const gen::result_record right = clean();
  for (const std::uint32_t every : {1u, 3u}) {
    bench_.machine().lose_interrupt = [every, seen = 0u]() mutable { return ++seen % every == 0; };
    EXPECT_EQ(bench_.run(), result_code::ok);
    EXPECT_GT(bench_.result().lost_interrupts, 0u);
    EXPECT_EQ(bench_.result().retried, 0u);
    EXPECT_EQ(bench_.result().descriptors, right.descriptors);
    expect_clean_answer(right);
  }
}

TEST_F(npu_faults, a_record_that_lies) {
  const gen::result_record right = clean();
  // The last one of all is surely waited for.
  const auto lie = [&] {
    bench_.machine().tamper_record = [&, lied = false](gen::completion_record& r) mutable {
      if (!lied && r.index == right.descriptors - 1) {
        r.index ^= 1;
        lied = true;
      }
    };
  };
  lie();
  EXPECT_EQ(bench_.run(), result_code::npu_error);
  EXPECT_EQ(bench_.result().npu_error, 0u) << "the queue itself had none";
  expect_recovery();
  bench_.request().retries = 1;
  lie();
  EXPECT_EQ(bench_.run(), result_code::ok);
  EXPECT_EQ(bench_.result().retried, 1u);
  expect_clean_answer(right);
}

TEST_F(npu_faults, stuck_engine) {
  for (const std::uint64_t at : {0ull, 1ull, 555ull}) {
    bench_.machine().stuck_at = at;
    EXPECT_EQ(bench_.run(), result_code::npu_timeout) << at;
    expect_recovery();
  }
  bench_.request().retries = 3;
  bench_.machine().stuck_at = 1;
  EXPECT_EQ(bench_.run(), result_code::npu_timeout);
  EXPECT_EQ(bench_.result().retried, 3u);
  expect_recovery();
}

}  // namespace
}  // namespace dvp
