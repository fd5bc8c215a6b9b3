// The database of sweeps: what is to run, who works on it, what came out. Its tables are described in README.md.
//
// Every change is one transaction, so a program that is killed leaves nothing half done. Several programs may work on
// one database at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tlm/platform/sweep/points.h"
#include "tlm/platform/sweep/sqlite.h"

namespace dvp::platform::sweep {

struct claimed_point {
  std::string key;
  std::vector<std::string> arguments;  // of dllm-vp run
};

struct outcome {
  std::string reason;  // why it failed; empty: it is done
  int exit_code = 0;
  double seconds = 0;            // wall time
  nlohmann::ordered_json stats;  // stats.json; null where it failed
};

struct state_counts {
  std::uint64_t waiting = 0, running = 0, done = 0, failed = 0;
};

class store {
 public:
  // Opens the database, or with `fresh` makes one where there is none; usage_error when the file is none, is another
  // program's, or has a form that this version does not read.
  store(const std::string& path, bool fresh);

  // The sweep's number. The same specification with the same points is one sweep, however often it is added; points
  // that any sweep of the database has are shared with it, results included. Refused points are failed from the start.
  std::int64_t add_sweep(const sweep_spec& spec, const std::vector<sweep_point>& points);

  // The next waiting point of the sweep, which is `owner`'s from now on.
  std::optional<claimed_point> claim(std::int64_t sweep, const std::string& owner);
  // All that wait.
  std::vector<claimed_point> claim_all(std::int64_t sweep, const std::string& owner);
  // What became of a point. One that is done already stays as it is.
  void finish(const std::string& key, const outcome& result);
  // The owner's points wait again; the number of them.
  std::uint64_t release(const std::string& owner);
  // So do all whose owners are gone; the number of them.
  std::uint64_t release_dead();
  // And all of the sweep whose owners are on other machines or in a batch system; the number of them.
  std::uint64_t release_elsewhere(std::int64_t sweep);
  // Failed points of the sweep wait again, refused ones apart; the number of them.
  std::uint64_t retry_failed(std::int64_t sweep);
  // Who works on points of the sweep, each once.
  std::vector<std::string> owners(std::int64_t sweep);

  // Keys of the points an owner works on.
  std::vector<std::string> points_of(const std::string& owner);

  state_counts count(std::int64_t sweep);

  connection& database() { return database_; }

 private:
  std::vector<claimed_point> claim_first(std::int64_t sweep, const std::string& owner, std::int64_t most);
  std::vector<std::string> texts(const std::string& query);  // its first column
  bool is_new();
  void make_tables();
  void check_form();

  connection database_;
};

}  // namespace dvp::platform::sweep
