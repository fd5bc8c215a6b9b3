#include "tlm/platform/run_options.h"

#include <boost/program_options.hpp>
#include <sstream>

#include "tlm/loader/model_image.h"
#include "tlm/platform/command_line.h"
#include "tlm/platform/files.h"

namespace dvp::platform {

namespace po = boost::program_options;

namespace {

po::options_description description() {
  po::options_description options("dllm-vp run: answers prompts on the simulated chip", 110);
  // clang-format off
  options.add_options()
    ("prompt,p", po::value<std::vector<std::string>>()->composing(), "a prompt; may be given several times")
    ("prompts", po::value<std::string>(), "file of JSON lines {id, prompt, answer}; answers are scored (default: five built-in prompts)")
    ("limit", po::value<std::string>(), "only the first N prompts of the file")
    ("model,m", po::value<std::string>(), "model: shipped name or GGUF file (default tiny-fdllm2)")
    ("data", po::value<std::string>(), "real (default), or shape: no weights and no arithmetic, the same time and energy for the decisions of --trajectory; --model may then be a GGUF header or a Hugging Face config.json")
    ("trajectory", po::value<std::string>(), "shape: trajectory.json of a --replayable run, or a distribution: shipped name or file")
    ("prompt-tokens", po::value<std::vector<std::string>>()->composing(), "shape: a prompt of N tokens; may be given several times")
    ("layers", po::value<std::string>(), "shape: cut the model to its first N layers; costs grow linearly with them, so that two slices tell the whole")
    ("replayable", "keep in trajectory.json what the decode decided by, for --trajectory")
    ("config,c", po::value<std::string>(), "platform: shipped name or JSON file (default reference)")
    ("set", po::value<std::vector<std::string>>()->composing(), "override one value of the configuration: path=value; decode.compression.kv=brq and decode.compression.ffn=dat compress")
    ("array,a", po::value<std::string>(), "systolic array: model, rtl or both in lockstep (default model)")
    ("cpu", po::value<std::string>(), "firmware: native (compiled for the host) or rv64 (the image on an instruction-set simulator; default: the configuration's)")
    ("firmware", po::value<std::string>(), "rv64: image to run (default: the one built with this program)")
    ("lockstep-every", po::value<std::string>(), "with --array both: compare one array job in N (default 1)")
    ("generate", po::value<std::string>(), "most tokens to generate (default: the model's)")
    ("steps", po::value<std::string>(), "LLaDA loop: forwards in all (default: the model's)")
    ("context", po::value<std::string>(), "most positions to make room for (default: the model's context)")
    ("threshold", po::value<std::string>(), "Fast-dLLM loops: commit above this confidence (default: the model's)")
    ("temperature,t", po::value<std::string>(), "0 is greedy (default)")
    ("seed,s", po::value<std::string>(), "seed of the random generator (default 1)")
    ("stop-at-end", "LLaDA loop: stop after the block with the end token")
    ("out,o", po::value<std::string>(), "folder for stats.json, timeline.json, trajectory.json, summary.txt and, with decode.swap, plan.txt")
    ("timeline-prompts", po::value<std::string>(), "prompts shown in timeline.json (default the first 5; 0: no timeline)")
    ("timeline-functions", "rv64: show the functions of the firmware in timeline.json, some 5 MB more per prompt")
    ("waves", po::value<std::string>(), "record the RTL array's waveform to this FST file (with --array rtl or both)")
    ("waves-jobs", po::value<std::string>(), "array jobs to record (default 16)")
    ("visual", "show every denoising step")
    ("quiet,q", "print the summary only")
    ("help,h", "this text");
  // clang-format on
  add_cpu_options(options);
  return options;
}

array_choice parse_array(const std::string& name) {
  for (const auto choice : {array_choice::model, array_choice::rtl, array_choice::both}) {
    if (name == name_of(choice)) return choice;
  }
  throw usage_error("--array " + name + ": takes model, rtl or both");
}

cpu_choice parse_cpu(const std::string& name) {
  for (const auto choice : {cpu_choice::native, cpu_choice::rv64}) {
    if (name == name_of(choice)) return choice;
  }
  throw usage_error("--cpu " + name + ": takes native or rv64");
}

// An option that nothing reads is a mistake the user should hear of.
void refuse_idle_options(const po::variables_map& given, const run_options& options) {
  const auto needs = [&](const char* option, bool met, const char* why) { refuse_idle(given, option, met, why); };
  needs("limit", given.count("prompts") != 0 || given.count("prompt") == 0, "without --prompts");
  const bool shape = options.data == data_choice::shape;
  needs("trajectory", shape, "without --data shape");
  needs("prompt-tokens", shape, "without --data shape");
  needs("layers", shape, "without --data shape");
  needs("replayable", !shape && given.count("out") != 0, "without --out and with --data shape");
  needs("array", !shape || options.array == array_choice::model, "with --data shape: there is nothing to compute");
  needs("lockstep-every", options.array == array_choice::both, "without --array both");
  needs("waves", options.array != array_choice::model, "without RTL; add --array rtl or --array both");
  needs("waves-jobs", given.count("waves") != 0, "without --waves");
  needs("timeline-prompts", given.count("out") != 0, "without --out");
  needs("timeline-functions", given.count("out") != 0 && options.timeline_prompts != 0, "without a timeline");
  needs("visual", given.count("quiet") == 0, "together with --quiet");
}

}  // namespace

const char* name_of(array_choice choice) {
  switch (choice) {
    case array_choice::model:
      return "model";
    case array_choice::rtl:
      return "rtl";
    case array_choice::both:
      return "both";
  }
  return "unknown";
}

std::vector<std::string> overrides_of(const run_options& options) {
  std::vector<std::string> overrides = options.overrides;
  if (options.seat) overrides.push_back(std::string("cpu.seat=") + name_of(*options.seat));
  return overrides;
}

std::string run_help() {
  std::ostringstream text;
  text << description()
       << "\nExit codes: 0 all answered; 1 a simulation fault (lockstep difference, NPU error, trap, time limit), or "
          "the\n"
          "output could not be written; 2 wrong usage or configuration; 3 a model file or image that cannot be used;\n"
          "128 + N: signal N (Ctrl-C, SIGTERM, SIGHUP) ended the run; a second one ends it at once.\n";
  return text.str();
}

run_options parse_run_options(const std::vector<std::string>& arguments) {
  const po::variables_map given = parse_command_line(arguments, description(), {}, "dllm-vp run");
  constexpr std::uint32_t many = 1U << 20;
  run_options options;
  if (given.count("help") != 0) options.help = true;
  if (given.count("prompt") != 0) options.prompts = given["prompt"].as<std::vector<std::string>>();
  if (given.count("prompts") != 0) options.prompt_file = option_text(given, "prompts");
  if (given.count("limit") != 0)
    options.limit = option_number<std::uint32_t>(given, "limit", 1, many, "a whole number from 1");
  if (given.count("model") != 0) options.model = option_text(given, "model");
  if (given.count("config") != 0) options.config = option_text(given, "config");
  if (given.count("set") != 0) options.overrides = given["set"].as<std::vector<std::string>>();
  if (given.count("array") != 0) options.array = parse_array(option_text(given, "array"));
  if (given.count("cpu") != 0) options.seat = parse_cpu(option_text(given, "cpu"));
  options.cpu = read_cpu_options(given);
  for (const auto& override : overrides_of(options.cpu)) options.overrides.push_back(override);
  options.cpu.timeline_functions = given.count("timeline-functions") != 0;
  if (given.count("firmware") != 0) options.cpu.firmware = option_text(given, "firmware");
  if (given.count("lockstep-every") != 0) {
    options.lockstep_every = option_number<std::uint32_t>(given, "lockstep-every", 1, many, "a whole number from 1");
  }
  if (given.count("generate") != 0) {
    options.generate_tokens = option_number<std::uint32_t>(given, "generate", 1, many, "a whole number from 1");
  }
  if (given.count("steps") != 0)
    options.steps = option_number<std::uint32_t>(given, "steps", 1, many, "a whole number from 1");
  if (given.count("context") != 0) {
    options.context =
        option_number<std::uint32_t>(given, "context", 1, loader::longest_context, "a number of positions from 1");
  }
  if (given.count("threshold") != 0) {
    options.threshold = option_number<float>(given, "threshold", 0.0F, 1.0F, "a number from 0 to 1");
  }
  if (given.count("temperature") != 0) {
    options.temperature = option_number<float>(given, "temperature", 0.0F, 100.0F, "a number from 0 to 100");
  }
  if (given.count("seed") != 0) {
    options.seed = option_number<std::uint64_t>(given, "seed", 0, UINT64_MAX, "a whole number from 0");
  }
  options.stop_at_end = given.count("stop-at-end") != 0;
  if (given.count("data") != 0) options.data = parse_data(option_text(given, "data"));
  if (given.count("trajectory") != 0) options.trajectory = option_text(given, "trajectory");
  if (given.count("prompt-tokens") != 0) {
    for (const std::string& text : given["prompt-tokens"].as<std::vector<std::string>>()) {
      options.prompt_tokens.push_back(
          number_from<std::uint32_t>(text, "prompt-tokens", 1, many, "a whole number from 1"));
    }
  }
  if (given.count("layers") != 0)
    options.layers = option_number<std::uint32_t>(given, "layers", 1, many, "a whole number from 1");
  options.replayable = given.count("replayable") != 0;
  if (given.count("out") != 0) options.out = option_text(given, "out");
  if (given.count("timeline-prompts") != 0) {
    options.timeline_prompts =
        option_number<std::uint32_t>(given, "timeline-prompts", 0, many, "a whole number from 0");
  }
  if (given.count("waves") != 0) options.waves = option_text(given, "waves");
  if (given.count("waves-jobs") != 0) {
    options.waves_jobs = option_number<std::uint64_t>(given, "waves-jobs", 1, many, "a whole number from 1");
  }
  options.visual = given.count("visual") != 0;
  options.quiet = given.count("quiet") != 0;
  if (options.help) return options;
  if (options.data == data_choice::shape && options.trajectory.empty()) {
    throw usage_error(
        "--data shape: what decides has to come from somewhere; add --trajectory, with trajectory.json of a "
        "--replayable run or a distribution");
  }
  const bool shape_prompts = options.data == data_choice::shape;
  if (!shape_prompts && options.prompts.empty() && options.prompt_file.empty()) {
    options.prompt_file = (data_root() / "testbenches/vectors/tasks/showcase.jsonl").string();
  }
  refuse_idle_options(given, options);
  return options;
}

}  // namespace dvp::platform
