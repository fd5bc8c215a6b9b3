// Runs the points of a sweep on this machine.
#pragma once

#include <cstdint>

#include "tlm/platform/sweep/progress.h"
#include "tlm/platform/sweep/store.h"

namespace dvp::platform::sweep {

// Until no point of the sweep waits or runs, also none of another program's, whose points are taken over when it dies.
// std::runtime_error when a signal asks this program to end, its points waiting again, or when points are in the hands
// of another machine, of which nobody here can tell whether it still works.
void run_here(store& results, std::int64_t sweep, std::uint32_t jobs, progress& shown);

}  // namespace dvp::platform::sweep
