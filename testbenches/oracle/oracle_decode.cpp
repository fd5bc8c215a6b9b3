// Decodes prompts in double precision, or replays a trajectory of the platform against double-precision logits.
//
// Exit codes: 0 done, every difference a near-tie; 1 a replayed decision differs by more than the tolerance; 2 bad
// usage or input.
#include <algorithm>
#include <boost/program_options.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "testbenches/oracle/decode.h"
#include "testbenches/oracle/replay.h"
#include "testbenches/oracle/trajectory_file.h"
#include "testbenches/oracle/vocabulary.h"

namespace {

using namespace dvp::oracle;
using nlohmann::ordered_json;
namespace po = boost::program_options;

struct question {
  std::string id;
  std::string prompt;
  std::string expected;  // "": unknown
};

std::ifstream open(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be opened");
  return file;
}

std::vector<question> read_questions(const po::variables_map& given) {
  if (given.count("prompt")) return {{"prompt", given["prompt"].as<std::string>(), ""}};
  std::ifstream lines = open(given["prompts"].as<std::string>());
  std::vector<question> questions;
  std::string line;
  while (std::getline(lines, line)) {
    if (line.empty()) continue;
    const auto item = ordered_json::parse(line);
    questions.push_back(
        {item.value("id", std::to_string(questions.size())), item.at("prompt"), item.value("answer", "")});
  }
  return questions;
}

void limit_to(const po::variables_map& given, auto& list) {
  if (given.count("limit")) list.resize(std::min(list.size(), given["limit"].as<std::size_t>()));
}

class program {
 public:
  program(const gguf_file& file, const settings& s)
      : net_(network::read(file)), words_(file), suffix_(file.text("dllm.prompt_suffix")), settings_(s) {}

  ordered_json decode_all(const std::vector<question>& questions) const {
    ordered_json answers = ordered_json::array();
    std::size_t right = 0, scored = 0;
    for (const question& q : questions) {
      const std::vector<token> prompt = words_.encode(q.prompt + suffix_);
      outcome o = decode(net_, settings_, prompt);
      const auto begin = o.tokens.begin() + static_cast<std::ptrdiff_t>(prompt.size());
      const std::string text = words_.decode({begin, std::find(begin, o.tokens.end(), settings_.end)});
      ordered_json item = to_json({q.id, q.prompt, {prompt, std::move(o.tokens), std::move(o.steps)}});
      item["answer"] = text;
      std::printf("%s (%zu forwards): %s\n", q.id.c_str(), item["forwards"].size(), text.c_str());
      if (!q.expected.empty()) {
        item["right"] = text == q.expected;
        right += text == q.expected ? 1 : 0;
        ++scored;
      }
      answers.push_back(std::move(item));
    }
    if (scored != 0) std::printf("right: %zu of %zu\n", right, scored);
    return {{"schema", "dllm-vp.trajectory.1"}, {"answers", std::move(answers)}};
  }

  // Whether every difference is a near-tie.
  bool replay_all(const std::vector<recorded_answer>& answers, double tolerance) const {
    std::size_t decisions = 0, commits = 0, ties = 0, wrong = 0;
    double worst_tie = 0;
    for (const recorded_answer& a : answers) {
      report r = replay(net_, settings_, a.path);
      if (a.path.prompt != words_.encode(a.text + suffix_))
        r.errors.push_back("the prompt tokens are not the prompt's");
      decisions += r.decisions;
      commits += r.commits;
      for (const disagreement& d : r.disagreements) {
        const bool tie = d.margin <= tolerance;
        (tie ? ties : wrong) += 1;
        if (tie) worst_tie = std::max(worst_tie, d.margin);
        std::printf("%s: %s forward %zu, %s, %s gap %.3g", tie ? "near-tie" : "ERROR", a.id.c_str(), d.forward,
                    d.what.c_str(), d.of_token ? "log-probability" : "log-odds", d.margin);
        if (!d.of_token) std::printf(", confidence gap %.3g", d.confidence_gap);
        std::printf("\n");
      }
      for (const std::string& e : r.errors) {
        ++wrong;
        std::printf("ERROR: %s %s\n", a.id.c_str(), e.c_str());
      }
    }
    std::printf(
        "replayed %zu answers, %zu decisions, %zu commits: %zu near-ties (largest margin %.3g, tolerance %.3g), "
        "%zu errors\n",
        answers.size(), decisions, commits, ties, worst_tie, tolerance, wrong);
    return wrong == 0;
  }

 private:
  network net_;
  vocabulary words_;
  std::string suffix_;
  settings settings_;
};

template <class Value>
Value choice(const char* option, const std::string& text, const std::map<std::string, Value>& values) {
  const auto found = values.find(text);
  if (found != values.end()) return found->second;
  std::string names;
  for (const auto& [name, value] : values) names += (names.empty() ? "" : ", ") + name;
  throw std::runtime_error("--" + std::string(option) + " " + text + ": give one of " + names);
}

loop loop_of(const std::string& text, loop of_model) {
  const loop asked = choice<loop>(
      "loop", text,
      {{"llada", loop::llada}, {"fast_dllm_v1", loop::fast_dllm_v1}, {"fast_dllm_v2", loop::fast_dllm_v2}});
  if ((asked == loop::fast_dllm_v2) != (of_model == loop::fast_dllm_v2)) {
    throw std::runtime_error("--loop " + text + " does not suit this model's attention");
  }
  return asked;
}

int run(int argc, char** argv) {
  po::options_description options("oracle_decode: double-precision reference decoder");
  // clang-format off
  options.add_options()
    ("help,h", "show this")
    ("model", po::value<std::string>()->required(), "GGUF file, architecture llada or qwen2 (Fast-dLLM v2)")
    ("prompt", po::value<std::string>(), "decode this text")
    ("prompts", po::value<std::string>(), "decode the prompts of a JSON lines file {id, prompt, answer}")
    ("replay", po::value<std::string>(), "check the trajectory.json of a platform run")
    ("limit", po::value<std::size_t>(), "only the first so many prompts or answers")
    ("json", po::value<std::string>(), "write what was decoded, in the format of trajectory.json")
    ("tolerance", po::value<double>()->default_value(0.25), "replay: largest margin of a near-tie, in logits")
    ("gen-length", po::value<std::size_t>(), "tokens to generate, instead of the model's own setting")
    ("steps", po::value<std::size_t>(), "rule count: forwards in all, instead of the model's own setting")
    ("threshold", po::value<double>(), "rule threshold: instead of the model's own setting, or 0.9")
    ("loop", po::value<std::string>(), "llada models: llada (default) or fast_dllm_v1")
    ("cache", po::value<std::string>()->default_value("none"), "fast_dllm_v1: none, prefix or dual")
    ("rule", po::value<std::string>()->default_value("threshold"), "fast_dllm_v1: count, threshold or factor")
    ("factor", po::value<double>()->default_value(1), "rule factor: how much may be in doubt together")
    ("inclusive", "commit at the threshold or factor too, not only beyond it")
    ("stop-at-end", "llada: stop after the block with the end token");
  // clang-format on
  po::variables_map given;
  po::store(po::parse_command_line(argc, argv, options), given);
  if (given.count("help")) {
    std::cout << options << '\n';
    return 0;
  }
  po::notify(given);
  if (given.count("prompt") + given.count("prompts") + given.count("replay") != 1) {
    throw std::runtime_error("give one of --prompt, --prompts and --replay");
  }

  const gguf_file file = gguf_file::read(given["model"].as<std::string>());
  settings s = settings::read(file);
  if (given.count("gen-length")) s.gen_length = given["gen-length"].as<std::size_t>();
  if (given.count("steps")) s.steps = given["steps"].as<std::size_t>();
  if (given.count("threshold")) s.threshold = given["threshold"].as<double>();
  s.stop_at_end = given.count("stop-at-end") != 0;
  s.inclusive = given.count("inclusive") != 0;
  s.factor = given["factor"].as<double>();
  if (given.count("loop")) s.which = loop_of(given["loop"].as<std::string>(), s.which);
  s.reuse = choice<cache>("cache", given["cache"].as<std::string>(),
                          {{"none", cache::none}, {"prefix", cache::prefix}, {"dual", cache::dual}});
  s.by = choice<rule>(
      "rule", given["rule"].as<std::string>(),
      {{"count", rule::most_confident}, {"threshold", rule::above_threshold}, {"factor", rule::within_factor}});
  const program p(file, s);

  if (given.count("replay")) {
    std::vector<recorded_answer> answers = answers_of(ordered_json::parse(open(given["replay"].as<std::string>())));
    limit_to(given, answers);
    return p.replay_all(answers, given["tolerance"].as<double>()) ? 0 : 1;
  }
  std::vector<question> questions = read_questions(given);
  limit_to(given, questions);
  const ordered_json decoded = p.decode_all(questions);
  if (given.count("json")) {
    std::ofstream out(given["json"].as<std::string>());
    out << decoded.dump() << '\n';
    if (!out) throw std::runtime_error(given["json"].as<std::string>() + ": cannot be written");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::cerr << "oracle_decode: " << e.what() << '\n';
    return 2;
  }
}
