#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>

#include "firmware/port/native/machine.h"
#include "tlm/platform/array_seats.h"
#include "tlm/platform/commands.h"
#include "tlm/platform/files.h"
#include "tlm/platform/native_machine.h"
#include "tlm/platform/prompts.h"
#include "tlm/platform/report.h"

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
void refuse_impossible(const run_options& options, const loaded_model& model, const decode_options& decode) {
  if (model.config().block_causal()) {
    if (options.steps) throw usage_error("--steps: is for the LLaDA loop and " + model.name() + " has another");
    if (options.stop_at_end)
      throw usage_error("--stop-at-end: is for the LLaDA loop and " + model.name() + " has another");
    return;
  }
  if (options.threshold)
    throw usage_error("--threshold: is for the Fast-dLLM v2 loop and " + model.name() + " has another");
  const std::uint32_t block = model.defaults().block_length;
  if (decode.generate_tokens % block != 0) {
    throw usage_error("--generate " + std::to_string(decode.generate_tokens) +
                      ": the LLaDA loop generates whole blocks of " + std::to_string(block) +
                      " tokens; give a multiple");
  }
  const std::uint32_t blocks = decode.generate_tokens / block;
  if (decode.steps % blocks != 0) {
    throw usage_error("--steps " + std::to_string(decode.steps) + ": must be a multiple of the " +
                      std::to_string(blocks) + " blocks that " + std::to_string(decode.generate_tokens) +
                      " tokens make");
  }
}

decode_options choose_decode(const run_options& options, const loaded_model& model) {
  const auto& defaults = model.defaults();
  decode_options decode;
  decode.generate_tokens = options.generate_tokens.value_or(defaults.gen_length);
  decode.steps = options.steps.value_or(defaults.steps);
  decode.threshold = options.threshold.value_or(defaults.threshold);
  decode.temperature = options.temperature;
  decode.seed = options.seed;
  decode.stop_at_end = options.stop_at_end;
  refuse_impossible(options, model, decode);
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
  const platform_config config = load_config(options.config, options.overrides);
  const decode_options decode = choose_decode(options, model);
  for (const auto& item : prompts) model.tokenizer().encode(item.text + model.defaults().prompt_suffix);
  if (!options.out.empty()) make_folder(options.out);
  const auto out_file = [&](const char* name) { return (fs::path(options.out) / name).string(); };

  core::statistics figures;
  const bool with_timeline = !options.out.empty() && options.timeline_prompts != 0;
  const auto timeline =
      with_timeline ? std::make_unique<core::timeline>(out_file("timeline.json")) : std::make_unique<core::timeline>();
  array_seats seats(config.npu.array, options.array, options.lockstep_every, options.waves, options.waves_jobs);
  progress_view view(std::cout, choose_view(options), isatty(STDOUT_FILENO) != 0, model.tokenizer(),
                     model.header().mask_token, model.header().end_token);

  const auto wall_begin = std::chrono::steady_clock::now();
  std::unique_ptr<session> asking;
  const auto answered = [&](std::size_t done) {
    // Not after the last one: the models write their last slices when the simulation ends.
    if (done == options.timeline_prompts && done < prompts.size()) timeline->close();
  };
  platform chip(
      "dllm_vp", config, seats.seat(), [&] { asking->run(prompts, answered); }, figures, *timeline);
  native_machine machine(chip.cpu);
  hal::install(&machine);
  asking = std::make_unique<session>(chip, figures, config, model, decode, view);
  for (const auto& note : asking->notes()) std::cout << "  note: " << note << '\n';
  sc_core::sc_start();
  // Ends the simulation, so that every model writes its last figures and slices; a lockstep difference did already.
  if (sc_core::sc_get_status() != sc_core::SC_STOPPED) sc_core::sc_stop();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - wall_begin;
  if (with_timeline && !timeline->close()) {
    throw std::runtime_error(out_file("timeline.json") + ": could not be written whole; is the disk full?");
  }

  if (!chip.npu.failure().empty()) {
    std::cerr << "dllm-vp: " << chip.npu.failure() << '\n';
    return exit_fault;
  }
  if (!chip.cpu.done()) {
    throw std::runtime_error("the simulation ended at " + sc_core::sc_time_stamp().to_string() +
                             " while the firmware waited for the NPU; set decode.watchdog_us to have it give up");
  }
  if (!chip.cpu.error().empty()) throw std::runtime_error("the firmware ended: " + chip.cpu.error());

  const auto stats = make_stats(config, model, options, decode, asking->answers());
  const std::string summary = make_summary(stats, wall.count());
  std::cout << '\n';
  print_faults(asking->answers());
  std::cout << summary;
  if (!options.out.empty()) {
    write_text(out_file("stats.json"), stats.dump(2) + "\n");
    write_text(out_file("trajectory.json"), make_trajectory(model, asking->answers()).dump() + "\n");
    write_text(out_file("summary.txt"), summary);
    std::cout << "  written     " << out_file("stats.json");
    if (with_timeline) std::cout << "   " << out_file("timeline.json") << " (open in ui.perfetto.dev)";
    std::cout << "   " << out_file("summary.txt") << '\n';
  }
  if (!options.waves.empty()) std::cout << "  waveform    " << options.waves << " (open in GTKWave or Surfer)\n";
  const bool all_ok =
      std::all_of(asking->answers().begin(), asking->answers().end(), [](const answer& a) { return a.ok(); });
  return all_ok && asking->answers().size() == prompts.size() ? exit_ok : exit_fault;
}

}  // namespace dvp::platform
