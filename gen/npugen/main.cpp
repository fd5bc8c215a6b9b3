// The npugen program.
#include <boost/program_options.hpp>
#include <exception>
#include <iostream>
#include <string>

#include "gen/npugen/load.h"
#include "gen/npugen/output.h"
#include "gen/npugen/spec_error.h"

namespace {

namespace po = boost::program_options;
using namespace dvp::npugen;

enum exit_code : int { success = 0, different = 1, bad_specification = 2, bad_usage = 3, bad_output = 4 };

constexpr const char* usage = R"(npugen: renders gen/spec to C++ headers, SystemVerilog and a register map

  npugen generate --spec DIR --out DIR      write the generated files that are new or changed
  npugen check    --spec DIR                validate only
  npugen list     --spec DIR                print the paths of the generated files
  npugen diff     --spec DIR --against DIR  compare with files generated earlier

Exit codes: 0 success, 1 diff found a difference, 2 the specification is faulty (nothing is written),
3 wrong usage, 4 the output cannot be written.

Options)";

int run(const std::string& command, const po::variables_map& options) {
  const specification spec = load(options["spec"].as<std::string>());
  const std::vector<rendered_file> files = render(spec);
  if (command == "generate") {
    write_files(options["out"].as<std::string>(), files);
  } else if (command == "list") {
    for (const rendered_file& file : files) {
      std::cout << file.path << "\n";
    }
  } else if (command == "diff") {
    return compare_files(options["against"].as<std::string>(), files, std::cout) == 0 ? success : different;
  }
  return success;
}

// Empty where the command line is right, else what is wrong with it.
std::string usage_fault(const std::string& command, const po::variables_map& options) {
  if (command != "generate" && command != "check" && command != "list" && command != "diff") {
    return command.empty() ? "no command given" : "unknown command '" + command + "'";
  }
  for (const auto& [needed_by, option] : {std::pair{"generate", "out"}, std::pair{"diff", "against"}}) {
    if (command == needed_by && !options.contains(option)) {
      return command + " needs --" + option;
    }
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  po::options_description visible(usage);
  visible.add_options()("help,h", "print this text")("spec", po::value<std::string>()->default_value("gen/spec"),
                                                     "directory of the specification")(
      "out", po::value<std::string>(), "generate: directory to write to")("against", po::value<std::string>(),
                                                                          "diff: directory to compare with");
  po::options_description all;
  all.add(visible).add_options()("command", po::value<std::string>()->default_value(""));
  po::positional_options_description positional;
  positional.add("command", 1);

  try {
    po::variables_map options;
    po::store(po::command_line_parser(argc, argv).options(all).positional(positional).run(), options);
    po::notify(options);
    if (options.contains("help")) {
      std::cout << visible;
      return success;
    }
    const std::string command = options["command"].as<std::string>();
    const std::string fault = usage_fault(command, options);
    if (!fault.empty()) {
      std::cerr << "npugen: " << fault << "; see npugen --help\n";
      return bad_usage;
    }
    return run(command, options);
  } catch (const spec_error& error) {
    std::cerr << error.what() << "\n";
    return bad_specification;
  } catch (const po::error& error) {
    std::cerr << "npugen: " << error.what() << "; see npugen --help\n";
    return bad_usage;
  } catch (const std::exception& error) {
    std::cerr << "npugen: " << error.what() << "\n";
    return bad_output;
  }
}
