// Requests and images that ask for compression badly: the code each ends with.
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>

#include "gtest/gtest.h"
#include "testbenches/unit/firmware/compressed_bench.h"

namespace dvp {
namespace {

using gen::compression_record;
using gen::request_record;
using gen::result_code;
using testbench::compressed_bench;
using testbench::functional_options;
using testbench::tiny_model;
using testbench::tiny_options;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinite = std::numeric_limits<float>::infinity();
constexpr auto bad = result_code::bad_request;
constexpr auto fine = result_code::ok;

constexpr tiny_options causal = {.seed = 61,
                                 .block_causal = true,
                                 .shift_logits = true,
                                 .rope_halves = true,
                                 .qkv_bias = true,
                                 .kv_heads = 2,
                                 .channels = true,
                                 .correction_rank = 2};

compression_record everything() {
  return testbench::compression_of(gen::kv_format::brq, gen::ffn_mode::dat);
}

struct quick_run {
  tiny_options model = causal;
  functional_options machine{};
  compression_record record = everything();
};

result_code run(
    const quick_run& q, const std::function<void(request_record&, compressed_bench&)>& change,
    const std::function<void(tiny_model&)>& damage = [](tiny_model&) {}) {
  tiny_model model(q.model);
  damage(model);
  compressed_bench b(model, q.machine, testbench::random_tokens(model, 10, 62), q.record);
  b.request().generate_tokens = 4;
  change(b.request(), b);
  const result_code code = b.run();
  EXPECT_TRUE(b.machine().hazards().empty());
  return code;
}

TEST(compression_faults, records) {
  struct row {
    const char* what;
    std::function<void(compression_record&)> change;
    result_code code;
  };
  using r = compression_record;
  const row rows[] = {
      {"nothing", [](r&) {}, fine},
      {"version", [](r& c) { c.version = 2; }, bad},
      {"no version", [](r& c) { c.version = 0; }, bad},
      {"kv", [](r& c) { c.kv = static_cast<gen::kv_format>(3); }, bad},
      {"ffn", [](r& c) { c.ffn = static_cast<gen::ffn_mode>(2); }, bad},
      {"map span", [](r& c) { c.map_span = static_cast<gen::compression_span>(2); }, bad},
      {"anchor span", [](r& c) { c.anchor_span = static_cast<gen::compression_span>(2); }, bad},
      {"spans", [](r& c) { c.map_span = c.anchor_span = gen::compression_span::sub_block; }, fine},
      {"no basis tokens", [](r& c) { c.basis_tokens = 0; }, bad},
      {"part of a block of basis tokens", [](r& c) { c.basis_tokens = 48; }, bad},
      {"most basis tokens", [](r& c) { c.basis_tokens = ~0u / 32 * 32; }, fine},
      {"rank", [](r& c) { c.rank = 9; }, bad},
      {"most rank", [](r& c) { c.rank = 8; }, fine},
      {"no rank", [](r& c) { c.rank = 0; }, fine},
      {"refresh by part of a block", [](r& c) { c.basis_refresh = 31; }, bad},
      {"refresh", [](r& c) { c.basis_refresh = 32; }, fine},
      {"no iterations", [](r& c) { c.basis_iterations = 0; }, bad},
      {"iterations", [](r& c) { c.basis_iterations = 65; }, bad},
      {"most iterations", [](r& c) { c.basis_iterations = 64; }, fine},
      {"share q8 below 0", [](r& c) { c.share_q8 = -0.01f; }, bad},
      {"share q4 NaN", [](r& c) { c.share_q4 = nan; }, bad},
      {"share q2 infinite", [](r& c) { c.share_q2 = infinite; }, bad},
      {"share above 1", [](r& c) { c.share_q8 = 1.5f; }, bad},
      {"shares above 1", [](r& c) { c.share_q8 = c.share_q4 = c.share_q2 = 0.34f; }, bad},
      {"all of them", [](r& c) { c.share_q8 = c.share_q4 = c.share_q2 = 1.0f / 3; }, fine},
      {"none of them", [](r& c) { c.share_q8 = c.share_q4 = c.share_q2 = 0; }, fine},
      {"gain below 0", [](r& c) { c.touch_gain = -1; }, bad},
      {"gain NaN", [](r& c) { c.touch_gain = nan; }, bad},
      {"gain infinite", [](r& c) { c.touch_gain = infinite; }, bad},
      {"no gain", [](r& c) { c.touch_gain = 0; }, fine},
      {"touch q8", [](r& c) { c.touch_q8 = 1.01f; }, bad},
      {"touch q4", [](r& c) { c.touch_q4 = -0.01f; }, bad},
      {"touch together", [](r& c) { c.touch_q8 = c.touch_q4 = 0.6f; }, bad},
      {"smoothing above 1", [](r& c) { c.smoothing = 1.01f; }, bad},
      {"smoothing NaN", [](r& c) { c.smoothing = nan; }, bad},
      {"drift gain below 0", [](r& c) { c.drift_gain = -1; }, bad},
      {"drift gain infinite", [](r& c) { c.drift_gain = infinite; }, bad},
      {"correction rank", [](r& c) { c.correction_rank = 65; }, bad},
      {"more correction than there is", [](r& c) { c.correction_rank = 3; }, result_code::bad_image},
      {"corrections", [](r& c) { c.correction_rank = 2; }, fine},
      {"unused", [](r& c) { c.unused0 = 1; }, bad},
      {"unused at the end", [](r& c) { c.unused[11] = 1; }, bad},
      {"no statistics",
       [](r& c) {
         c.statistics_address = 0;
         c.statistics_entries = 0;
       },
       fine},
      {"statistics nowhere", [](r& c) { c.statistics_address = 0; }, bad},
      {"statistics of too few layers", [](r& c) { c.statistics_entries = 1; }, bad},
      {"statistics of more layers", [](r& c) { c.statistics_entries = 9; }, fine},
      {"statistics without end", [](r& c) { c.statistics_entries = ~0u; }, bad},
      {"statistics not aligned", [](r& c) { c.statistics_address += 4; }, bad},
      {"statistics outside memory", [](r& c) { c.statistics_address = ~0ull - 7; }, bad},
      {"numbers of the cache that is not compressed",
       [](r& c) {
         c.kv = gen::kv_format::bf16;
         c.basis_tokens = 1;
         c.rank = 99;
         c.share_q8 = nan;
       },
       fine},
      {"numbers of tiers that there are not",
       [](r& c) {
         c.kv = gen::kv_format::q8;
         c.basis_iterations = 0;
         c.share_q2 = -1;
       },
       fine},
      {"numbers of the network that is whole",
       [](r& c) {
         c.ffn = gen::ffn_mode::whole;
         c.touch_gain = nan;
         c.correction_rank = 99;
       },
       fine},
  };
  for (const row& each : rows) {
    SCOPED_TRACE(each.what);
    EXPECT_EQ(run({}, [&](auto&, auto& b) { each.change(b.record()); }), each.code);
  }
}

TEST(compression_faults, requests_that_cannot_be_compressed) {
  const auto work_for_a_plain_run = [](auto& r, auto&) { r.work_bytes = 54 << 10; };
  struct row {
    const char* what;
    std::function<void(request_record&, compressed_bench&)> change;
    result_code code;
  };
  const row rows[] = {
      {"record not aligned", [](auto& r, auto&) { r.compression_address += 4; }, bad},
      {"record outside memory", [](auto& r, auto&) { r.compression_address = ~0ull - 7; }, bad},
      {"record in the work buffer",
       [](auto& r, auto& b) {
         const compression_record c = b.record();
         r.compression_address = r.work_address + 4096;
         *b.machine().template at<compression_record>(r.compression_address) = c;
       },
       bad},
      {"statistics over the record", [](auto& r, auto& b) { b.record().statistics_address = r.compression_address; },
       bad},
      {"statistics over the tokens", [](auto& r, auto& b) { b.record().statistics_address = r.tokens_address; }, bad},
      {"on the CPU", [](auto& r, auto&) { r.engine = gen::forward_engine::cpu; }, bad},
      {"swap", [](auto& r, auto&) { r.swap = gen::swap_policy::somr; }, bad},
      {"tiles within a block", [](auto& r, auto&) { r.row_tile = 16; }, bad},
      {"a tile of a block", [](auto& r, auto&) { r.row_tile = 32; }, fine},
      {"larger tiles", [](auto& r, auto&) { r.row_tile = 48; }, fine},
      {"small blocks",
       [](auto& r, auto&) {
         r.block_length = 4;
         r.sub_block_length = 2;
       },
       fine},
      {"work too small", work_for_a_plain_run, result_code::too_long},
  };
  for (const row& each : rows) {
    SCOPED_TRACE(each.what);
    EXPECT_EQ(run({}, each.change), each.code);
  }
  EXPECT_EQ(
      run({.record = testbench::compression_of(gen::kv_format::bf16, gen::ffn_mode::whole)}, work_for_a_plain_run),
      fine);
  // Another loop, with any record.
  EXPECT_EQ(run({.model = {.seed = 61}}, [](auto&, auto&) {}), bad);
  EXPECT_EQ(
      run({.model = {.seed = 61}, .record = testbench::compression_of(gen::kv_format::bf16, gen::ffn_mode::whole)},
          [](auto&, auto&) {}),
      bad);
}

TEST(compression_faults, machines_that_cannot_do_it) {
  const auto nothing = [](auto&, auto&) {};
  const auto with = [](gen::kv_format kv, gen::ffn_mode ffn, const functional_options& machine) {
    return quick_run{.machine = machine, .record = testbench::compression_of(kv, ffn)};
  };
  using enum gen::kv_format;
  using enum gen::ffn_mode;
  const functional_options plain{.converts = false};
  EXPECT_EQ(run(with(brq, whole, plain), nothing), bad);
  EXPECT_EQ(run(with(bf16, dat, plain), nothing), bad);
  EXPECT_EQ(run(with(q8, whole, plain), nothing), fine) << "nothing is narrowed";
  const functional_options windowed{.window = {.bytes = 4096, .entries = 16, .page_bytes = 4096}};
  EXPECT_EQ(run(with(q8, whole, windowed), nothing), result_code::window_too_small);
  EXPECT_EQ(run(with(bf16, dat, windowed), nothing), result_code::window_too_small);
  EXPECT_EQ(run(with(brq, dat, {.scratchpad_bytes = 64u << 10}), nothing), result_code::scratchpad_too_small);
}

gen::tensor_entry& entry_of(tiny_model& m, gen::tensor_kind kind) {
  for (gen::tensor_entry& e : m.entries()) {
    if (e.kind == kind) {
      return e;
    }
  }
  throw std::logic_error("no such tensor");
}

TEST(compression_faults, images) {
  using kind = gen::tensor_kind;
  const auto damaged = [](kind k, auto change) { return [k, change](tiny_model& m) { change(entry_of(m, k)); }; };
  // The second channels tensor takes the place of one that is no longer there.
  const auto without = [](kind k) {
    return [k](tiny_model& m) {
      entry_of(m, k) = m.entries().back();
      m.header().tensor_count -= 1;
    };
  };
  using e = gen::tensor_entry;
  struct row {
    const char* what;
    std::function<void(tiny_model&)> damage;
  };
  const row rows[] = {
      {"no channels", without(kind::ffn_channels)},
      {"no importance", without(kind::ffn_importance)},
      {"no views", without(kind::ffn_views)},
      {"part of a correction", without(kind::correction_q2_channels)},
      {"twice", damaged(kind::ffn_importance, [](e& t) { t.layer = 1; })},
      {"layer", damaged(kind::ffn_channels, [](e& t) { t.layer = 2; })},
      {"channels", damaged(kind::ffn_channels, [](e& t) { t.rows -= 1; })},
      {"width", damaged(kind::ffn_channels, [](e& t) { t.columns -= 96; })},
      {"format", damaged(kind::ffn_channels, [](e& t) { t.format = gen::tensor_format::q8_group32; })},
      {"odd rows", damaged(kind::ffn_channels, [](e& t) { t.row_bytes += 2; })},
      {"rows over one another", damaged(kind::ffn_channels, [](e& t) { t.row_bytes -= 4; })},
      {"no scales", damaged(kind::ffn_channels, [](e& t) { t.scale_row_bytes = 0; })},
      {"part of the scale slots", damaged(kind::ffn_channels, [](e& t) { t.scale_row_bytes -= 32; })},
      {"scales beyond the image", damaged(kind::ffn_channels, [](e& t) { t.scale_row_bytes *= 1000; })},
      {"codes beyond the image", damaged(kind::ffn_channels, [](e& t) { t.data_offset = 1ull << 40; })},
      {"scales not aligned", damaged(kind::ffn_channels, [](e& t) { t.scale_offset += 2; })},
      {"importance in words", damaged(kind::ffn_importance, [](e& t) { t.format = gen::tensor_format::words; })},
      {"importance of fewer", damaged(kind::ffn_importance, [](e& t) { t.columns -= 1; })},
      {"three views", damaged(kind::ffn_views, [](e& t) { t.columns = 3; })},
      {"views as numbers", damaged(kind::ffn_views, [](e& t) { t.format = gen::tensor_format::fp32; })},
      {"a plain tensor of channels", damaged(kind::ffn_up, [](e& t) { t.format = gen::tensor_format::q8_channels; })},
      {"words for weights", damaged(kind::attn_q, [](e& t) { t.format = gen::tensor_format::words; })},
      {"correction of another rank", damaged(kind::correction_q4_outputs, [](e& t) { t.columns = 1; })},
      {"correction of no rank", damaged(kind::correction_q4_outputs, [](e& t) { t.columns = 0; })},
      {"odd factors", damaged(kind::correction_q4_inputs, [](e& t) { t.rows = 3; })},
      {"correction in codes",
       damaged(kind::correction_q2_inputs, [](e& t) { t.format = gen::tensor_format::q8_group32; })},
      {"no such kind", damaged(kind::ffn_views, [](e& t) { t.kind = static_cast<kind>(25); })},
  };
  quick_run corrected;
  corrected.record.correction_rank = 2;
  EXPECT_EQ(run(corrected, [](auto&, auto&) {}), fine);
  for (const row& each : rows) {
    SCOPED_TRACE(each.what);
    EXPECT_EQ(run(
                  corrected, [](auto&, auto&) {}, each.damage),
              result_code::bad_image);
  }
}

TEST(compression_faults, views) {
  const auto code = [](std::uint32_t q4, std::uint32_t q2) {
    return run(
        {}, [](auto&, auto&) {},
        [&](tiny_model& m) {
          const gen::tensor_entry& e = entry_of(m, gen::tensor_kind::ffn_views);
          auto* words = reinterpret_cast<std::uint32_t*>(const_cast<std::byte*>(m.image().data()) + e.data_offset);
          words[0] = q4;
          words[1] = q2;
        });
  };
  EXPECT_EQ(code(4, 2), fine);
  EXPECT_EQ(code(4 | 1 << 4, 2 | 2 << 4 | 40u << 24), fine) << "round, and by a threshold";
  EXPECT_EQ(code(2, 4), result_code::bad_image);
  EXPECT_EQ(code(8, 2), result_code::bad_image);
  EXPECT_EQ(code(0, 0), result_code::bad_image);
}

// Views of a head are whole bytes at every tier; of codes of 8 bits they always are.
TEST(compression_faults, heads_that_two_bits_do_not_fill) {
  quick_run odd{.record = testbench::compression_of(gen::kv_format::brq, gen::ffn_mode::whole)};
  odd.model.channels = false;
  odd.model.quantised = false;
  odd.model.head_length = 18;
  EXPECT_EQ(run(odd, [](auto&, auto&) {}), bad);
  odd.record.kv = gen::kv_format::q8;
  EXPECT_EQ(run(odd, [](auto&, auto&) {}), fine);
  odd.record.kv = gen::kv_format::brq;
  odd.model.head_length = 20;
  EXPECT_EQ(run(odd, [](auto&, auto&) {}), fine);
}

// Tensors for compression harm nobody who does not ask for it.
TEST(compression_faults, what_is_not_asked_for_is_not_missed) {
  const auto whole = testbench::compression_of(gen::kv_format::bf16, gen::ffn_mode::whole);
  quick_run plain{.record = whole};
  EXPECT_EQ(run(plain, [](auto&, auto&) {}), fine);
  plain.model.channels = false;
  EXPECT_EQ(run(plain, [](auto&, auto&) {}), fine);
  plain.record = testbench::compression_of(gen::kv_format::brq, gen::ffn_mode::whole);
  EXPECT_EQ(run(plain, [](auto&, auto&) {}), fine);
  plain.record = everything();
  EXPECT_EQ(run(plain, [](auto&, auto&) {}), result_code::bad_image);
}

}  // namespace
}  // namespace dvp
