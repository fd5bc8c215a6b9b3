#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>

#include "tlm/platform/array_seats.h"
#include "tlm/platform/commands.h"
#include "tlm/platform/cpu_side.h"
#include "tlm/platform/files.h"
#include "tlm/platform/prompts.h"
#include "tlm/platform/report.h"
#include "tlm/platform/shared_files.h"
#include "tlm/platform/simulate.h"

namespace dvp::platform {

namespace {

namespace fs = std::filesystem;

std::vector<prompt> collect_prompts(const run_options& options) {
  std::vector<prompt> prompts;
  if (!options.prompt_file.empty()) prompts = read_prompts(options.prompt_file, options.limit);
  for (const auto& text : options.prompts) {
    if (text.empty()) throw usage_error("--prompt: is empty; give the text to answer");
    prompts.push_back({"prompt-" + std::to_string(prompts.size() + 1), text, std::nullopt});
  }
  return prompts;
}

// What the firmware would refuse with a code, said with the numbers the user can change.
void refuse_impossible(const run_options& options, const loaded_model& model, const decode_config& config,
                       const decode_options& decode) {
  refuse_unfit(config, model.config().block_causal(), model.name());
  if (model.config().block_causal()) {
    if (options.steps) throw usage_error("--steps: is for the LLaDA loop and " + model.name() + " has another");
    if (options.stop_at_end)
      throw usage_error("--stop-at-end: is for the LLaDA loop and " + model.name() + " has another");
    return;
  }
  if (options.threshold && !config.fast_dllm_v1)
    throw usage_error("--threshold: is for the Fast-dLLM loops and " + model.name() + " has another");
  const std::uint32_t block = model.defaults().block_length;
  if (decode.generate_tokens % block != 0) {
    throw usage_error("--generate " + std::to_string(decode.generate_tokens) +
                      ": the LLaDA loop generates whole blocks of " + std::to_string(block) +
                      " tokens; give a multiple");
  }
  if (config.fast_dllm_v1 && config.rule != gen::commit_rule::count) return;
  const std::uint32_t blocks = decode.generate_tokens / block;
  if (decode.steps % blocks != 0) {
    throw usage_error("--steps " + std::to_string(decode.steps) + ": must be a multiple of the " +
                      std::to_string(blocks) + " blocks that " + std::to_string(decode.generate_tokens) +
                      " tokens make");
  }
}

decode_options choose_decode(const run_options& options, const loaded_model& model, const decode_config& config) {
  const auto& defaults = model.defaults();
  decode_options decode;
  decode.generate_tokens = options.generate_tokens.value_or(defaults.gen_length);
  decode.steps = options.steps.value_or(defaults.steps);
  decode.threshold = options.threshold.value_or(defaults.threshold);
  decode.temperature = options.temperature;
  decode.seed = options.seed;
  decode.stop_at_end = options.stop_at_end;
  refuse_impossible(options, model, config, decode);
  return decode;
}

view_mode choose_view(const run_options& options) {
  if (options.quiet) return view_mode::quiet;
  return options.visual ? view_mode::visual : view_mode::blocks;
}

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error || !fs::is_directory(path)) {
    throw usage_error("--out " + path + ": cannot be made a folder" + (error ? ": " + error.message() : ""));
  }
  if (access(path.c_str(), W_OK) != 0) throw usage_error("--out " + path + ": nothing can be written there");
}

std::vector<std::string> overrides_of(const run_options& options) {
  std::vector<std::string> overrides = options.overrides;
  if (options.seat) overrides.push_back(std::string("cpu.seat=") + name_of(*options.seat));
  return overrides;
}

// What a run leaves in the folder of --out.
constexpr const char* results[] = {"stats.json", "timeline.json", "trajectory.json", "summary.txt"};

void refuse_shared(const run_options& options, const platform_config& config) {
  std::vector<named_file> outputs = output_files(options.cpu);
  if (!options.waves.empty()) outputs.push_back({"--waves", options.waves});
  if (!options.out.empty()) {
    for (const char* name : results) outputs.push_back({"--out", (fs::path(options.out) / name).string()});
  }
  std::vector<named_file> inputs{{"--model", find_model(options.model).string()},
                                 {"--config", find_config(options.config).string()}};
  if (!options.prompt_file.empty()) inputs.push_back({"--prompts", options.prompt_file});
  if (config.seat == cpu_choice::rv64) {
    inputs.push_back({"--firmware", options.cpu.firmware.empty() ? built_image() : options.cpu.firmware});
  }
  refuse_shared_files(outputs, inputs);
}

// A run that fails must not leave what looks like its results.
void remove_results(const std::string& folder) {
  std::error_code ignored;
  for (const char* name : results) fs::remove(fs::path(folder) / name, ignored);
}

// Why there is not an answer to every prompt, one sentence; empty when there is.
std::string trouble(platform& chip, const session& asking, const cpu_side& cpu, simulation_end how) {
  if (!chip.npu.failure().empty()) return chip.npu.failure();
  if (!asking.failure().empty()) return asking.failure() + trap_in_hand(chip, cpu.symbols());
  if (asking.over()) return {};
  if (cpu.killed()) return "the debugger ended the run";
  const std::string why = cpu_trouble(chip, how, cpu.symbols());
  return why.empty() ? "the program ended the simulation before every prompt was answered" : why;
}

// One line per answer that is not simply right: the reader wants to know these first.
void print_faults(const std::vector<answer>& answers) {
  for (const auto& a : answers) {
    if (!a.fault.empty()) {
      std::cout << "  " << a.request.id << ": " << a.fault << '\n';
    } else if (!a.ok()) {
      std::cout << "  " << a.request.id << ": the firmware ended with " << gen::name_of(a.result.code);
      if (a.result.code == gen::result_code::npu_error) {
        std::cout << " " << gen::npu::name_of(static_cast<gen::npu::error_code>(a.result.npu_error))
                  << " at descriptor " << a.result.npu_error_index;
      }
      std::cout << '\n';
    } else if (a.request.expected && !a.right()) {
      std::cout << "  " << a.request.id << ": wrong, expected \"" << *a.request.expected << "\" and got \"" << a.text
                << "\"\n";
    }
  }
}

}  // namespace

int run_command(const std::vector<std::string>& arguments) {
  const run_options options = parse_run_options(arguments);
  if (options.help) {
    std::cout << run_help();
    return exit_ok;
  }
  const auto prompts = collect_prompts(options);
  const loaded_model model(find_model(options.model).string(), options.context.value_or(loader::longest_context));
  const platform_config config = load_config(options.config, overrides_of(options));
  const decode_options decode = choose_decode(options, model, config.decode);
  for (const auto& item : prompts) model.tokenizer().encode(item.text + model.defaults().prompt_suffix);
  refuse_shared(options, config);
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
  session asking(chip, figures, config, model, decode, view);
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

  if (const std::string why = trouble(chip, asking, cpu, how); !why.empty()) {
    cpu.finish(chip, exit_fault, std::cout);
    std::cout << cpu.transcript();
    throw std::runtime_error(why);
  }

  const auto stats = make_stats(config, model, options, decode, asking.answers());
  const std::string summary = make_summary(stats, wall.count());
  std::cout << '\n';
  print_faults(asking.answers());
  std::cout << summary;
  if (!options.out.empty()) {
    write_text(out_file("stats.json"), stats.dump(2) + "\n");
    write_text(out_file("trajectory.json"), make_trajectory(model, asking.answers()).dump() + "\n");
    write_text(out_file("summary.txt"), summary);
    std::cout << "  written     " << out_file("stats.json");
    if (with_timeline) std::cout << "   " << out_file("timeline.json") << " (open in ui.perfetto.dev)";
    std::cout << "   " << out_file("summary.txt") << '\n';
  }
  if (!options.waves.empty()) std::cout << "  waveform    " << options.waves << " (open in GTKWave or Surfer)\n";
  const bool all_ok =
      std::all_of(asking.answers().begin(), asking.answers().end(), [](const answer& a) { return a.ok(); });
  const int code = all_ok && asking.answers().size() == prompts.size() ? exit_ok : exit_fault;
  cpu.finish(chip, code, std::cout);
  return code;
}

}  // namespace dvp::platform
