// Host-side pieces of the program that need no simulation.
#include <gtest/gtest.h>

#include <algorithm>

#include "dvp_gen/request.h"
#include "dvp_gen/system.h"
#include "firmware/kernels/dependencies.h"
#include "firmware/kernels/scratchpad_plan.h"
#include "testbenches/lib/published_models.h"
#include "testbenches/lib/scratch_file.h"
#include "testbenches/unit/loader/elf_writer.h"
#include "tlm/core/nearest_word.h"
#include "tlm/loader/load_error.h"
#include "tlm/platform/config.h"
#include "tlm/platform/core_choice.h"
#include "tlm/platform/dram_layout.h"
#include "tlm/platform/figures.h"
#include "tlm/platform/files.h"
#include "tlm/platform/program_image.h"
#include "tlm/platform/run_options.h"

namespace dvp::platform {
namespace {

using nlohmann::ordered_json;

TEST(figures, difference_and_sum_go_leaf_by_leaf_over_both_trees) {
  const ordered_json before = {{"a", {{"x", 3}, {"gone", 1}}}, {"e", 0.5}};
  const ordered_json after = {{"a", {{"x", 10}, {"gone", 1}, {"new", 4}}}, {"e", 2.0}};
  const ordered_json delta = difference(after, before);
  EXPECT_EQ(delta, (ordered_json{{"a", {{"x", 7}, {"gone", 0}, {"new", 4}}}, {"e", 1.5}}));
  EXPECT_EQ(sum(before, delta), after);
  EXPECT_EQ(sum(ordered_json(), after), after);
}

TEST(decode_config, the_latency_table_is_the_first_one_long_enough) {
  decode_config config;
  EXPECT_TRUE(latencies_for(config, 10).empty());
  config.latencies = {{128, {{16, 1}}}, {256, {{16, 2}}}};
  const auto time_for = [&](std::uint64_t positions) { return latencies_for(config, positions).at(0).ns; };
  EXPECT_EQ(time_for(1), 1U);
  EXPECT_EQ(time_for(128), 1U);
  EXPECT_EQ(time_for(129), 2U);
  EXPECT_EQ(time_for(100000), 2U);
}

TEST(figures, missing_paths_count_as_zero) {
  const ordered_json tree = {{"npu", {{"macs", 5}}}};
  EXPECT_EQ(count_at(tree, "npu.macs"), 5U);
  EXPECT_EQ(count_at(tree, "npu.macs.deeper"), 0U);
  EXPECT_EQ(count_at(tree, "npu"), 0U);
  EXPECT_EQ(value_at(tree, "nothing"), 0.0);
}

TEST(figures, an_open_gap_of_the_memory_counts_as_without_request) {
  ordered_json tree = {
      {"memory", {{"busy_ps", 10}, {"elapsed_ps", 100}, {"idle", {{"no_request_ps", 5}, {"row_ps", 25}}}}}};
  settle_idle(tree, 2);
  EXPECT_EQ(count_at(tree, "memory.idle.no_request_ps"), 5U + (200 - 10 - 5 - 25));
  EXPECT_EQ(count_at(tree, "memory.idle.row_ps"), 25U);
  const ordered_json settled = tree;
  settle_idle(tree, 2);
  EXPECT_EQ(tree, settled);
}

// The message of the usage_error, or "accepted".
template <class Call>
std::string refusal(Call call) {
  try {
    call();
    return "accepted";
  } catch (const usage_error& error) {
    return error.what();
  }
}

TEST(core_choice, prices_are_cycles_in_steps_of_a_256th) {
  ordered_json core = described_core("jetson");
  core["cycles"]["alu"] = 0.375;
  core["cycles"]["load"] = 2;
  core["cycles"]["load_stall"] = 0;
  core["cycles"]["wake"] = 1.0 / 256;
  const auto costs = cost_model_from(core, "x.json");
  using cpu::rv64::work;
  EXPECT_EQ(costs.units(work::alu), 96U);
  EXPECT_EQ(costs.units(work::load), 512U);
  EXPECT_EQ(costs.wake, 1U);

  ordered_json missing = core, unknown = core, free = core;
  missing["cycles"].erase("fence");
  unknown["why"]["fense"] = "choice";
  free["cycles"]["alu"] = 0.001;
  EXPECT_NE(refusal([&] { cost_model_from(missing, "x.json"); }).find("x.json: cpu.rv64.core.cycles.fence: missing"),
            std::string::npos);
  EXPECT_NE(refusal([&] { cost_model_from(unknown, "x.json"); }).find("cpu.rv64.core.why.fense"), std::string::npos);
  EXPECT_NE(refusal([&] { cost_model_from(free, "x.json"); }).find("cpu.rv64.core.cycles"), std::string::npos);
}

TEST(core_choice, every_value_of_a_shipped_core_has_its_reason) {
  const auto names = shipped_names(data_root() / "tlm/platform/configs/cores", ".json");
  EXPECT_EQ(names, (std::vector<std::string>{"jetson", "phone"}));
  for (const auto& name : names) {
    const ordered_json core = described_core(name);
    EXPECT_EQ(core["name"], name);
    for (const auto& price : core["cycles"].items()) {
      ASSERT_TRUE(core["why"].contains(price.key())) << name << ' ' << price.key();
      const std::string why = core["why"][price.key()];
      EXPECT_TRUE(why.starts_with("choice: ") || why.starts_with("quoted: ")) << why;
    }
  }
}

// Paths of the values of `place` that have no reason, neither of their own nor of an object they are in.
std::vector<std::string> without_reason(const ordered_json& place, const ordered_json& why, const std::string& path) {
  std::vector<std::string> found;
  if (why.contains(path)) return found;
  if (!place.is_object()) return {path};
  for (const auto& item : place.items()) {
    const auto below = without_reason(item.value(), why, path.empty() ? item.key() : path + '.' + item.key());
    found.insert(found.end(), below.begin(), below.end());
  }
  return found;
}

TEST(config, every_shipped_one_loads_and_gives_the_reason_of_every_value) {
  const auto names = shipped_configs();
  for (const char* name : {"fixed", "jetson", "phone", "reference", "ladder/6-dppr", "small-nano/full", "nano/full",
                           "nx/full", "phone/6-dppr"}) {
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  }
  for (const auto& name : names) {
    platform_config config;
    ASSERT_NO_THROW(config = load_config(name, {})) << name;
    EXPECT_EQ(config.seat, cpu_choice::native);
    EXPECT_EQ(config.native.harts, config.rv64.harts) << name;
    EXPECT_EQ(config.native.hart.stream.non_blocking, config.memory.lpddr5.has_value());
    ordered_json described = config.source;
    for (const char* about : {"$schema", "name", "description", "why"}) described.erase(about);
    const ordered_json& why = config.source["why"];
    EXPECT_EQ(without_reason(described, why, ""), std::vector<std::string>{}) << name;
    for (const auto& reason : why.items()) {
      EXPECT_FALSE(reason.value().get<std::string>().starts_with("choice: set by ")) << name << ' ' << reason.key();
    }
  }
  EXPECT_EQ(load_config("phone", {}).memory.peak_bytes_per_second, 68'266'666'667U);
  EXPECT_EQ(load_config("jetson", {}).memory.peak_bytes_per_second, 51'200'000'000U);
}

TEST(config, the_four_configurations_of_a_class_differ_in_memory_and_compression_alone) {
  const std::vector<std::pair<std::string, std::uint64_t>> classes = {{"small-nano", 12'800'000'000U},
                                                                      {"small-nx", 25'600'000'000U},
                                                                      {"nano", 51'200'000'000U},
                                                                      {"nx", 102'400'000'000U}};
  for (const auto& [chip, plain] : classes) {
    SCOPED_TRACE(chip);
    const auto load = [&folder = chip](const char* name) { return load_config(folder + "/" + name, {}); };
    const platform_config baseline = load("baseline"), compression = load("compression"), wifiv = load("wifiv"),
                          full = load("full");
    EXPECT_EQ(baseline.memory.peak_bytes_per_second, plain);
    EXPECT_EQ(wifiv.memory.peak_bytes_per_second, 4 * plain);
    const auto stripped = [](const platform_config& config, bool memory, bool compressed) {
      ordered_json rest = config.source;
      for (const char* about : {"name", "description", "why"}) rest.erase(about);
      if (memory) rest.erase("memory");
      if (compressed) rest["decode"].erase("compression");
      return rest;
    };
    EXPECT_EQ(stripped(baseline, true, false), stripped(wifiv, true, false));
    EXPECT_EQ(stripped(compression, true, false), stripped(full, true, false));
    EXPECT_EQ(stripped(baseline, false, true), stripped(compression, false, true));
    EXPECT_EQ(stripped(wifiv, false, true), stripped(full, false, true));
    EXPECT_EQ(compression.source["decode"]["compression"]["kv"], "brq");
    EXPECT_EQ(compression.source["decode"]["compression"]["ffn"], "dat");
    EXPECT_EQ(baseline.source["decode"]["compression"]["kv"], "q8");
    EXPECT_EQ(baseline.source["decode"]["compression"]["ffn"], "whole");
    EXPECT_EQ(baseline.source["memory"]["config"]["tagged"]["core_feed"], 1);
    EXPECT_EQ(wifiv.source["memory"]["config"]["tagged"]["core_feed"], 4);
  }
}

// The classes at the publications' scale have room on chip for the models they are for: a tile of a block's rows,
// beside the anchors of all layers where they are compressed.
TEST(config, the_scratchpad_of_a_class_holds_the_plan_of_its_models) {
  struct row {
    const char* config;
    const char* model;
    std::uint32_t positions;
    bool tight;  // half the scratchpad is too small
  };
  // Fast-dLLM v2 7B has the shape of Dream 7B.
  for (const row& r : std::vector<row>{{"nano/baseline", "fast_dllm_v2_1_5b", 2048, false},
                                       {"nano/full", "fast_dllm_v2_1_5b", 2048, true},
                                       {"nx/full", "fast_dllm_v2_1_5b", 2048, false},
                                       {"nx/full", "dream_7b", 2048, true},
                                       {"phone/4-somr", "llada_8b", 512, false}}) {
    SCOPED_TRACE(std::string(r.config) + " " + r.model);
    const platform_config chip = load_config(r.config, {});
    const auto* model = std::find_if(std::begin(test::models), std::end(test::models),
                                     [&](const test::published& p) { return std::string(r.model) == p.name; });
    ASSERT_NE(model, std::end(test::models));
    const bool compressed = chip.decode.compression.ffn == gen::ffn_mode::dat;
    const auto fits = [&](std::uint32_t scratchpad_bytes) {
      const drivers::npu_limits limits = {.rows = chip.npu.array.rows,
                                          .columns = chip.npu.array.columns,
                                          .scratchpad_bytes = scratchpad_bytes,
                                          .scratchpad_banks = chip.npu.scratchpad_banks,
                                          .accumulator_vectors = chip.npu.array.accumulator_vectors};
      kernels::dependency_tracker tracker;
      tracker.start(scratchpad_bytes, kernels::dependency_tracker::most_window);
      const kernels::plan_request wanted = {.tile_rows = 32,
                                            .most_keys = r.positions,
                                            .granule_bytes = tracker.granule_bytes(),
                                            .groups = true,
                                            .store_entries = compressed ? r.positions : 0,
                                            .store_rank = compressed ? chip.decode.compression.rank : 0,
                                            .anchored = compressed,
                                            .correction_rank = compressed ? chip.decode.compression.corrections : 0};
      kernels::scratchpad_plan plan;
      return kernels::plan_scratchpad(model->model, limits, wanted, plan);
    };
    EXPECT_TRUE(fits(chip.npu.scratchpad_bytes));
    if (r.tight) {
      EXPECT_FALSE(fits(chip.npu.scratchpad_bytes / 2));
    }
  }
}

TEST(config, native_harts_streams_and_costs_are_what_the_file_says) {
  const auto config = load_config(
      "fixed", {"cpu.harts=3", "cpu.stream.burst_bytes=64", "cpu.stream.outstanding=5", "cpu.work_cycles.mac=0.125"});
  EXPECT_EQ(config.native.harts, 3U);
  EXPECT_EQ(config.rv64.harts, 1U);
  EXPECT_EQ(config.native.hart.stream.burst_bytes, 64U);
  EXPECT_EQ(config.native.hart.stream.outstanding, 5U);
  EXPECT_EQ(config.native.hart.work[4].name, "mac");
  EXPECT_EQ(config.native.hart.work[4].cycles, 0.125);
  const auto said = [](const std::string& assignment) { return refusal([&] { load_config("fixed", {assignment}); }); };
  for (const auto& [assignment, key] : std::vector<std::pair<std::string, std::string>>{
           {"cpu.harts=0", "cpu.harts"},
           {"cpu.harts=5", "cpu.harts"},
           {"cpu.harts=1.5", "cpu.harts"},
           {"cpu.stream.burst_bytes=48", "cpu.stream.burst_bytes: is 48; give a power of two"},
           {"cpu.stream.burst_bytes=8192", "cpu.stream.burst_bytes"},
           {"cpu.stream.outstanding=0", "cpu.stream.outstanding"},
           {"cpu.work_cycles.mac=-1", "cpu.work_cycles.mac"},
           {"cpu.work_cycles.mac=fast", "cpu.work_cycles.mac"}}) {
    EXPECT_NE(said(assignment).find(key), std::string::npos) << assignment << ": " << said(assignment);
  }
}

TEST(config, a_reason_is_of_a_value_that_is_there_and_goes_with_it) {
  const auto why = [](const std::vector<std::string>& overrides) {
    return load_config("phone", overrides).source["why"];
  };
  const ordered_json original = why({});
  ASSERT_TRUE(original.contains("cpu.clock_hz") && original.contains("cpu.work_cycles.mac"));
  const ordered_json replaced = why({"cpu.clock_hz=1000000000", "name=mine"});
  EXPECT_EQ(replaced["cpu.clock_hz"], "choice: set by --set");
  EXPECT_EQ(replaced["cpu.harts"], original["cpu.harts"]);
  EXPECT_FALSE(replaced.contains("name"));
  // What is below it goes with an object.
  const ordered_json costs = load_config("phone", {}).source["cpu"]["work_cycles"];
  const ordered_json whole = why({"cpu.work_cycles=" + costs.dump()});
  EXPECT_EQ(whole["cpu.work_cycles"], "choice: set by --set");
  EXPECT_FALSE(whole.contains("cpu.work_cycles.mac"));
  // A key of a value that is otherwise as it was.
  EXPECT_EQ(why({"memory.config.channels=2"})["memory.config.channels"], "choice: set by --set");
  EXPECT_EQ(why({"memory.config.channels=2"})["memory.config"], original["memory.config"]);
  EXPECT_EQ(refusal([&] { why({"why={}"}); }), "--set why={}: reasons are no values; a file gives them in its own why");

  ordered_json document = load_config("fixed", {}).source;
  const test::scratch_file file("reasons.json");
  const auto said = [&](const char* key, const char* reason) {
    ordered_json changed = document;
    changed["why"][key] = reason;
    std::ofstream(file.path()) << changed;
    return refusal([&] { load_config(file.path(), {}); });
  };
  EXPECT_EQ(said("cpu.harts", "choice: one is enough"), "accepted");
  EXPECT_NE(said("cpu.hearts", "choice: one is enough").find("reasons.json: why.cpu.hearts: "), std::string::npos);
  EXPECT_NE(said("cpu.harts", "because").find("why"), std::string::npos);
}

TEST(config, a_core_by_name_can_be_changed_key_by_key) {
  const auto config =
      load_config("fixed", {"cpu.rv64.core=phone", "cpu.rv64.core.cycles.divide=3", "cpu.rv64.harts=2"});
  EXPECT_EQ(config.rv64.harts, 2U);
  EXPECT_EQ(config.rv64.hart.costs.units(cpu::rv64::work::divide), 3 * cpu::rv64::units_per_cycle);
  EXPECT_EQ(config.source["cpu"]["rv64"]["core"]["name"], "phone");
  EXPECT_EQ(config.seat, cpu_choice::native);
}

TEST(program_image, segments_are_copied_and_cleared_and_nothing_else_is_touched) {
  using w = testbenches::elf_writer;
  const w writer;
  const test::scratch_file file("program.elf");
  std::ofstream(file.path(), std::ios::binary)
      .write(reinterpret_cast<const char*>(writer.build().data()), static_cast<std::streamsize>(writer.build().size()));
  const program_image image(file.path());
  EXPECT_EQ(image.entry(), w::text + 4);
  EXPECT_EQ(image.symbols().locate(w::text + 10), "dvp::apps::serve(unsigned long)+0x2");

  std::vector<std::byte> code(0x40, std::byte{0xee}), data(0x80, std::byte{0xee});
  const program_memory memories[] = {{"code", w::text - 0x10, code}, {"data", w::data, data}};
  image.load(memories);
  for (std::size_t i = 0; i < code.size(); ++i) {
    const bool inside = i >= 0x10 && i < 0x10 + w::text_bytes;
    EXPECT_EQ(code[i], inside ? static_cast<std::byte>(i - 0x10) : std::byte{0xee}) << i;
  }
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto expected = i < w::data_bytes    ? static_cast<std::byte>(w::text_bytes + i)
                          : i < w::data_memory ? std::byte{0}
                                               : std::byte{0xee};
    EXPECT_EQ(data[i], expected) << i;
  }

  // One byte short for the second segment: refused, and the first is not copied either.
  std::vector<std::byte> untouched(0x40, std::byte{0xee}), short_data(w::data_memory - 1);
  const program_memory too_small[] = {{"code", w::text, untouched}, {"data", w::data, short_data}};
  try {
    image.load(too_small);
    FAIL() << "loaded";
  } catch (const loader::load_error& error) {
    const std::string said = error.what();
    EXPECT_NE(said.find("0x80001000 to 0x8000103f is outside of memory"), std::string::npos) << said;
    EXPECT_NE(said.find("data 0x80001000 to 0x8000103e"), std::string::npos) << said;
  }
  EXPECT_EQ(untouched, std::vector<std::byte>(0x40, std::byte{0xee}));
}

TEST(run_options, options_of_the_rv64_seat_are_refused_for_the_other) {
  const cpu_options with_gdb = parse_run_options({"--prompt", "a", "--gdb", "1234"}).cpu;
  EXPECT_EQ(with_gdb.gdb, 1234);
  EXPECT_NE(refusal([&] { refuse_idle_cpu_options(with_gdb, cpu_choice::native); }).find("--gdb"), std::string::npos);
  EXPECT_EQ(refusal([&] { refuse_idle_cpu_options(with_gdb, cpu_choice::rv64); }), "accepted");
  const cpu_options both = parse_run_options({"--prompt", "a", "--limit-us", "5", "--trace-registers", "x"}).cpu;
  EXPECT_EQ(refusal([&] { refuse_idle_cpu_options(both, cpu_choice::native); }), "accepted");
}

TEST(files, nearest_word_is_the_one_a_person_meant) {
  const std::vector<std::string> keys{"latency_ns", "bytes_per_second", "banks"};
  EXPECT_EQ(core::nearest_word("latnecy_ns", keys), "latency_ns");
  EXPECT_EQ(core::nearest_word("bank", keys), "banks");
  EXPECT_EQ(core::nearest_word("colour", keys), "");
  EXPECT_EQ(core::nearest_word("", keys), "");
}

TEST(dram_layout, areas_are_apart_and_inside_memory) {
  gen::image_header model;
  model.layers = 6, model.kv_heads = 2, model.head_length = 32, model.context = 1024;
  constexpr std::uint64_t dram = 64U << 20;
  const dram_layout layout = place_in_dram(model, 1'500'001, dram);
  // Two bf16 tensors for every layer, head and position.
  EXPECT_EQ(layout.kv_bytes, 2U * 2 * 6 * 2 * 32 * 1024);
  struct area {
    std::uint64_t first, bytes;
  };
  EXPECT_EQ(layout.latencies, layout.request + sizeof(gen::request_record));
  const area areas[] = {
      {layout.request, sizeof(gen::request_record) + most_latency_entries * sizeof(gen::latency_entry)},
      {layout.result, sizeof(gen::result_record)},
      {layout.progress, sizeof(gen::progress_record)},
      {layout.tokens, 4U * 1024},
      {layout.image, layout.image_bytes},
      {layout.kv, layout.kv_bytes},
      {layout.work, layout.work_bytes}};
  std::uint64_t end = gen::system::dram_base;
  for (const auto& a : areas) {
    EXPECT_GE(a.first, end);
    EXPECT_EQ(a.first % 64, 0U);
    end = a.first + a.bytes;
  }
  EXPECT_LE(end, gen::system::dram_base + dram);
}

TEST(dram_layout, a_model_that_does_not_fit_is_refused_with_both_sizes) {
  gen::image_header model;
  model.context = 16;
  try {
    place_in_dram(model, 64U << 20, 32U << 20);
    FAIL() << "accepted";
  } catch (const usage_error& error) {
    EXPECT_NE(std::string(error.what()).find("33554432"), std::string::npos) << error.what();
  }
}

TEST(run_options, numbers_are_whole_or_refused) {
  const run_options options = parse_run_options({"--prompt", "a", "-p", "b", "--seed", "18446744073709551615"});
  EXPECT_EQ(options.prompts, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(options.seed, UINT64_MAX);
  for (const char* text : {"18446744073709551616", "1.5", "", " 1", "0x10", "1k"}) {
    EXPECT_THROW(parse_run_options({"--prompt", "a", "--seed", text}), usage_error) << text;
  }
}

}  // namespace
}  // namespace dvp::platform
