// The tables of a sweep database; README.md says what is in them.
#pragma once

namespace dvp::platform::sweep {

// PRAGMA application_id, "dvps": whose file it is.
constexpr int database_application = 0x64767073;
// PRAGMA user_version: of the form below. Another form gets another number.
constexpr int database_form = 1;

constexpr const char* database_schema = R"sql(
CREATE TABLE sweep(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, spec TEXT NOT NULL, version TEXT NOT NULL, revision TEXT NOT NULL,
  created TEXT NOT NULL, digest TEXT NOT NULL UNIQUE);
CREATE TABLE point(
  key TEXT PRIMARY KEY, arguments TEXT NOT NULL,
  state TEXT NOT NULL CHECK(state IN ('waiting', 'running', 'done', 'failed')),
  reason TEXT, exit_code INTEGER, seed INTEGER NOT NULL, version TEXT NOT NULL, revision TEXT NOT NULL,
  seconds REAL, stats TEXT, owner TEXT) WITHOUT ROWID;
CREATE INDEX point_state ON point(state);
CREATE TABLE member(
  sweep INTEGER NOT NULL REFERENCES sweep(id), ordinal INTEGER NOT NULL, key TEXT NOT NULL REFERENCES point(key),
  parameters TEXT NOT NULL, PRIMARY KEY(sweep, ordinal)) WITHOUT ROWID;
CREATE TABLE result(
  key TEXT NOT NULL REFERENCES point(key), figure TEXT NOT NULL, value REAL NOT NULL,
  kind TEXT NOT NULL CHECK(kind IN ('measured', 'modelled')), PRIMARY KEY(key, figure)) WITHOUT ROWID;
CREATE VIEW objective AS
  SELECT m.sweep, m.ordinal, m.key, o.key AS figure, o.value AS goal, r.value, r.kind
  FROM sweep s JOIN member m ON m.sweep = s.id JOIN json_each(s.spec, '$.objectives') o
  LEFT JOIN result r ON r.key = m.key AND r.figure = o.key;
)sql";

}  // namespace dvp::platform::sweep
