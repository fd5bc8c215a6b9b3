#include "tlm/platform/sweep/store.h"

#include <utility>

#include "tlm/platform/file_digest.h"
#include "tlm/platform/files.h"
#include "tlm/platform/revision.h"
#include "tlm/platform/sweep/figures_of_run.h"
#include "tlm/platform/sweep/owner.h"
#include "tlm/platform/sweep/schema.h"
#include "tlm/platform/version.h"

namespace dvp::platform::sweep {

namespace {

using nlohmann::ordered_json;

std::int64_t pragma(connection& database, const std::string& name) {
  statement row = database.prepare("PRAGMA " + name);
  return row.step() ? row.whole(0) : 0;
}

std::vector<std::string> texts_of(statement& rows) {
  std::vector<std::string> all;
  while (rows.step()) all.push_back(rows.text(0));
  return all;
}

std::string digest_of(const sweep_spec& spec, const std::vector<sweep_point>& points) {
  std::string all = spec.source.dump();
  for (const auto& point : points) all += '\n' + point.key;
  return text_digest(all);
}

}  // namespace

store::store(const std::string& path, bool fresh) : database_(path, fresh) {
  if (fresh && is_new()) {
    database_.execute("PRAGMA journal_mode = WAL");
    make_tables();
  }
  check_form();
  database_.execute("PRAGMA foreign_keys = ON");
}

bool store::is_new() {
  statement tables = database_.prepare("SELECT count(*) FROM sqlite_schema");
  tables.step();
  return tables.whole(0) == 0 && pragma(database_, "application_id") == 0 && pragma(database_, "user_version") == 0;
}

void store::make_tables() {
  transaction change(database_);
  if (!is_new()) return;  // another program was quicker
  database_.execute(database_schema);
  database_.execute("PRAGMA application_id = " + std::to_string(database_application) +
                    "; PRAGMA user_version = " + std::to_string(database_form));
  change.commit();
}

void store::check_form() {
  if (pragma(database_, "application_id") != database_application) {
    throw usage_error(database_.path() + ": is a database of another program; give another file");
  }
  const std::int64_t form = pragma(database_, "user_version");
  if (form != database_form) {
    throw usage_error(database_.path() + ": has form " + std::to_string(form) + " and this version reads form " +
                      std::to_string(database_form) + "; use the version of dllm-vp that made it, or another file");
  }
}

std::int64_t store::add_sweep(const sweep_spec& spec, const std::vector<sweep_point>& points) {
  const std::string digest = digest_of(spec, points), build = revision();
  transaction change(database_);
  statement same = database_.prepare("SELECT id FROM sweep WHERE digest = ?");
  if (same.bind(digest).step()) return same.whole(0);
  database_
      .prepare(
          "INSERT INTO sweep(name, spec, version, revision, created, digest) "
          "VALUES(?, ?, ?, ?, strftime('%Y-%m-%dT%H:%M:%SZ'), ?)")
      .bind(spec.name)
      .bind(spec.source.dump())
      .bind(std::string(version))
      .bind(build)
      .bind(digest)
      .run();
  const std::int64_t sweep = database_.last_row();
  statement point = database_.prepare(
      "INSERT OR IGNORE INTO point(key, arguments, seed, version, revision, state, reason, exit_code) "
      "VALUES(?, ?, ?, ?, ?, ?, ?, ?)");
  statement member = database_.prepare("INSERT INTO member(sweep, ordinal, key, parameters) VALUES(?, ?, ?, ?)");
  std::int64_t ordinal = 0;
  for (const auto& p : points) {
    const bool refused = p.refused.code != 0;
    point.bind(p.key)
        .bind(ordered_json(p.arguments).dump())
        .bind(static_cast<std::int64_t>(p.seed))
        .bind(std::string(version))
        .bind(build)
        .bind(std::string(refused ? "failed" : "waiting"));
    refused ? point.bind(p.refused.sentence).bind(std::int64_t{p.refused.code}) : point.bind(nullptr).bind(nullptr);
    point.run();
    member.bind(sweep).bind(++ordinal).bind(p.key).bind(p.parameters.dump()).run();
  }
  change.commit();
  return sweep;
}

std::optional<claimed_point> store::claim(std::int64_t sweep, const std::string& owner) {
  auto points = claim_first(sweep, owner, 1);
  if (points.empty()) return std::nullopt;
  return std::move(points.front());
}

std::vector<claimed_point> store::claim_all(std::int64_t sweep, const std::string& owner) {
  return claim_first(sweep, owner, -1);
}

// most: of points; negative: all.
std::vector<claimed_point> store::claim_first(std::int64_t sweep, const std::string& owner, std::int64_t most) {
  transaction change(database_);
  std::vector<claimed_point> points;
  statement waiting = database_.prepare(
      "SELECT p.key, p.arguments FROM member m JOIN point p ON p.key = m.key "
      "WHERE m.sweep = ? AND p.state = 'waiting' GROUP BY p.key ORDER BY min(m.ordinal) LIMIT ?");
  waiting.bind(sweep).bind(most);
  while (waiting.step()) {
    points.push_back({waiting.text(0), ordered_json::parse(waiting.text(1)).get<std::vector<std::string>>()});
  }
  statement mine = database_.prepare("UPDATE point SET state = 'running', owner = ? WHERE key = ?");
  for (const auto& point : points) mine.bind(owner).bind(point.key).run();
  change.commit();
  return points;
}

void store::finish(const std::string& key, const outcome& result) {
  const bool done = result.reason.empty();
  transaction change(database_);
  statement state = database_.prepare("SELECT state FROM point WHERE key = ?");
  if (!state.bind(key).step() || state.text(0) == "done") return;
  statement point = database_.prepare(
      "UPDATE point SET state = ?, owner = NULL, reason = ?, exit_code = ?, seconds = ?, stats = ? WHERE key = ?");
  point.bind(std::string(done ? "done" : "failed"));
  done ? point.bind(nullptr) : point.bind(result.reason);
  point.bind(std::int64_t{result.exit_code}).bind(result.seconds);
  done ? point.bind(result.stats.dump()) : point.bind(nullptr);
  point.bind(key).run();
  if (done) {
    statement row = database_.prepare("INSERT INTO result(key, figure, value, kind) VALUES(?, ?, ?, ?)");
    for (const auto& f : figures_of_run(result.stats)) {
      row.bind(key).bind(f.path).bind(f.value).bind(std::string(f.modelled ? "modelled" : "measured")).run();
    }
  }
  change.commit();
}

std::uint64_t store::release(const std::string& owner) {
  database_.prepare("UPDATE point SET state = 'waiting', owner = NULL WHERE state = 'running' AND owner = ?")
      .bind(owner)
      .run();
  return database_.changed();
}

std::uint64_t store::release_dead() {
  transaction change(database_);
  std::uint64_t released = 0;
  for (const auto& owner : texts("SELECT DISTINCT owner FROM point WHERE state = 'running'")) {
    if (!may_be_alive(owner)) released += release(owner);
  }
  change.commit();
  return released;
}

std::uint64_t store::release_elsewhere(std::int64_t sweep) {
  transaction change(database_);
  std::uint64_t released = 0;
  for (const auto& owner : owners(sweep)) {
    if (!is_here(owner)) released += release(owner);
  }
  change.commit();
  return released;
}

std::uint64_t store::retry_failed(std::int64_t sweep) {
  transaction change(database_);
  database_
      .prepare(
          "UPDATE point SET state = 'waiting', reason = NULL, exit_code = NULL, seconds = NULL "
          "WHERE state = 'failed' AND seconds IS NOT NULL AND key IN (SELECT key FROM member WHERE sweep = ?)")
      .bind(sweep)
      .run();
  const std::uint64_t count = database_.changed();
  change.commit();
  return count;
}

std::vector<std::string> store::owners(std::int64_t sweep) {
  return texts(
      "SELECT DISTINCT owner FROM point WHERE state = 'running' AND key IN "
      "(SELECT key FROM member WHERE sweep = " +
      std::to_string(sweep) + ")");
}

std::vector<std::string> store::points_of(const std::string& owner) {
  statement rows = database_.prepare("SELECT key FROM point WHERE state = 'running' AND owner = ?");
  rows.bind(owner);
  return texts_of(rows);
}

std::vector<std::string> store::texts(const std::string& query) {
  statement rows = database_.prepare(query);
  return texts_of(rows);
}

state_counts store::count(std::int64_t sweep) {
  statement rows = database_.prepare(
      "SELECT state, count(*) FROM point WHERE key IN (SELECT key FROM member WHERE sweep = ?) GROUP BY state");
  rows.bind(sweep);
  state_counts counts;
  while (rows.step()) {
    const std::string state = rows.text(0);
    const auto number = static_cast<std::uint64_t>(rows.whole(1));
    if (state == "waiting") counts.waiting = number;
    if (state == "running") counts.running = number;
    if (state == "done") counts.done = number;
    if (state == "failed") counts.failed = number;
  }
  return counts;
}

}  // namespace dvp::platform::sweep
