#include "tlm/platform/sweep/owner.h"

#include <unistd.h>

#include <climits>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace dvp::platform::sweep {

namespace {

using nlohmann::json;

std::string host() {
  char name[HOST_NAME_MAX + 1] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

std::string boot() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id;
}

// Field 22 of /proc/PID/stat, clock ticks since boot; empty when there is no such process. See proc(5): the second
// field, in brackets, may hold blanks.
std::string start_of(std::int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return {};
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string field;
  for (int number = 3; number <= 22 && fields >> field; ++number) {
    if (number == 3 && field == "Z") return {};  // dead, only nobody has asked for its exit code
  }
  return field;
}

}  // namespace

std::string own_identity() {
  return json{{"host", host()}, {"boot", boot()}, {"pid", getpid()}, {"start", start_of(getpid())}}.dump();
}

bool is_here(const std::string& identity) {
  const json owner = json::parse(identity, nullptr, false);
  return owner.is_object() && owner.contains("host") && owner["host"] == host();
}

std::string describe_owner(const std::string& identity) {
  const json owner = json::parse(identity, nullptr, false);
  if (!owner.is_object()) return identity;
  if (owner.contains("slurm")) return "Slurm job " + owner.value("slurm", "");
  return "process " + std::to_string(owner.value("pid", 0)) + " of " + owner.value("host", "");
}

bool may_be_alive(const std::string& identity) {
  if (!is_here(identity)) return true;
  const json owner = json::parse(identity);
  return owner.value("boot", "") == boot() && owner.value("start", "") == start_of(owner.value("pid", 0));
}

}  // namespace dvp::platform::sweep
