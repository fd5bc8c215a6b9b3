#include "tlm/platform/compare/options.h"

#include <algorithm>
#include <boost/program_options.hpp>
#include <sstream>
#include <thread>

#include "tlm/platform/command_line.h"
#include "tlm/platform/files.h"

namespace dvp::platform {

namespace po = boost::program_options;

namespace {

struct passed_option {
  const char* name;   // as of dllm-vp run
  const char* spelt;  // with its short form
  const char* what;
};

constexpr passed_option passed[] = {
    {"prompts", "prompts", "file of JSON lines {id, prompt, answer} (default: five built-in prompts)"},
    {"limit", "limit", "only the first N prompts of the file"},
    {"model", "model,m",
     "model: shipped name or GGUF file (default tiny-fdllm2); with --data shape as dllm-vp run takes it"},
    {"data", "data", "real (default), or shape: no weights and no arithmetic"},
    {"trajectory", "trajectory", "shape: what decides, a recorded trajectory or a distribution"},
    {"layers", "layers", "shape: cut the model to its first N layers"},
    {"array", "array,a", "systolic array: model, rtl or both"},
    {"cpu", "cpu", "firmware: native or rv64"},
    {"generate", "generate", "most tokens to generate"},
    {"steps", "steps", "rule count: forwards in all"},
    {"context", "context", "most positions to make room for"},
    {"threshold", "threshold", "rule threshold: commit above this confidence"},
    {"temperature", "temperature,t", "0 is greedy"},
    {"seed", "seed,s", "seed of the random generator"},
    {"timeline-prompts", "timeline-prompts", "prompts of each run on the timeline"},
};

po::options_description description() {
  po::options_description options("dllm-vp compare CONFIGURATION...: the same prompts on several configurations", 110);
  options.add_options()("configurations", po::value<std::vector<std::string>>()->composing(),
                        "shipped names, JSON files, or one of them with changes: fixed:decode.cache=dual,npu.array=nx")(
      "set", po::value<std::vector<std::string>>()->composing(), "change all of them: path=value")(
      "jobs,j", po::value<std::string>(), "runs at a time (default: one for each core)")(
      "out,o", po::value<std::string>(), "folder for compare.json, summary.txt, timeline.json and each run's results")(
      "prompt,p", po::value<std::vector<std::string>>()->composing(), "a prompt; may be given several times")(
      "prompt-tokens", po::value<std::vector<std::string>>()->composing(),
      "shape: a prompt of N tokens; may be given several times")(
      "stop-at-end", "bidirectional models: stop after the block with the end token")("help,h", "this text");
  for (const auto& option : passed) options.add_options()(option.spelt, po::value<std::string>(), option.what);
  return options;
}

}  // namespace

compare_options parse_compare_options(const std::vector<std::string>& arguments) {
  po::positional_options_description positional;
  positional.add("configurations", -1);
  const po::variables_map given = parse_command_line(arguments, description(), positional, "dllm-vp compare");
  compare_options options;
  options.help = given.count("help") != 0;
  if (options.help) return options;
  options.jobs = std::max(1U, std::thread::hardware_concurrency());
  if (given.count("configurations") == 0) {
    throw usage_error("dllm-vp compare: takes configurations to compare, such as reference fixed:decode.cache=dual");
  }
  options.configurations = given["configurations"].as<std::vector<std::string>>();
  if (given.count("set") != 0) options.overrides = given["set"].as<std::vector<std::string>>();
  if (given.count("jobs") != 0) {
    options.jobs = option_number<std::uint32_t>(given, "jobs", 1, 1024, "a whole number from 1");
  }
  if (given.count("out") != 0) options.out = option_text(given, "out");
  refuse_idle(given, "timeline-prompts", !options.out.empty(), "without --out");

  auto& run = options.run_arguments;
  for (const auto& option : passed) {
    if (given.count(option.name) != 0)
      run.push_back(std::string("--") + option.name + "=" + option_text(given, option.name));
  }
  for (const std::string name : {"prompt", "prompt-tokens"}) {
    if (given.count(name) == 0) continue;
    for (const auto& one : given[name].as<std::vector<std::string>>()) run.push_back("--" + name + "=" + one);
  }
  if (given.count("stop-at-end") != 0) run.emplace_back("--stop-at-end");
  if (options.out.empty()) run.emplace_back("--timeline-prompts=0");
  return options;
}

std::string compare_help() {
  std::ostringstream text;
  text << description()
       << "\nExit codes: 0 all ran; 1 one of them failed, the others are reported; 2 wrong usage or configuration,\n"
          "nothing ran; 3 a model file that cannot be used; 128 + N: signal N ended it.\n";
  return text.str();
}

}  // namespace dvp::platform
