#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>

#include "tlm/platform/answer_trouble.h"
#include "tlm/platform/array_seats.h"
#include "tlm/platform/commands.h"
#include "tlm/platform/cpu_side.h"
#include "tlm/platform/files.h"
#include "tlm/platform/prepared_run.h"
#include "tlm/platform/report.h"
#include "tlm/platform/shared_files.h"
#include "tlm/platform/simulate.h"

namespace dvp::platform {

namespace {

namespace fs = std::filesystem;

view_mode choose_view(const run_options& options) {
  if (options.quiet) return view_mode::quiet;
  return options.visual ? view_mode::visual : view_mode::blocks;
}

// What a run leaves in the folder of --out.
constexpr const char* results[] = {"stats.json", "timeline.json", "trajectory.json", "summary.txt", "plan.txt"};

void refuse_shared(const run_options& options, const std::vector<named_file>& inputs) {
  std::vector<named_file> outputs = output_files(options.cpu);
  if (!options.waves.empty()) outputs.push_back({"--waves", options.waves});
  if (!options.out.empty()) {
    for (const char* name : results) outputs.push_back({"--out", (fs::path(options.out) / name).string()});
  }
  refuse_shared_files(outputs, inputs);
}

// A run that fails must not leave what looks like its results.
void remove_results(const std::string& folder) {
  std::error_code ignored;
  for (const char* name : results) fs::remove(fs::path(folder) / name, ignored);
}

// Why there is not an answer to every prompt, one sentence; empty when there is.
std::string trouble(platform& chip, const session& asking, const cpu_side& cpu, simulation_end how,
                    std::optional<std::uint64_t> limit_us) {
  if (!chip.npu.failure().empty()) return chip.npu.failure();
  if (!asking.failure().empty()) return asking.failure() + trap_in_hand(chip, cpu.symbols());
  if (asking.over()) return {};
  if (cpu.killed()) return "the debugger ended the run";
  const std::string why = cpu_trouble(chip, how, cpu.symbols(), limit_us);
  return why.empty() ? "the program ended the simulation before every prompt was answered" : why;
}

// One line per sentence about answers that are not simply right: the reader wants to know these first.
void print_faults(const std::vector<answer>& answers, const platform_config& config) {
  // Where the configuration is what fails, the longest prompt tells how to change it for all.
  const answer* longest = nullptr;
  for (const auto& a : answers) {
    if (!is_configurations_fault(a)) continue;
    if (longest == nullptr || a.result.plan_bytes > longest->result.plan_bytes) longest = &a;
  }
  const auto sentence = [&](const answer& a) { return trouble_of(is_configurations_fault(a) ? *longest : a, config); };
  std::map<std::string, std::size_t> same;
  for (const auto& a : answers) ++same[sentence(a)];
  for (const auto& a : answers) {
    if (!a.ok()) {
      const std::string why = sentence(a);
      const std::size_t others = same[why] == 0 ? 0 : same[why] - 1;
      if (same[why] == 0) continue;  // said with an earlier one
      same[why] = 0;
      std::cout << "  " << a.request.id << (others == 0 ? "" : " and " + std::to_string(others) + " more") << ": "
                << why << '\n';
    } else if (a.request.expected && !a.right()) {
      std::cout << "  " << a.request.id << ": wrong, expected \"" << *a.request.expected << "\" and got \"" << a.text
                << "\"\n";
    }
  }
}

// A run that can only fail as configured is no fault of the simulation.
int exit_code_of(const std::vector<answer>& answers, std::size_t prompts) {
  if (answers.size() != prompts) return exit_fault;
  if (std::all_of(answers.begin(), answers.end(), [](const answer& a) { return a.ok(); })) return exit_ok;
  const bool usage =
      std::all_of(answers.begin(), answers.end(), [](const answer& a) { return a.ok() || is_configurations_fault(a); });
  return usage ? exit_usage : exit_fault;
}

}  // namespace

int run_command(const std::vector<std::string>& arguments) {
  const run_options options = parse_run_options(arguments);
  if (options.help) {
    std::cout << run_help();
    return exit_ok;
  }
  const prepared_run run(options);
  const auto& [shape, model, prompts, config, decode, inputs] = run;
  refuse_shared(options, inputs);
  cpu_side cpu(options.cpu, config, "", std::cout);
  if (!options.out.empty()) {
    make_folder(options.out);
    remove_results(options.out);
  }
  const auto out_file = [&](const char* name) { return (fs::path(options.out) / name).string(); };

  core::statistics figures;
  const bool with_timeline = !options.out.empty() && options.timeline_prompts != 0;
  const auto timeline =
      with_timeline ? std::make_unique<core::timeline>(out_file("timeline.json")) : std::make_unique<core::timeline>();
  array_seats seats(config.npu.array, options.array, options.lockstep_every, options.waves, options.waves_jobs);
  progress_view view(std::cout, choose_view(options), isatty(STDOUT_FILENO) != 0, model.tokenizer(),
                     model.header().mask_token, model.header().end_token);

  const auto wall_begin = std::chrono::steady_clock::now();
  platform chip("dllm_vp", config, seats.seat(), cpu.console(), cpu.entry(), figures, *timeline);
  cpu.attach(chip, false, *timeline, std::cout);
  const auto feed = shape.feed(model);
  session asking(chip, figures, config, model, decode, view, feed.get());
  for (const auto& note : asking.notes()) std::cout << "  note: " << note << '\n';
  const bool anything = asking.start(prompts, [&](std::size_t done) {
    // Not after the last one: the models write their last slices when the simulation ends.
    if (done == options.timeline_prompts && done < prompts.size()) {
      cpu.end_timeline();
      timeline->close();
    }
  });
  const simulation_end how = simulate(anything ? options.cpu.limit_us : 0);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - wall_begin;
  cpu.end_timeline();
  if (with_timeline && !timeline->close()) {
    throw std::runtime_error(out_file("timeline.json") + ": could not be written whole; is the disk full?");
  }

  if (const std::string why = trouble(chip, asking, cpu, how, options.cpu.limit_us); !why.empty()) {
    cpu.finish(chip, exit_fault, std::cout);
    std::cout << cpu.transcript();
    throw std::runtime_error(why);
  }

  auto stats = make_stats(config, model, options, decode, asking.answers());
  if (shape.decided_by() != nullptr) stats["trajectory"] = describe(*shape.decided_by());
  const std::string summary = make_summary(stats, wall.count());
  if (!options.quiet) std::cout << '\n';
  print_faults(asking.answers(), config);
  std::cout << summary;
  if (!options.out.empty()) {
    write_text(out_file("stats.json"), stats.dump(2) + "\n");
    write_text(out_file("trajectory.json"), make_trajectory(model, asking.answers()).dump() + "\n");
    write_text(out_file("summary.txt"), summary);
    if (!asking.swap_plan().empty()) write_text(out_file("plan.txt"), asking.swap_plan());
    std::cout << "  written     " << out_file("stats.json");
    if (with_timeline) std::cout << "   " << out_file("timeline.json") << " (open in ui.perfetto.dev)";
    std::cout << "   " << out_file("trajectory.json") << "   " << out_file("summary.txt");
    if (!asking.swap_plan().empty()) std::cout << "   " << out_file("plan.txt");
    std::cout << '\n';
  }
  if (!options.waves.empty()) std::cout << "  waveform    " << options.waves << " (open in GTKWave or Surfer)\n";
  const int code = exit_code_of(asking.answers(), prompts.size());
  cpu.finish(chip, code, std::cout);
  return code;
}

}  // namespace dvp::platform
