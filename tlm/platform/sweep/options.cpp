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
    ("take-over", "run points again that are in work on another machine, if it is known that nobody works on them")
    ("launcher", po::value<std::string>(), "local (default), or slurm: as a job array of the cluster this machine belongs to")
    ("shared", po::value<std::string>(), "slurm: folder that all machines see (default: the database's name with .slurm)")
    ("chunk", po::value<std::string>(), "slurm: points that a task runs (default 1, or what the largest array asks for)")
    ("sbatch", po::value<std::vector<std::string>>()->composing(), "slurm: a further argument of sbatch, such as --sbatch=--time=60")
    ("task", po::value<std::string>(), "what such a task does: run its points of this folder")
    ("show", po::value<std::string>(), "print the points of this database and run nothing")
    ("sweep", po::value<std::string>(), "with --show: name or number of the sweep (default: the last one)")
    ("csv", "with --show: comma-separated values")
    ("pareto", "with --show: only points that no other one beats in all objectives")
    ("help,h", "this text");
  // clang-format on
  return options;
}

void read_cluster(const po::variables_map& given, sweep_options& options) {
  if (given.count("launcher") != 0) {
    const std::string launcher = option_text(given, "launcher");
    if (launcher != "local" && launcher != "slurm")
      throw usage_error("--launcher " + launcher + ": takes local or slurm");
    options.slurm = launcher == "slurm";
  }
  for (const char* option : {"shared", "chunk", "sbatch"}) {
    refuse_idle(given, option, options.slurm, "without --launcher slurm");
  }
  refuse_idle(given, "jobs", !options.slurm,
              "with --launcher slurm, where --sbatch=--cpus-per-task=N gives a task N at a time");
  options.cluster.folder = given.count("shared") != 0 ? option_text(given, "shared") : options.database + ".slurm";
  if (given.count("chunk") != 0) {
    options.cluster.chunk = option_number<std::uint32_t>(given, "chunk", 1, 1U << 20, "a whole number from 1");
  }
  if (given.count("sbatch") != 0) options.cluster.sbatch = given["sbatch"].as<std::vector<std::string>>();
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
  const bool task = given.count("task") != 0;
  if (given.count("spec") + given.count("show") + given.count("task") != 1) {
    throw usage_error("dllm-vp sweep: takes a file that says what to run, or --show and a database; one of them");
  }
  for (const char* option : {"db", "yes", "retry", "take-over", "launcher"}) {
    refuse_idle(given, option, !options.show && !task, options.show ? "with --show" : "with --task");
  }
  refuse_idle(given, "jobs", !options.show, "with --show");
  for (const char* option : {"sweep", "csv", "pareto"}) refuse_idle(given, option, options.show, "without --show");
  if (options.show) {
    options.database = option_text(given, "show");
    if (given.count("sweep") != 0) options.which = option_text(given, "sweep");
    options.csv = given.count("csv") != 0;
    options.pareto = given.count("pareto") != 0;
    return options;
  }
  options.jobs = task ? 1 : std::max(1U, std::thread::hardware_concurrency());
  if (given.count("jobs") != 0) {
    options.jobs = option_number<std::uint32_t>(given, "jobs", 1, 1024, "a whole number from 1");
  }
  if (task) {
    options.task = option_text(given, "task");
    return options;
  }
  options.spec = option_text(given, "spec");
  options.database = given.count("db") != 0 ? option_text(given, "db")
                                            : std::filesystem::path(options.spec).replace_extension(".sqlite").string();
  read_cluster(given, options);
  options.accept = given.count("yes") != 0;
  options.retry = given.count("retry") != 0;
  options.take_over = given.count("take-over") != 0;
  return options;
}

std::string sweep_help() {
  std::ostringstream text;
  text << description()
       << "\nExit codes: 0 all points are done; 1 some failed, with their reasons in the database, or the database\n"
          "cannot be written or is locked, or Slurm takes no job; 2 wrong usage, specification, model or database,\n"
          "nothing ran; 128 + N: signal N ended it. What is done is kept, and the same command goes on.\n";
  return text.str();
}

}  // namespace dvp::platform::sweep
