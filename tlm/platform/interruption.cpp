#include "tlm/platform/interruption.h"

#include <signal.h>

#include <utility>

namespace dvp::platform {

namespace {

constexpr std::pair<int, const char*> signals[] = {{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}};

volatile std::sig_atomic_t noted = 0;

void note(int number);

void let_go() {
  for (const auto& [number, name] : signals) {
    struct sigaction now {};
    if (sigaction(number, nullptr, &now) == 0 && now.sa_handler == note) signal(number, SIG_DFL);
  }
}

void note(int number) {
  noted = number;
  let_go();  // the next one does what it always did
}

}  // namespace

interruption::interruption() {
  for (const auto& [number, name] : signals) {
    struct sigaction before {};
    if (sigaction(number, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) continue;
    struct sigaction now {};
    now.sa_handler = note;
    now.sa_flags = SA_RESTART;
    sigaction(number, &now, nullptr);
  }
}

interruption::~interruption() {
  let_go();
}

bool interruption::asked() {
  return noted != 0;
}

std::string interruption::name() {
  for (const auto& [number, name] : signals) {
    if (number == noted) return name;
  }
  return {};
}

std::optional<int> interruption::exit_code() {
  return asked() ? std::optional(128 + noted) : std::nullopt;
}

}  // namespace dvp::platform
