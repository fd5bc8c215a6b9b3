#include <unistd.h>

#include <iostream>

#include "tlm/core/strict_json.h"
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

sweep::sweep_spec read_spec(const std::string& path) {
  try {
    return sweep::parse_spec(read_text(path), path);
  } catch (const core::config_error& error) {
    throw usage_error(error.what());
  }
}

int show(const sweep::sweep_options& options) {
  sweep::store results(options.database, false);
  const sweep::sweep_table table = sweep::read_table(results, options.which);
  std::cout << (options.csv ? as_csv(table, options.pareto) : as_text(table, options.pareto));
  return exit_ok;
}

}  // namespace

int sweep_command(const std::vector<std::string>& arguments) {
  const sweep::sweep_options options = sweep::parse_sweep_options(arguments);
  if (options.help) {
    std::cout << sweep::sweep_help();
    return exit_ok;
  }
  if (options.show) return show(options);

  const sweep::sweep_spec spec = read_spec(options.spec);
  const auto points = make_points(spec, choose_points(spec, options.spec, options.accept), options.spec);
  sweep::store results(options.database, true);
  const std::int64_t number = results.add_sweep(spec, points);
  if (options.retry) results.retry_failed(number);
  {
    sweep::progress shown(std::cout, isatty(STDOUT_FILENO) != 0);
    run_here(results, number, options.jobs, shown);
  }

  const sweep::sweep_table table = sweep::read_table(results, std::to_string(number));
  std::cout << as_text(table, table.rows.size() > most_rows) << "written  " << options.database
            << " (dllm-vp sweep --show " << options.database << ")\n";
  for (const auto& sentence : unknown_objectives(results, table)) throw usage_error(options.spec + ": " + sentence);
  return results.count(number).failed == 0 ? exit_ok : exit_fault;
}

}  // namespace dvp::platform
