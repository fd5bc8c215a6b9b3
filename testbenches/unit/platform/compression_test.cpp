// The part `decode.compression` of a configuration, right and wrong; the sidecar it names; what is reported of it.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "testbenches/lib/scratch_file.h"
#include "testbenches/unit/loader/tiny_model.h"
#include "testbenches/unit/loader/tiny_sidecar.h"
#include "tlm/loader/load_error.h"
#include "tlm/loader/sha256.h"
#include "tlm/platform/compression_config.h"
#include "tlm/platform/compression_report.h"
#include "tlm/platform/config.h"
#include "tlm/platform/decode_choice.h"
#include "tlm/platform/dram_layout.h"
#include "tlm/platform/files.h"
#include "tlm/platform/phases.h"
#include "tlm/platform/sidecar_choice.h"

namespace dvp::platform {
namespace {

using nlohmann::ordered_json;
using testbenches::tiny_model;
using testbenches::tiny_sidecar;

using settings = std::vector<std::string>;

// "kv=q8" -> "decode.compression.kv=q8"; what begins with a dot is below the configuration itself.
platform_config with(const settings& values) {
  settings overrides;
  for (const auto& value : values) {
    overrides.push_back(value.starts_with('.') ? value.substr(1) : "decode.compression." + value);
  }
  return load_config("fixed", overrides);
}

// The message of a usage_error or load_error, or "accepted".
template <class Call>
std::string refusal(Call call) {
  try {
    call();
    return "accepted";
  } catch (const usage_error& error) {
    return error.what();
  } catch (const loader::load_error& error) {
    return error.what();
  }
}

void expect_phrases(const std::string& said, const std::vector<std::string>& phrases) {
  for (const auto& phrase : phrases) EXPECT_NE(said.find(phrase), std::string::npos) << phrase << "\nsaid: " << said;
  EXPECT_EQ(said.find('\n'), std::string::npos) << said;
}

TEST(compression_config, is_off_in_the_shipped_configurations) {
  for (const char* name : {"reference", "fixed", "phone", "jetson"}) {
    EXPECT_FALSE(load_config(name, {}).decode.compression.any()) << name;
  }
}

TEST(compression_config, every_key_reaches_its_field_of_the_record) {
  const auto c = with({"kv=brq", "brq.span=sub_block", "brq.basis_tokens=96", "brq.rank=3", "brq.refresh=32",
                       "brq.iterations=5", "brq.shares=[0.5,0.25,0.125]", "ffn=dat", "dat.span=sub_block",
                       "dat.table=[1.5,0.75,0.25]", "dat.smoothing=0.25", "dat.gain=2", "dat.corrections=4"})
                     .decode.compression;
  EXPECT_TRUE(c.needs_sidecar());
  const gen::compression_record r = record_from(c);
  EXPECT_EQ(r.version, gen::compression_version);
  EXPECT_EQ(r.kv, gen::kv_format::brq);
  EXPECT_EQ(r.ffn, gen::ffn_mode::dat);
  EXPECT_EQ(r.map_span, gen::compression_span::sub_block);
  EXPECT_EQ(r.anchor_span, gen::compression_span::sub_block);
  EXPECT_EQ(r.basis_tokens, 96U);
  EXPECT_EQ(r.rank, 3U);
  EXPECT_EQ(r.basis_refresh, 32U);
  EXPECT_EQ(r.basis_iterations, 5U);
  EXPECT_EQ((std::array{r.share_q8, r.share_q4, r.share_q2}), (std::array{0.5F, 0.25F, 0.125F}));
  EXPECT_EQ((std::array{r.touch_gain, r.touch_q8, r.touch_q4}), (std::array{1.5F, 0.75F, 0.25F}));
  EXPECT_EQ(r.smoothing, 0.25F);
  EXPECT_EQ(r.drift_gain, 2.0F);
  EXPECT_EQ(r.correction_rank, 4U);
}

TEST(compression_config, of_a_technique_that_is_off_nothing_is_asked) {
  const auto c = with({"kv=q8", "brq.basis_tokens=77", "dat.setting=6"}).decode.compression;
  EXPECT_TRUE(c.any());
  EXPECT_FALSE(c.needs_sidecar());
  const gen::compression_record r = record_from(c);
  EXPECT_EQ(r.kv, gen::kv_format::q8);
  EXPECT_EQ(r.basis_tokens, 0U);
  EXPECT_EQ(r.smoothing, 0.0F);
  EXPECT_FALSE(with({"kv=brq", "brq.shares=[0,0,0]"}).decode.compression.needs_sidecar());
}

TEST(compression_config, what_cannot_be_is_refused_by_its_key) {
  const struct {
    settings values;
    std::vector<std::string> phrases;
  } rows[] = {
      {{"kv=q4"}, {"fixed.json: decode.compression.kv"}},
      {{"ffn=sparse"}, {"decode.compression.ffn"}},
      {{"sidecar=3"}, {"decode.compression.sidecar"}},
      {{"brq.span=token"}, {"decode.compression.brq.span"}},
      {{"brq.basis_tokens=0"}, {"decode.compression.brq.basis_tokens"}},
      {{"brq.rank=9"}, {"decode.compression.brq.rank"}},
      {{"brq.refresh=-32"}, {"decode.compression.brq.refresh"}},
      {{"brq.iterations=65"}, {"decode.compression.brq.iterations"}},
      {{"brq.shares=[1.5,0,0]"}, {"decode.compression.brq.shares"}},
      {{"brq.shares=[0.5,0.5]"}, {"decode.compression.brq.shares: has 2 numbers; give three, or none"}},
      {{"brq.shares=[0.5,0.5,0.01]"}, {"decode.compression.brq.shares: the shares of [0.5,0.5,0.01] add up to more"}},
      {{"brq.share=1"}, {"decode.compression.brq.share", "did you mean decode.compression.brq.shares?"}},
      {{"dat.setting=7"}, {"decode.compression.dat.setting"}},
      {{"dat.setting=1.5"}, {"decode.compression.dat.setting"}},
      {{"dat.table=[1]"}, {"decode.compression.dat.table: has 1 numbers"}},
      {{"dat.table=[3,2,0]"}, {"decode.compression.dat.table: 2 is no share"}},
      {{"dat.table=[3,0.75,0.5]"}, {"decode.compression.dat.table: the shares of [3,0.75,0.5] add up to more"}},
      {{"dat.smoothing=1.1"}, {"decode.compression.dat.smoothing"}},
      {{"dat.gain=-1"}, {"decode.compression.dat.gain"}},
      {{"dat.corrections=65"}, {"decode.compression.dat.corrections"}},
      {{"kv=q8", ".decode.engine=cpu"}, {"decode.engine cpu and decode.compression.kv q8", "set the engine to npu"}},
      {{"ffn=dat", ".decode.swap=lru"}, {"decode.swap: is lru and npu.window.bytes is 0"}},
      {{"kv=brq", ".decode.loop=fast_dllm_v1"}, {"decode.loop fast_dllm_v1 and decode.compression.kv brq"}},
  };
  for (const auto& row : rows) expect_phrases(refusal([&] { with(row.values); }), row.phrases);
  EXPECT_EQ(refusal([&] { with({".decode.engine=cpu", ".decode.swap=none"}); }), "accepted");
}

TEST(compression_config, what_the_model_cannot_do_is_refused) {
  const loaded_model causal(find_model("tiny-fdllm2").string());
  const loaded_model bidirectional(find_model("tiny-llada").string());
  const auto choose = [](const loaded_model& model, const settings& values) {
    return refusal([&] { choose_decode(run_options{}, model, with(values).decode); });
  };
  expect_phrases(choose(bidirectional, {"kv=brq"}), {"decode.compression.kv: brq", "tiny-llada is bidirectional"});
  expect_phrases(choose(bidirectional, {"ffn=dat"}), {"decode.compression.ffn: dat", "use --model tiny-fdllm2"});
  expect_phrases(choose(causal, {"kv=brq", "brq.basis_tokens=40"}),
                 {"decode.compression.brq.basis_tokens: 40 is no multiple of the 32 tokens of a block of tiny-fdllm2"});
  expect_phrases(choose(causal, {"kv=brq", "brq.refresh=16"}), {"decode.compression.brq.refresh: 16"});
  expect_phrases(choose(causal, {"kv=q8", ".decode.row_tile=16"}), {"decode.row_tile: is 16", "32 rows"});
  EXPECT_EQ(choose(causal, {"kv=q8", "brq.basis_tokens=40", ".decode.row_tile=32"}), "accepted");

  gen::image_header heads = causal.header();
  const compression_config ranked = with({"kv=brq", "brq.rank=8"}).decode.compression;
  heads.head_length = 6;
  expect_phrases(refusal([&] { refuse_unfit(ranked, heads, "m"); }), {"multiple of 4 elements; those of m have 6"});
  heads.head_length = 4;
  expect_phrases(refusal([&] { refuse_unfit(ranked, heads, "m"); }),
                 {"decode.compression.brq.rank: 8 is more than the 4 elements of a head of m"});
}

// A block-causal model, its sidecar where it is looked for, and another one.
class sidecar_choice : public testing::Test {
 protected:
  sidecar_choice() {
    const auto bytes = tiny_model({.architecture = "qwen2"}).build();
    digest_ = loader::sha256(bytes);
    write(model_file_, bytes);
    model_.emplace(model_file_.path());
  }

  static void write(const test::scratch_file& file, const testbenches::byte_string& bytes) {
    std::ofstream(file.path(), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  std::string load(const settings& values) {
    return refusal([&] {
      config_ = with(values);
      load_sidecar(config_, *model_);
    });
  }

  test::scratch_file model_file_{"m.gguf"}, shipped_{"m.compression.gguf"}, other_{"other.gguf"};
  std::string digest_;
  std::optional<loaded_model> model_;
  platform_config config_;
};

TEST_F(sidecar_choice, fills_what_the_configuration_leaves_to_it) {
  write(shipped_, tiny_sidecar({.model_sha256 = digest_}).build());
  const std::uint64_t plain = model_->image_bytes();
  ASSERT_EQ(load({"kv=brq"}), "accepted");
  EXPECT_EQ(config_.decode.compression.shares, (std::vector{0.5F, 0.25F, 0.125F}));
  EXPECT_EQ(model_->image_bytes(), plain) << "its channels are for dat";
  ASSERT_EQ(load({"kv=brq", "brq.shares=[1,0,0]", "ffn=dat", "dat.setting=3"}), "accepted");
  EXPECT_EQ(config_.decode.compression.shares, (std::vector{1.0F, 0.0F, 0.0F}));
  EXPECT_EQ(config_.decode.compression.touch, (std::vector{0.75F, 0.5F, 0.25F}));
  EXPECT_GE(model_->image_bytes(), plain + 2U * 64 * (96 + 96));  // codes and scales of two layers
  ASSERT_EQ(load({"ffn=dat", "dat.table=[2,0,1]", "dat.corrections=2"}), "accepted");
  EXPECT_EQ(config_.decode.compression.touch, (std::vector{2.0F, 0.0F, 1.0F}));
}

TEST_F(sidecar_choice, says_what_is_wrong_with_it) {
  const std::string shipped = shipped_.path();
  EXPECT_EQ(load({"kv=q8"}), "accepted") << "there is none and none is needed";
  EXPECT_EQ(load({"kv=brq", "brq.shares=[1,0,0]"}), "accepted");
  expect_phrases(load({"ffn=dat"}), {"decode.compression.sidecar: there is no " + shipped, "scripts/calibrate"});
  expect_phrases(load({"kv=brq"}), {"decode.compression.sidecar: there is no " + shipped});
  expect_phrases(load({"ffn=dat", "sidecar=\"\""}),
                 {"decode.compression.sidecar: is empty", "decode.compression.ffn dat"});
  expect_phrases(load({"kv=brq", "sidecar=\"\""}), {"is empty", "decode.compression.brq.shares"});
  expect_phrases(load({"ffn=dat", "sidecar=no-such-file"}), {"decode.compression.sidecar: no-such-file"});
  write(shipped_, tiny_sidecar().build());
  expect_phrases(load({"ffn=dat"}), {shipped + ": was made for a model file", "m.gguf has " + digest_});
  write(other_, tiny_sidecar({.model_sha256 = digest_}).build());
  const std::string other = "sidecar=" + other_.path();
  EXPECT_EQ(load({"ffn=dat", other}), "accepted");
  expect_phrases(load({"ffn=dat", other, "dat.corrections=3"}),
                 {"decode.compression.dat.corrections: is 3", "have rank 2"});
  expect_phrases(load({"ffn=dat", "sidecar=" + model_->path()}), {"architecture qwen2 is no compression sidecar"});
}

TEST(dram_layout, records_of_compression_move_nothing_else) {
  gen::image_header model;
  model.layers = 6, model.kv_heads = 2, model.head_length = 32, model.context = 1024;
  constexpr std::uint64_t dram = 64U << 20;
  const dram_layout without = place_in_dram(model, 1'500'001, dram);
  const dram_layout layout = place_in_dram(model, 1'500'001, dram, 0, true);
  EXPECT_EQ(without.compression, 0U);
  EXPECT_EQ(layout.kv, without.kv);
  EXPECT_GE(layout.compression, layout.kv + layout.kv_bytes);
  EXPECT_EQ(layout.compression % 64, 0U);
  EXPECT_GE(layout.statistics, layout.compression + sizeof(gen::compression_record));
  EXPECT_EQ(layout.statistics % 8, 0U);
  EXPECT_GE(layout.work, layout.statistics + 6 * sizeof(gen::layer_statistics));
}

gen::layer_statistics counts() {
  gen::layer_statistics s;
  s.map_q8 = 10, s.map_q4 = 20, s.map_q2 = 30, s.map_q0 = 40;
  s.plain_reads = 60, s.unmapped_reads = 40;
  s.maps = 1, s.encoded = 64, s.bases = 2;
  s.whole_ffn = 2, s.interior_ffn = 4;
  s.channels_q8 = 5, s.channels_q4 = 6, s.channels_q2 = 7, s.channels_q0 = 8;
  s.crossings = 3;
  s.drift_sum = 2, s.drift_most = 0.75F, s.budget_sum = 1;
  return s;
}

TEST(compression_report, mean_bits_and_sums) {
  compression_config config;
  config.kv = gen::kv_format::brq;
  config.ffn = gen::ffn_mode::dat;
  gen::layer_statistics idle;
  idle.drift_most = 0.25F;
  std::vector<gen::layer_statistics> total;
  add(total, {counts(), idle});
  add(total, {counts(), idle});
  const ordered_json all = compression_figures(config, total);
  EXPECT_EQ(all["prefix"]["reads"]["mapped"], (ordered_json{{"q8", 20}, {"q4", 40}, {"q2", 60}, {"q0", 80}}));
  EXPECT_EQ(all["prefix"]["reads"]["plain"], 120);
  EXPECT_EQ(all["prefix"]["reads"]["unmapped"], 80);
  EXPECT_DOUBLE_EQ(all["prefix"]["mean_bits"]["mapped"], (8.0 * 10 + 4 * 20 + 2 * 30) / 100);
  EXPECT_DOUBLE_EQ(all["prefix"]["mean_bits"]["all"], (8.0 * 110 + 4 * 20 + 2 * 30) / 200);
  EXPECT_EQ(all["prefix"]["maps"], 2);
  EXPECT_EQ(all["prefix"]["entries_stored"], 128);
  EXPECT_EQ(all["prefix"]["bases"], 4);
  EXPECT_EQ(all["network"]["anchor_passes"], 4);
  EXPECT_EQ(all["network"]["interior_passes"], 8);
  EXPECT_EQ(all["network"]["channels"], (ordered_json{{"q8", 10}, {"q4", 12}, {"q2", 14}, {"q0", 16}}));
  EXPECT_EQ(all["network"]["crossings"], 6);
  EXPECT_DOUBLE_EQ(all["network"]["mean_drift"], 0.5);
  EXPECT_DOUBLE_EQ(all["network"]["largest_drift"], 0.75);
  EXPECT_DOUBLE_EQ(all["network"]["mean_budget"], 0.25);
  ASSERT_EQ(all["layers"].size(), 2U);
  EXPECT_EQ(all["layers"][0]["prefix"], all["prefix"]);
  EXPECT_EQ(all["layers"][1]["prefix"]["mean_bits"]["all"], 0);
  config.ffn = gen::ffn_mode::whole;
  EXPECT_FALSE(compression_figures(config, total).contains("network"));
}

TEST(phases, every_microsecond_has_one) {
  using gen::network_pass;
  using gen::prefix_reading;
  using gen::progress_kind;
  answer a;
  a.begin_ps = 1'000'000;
  const auto event = [&](std::uint64_t end_us, progress_kind kind, prefix_reading prefix = {}, network_pass pass = {}) {
    forward_record f;
    f.kind = kind;
    f.prefix = prefix;
    f.network = pass;
    f.end_ps = 1'000'000 * end_us;
    a.forwards.push_back(std::move(f));
  };
  event(2, progress_kind::started);
  event(5, progress_kind::prefill);
  event(6, progress_kind::forward, prefix_reading::warm_up, network_pass::anchor);
  event(8, progress_kind::forward, prefix_reading::ranking, network_pass::interior);
  event(12, progress_kind::forward, prefix_reading::mapped, network_pass::interior);
  event(13, progress_kind::block);
  event(20, progress_kind::prefill);
  event(21, progress_kind::forward, prefix_reading::warm_up, network_pass::anchor);
  event(22, progress_kind::finished);
  a.end_ps = 23'000'000;
  const ordered_json expected = {
      {"prefill", {{"forwards", 1}, {"us", 4.0}}},
      {"denoise", {{"forwards", 4}, {"us", 8.0}}},
      {"fill", {{"forwards", 1}, {"us", 8.0}}},
      {"rest", {{"us", 2.0}}},
      {"prefix",
       {{"warm_up", {{"forwards", 2}, {"us", 2.0}}},
        {"ranking", {{"forwards", 1}, {"us", 2.0}}},
        {"mapped", {{"forwards", 1}, {"us", 4.0}}}}},
      {"network", {{"anchor", {{"forwards", 2}, {"us", 2.0}}}, {"interior", {{"forwards", 2}, {"us", 6.0}}}}}};
  EXPECT_EQ(phases_of(a).dump(), expected.dump());
  std::ostringstream text;
  text << std::fixed;
  write_phases(text, phases_of(a), 22);
  EXPECT_EQ(text.str(),
            "  phases      prefill 18.2 % (1), denoising 36.4 % (4), cache fill 36.4 % (1) of the time (forwards)\n"
            "              prefix read: warm-up 9.1 % (2), ranking 9.1 % (1), mapped 18.2 % (1)\n"
            "              network: anchor 9.1 % (2), interior 27.3 % (2)\n");
}

}  // namespace
}  // namespace dvp::platform
