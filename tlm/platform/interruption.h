// SIGINT, SIGTERM and SIGHUP ask a run to end in order: what it was to write is completed. A second one kills it.
#pragma once

#include <csignal>
#include <optional>
#include <string>

namespace dvp::platform {

// While one exists, the first of these signals is noted. A signal that was ignored before stays ignored (nohup).
class interruption {
 public:
  interruption();
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;
  ~interruption();

  // Whether one has come, in this process's life.
  static bool asked();
  // "SIGINT"; empty when none has come.
  static std::string name();
  // 128 + the signal's number, as a shell says it: 130 for SIGINT, 143 for SIGTERM, 129 for SIGHUP.
  static std::optional<int> exit_code();
};

}  // namespace dvp::platform
