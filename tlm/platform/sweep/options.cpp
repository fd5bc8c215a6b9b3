#include "tlm/platform/sweep/options.h"

#include <algorithm>
#include <boost/program_options.hpp>
#include <filesystem>
#include <sstream>
#include <thread>

#include "tlm/platform/command_line.h"

namespace dvp::platform::sweep {

namespace po = boost::program_options;

namespace {

po::options_description description() {
  po::options_description options(
      "dllm-vp sweep SPEC.json: runs many design points, results in a database; the same command goes on after any end",
      110);
  // clang-format off
  options.add_options()
    ("spec", po::value<std::string>(), "what to run; tlm/platform/configs/sweep.schema.json describes it")
    ("db", po::value<std::string>(), "SQLite database of the results (default: SPEC.sqlite beside SPEC.json)")
    ("jobs,j", po::value<std::string>(), "runs at a time (default: one for each core)")
    ("yes,y", "run more points than the file's limit")
    ("retry", "run failed points again")
    ("show", po::value<std::string>(), "print the points of this database and run nothing")
    ("sweep", po::value<std::string>(), "with --show: name or number of the sweep (default: the last one)")
    ("csv", "with --show: comma-separated values")
    ("pareto", "with --show: only points that no other one beats in all objectives")
    ("help,h", "this text");
  // clang-format on
  return options;
}

}  // namespace

sweep_options parse_sweep_options(const std::vector<std::string>& arguments) {
  po::positional_options_description positional;
  positional.add("spec", 1);
  const po::variables_map given = parse_command_line(arguments, description(), positional, "dllm-vp sweep");
  sweep_options options;
  options.help = given.count("help") != 0;
  if (options.help) return options;
  options.show = given.count("show") != 0;
  if (options.show == (given.count("spec") != 0)) {
    throw usage_error("dllm-vp sweep: takes a file that says what to run, or --show and a database; one of them");
  }
  for (const char* option : {"db", "jobs", "yes", "retry"}) refuse_idle(given, option, !options.show, "with --show");
  for (const char* option : {"sweep", "csv", "pareto"}) refuse_idle(given, option, options.show, "without --show");
  if (options.show) {
    options.database = option_text(given, "show");
    if (given.count("sweep") != 0) options.which = option_text(given, "sweep");
    options.csv = given.count("csv") != 0;
    options.pareto = given.count("pareto") != 0;
    return options;
  }
  options.spec = option_text(given, "spec");
  options.database = given.count("db") != 0 ? option_text(given, "db")
                                            : std::filesystem::path(options.spec).replace_extension(".sqlite").string();
  options.jobs = std::max(1U, std::thread::hardware_concurrency());
  if (given.count("jobs") != 0) {
    options.jobs = option_number<std::uint32_t>(given, "jobs", 1, 1024, "a whole number from 1");
  }
  options.accept = given.count("yes") != 0;
  options.retry = given.count("retry") != 0;
  return options;
}

std::string sweep_help() {
  std::ostringstream text;
  text << description()
       << "\nExit codes: 0 all points are done; 1 some failed, with their reasons in the database, or the database\n"
          "cannot be written or is locked; 2 wrong usage, specification or database, nothing ran; 3 no point has a "
          "model\nfile that can be used; 128 + N: signal N ended it. Any of them but 2 leaves what is done.\n";
  return text.str();
}

}  // namespace dvp::platform::sweep
