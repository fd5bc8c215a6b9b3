// dllm-vp dram: traffic in, a table and files out.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>

#include "tlm/core/strict_json.h"
#include "tlm/lpddr5/check/command_checker.h"
#include "tlm/platform/commands.h"
#include "tlm/platform/dram/command_csv.h"
#include "tlm/platform/dram/command_tee.h"
#include "tlm/platform/dram/command_timeline.h"
#include "tlm/platform/dram/golden.h"
#include "tlm/platform/dram/memory_choice.h"
#include "tlm/platform/dram/options.h"
#include "tlm/platform/dram/report.h"
#include "tlm/platform/dram/stats.h"
#include "tlm/platform/dram/traffic.h"
#include "tlm/platform/files.h"

namespace dvp::platform {

namespace {

using namespace lpddr5;

constexpr std::uint64_t check_up_to = 2'000'000;  // requests
constexpr std::uint64_t stream_bytes = 1024;      // --mode stream, where the configuration does not say

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

int list() {
  const auto show = [](const char* label, const auto& names) {
    std::cout << "  " << label;
    for (const auto& name : names) std::cout << ' ' << name;
    std::cout << '\n';
  };
  show("configurations (--config) ", builtin_memories());
  show("patterns (--generate)     ", pattern_names);
  show("trace forms (--format)    ", trace_format_names);
  show("address maps              ", standard_mapping_orders());
  return exit_ok;
}

checker_options promises(const controller_config& c) {
  checker_options options;
  options.refresh.kind = c.refresh == refresh_policy::none       ? refresh_kind::none
                         : c.refresh == refresh_policy::all_bank ? refresh_kind::all_bank
                                                                 : refresh_kind::per_bank;
  options.refresh.postpone = c.refresh_postpone;
  options.refresh.pull_in = c.refresh_pull_in;
  options.core_feed = c.tagged.core_feed;
  return options;
}

// What listens to the commands, as the options ask.
class listeners {
 public:
  listeners(const dram_options& options, const memory_config& memory, bool check) {
    if (check) {
      checker = std::make_unique<command_checker>(memory.dev, memory.channels, promises(memory.controller));
      tee_.add(checker.get());
    }
    if (options.commands) {
      csv = std::make_unique<command_csv>(options.out, memory.dev, memory.channels);
      tee_.add(csv.get());
    }
    if (options.timeline) {
      timeline = std::make_unique<command_timeline>(options.out + "/timeline.json", memory.dev, memory.channels,
                                                    options.timeline_commands);
      tee_.add(timeline.get());
    }
  }
  command_sink* sink() { return tee_.sink(); }
  void finish(cycles end) {
    if (checker) checker->finish(end);
    if (csv) csv->finish(end);
    if (timeline) timeline->finish(end);
  }

  std::unique_ptr<command_checker> checker;
  std::unique_ptr<command_csv> csv;
  std::unique_ptr<command_timeline> timeline;

 private:
  command_tee tee_;
};

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error || !std::filesystem::is_directory(path)) {
    throw usage_error("--out " + path + ": cannot be made a folder" + (error ? ": " + error.message() : ""));
  }
}

int golden(const dram_options& options) {
  const auto begin = std::chrono::steady_clock::now();
  if (!options.out.empty()) make_folder(options.out);
  const auto rows = run_golden(choose_memory("lpddr5-6400-x16", {}));
  if (!options.quiet) std::cout << golden_table(rows);
  std::cout << golden_count(rows);
  if (!options.quiet) std::printf("  %-12s%.1f s\n", "wall", seconds_since(begin));
  if (!options.out.empty()) {
    const std::string path = options.out + "/golden.json";
    write_text(path, golden_json(rows).dump(2) + "\n");
    if (!options.quiet) std::cout << "  written     " << path << '\n';
  }
  return std::all_of(rows.begin(), rows.end(), [](const golden_row& r) { return r.ok(); }) ? exit_ok : exit_fault;
}

void write_results(const dram_options& options, const dram_result& result, const listeners& heard,
                   const std::string& report) {
  const std::string folder = options.out + '/';
  std::vector<std::string> written = {folder + "stats.json", folder + "latency.csv", folder + "summary.txt"};
  write_text(written[0], make_dram_stats(result).dump(2) + "\n");
  write_text(written[1], make_latency_csv(result));
  write_text(written[2], report);
  if (heard.csv) written.insert(written.end(), heard.csv->paths().begin(), heard.csv->paths().end());
  std::cout << "  written    ";
  for (const auto& path : written) std::cout << ' ' << path;
  if (heard.timeline) {
    std::cout << ' ' << folder << "timeline.json (open in ui.perfetto.dev";
    if (!heard.timeline->complete()) std::cout << "; the first " << grouped(options.timeline_commands) << " commands";
    std::cout << ')';
  }
  std::cout << '\n';
}

void choose_mode(const dram_options& options, controller_config& controller) {
  if (options.stream_mode && !*options.stream_mode) controller.stream_bytes = 0;
  if (options.stream_mode && *options.stream_mode && controller.stream_bytes == 0)
    controller.stream_bytes = stream_bytes;
  if (controller.stream_bytes == 0) return;
  const auto refuse = [](const char* option) {
    throw usage_error(std::string(option) + ": reads served in one step have no commands; add --mode cycle");
  };
  if (options.check == check_choice::on) refuse("--check");
  if (options.commands) refuse("--commands");
  if (options.timeline) refuse("--timeline");
}

// Empty: the checker runs. Traces are, however long.
std::string why_unchecked(const dram_options& options, const memory_config& memory, const planned_traffic& planned) {
  if (options.check == check_choice::on) return "";
  if (options.check == check_choice::off) return "off";
  if (memory.controller.stream_bytes != 0) return "off: reads served in one step have no commands";
  if (planned.requests.value_or(0) <= check_up_to) return "";
  return "off above " + grouped(check_up_to) + " requests; --check turns it on";
}

int play(const dram_options& options) {
  dram_result result;
  result.memory = choose_memory(options.config, options.overrides);
  memory_config& memory = result.memory;
  choose_mode(options, memory.controller);
  const address_mapping mapping(memory.mapping, memory.dev.shape, memory.channels);
  const rule_table rules = compile(memory.rules, memory.dev.times);
  planned_traffic planned = plan_traffic(options, memory, mapping);
  // With a core that feeds several columns the configuration has this note already.
  const bool tagged = options.generate == pattern::mixed && options.generator.share_q4 + options.generator.share_q2 > 0;
  if (tagged && memory.controller.tagged.core_feed == 1) {
    if (std::string why = why_bursts_stay_unfilled(memory); !why.empty()) memory.notes.push_back(std::move(why));
  }

  result.unchecked = why_unchecked(options, memory, planned);
  if (!options.out.empty()) make_folder(options.out);
  listeners heard(options, memory, result.unchecked.empty());
  traffic_player player;
  for (auto& p : planned.sources) player.add(std::move(p.source), p.limits);
  memory_system system(memory.dev, rules, memory.controller, mapping, player, heard.sink());
  const auto begin = std::chrono::steady_clock::now();
  result.end = player.play(system);
  const double wall = seconds_since(begin);
  if (player.requests() == 0) throw usage_error(planned.what + ": has no requests");

  result.figures = system.figures(result.end);
  result.energy = energy_of(result.figures, memory.dev);
  result.traffic = planned.what;
  result.requests = player.requests();
  result.outstanding = options.outstanding;
  result.seed = planned.seed;
  heard.finish(result.end);
  if (heard.checker) {
    result.check = {heard.checker->commands(), heard.checker->violations(), heard.checker->sentences()};
  }

  const std::string report = make_dram_report(result, wall);
  std::cout << (options.quiet ? make_dram_brief(result, wall) : report);
  if (!options.out.empty()) write_results(options, result, heard, report);
  return result.check && result.check->violations != 0 ? exit_fault : exit_ok;
}

}  // namespace

int dram_command(const std::vector<std::string>& arguments) {
  const dram_options options = parse_dram_options(arguments);
  if (options.help) {
    std::cout << dram_help();
    return exit_ok;
  }
  try {
    if (options.list) return list();
    return options.golden ? golden(options) : play(options);
  } catch (const traffic_error& error) {
    throw usage_error(error.what());
  } catch (const core::config_error& error) {
    throw usage_error(error.what());
  } catch (const std::invalid_argument& error) {
    throw usage_error(options.config + ": " + error.what());
  }
}

}  // namespace dvp::platform
