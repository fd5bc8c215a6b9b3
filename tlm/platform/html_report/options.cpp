#include "tlm/platform/html_report/options.h"

#include <boost/program_options.hpp>
#include <sstream>

#include "tlm/platform/command_line.h"

namespace dvp::platform {

namespace po = boost::program_options;

namespace {

po::options_description description() {
  po::options_description options("dllm-vp report INPUT... --out FILE: results as one HTML page", 110);
  options.add_options()("inputs", po::value<std::vector<std::string>>()->composing(),
                        "folders that run or compare had as --out, databases of sweep, documents of scripts/published")(
      "out,o", po::value<std::string>(), "the page, such as report.html; it needs no network and no other file")(
      "title", po::value<std::string>(), "heading of the page")("help,h", "this text");
  return options;
}

}  // namespace

report_options parse_report_options(const std::vector<std::string>& arguments) {
  po::positional_options_description positional;
  positional.add("inputs", -1);
  const po::variables_map given = parse_command_line(arguments, description(), positional, "dllm-vp report");
  report_options options;
  options.help = given.count("help") != 0;
  if (options.help) return options;
  if (given.count("inputs") == 0) {
    throw usage_error("dllm-vp report: takes results to show, such as the folder that run had as --out");
  }
  options.inputs = given["inputs"].as<std::vector<std::string>>();
  if (given.count("out") == 0) throw usage_error("dllm-vp report: --out is missing; give a file such as report.html");
  options.out = option_text(given, "out");
  if (given.count("title") != 0) options.title = option_text(given, "title");
  return options;
}

std::string report_help() {
  std::ostringstream text;
  text << description()
       << "\nExit codes: 0 written; 1 it could not be written; 2 wrong usage, or results that cannot be read.\n";
  return text.str();
}

}  // namespace dvp::platform
