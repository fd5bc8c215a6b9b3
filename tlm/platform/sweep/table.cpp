#include "tlm/platform/sweep/table.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "tlm/core/nearest_word.h"
#include "tlm/platform/files.h"
#include "tlm/platform/text_table.h"

namespace dvp::platform::sweep {

namespace {

using nlohmann::ordered_json;

void read_objectives(connection& database, std::int64_t sweep, sweep_table& table) {
  statement spec = database.prepare("SELECT name, spec FROM sweep WHERE id = ?");
  spec.bind(sweep).step();
  table.name = spec.text(0);
  const ordered_json document = ordered_json::parse(spec.text(1));
  for (const auto& item : document["objectives"].items()) {
    table.objectives.push_back({item.key(), item.value() == "max", ""});
  }
}

void read_rows(connection& database, std::int64_t sweep, sweep_table& table) {
  statement rows = database.prepare(
      "SELECT m.ordinal, m.parameters, p.state, p.reason FROM member m JOIN point p ON p.key = m.key "
      "WHERE m.sweep = ? ORDER BY m.ordinal");
  rows.bind(sweep);
  while (rows.step()) {
    table_row row{rows.whole(0), ordered_json::parse(rows.text(1)), rows.text(2), rows.text(3), {}, false};
    row.values.resize(table.objectives.size());
    for (const auto& item : row.parameters.items()) {
      const auto& known = table.parameters;
      if (std::find(known.begin(), known.end(), item.key()) == known.end()) table.parameters.push_back(item.key());
    }
    table.rows.push_back(std::move(row));
  }
}

void read_values(connection& database, std::int64_t sweep, sweep_table& table) {
  statement values = database.prepare("SELECT ordinal, figure, value, kind FROM objective WHERE sweep = ?");
  values.bind(sweep);
  while (values.step()) {
    table_row& row = table.rows.at(static_cast<std::size_t>(values.whole(0)) - 1);  // ordinals count from 1
    for (std::size_t i = 0; i < table.objectives.size(); ++i) {
      if (table.objectives[i].figure != values.text(1)) continue;
      row.values[i] = values.number(2);
      if (const std::string kind = values.text(3); !kind.empty()) table.objectives[i].kind = kind;
    }
  }
}

// Its values, all to be minimised; empty where one is missing.
std::vector<double> costs(const table_row& row, const std::vector<objective_column>& objectives) {
  std::vector<double> all;
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    if (!row.values[i]) return {};
    all.push_back(objectives[i].maximise ? -*row.values[i] : *row.values[i]);
  }
  return all;
}

// As good in all, and better in one.
bool beats(const std::vector<double>& a, const std::vector<double>& b) {
  return a != b && std::equal(a.begin(), a.end(), b.begin(), [](double x, double y) { return x <= y; });
}

// In the order of their costs nobody is beaten by one that comes later, so the best so far are enough to compare with.
void mark_optimal(sweep_table& table) {
  std::vector<std::pair<std::vector<double>, table_row*>> points;
  for (auto& row : table.rows) {
    std::vector<double> all = costs(row, table.objectives);
    if (!all.empty()) points.emplace_back(std::move(all), &row);
  }
  std::stable_sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<const std::vector<double>*> best;
  for (auto& [own, row] : points) {
    row->optimal = std::none_of(best.begin(), best.end(), [&](const auto* other) { return beats(*other, own); });
    if (row->optimal) best.push_back(&own);
  }
}

std::string short_number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string whole_number(double value) {
  return ordered_json(value).dump();
}

std::string shown(const ordered_json& value, bool exact) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_number_float() && !exact ? short_number(value.get<double>()) : value.dump();
}

std::vector<std::string> head(const sweep_table& table) {
  std::vector<std::string> titles{"point"};
  titles.insert(titles.end(), table.parameters.begin(), table.parameters.end());
  for (const auto& o : table.objectives) titles.push_back(o.figure);
  return titles;
}

std::vector<std::string> cells(const sweep_table& table, const table_row& row, bool exact) {
  std::vector<std::string> texts{std::to_string(row.ordinal)};
  for (const auto& name : table.parameters) {
    texts.push_back(row.parameters.contains(name) ? shown(row.parameters[name], exact) : std::string());
  }
  for (const auto& value : row.values) {
    texts.push_back(!value ? std::string() : exact ? whole_number(*value) : short_number(*value));
  }
  return texts;
}

std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (const auto& field : fields) {
    line += line.empty() && &field == &fields.front() ? "" : ",";
    if (field.find_first_of(",\"\r\n") == std::string::npos) {
      line += field;
      continue;
    }
    line += '"';
    for (const char c : field) line += c == '"' ? std::string("\"\"") : std::string(1, c);
    line += '"';
  }
  return line + "\r\n";
}

// How the columns are to be read.
std::string legend(const sweep_table& table) {
  std::string measured, modelled, goals;
  for (const auto& o : table.objectives) {
    if (!o.kind.empty()) {
      std::string& list = o.kind == "modelled" ? modelled : measured;
      list += (list.empty() ? "" : ", ") + o.figure;
    }
    goals += (goals.empty() ? "" : ", ") + std::string(o.maximise ? "highest " : "lowest ") + o.figure;
  }
  std::string text = "* Pareto-optimal: " + goals + '\n';
  if (!measured.empty()) text += "measured by the simulation: " + measured + '\n';
  if (!modelled.empty()) text += "modelled (stats.json names the formula): " + modelled + '\n';
  return text;
}

}  // namespace

std::int64_t find_sweep(store& results, const std::string& which) {
  connection& database = results.database();
  statement found = database.prepare(which.empty() ? "SELECT max(id) FROM sweep"
                                                   : "SELECT max(id) FROM sweep WHERE name = ?1 OR id || '' = ?1");
  if (!which.empty()) found.bind(which);
  found.step();
  if (found.whole(0) != 0) return found.whole(0);
  if (which.empty()) throw usage_error(database.path() + ": holds no sweep");
  std::vector<std::string> names;
  statement all = database.prepare("SELECT DISTINCT name FROM sweep ORDER BY id");
  while (all.step()) names.push_back(all.text(0));
  throw usage_error("--sweep " + which + ": there is no such sweep; the database has " + core::word_list(names));
}

sweep_table read_table(store& results, std::int64_t sweep) {
  connection& database = results.database();
  sweep_table table;
  read_objectives(database, sweep, table);
  read_rows(database, sweep, table);
  read_values(database, sweep, table);
  mark_optimal(table);
  statement others = database.prepare("SELECT id, name FROM sweep WHERE id <> ? ORDER BY id");
  others.bind(sweep);
  while (others.step()) table.others.push_back(others.text(0) + " " + others.text(1));
  return table;
}

std::string as_text(const sweep_table& table, bool pareto_only) {
  std::vector<std::vector<std::string>> rows{head(table)};
  rows[0].insert(rows[0].begin() + 1, "");
  rows[0].emplace_back("");
  std::string failures;
  for (const auto& row : table.rows) {
    if (row.state == "failed") failures += "failed: point " + std::to_string(row.ordinal) + ": " + row.reason + '\n';
    if (pareto_only && !row.optimal) continue;
    std::vector<std::string> texts = cells(table, row, false);
    texts.insert(texts.begin() + 1, row.optimal ? "*" : "");
    texts.push_back(row.state == "done" ? "" : row.state);
    rows.push_back(std::move(texts));
  }
  std::string text = table.name + "\n\n" + text_table(rows) + legend(table) + failures;
  if (!table.others.empty()) text += "also in this database: " + core::word_list(table.others) + '\n';
  return text;
}

std::string as_csv(const sweep_table& table, bool pareto_only) {
  std::vector<std::string> titles = head(table);
  for (const char* title : {"pareto", "state", "reason"}) titles.emplace_back(title);
  std::string text = csv_line(titles);
  for (const auto& row : table.rows) {
    if (pareto_only && !row.optimal) continue;
    std::vector<std::string> texts = cells(table, row, true);
    texts.insert(texts.end(), {row.optimal ? "1" : "0", row.state, row.reason});
    text += csv_line(texts);
  }
  return text;
}

std::vector<std::string> unknown_objectives(store& results, const sweep_table& table) {
  std::vector<std::string> sentences, known;
  for (std::size_t i = 0; i < table.objectives.size(); ++i) {
    const bool done =
        std::any_of(table.rows.begin(), table.rows.end(), [](const auto& r) { return r.state == "done"; });
    const bool found =
        std::any_of(table.rows.begin(), table.rows.end(), [&](const auto& r) { return r.values[i].has_value(); });
    if (!done || found) continue;
    if (known.empty()) {
      statement figures = results.database().prepare("SELECT DISTINCT figure FROM result");
      while (figures.step()) known.push_back(figures.text(0));
    }
    const std::string& figure = table.objectives[i].figure;
    const std::string close = core::nearest_word(figure, known);
    sentences.push_back("objectives." + figure + ": no point has this figure; " +
                        (close.empty() ? "stats.json of a run lists them" : "did you mean " + close + "?"));
  }
  return sentences;
}

}  // namespace dvp::platform::sweep
