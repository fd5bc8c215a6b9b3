#include "tlm/core/strict_json.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "tlm/core/nearest_word.h"

namespace dvp::core {

namespace {

using nlohmann::ordered_json;

constexpr int deepest = 64;
constexpr std::size_t longest_shown = 40;

std::string shown(const ordered_json& value) {
  std::string text = value.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
  if (text.size() > longest_shown) text = text.substr(0, longest_shown) + "...";
  return text;
}

std::string shown_word(const std::string& word) {
  return shown(ordered_json(word));
}

std::string shown_number(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

std::string place_of(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t start = before.rfind('\n');
  const std::size_t column = before.size() - (start == std::string_view::npos ? 0 : start + 1);
  return "line " + std::to_string(line) + ", column " + std::to_string(std::max<std::size_t>(column, 1));
}

std::string on_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; }, ' ');
  return text;
}

}  // namespace

config_error::config_error(const std::string& file, const std::string& path, const std::string& what)
    : std::runtime_error(on_one_line(file + ": " + (path.empty() ? "" : path + ": ") + what)) {}

ordered_json parse_json(std::string_view text, const std::string& file) {
  std::vector<std::set<std::string>> keys;
  const auto check = [&](int depth, ordered_json::parse_event_t event, ordered_json& value) {
    const bool starts =
        event == ordered_json::parse_event_t::object_start || event == ordered_json::parse_event_t::array_start;
    if (starts && depth >= deepest) {
      throw config_error(file, "", "nests deeper than " + std::to_string(deepest) + "; no configuration needs that");
    }
    if (event == ordered_json::parse_event_t::object_start) {
      keys.emplace_back();
    } else if (event == ordered_json::parse_event_t::object_end) {
      keys.pop_back();
    } else if (event == ordered_json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second) {
      throw config_error(file, shown(value), "the key appears twice in one object; remove one of them");
    }
    return true;
  };
  try {
    return ordered_json::parse(text, check, true, true);
  } catch (const ordered_json::exception& error) {
    const auto* parse_error = dynamic_cast<const ordered_json::parse_error*>(&error);
    const std::string place = parse_error == nullptr ? "" : " at " + place_of(text, parse_error->byte);
    std::string reason = error.what();
    if (const auto at = reason.find("syntax error"); at != std::string::npos) reason.erase(0, at);
    throw config_error(file, "", "is not JSON" + place + ": " + reason);
  }
}

std::string read_config_text(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw config_error(path, "", "is a directory; give a file");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw config_error(path, "", std::string("cannot be read: ") + std::strerror(errno) + "; check the path");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

json_object::json_object(const ordered_json& value, std::string file, std::string path)
    : value_(&value),
      file_(std::move(file)),
      path_(std::move(path)),
      known_(std::make_shared<std::vector<std::string>>()) {
  if (!value.is_object()) throw config_error(file_, path_, shown(value) + " is not an object; write { ... } here");
}

bool json_object::has(std::string_view key) const {
  if (std::find(known_->begin(), known_->end(), key) == known_->end()) known_->emplace_back(key);
  return value_->contains(key);
}

std::string json_object::path_of(std::string_view key) const {
  if (key.empty()) return path_;
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

void json_object::fail(std::string_view key, const std::string& what) const {
  throw config_error(file_, path_of(key), what);
}

const ordered_json& json_object::raw(std::string_view key) const {
  if (!has(key)) fail(key, "is missing; add it");
  return *value_->find(key);
}

std::uint64_t json_object::whole(std::string_view key, std::uint64_t least, std::uint64_t most) const {
  const ordered_json& value = raw(key);
  const std::string range = std::to_string(least) + " to " + std::to_string(most);
  const auto refuse = [&](const std::string& what) {
    fail(key, shown(value) + what + "; give a whole number, " + range);
  };
  if (!value.is_number()) refuse(" is not a number");
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (!(number >= 0 && number < 9e15) || number != std::floor(number)) refuse(" is not a whole number in range");
  } else if (!value.is_number_unsigned() && value.get<std::int64_t>() < 0) {
    refuse(" is negative");
  }
  const auto number =
      value.is_number_float() ? static_cast<std::uint64_t>(value.get<double>()) : value.get<std::uint64_t>();
  if (number < least || number > most) refuse(" is out of range");
  return number;
}

double json_object::number(std::string_view key, double least, double most) const {
  const ordered_json& value = raw(key);
  const std::string range = shown_number(least) + " to " + shown_number(most);
  if (!value.is_number()) fail(key, shown(value) + " is not a number; give one from " + range);
  const double number = value.get<double>();
  if (!(number >= least && number <= most)) fail(key, shown(value) + " is out of range; give a number from " + range);
  return number;
}

bool json_object::flag(std::string_view key) const {
  const ordered_json& value = raw(key);
  if (!value.is_boolean()) fail(key, shown(value) + " is not true or false; give one of them");
  return value.get<bool>();
}

std::string json_object::text(std::string_view key) const {
  const ordered_json& value = raw(key);
  if (!value.is_string()) fail(key, shown(value) + " is not a text; write it in quotes");
  return value.get<std::string>();
}

json_object json_object::object(std::string_view key) const {
  return {raw(key), file_, path_of(key)};
}

std::vector<json_object> json_object::objects(std::string_view key) const {
  const ordered_json& value = raw(key);
  if (!value.is_array()) fail(key, shown(value) + " is not a list; write [ ... ] here");
  std::vector<json_object> result;
  for (std::size_t i = 0; i < value.size(); ++i) {
    result.emplace_back(value[i], file_, path_of(key) + "[" + std::to_string(i) + "]");
  }
  return result;
}

void json_object::finish() const {
  for (const auto& item : value_->items()) {
    const std::string& key = item.key();
    if (key.starts_with("$") || key.starts_with("_")) continue;
    if (std::find(known_->begin(), known_->end(), key) != known_->end()) continue;
    const std::string close = nearest_word(key, *known_);
    const std::string shown_key = key.size() > longest_shown ? key.substr(0, longest_shown) + "..." : key;
    fail(shown_key, "unknown key; " +
                        (close.empty() ? "known here: " + word_list(*known_) : "did you mean " + path_of(close) + "?"));
  }
}

void json_object::fail_choice(std::string_view key, const std::string& word,
                              const std::vector<std::string>& names) const {
  const std::string close = nearest_word(word, names);
  fail(key, shown_word(word) + " is not known; " + (close.empty() ? "" : "did you mean " + close + "? ") +
                "it takes one of " + word_list(names));
}

}  // namespace dvp::core
