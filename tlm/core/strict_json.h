// Typed values out of JSON, with errors a user can act on: nothing misspelt, mistyped or out of range goes by.
//
//   const auto document = parse_json(text, file);          comments allowed, doubled keys refused
//   json_object top(document, file);
//   config.ranks = top.whole_or("ranks", 1, 1, 4);          every key that is asked for becomes known
//   top.finish();                                           every other key is an error that names the nearest known
//
// Every error is a config_error whose text is one sentence "file: key.path: what is wrong; what to do".
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace dvp::core {

// what(): the sentence, on one line whatever the file holds.
class config_error : public std::runtime_error {
 public:
  config_error(const std::string& file, const std::string& path, const std::string& what);
};

// config_error with line and column where the text is not JSON, has a key twice in one object, or nests deeper than 64.
nlohmann::ordered_json parse_json(std::string_view text, const std::string& file);

// The whole file; config_error naming path and reason.
std::string read_config_text(const std::string& path);

bool same_word(std::string_view a, std::string_view b);  // letter case apart

template <typename Value>
struct named_value {
  std::string_view name;
  Value value;
};

// An object of a document and the keys asked for so far. Copies share that record. The document outlives it.
class json_object {
 public:
  // `path`: of the object in the file, "" for the document. config_error unless it is an object.
  json_object(const nlohmann::ordered_json& value, std::string file, std::string path = "");

  bool has(std::string_view key) const;  // makes the key known

  // The value must be there, of the type, and within [least, most].
  std::uint64_t whole(std::string_view key, std::uint64_t least, std::uint64_t most) const;
  double number(std::string_view key, double least, double most) const;
  bool flag(std::string_view key) const;
  std::string text(std::string_view key) const;
  json_object object(std::string_view key) const;
  std::vector<json_object> objects(std::string_view key) const;  // a list of objects
  const nlohmann::ordered_json& raw(std::string_view key) const;

  // The same, or `otherwise` where the key is absent.
  std::uint64_t whole_or(std::string_view key, std::uint64_t otherwise, std::uint64_t least, std::uint64_t most) const {
    return has(key) ? whole(key, least, most) : otherwise;
  }
  std::uint32_t word_or(std::string_view key, std::uint32_t otherwise, std::uint32_t least, std::uint32_t most) const {
    return static_cast<std::uint32_t>(whole_or(key, otherwise, least, most));
  }
  double number_or(std::string_view key, double otherwise, double least, double most) const {
    return has(key) ? number(key, least, most) : otherwise;
  }
  bool flag_or(std::string_view key, bool otherwise) const { return has(key) ? flag(key) : otherwise; }
  std::string text_or(std::string_view key, const std::string& otherwise) const {
    return has(key) ? text(key) : otherwise;
  }

  // A word out of a table, in any letter case; the error lists the table.
  template <typename Value, std::size_t N>
  Value choice(std::string_view key, const named_value<Value> (&table)[N]) const {
    const std::string word = text(key);
    std::vector<std::string> names;
    for (const auto& entry : table) {
      if (same_word(entry.name, word)) return entry.value;
      names.emplace_back(entry.name);
    }
    fail_choice(key, word, names);
  }
  template <typename Value, std::size_t N>
  Value choice_or(std::string_view key, Value otherwise, const named_value<Value> (&table)[N]) const {
    return has(key) ? choice(key, table) : otherwise;
  }

  // Refuses keys nobody asked for. Keys that start with "$" or "_" are for editors and people.
  void finish() const;

  // "file: path.key: what".
  [[noreturn]] void fail(std::string_view key, const std::string& what) const;

  const std::string& file() const { return file_; }
  std::string path_of(std::string_view key) const;
  const nlohmann::ordered_json& value() const { return *value_; }

 private:
  [[noreturn]] void fail_choice(std::string_view key, const std::string& word,
                                const std::vector<std::string>& names) const;

  const nlohmann::ordered_json* value_;
  std::string file_;
  std::string path_;
  std::shared_ptr<std::vector<std::string>> known_;
};

}  // namespace dvp::core
