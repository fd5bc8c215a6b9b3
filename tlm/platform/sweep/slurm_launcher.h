// Runs the points of a sweep on a cluster, as job arrays of Slurm.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tlm/platform/sweep/progress.h"
#include "tlm/platform/sweep/store.h"

namespace dvp::platform::sweep {

struct slurm_options {
  std::string folder;               // all machines see it, and this program
  std::uint32_t chunk = 1;          // points a task runs, at least
  std::vector<std::string> sbatch;  // further arguments: "--partition=long"
};

// usage_error when Slurm's client programs are not here.
void require_slurm();

// Until no point of the sweep waits or runs. Waiting points are submitted as one job array; results are taken over as
// they come. Points whose job is gone without a result are submitted again, three times in all, then failed. The jobs
// go on when this program ends, and the next one finds them. std::runtime_error when Slurm takes no job or does not
// answer for a minute, or when a signal asks this program to end.
void run_on_slurm(store& results, std::int64_t sweep, const slurm_options& options, progress& shown);

// What a task of such an array does: the points of task `number` that have no result yet, `jobs` at a time.
// std::runtime_error when a signal asks this program to end.
void run_task(const std::string& folder, std::size_t number, std::uint32_t jobs);

}  // namespace dvp::platform::sweep
