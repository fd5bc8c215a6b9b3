#include <boost/program_options.hpp>
#include <iostream>
#include <sstream>

#include "tlm/platform/command_line.h"
#include "tlm/platform/commands.h"
#include "tlm/platform/explain/explain.h"
#include "tlm/platform/html_report/input.h"

namespace dvp::platform {

namespace {

namespace po = boost::program_options;

po::options_description description() {
  po::options_description options("dllm-vp explain FIGURE RUN: how a figure of a run comes about", 110);
  options.add_options()("figure", po::value<std::string>(), "one of the names below, or a dotted path of stats.json")(
      "run", po::value<std::string>(), "the folder that run had as --out, or its stats.json")(
      "json", "as JSON instead of lines")("help,h", "this text");
  return options;
}

std::string help() {
  std::ostringstream text;
  text << description() << "\nFigures:\n"
       << friendly_names()
       << "and every other path, such as answers.arith-000.energy.system_pj or configuration.energy.vector_pj.\n"
          "Each term says whether it is measured, modelled, quoted or a choice.\n"
          "\nExit codes: 0 explained; 2 wrong usage, no such figure, or results that cannot be read.\n";
  return text.str();
}

}  // namespace

int explain_command(const std::vector<std::string>& arguments) {
  po::positional_options_description positional;
  positional.add("figure", 1).add("run", 1);
  const po::variables_map given = parse_command_line(arguments, description(), positional, "dllm-vp explain");
  if (given.count("help") != 0) {
    std::cout << help();
    return exit_ok;
  }
  if (given.count("run") == 0) {
    throw usage_error("dllm-vp explain: takes a figure and a run, such as: dllm-vp explain energy out");
  }
  const std::string path = option_text(given, "run");
  report_input input = open_report_input(path);
  if (input.kind != report_kind::run) {
    throw usage_error(path + ": is not the results of one run; name the folder of one of its points");
  }
  const derivation d = explain(explained_run(std::move(input.content)), option_text(given, "figure"));
  if (given.count("json") != 0) {
    std::cout << to_json(d).dump(2) << '\n';
  } else {
    std::cout << to_text(d);
  }
  return exit_ok;
}

}  // namespace dvp::platform
