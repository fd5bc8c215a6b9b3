#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>

#include "tlm/platform/commands.h"
#include "tlm/platform/files.h"
#include "tlm/platform/sweep/local_launcher.h"
#include "tlm/platform/sweep/options.h"
#include "tlm/platform/sweep/points.h"
#include "tlm/platform/sweep/sampling.h"
#include "tlm/platform/sweep/table.h"

namespace dvp::platform {

namespace {

// Tables of more points show the best ones only; --show has them all.
constexpr std::size_t most_rows = 50;

int show(const sweep::sweep_options& options) {
  sweep::store results(options.database, false);
  const sweep::sweep_table table = sweep::read_table(results, find_sweep(results, options.which));
  std::cout << (options.csv ? as_csv(table, options.pareto) : as_text(table, options.pareto));
  return exit_ok;
}

// Slurm says which task this is and how many cores it has.
std::uint32_t slurm_number(const char* variable, std::uint32_t otherwise) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return otherwise;
  std::uint32_t number = otherwise;
  std::from_chars(text, text + std::strlen(text), number);
  return number;
}

int run_task(const sweep::sweep_options& options) {
  if (std::getenv("SLURM_ARRAY_TASK_ID") == nullptr) {
    throw usage_error("--task " + options.task + ": is for the tasks of --launcher slurm, and this is none");
  }
  const std::uint32_t jobs = slurm_number("SLURM_CPUS_PER_TASK", options.jobs);
  sweep::run_task(options.task, slurm_number("SLURM_ARRAY_TASK_ID", 0), jobs);
  return exit_ok;
}

void run_points(sweep::store& results, std::int64_t sweep, const sweep::sweep_options& options,
                sweep::progress& shown) {
  if (options.slurm) {
    run_on_slurm(results, sweep, options.cluster, shown);
  } else {
    run_here(results, sweep, options.jobs, shown);
  }
}

}  // namespace

int sweep_command(const std::vector<std::string>& arguments) {
  const sweep::sweep_options options = sweep::parse_sweep_options(arguments);
  if (options.help) {
    std::cout << sweep::sweep_help();
    return exit_ok;
  }
  if (options.show) return show(options);
  if (!options.task.empty()) return run_task(options);
  if (options.slurm) sweep::require_slurm();

  const sweep::sweep_spec spec = sweep::parse_spec(read_text(options.spec), options.spec);
  sweep::progress shown(std::cout, isatty(STDOUT_FILENO) != 0);
  const auto chosen = choose_points(spec, options.spec, options.accept);
  shown.say("looking at " + std::to_string(chosen.size()) + " points");
  const auto points = make_points(spec, chosen, options.spec);
  sweep::store results(options.database, true);
  const std::int64_t number = results.add_sweep(spec, points);
  if (options.retry) results.retry_failed(number);
  if (options.take_over) results.release_elsewhere(number);
  run_points(results, number, options, shown);
  shown.clear();

  const sweep::sweep_table table = sweep::read_table(results, number);
  std::cout << as_text(table, table.rows.size() > most_rows) << "written  " << options.database
            << " (dllm-vp sweep --show " << options.database << ")\n";
  for (const auto& sentence : unknown_objectives(results, table)) throw usage_error(options.spec + ": " + sentence);
  return results.count(number).failed == 0 ? exit_ok : exit_fault;
}

}  // namespace dvp::platform
