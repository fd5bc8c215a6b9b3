// Sleeps for an interrupt that never comes while its watch-dog runs: the watch-dog wakes the hart and ends the run.
#include "firmware/hal/hal.h"

int main() {
  dvp::hal::start_watchdog(200);
  // Shorter sleeps than that are no business of the watch-dog.
  if (dvp::hal::wait_for_interrupt(50)) {
    return 1;
  }
  static_cast<void>(dvp::hal::wait_for_interrupt(0));
  return 1;
}
