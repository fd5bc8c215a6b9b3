#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>

#include "tlm/platform/array_seats.h"
#include "tlm/platform/commands.h"
#include "tlm/platform/cpu_side.h"
#include "tlm/platform/files.h"
#include "tlm/platform/latency_table.h"
#include "tlm/platform/profile/measurement.h"
#include "tlm/platform/profile/options.h"
#include "tlm/platform/profile/stairs.h"
#include "tlm/platform/shared_files.h"
#include "tlm/platform/simulate.h"
#include "tlm/platform/version.h"

namespace dvp::platform {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

std::vector<std::uint32_t> choose_keys(const profile_options& options, const loaded_model& model) {
  const std::uint32_t context = model.header().context;
  std::vector<std::uint32_t> keys = options.keys;
  if (options.keys_given && keys.back() > context) {
    throw usage_error("--keys " + std::to_string(keys.back()) + ": the context of " + model.name() + " has " +
                      std::to_string(context) + " positions");
  }
  std::erase_if(keys, [&](std::uint32_t k) { return k > context; });
  return keys.empty() ? std::vector<std::uint32_t>{context} : keys;
}

// Beside the user's own configuration; what is shipped stays as it is.
fs::path default_output(const std::string& name_or_path) {
  std::error_code ignored;
  const fs::path beside = latency_file_of(find_config(name_or_path));
  return fs::exists(name_or_path, ignored) ? beside : beside.filename();
}

ordered_json make_file(const platform_config& config, const loaded_model& model, double tolerance,
                       const std::vector<measured_times>& times) {
  ordered_json file;
  file["schema"] = "dllm-vp.latency.1";
  file["version"] = version;
  file["configuration"] = config.name;
  file["model"] = model.name();
  file["platform"] = timed_platform(config.source);
  file["shape"] = timed_shape(model);
  file["tolerance"] = tolerance;
  std::uint32_t raised = 0;
  ordered_json tables = ordered_json::array();
  for (const auto& measured : times) {
    std::vector<std::uint32_t> ns = measured.ns;
    raised += raise_to_monotone(ns);
    ordered_json stairs = ordered_json::array();
    for (const auto& stair : make_stairs(ns, tolerance, most_latency_entries)) stairs.push_back({stair.rows, stair.ns});
    tables.push_back({{"keys", measured.keys}, {"ns", measured.ns}, {"stairs", std::move(stairs)}});
  }
  file["raised"] = raised;
  file["tables"] = std::move(tables);
  return file;
}

// Times at every eighth row, rows down and keys across: both staircases at a glance.
void print_times(const std::vector<measured_times>& times) {
  constexpr std::size_t every = 8;
  std::printf("us of a forward  keys");
  for (const auto& t : times) std::printf(" %8u", t.keys);
  std::printf("\n");
  std::size_t most = 0;
  for (const auto& t : times) most = std::max(most, t.ns.size());
  for (std::size_t rows = 1; rows <= most; rows = rows == 1 ? every : rows + every) {
    std::printf("%16zu rows", rows);
    for (const auto& t : times) {
      if (rows <= t.ns.size()) {
        std::printf(" %8.2f", t.ns[rows - 1] * 1e-3);
      } else {
        std::printf(" %8s", "");
      }
    }
    std::printf("\n");
  }
}

void print_stairs(const ordered_json& file) {
  for (const auto& table : file["tables"]) {
    std::printf("stairs with %s keys: up to", table["keys"].dump().c_str());
    for (const auto& stair : table["stairs"]) std::printf(" %s", stair[0].dump().c_str());
    std::printf(" rows\n");
  }
}

}  // namespace

int profile_command(const std::vector<std::string>& arguments) {
  const profile_options options = parse_profile_options(arguments);
  if (options.help) {
    std::cout << profile_help();
    return exit_ok;
  }
  const fs::path config_path = find_config(options.config);
  const bool has_data = options.data == data_choice::real;
  const fs::path model_path = has_data ? find_model(options.model) : find_model_or_shape(options.model);
  const fs::path out = options.out.empty() ? default_output(options.config) : fs::path(options.out);
  refuse_shared_files({{"--out", out.string()}},
                      {{"--config", config_path.string()}, {"--model", model_path.string()}});
  const loaded_model model(model_path.string(), loader::longest_context, options.data, options.layers);
  platform_config config = load_config(options.config, options.overrides);
  // Nobody decides by what these forwards predict.
  config.npu.shape_only = !has_data;
  if (model.config().block_causal()) {
    throw usage_error("--model " + options.model + ": is block-causal, and drafts are for bidirectional models");
  }
  const auto keys = choose_keys(options, model);
  refuse_unwritable(out);
  for (const std::uint32_t k : keys) {
    if (k < options.rows) std::cout << "note: " << k << " keys have no more than " << k << " rows\n";
  }

  core::statistics figures;
  core::timeline timeline;
  cpu_side cpu({}, config, "", std::cout);
  array_seats seats(config.npu.array, array_choice::model, 1, "", 0);
  platform chip("dllm_vp", config, seats.seat(), cpu.console(), cpu.entry(), figures, timeline);
  cpu.attach(chip, false, timeline, std::cout);
  measurement measuring(chip, config, model);
  measuring.start(keys, options.rows, [&](std::size_t done) {
    std::cout << "[" << done << "/" << keys.size() << "] " << keys[done - 1] << " keys\n" << std::flush;
  });
  const simulation_end how = simulate(std::nullopt);
  if (!chip.npu.failure().empty()) throw std::runtime_error(chip.npu.failure());
  if (measuring.unfit()) throw usage_error(measuring.failure());
  if (!measuring.failure().empty()) throw std::runtime_error(measuring.failure());
  if (!measuring.over()) {
    const std::string why = cpu_trouble(chip, how, cpu.symbols());
    throw std::runtime_error(why.empty() ? "the program ended the simulation before all was measured" : why);
  }

  const ordered_json file = make_file(config, model, options.tolerance, measuring.times());
  print_times(measuring.times());
  print_stairs(file);
  std::cout << std::flush;
  write_text(out, file.dump(1) + "\n");
  std::cout << "written  " << out.string() << '\n';
  return exit_ok;
}

}  // namespace dvp::platform
