// The seeded random regression of the RTL.
//
//   rtl_regress [--only DESIGN]... [--seeds FIRST:COUNT] [--cycles N] [--points FILE] [--out DIR] [--waves]
//               [--variant TEXT] [--brief] [--list]
//
// A case is a design and a seed: "array/tiny_4x4/seed=3". For every case one line: PASS or FAIL, name, seconds, cycles,
// compared results. After FAIL come lines with the first mismatch; the case is then run again with a waveform of the
// cycles around it, OUT/<design>-<seed>.fst. --waves writes that of whole cases instead. --points writes the functional
// cover points of all cases. --brief stops at the first failure and writes no waveform; the case gets no second run.
// --variant is for programs whose designs come in variants.
//
// Exit code 0: all cases passed. 1: one failed. 2: a wrong argument.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "testbenches/regress/designs.h"
#include "testbenches/regress/regress_case.h"

namespace dvp::regress {
namespace {

// Cycles of the waveform before and after the mismatch.
constexpr std::uint64_t cycles_before = 40, cycles_after = 10;

struct arguments {
  std::vector<std::string> designs;
  std::uint32_t first_seed = 1, seeds = 1;
  std::uint64_t cycles = 4000;
  std::string points, out = "out/regress";
  bool waves = false, brief = false;
};

std::string wave_name(const arguments& given, const case_options& options) {
  std::string name = options.design;
  std::replace(name.begin(), name.end(), '/', '-');
  return given.out + "/" + name + "-" + std::to_string(options.seed) + ".fst";
}

void report(const arguments& given, case_options options, const mismatch& failure) {
  const std::string name = options.design + "/seed=" + std::to_string(options.seed);
  std::cout << "  first mismatch: " << failure.place << ", cycle " << failure.cycle << "\n  " << failure.history
            << ":  expected " << failure.expected << "  got " << failure.got << '\n';
  if (given.brief) return;
  std::filesystem::create_directories(given.out);
  if (!given.waves) {
    options.waves = wave_name(given, options);
    options.first_wave_cycle = failure.cycle > cycles_before ? failure.cycle - cycles_before : 0;
    options.last_wave_cycle = failure.cycle + cycles_after;
    cover_points unused;
    if (options.design == "converter") {
      run_converter_case(options, unused);
    } else {
      run_array_case(options, unused);
    }
  }
  std::cout << "  wave  " << wave_name(given, options) << " (cycles " << options.first_wave_cycle << " to "
            << std::min(options.last_wave_cycle, failure.cycle + cycles_after) << ")\n"
            << "  again ./scripts/regress --only " << options.design << " --seed " << options.seed << " --waves\n";
}

int run(const arguments& given) {
  cover_points points;
  int failures = 0;
  for (const std::string& design : given.designs) {
    for (std::uint32_t n = 0; n < given.seeds; ++n) {
      case_options options{.design = design, .seed = given.first_seed + n, .cycles = given.cycles};
      if (given.waves) {
        std::filesystem::create_directories(given.out);
        options.waves = wave_name(given, options);
      }
      const auto start = std::chrono::steady_clock::now();
      const case_result result =
          given.brief && design != "converter" ? run_array_case(options, points) : run_case(options, points);
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      std::printf("%s %s/seed=%u %.3f s, %llu cycles, %llu compared\n", result.failure ? "FAIL" : "PASS",
                  design.c_str(), options.seed, seconds.count(), static_cast<unsigned long long>(result.cycles),
                  static_cast<unsigned long long>(result.compared));
      std::fflush(stdout);
      if (!result.failure) continue;
      ++failures;
      report(given, options, *result.failure);
      std::cout.flush();
      if (given.brief) return 1;
    }
  }
  if (!given.points.empty()) {
    std::ofstream file(given.points);
    points.write(file);
  }
  return failures == 0 ? 0 : 1;
}

std::uint32_t number(const std::string& text) {
  return static_cast<std::uint32_t>(std::stoul(text));
}

int wrong(const std::string& text) {
  std::cerr << "rtl_regress: " << text << "\ndesigns:";
  for (const std::string& name : design_names()) std::cerr << ' ' << name;
  std::cerr << '\n';
  return 2;
}

int main_of(const std::vector<std::string>& words) {
  arguments given;
  const std::vector<std::string> known = design_names();
  for (std::size_t n = 0; n < words.size(); ++n) {
    const std::string& word = words[n];
    if (word == "--waves") {
      given.waves = true;
    } else if (word == "--brief") {
      given.brief = true;
    } else if (word == "--list") {
      for (const std::string& name : known) std::cout << name << '\n';
      return 0;
    } else if (n + 1 == words.size()) {
      return wrong("unknown argument, or one without its value: " + word);
    } else if (const std::string& value = words[++n]; word == "--only") {
      if (std::find(known.begin(), known.end(), value) == known.end()) return wrong("no design " + value);
      given.designs.push_back(value);
    } else if (word == "--seeds") {
      const std::size_t colon = value.find(':');
      given.first_seed = number(value.substr(0, colon));
      given.seeds = colon == std::string::npos ? 1 : number(value.substr(colon + 1));
    } else if (word == "--cycles") {
      given.cycles = std::stoull(value);
    } else if (word == "--points") {
      given.points = value;
    } else if (word == "--out") {
      given.out = value;
    } else if (word == "--variant") {
      set_variant(value);
    } else {
      return wrong("unknown argument " + word);
    }
  }
  if (given.designs.empty()) given.designs = known;
  return run(given);
}

}  // namespace
}  // namespace dvp::regress

int main(int argc, char** argv) {
  try {
    return dvp::regress::main_of({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "rtl_regress: " << error.what() << '\n';
    return 2;
  }
}
