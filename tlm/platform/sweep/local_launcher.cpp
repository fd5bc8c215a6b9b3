#include "tlm/platform/sweep/local_launcher.h"

#include <stdexcept>
#include <thread>

#include "tlm/platform/interruption.h"
#include "tlm/platform/sweep/owner.h"
#include "tlm/platform/sweep/point_run.h"

namespace dvp::platform::sweep {

namespace {

// Between looks at what other programs do with the database.
constexpr std::chrono::milliseconds between_visits{500};

// This program's points; what it has not finished waits again when it ends in order.
class claims {
 public:
  claims(store& results, std::int64_t sweep) : results_(&results), sweep_(sweep), owner_(own_identity()) {}
  claims(const claims&) = delete;
  claims& operator=(const claims&) = delete;
  ~claims() {
    try {
      results_->release(owner_);
    } catch (const std::exception&) {
      // Then the next program finds them without an owner.
    }
  }

  std::optional<claimed_point> next() { return results_->claim(sweep_, owner_); }

 private:
  store* results_;
  std::int64_t sweep_;
  std::string owner_;
};

// Nobody here sees them end.
void refuse_to_wait_for_others(store& results, std::int64_t sweep) {
  for (const auto& owner : results.owners(sweep)) {
    if (is_here(owner)) continue;
    throw std::runtime_error("points are still in work by " + describe_owner(owner) +
                             "; give the command there, or add --take-over if that one is gone");
  }
}

}  // namespace

void run_here(store& results, std::int64_t sweep, std::uint32_t jobs, progress& shown) {
  const interruption signals;
  claims mine(results, sweep);
  point_runs runs(jobs);
  std::uint64_t finished = 0;
  results.release_dead();
  shown.show(results.count(sweep), finished);
  for (bool any = true;;) {
    if (interruption::asked()) {
      throw std::runtime_error(interruption::name() + " ended the sweep; the same command goes on with it");
    }
    while (any && !runs.full()) {
      const auto point = mine.next();
      any = point.has_value();
      if (any) runs.start(*point);
    }
    if (auto ended = runs.reap()) {
      results.finish(ended->key, ended->result);
      shown.show(results.count(sweep), ++finished);
    } else if (!runs.idle()) {
      std::this_thread::sleep_for(between_looks);
    } else if (results.count(sweep).running == 0 && results.count(sweep).waiting == 0) {
      return;
    } else {
      results.release_dead();
      refuse_to_wait_for_others(results, sweep);
      any = true;
      std::this_thread::sleep_for(between_visits);
      shown.show(results.count(sweep), finished);
    }
  }
}

}  // namespace dvp::platform::sweep
