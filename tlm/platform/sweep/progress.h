// How far a sweep is, on one line of a terminal that is written again and again.
#pragma once

#include <chrono>
#include <optional>
#include <ostream>
#include <string>

#include "tlm/platform/sweep/store.h"

namespace dvp::platform::sweep {

class progress {
 public:
  // live: the output is a terminal; otherwise nothing is ever written.
  progress(std::ostream& out, bool live) : out_(&out), live_(live) {}
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress() { clear(); }

  // `finished`: points that ended since this was called first, from which the remaining time follows.
  void show(const state_counts& counts, std::uint64_t finished);
  void say(const std::string& line);
  void clear();

 private:
  std::ostream* out_;
  bool live_;
  std::optional<std::chrono::steady_clock::time_point> begin_;  // when it was shown first
};

}  // namespace dvp::platform::sweep
