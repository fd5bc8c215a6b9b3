#include "tlm/platform/sweep/progress.h"

#include <cmath>

namespace dvp::platform::sweep {

namespace {

std::string duration(double seconds) {
  const auto s = static_cast<std::uint64_t>(std::ceil(seconds));
  if (s < 60) return std::to_string(s) + " s";
  if (s < 3600) return std::to_string(s / 60) + " min " + std::to_string(s % 60) + " s";
  return std::to_string(s / 3600) + " h " + std::to_string(s % 3600 / 60) + " min";
}

}  // namespace

void progress::show(const state_counts& counts, std::uint64_t finished) {
  if (!live_) return;
  const auto now = std::chrono::steady_clock::now();
  if (!begin_) begin_ = now;
  const std::uint64_t left = counts.waiting + counts.running, all = left + counts.done + counts.failed;
  std::string line = std::to_string(counts.done) + " of " + std::to_string(all) + " points done";
  if (counts.failed != 0) line += ", " + std::to_string(counts.failed) + " failed";
  if (finished != 0 && left != 0) {
    const std::chrono::duration<double> passed = now - *begin_;
    line += ", about " + duration(passed.count() / static_cast<double>(finished) * static_cast<double>(left)) + " left";
  }
  say(line);
}

void progress::say(const std::string& line) {
  if (live_) *out_ << "\r\033[K" << line << std::flush;
}

void progress::clear() {
  say("");
}

}  // namespace dvp::platform::sweep
