#include "tlm/platform/compare/merge_timelines.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

namespace dvp::platform {

namespace {

// One event a line, as core::timeline writes them. In a JSON string a quote is escaped, so these are keys wherever they
// stand.
constexpr std::string_view process_key = ",\"pid\":";
constexpr std::string_view track_key = ",\"tid\":";
constexpr std::string_view names_process = R"({"ph":"M","name":"process_name")";
constexpr std::string_view orders_process = R"({"ph":"M","name":"process_sort_index")";
constexpr std::string_view orders_track = R"({"ph":"M","name":"thread_sort_index")";
constexpr std::string_view name_argument = R"("args":{"name":")";
constexpr std::string_view order_argument = R"("args":{"sort_index":)";

// Numbers that one run's events use, moved behind those of the runs before it.
struct numbering {
  std::uint32_t first_process = 0, first_track = 0;  // added to what the file says
  std::uint32_t last_process = 0, last_track = 0;    // highest so far, of all runs
};

// Adds `offset` to the number behind the first `key`; false when there is none.
bool move_number(std::string& event, std::string_view key, std::uint32_t offset, std::uint32_t& highest) {
  const auto at = event.find(key);
  if (at == std::string::npos) return false;
  const char* begin = event.data() + at + key.size();
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(begin, event.data() + event.size(), number);
  if (error != std::errc()) return false;
  number += offset;
  highest = std::max(highest, number);
  event.replace(at + key.size(), static_cast<std::size_t>(end - begin), std::to_string(number));
  return true;
}

// False when the line is no event.
bool adapt(std::string& event, const std::string& quoted_name, numbering& numbers) {
  if (!event.starts_with("{\"ph\":\"") || !event.ends_with('}')) return false;
  if (!move_number(event, process_key, numbers.first_process, numbers.last_process) ||
      !move_number(event, track_key, numbers.first_track, numbers.last_track)) {
    return false;
  }
  std::uint32_t unused = 0;
  if (event.starts_with(names_process)) {
    const auto at = event.find(name_argument);
    if (at == std::string::npos) return false;
    event.insert(at + name_argument.size(), quoted_name + ": ");
  } else if (event.starts_with(orders_process)) {
    return move_number(event, order_argument, numbers.first_process, unused);
  } else if (event.starts_with(orders_track)) {
    return move_number(event, order_argument, numbers.first_track, unused);
  }
  return true;
}

void append(const named_timeline& timeline, numbering& numbers, bool& first, std::ostream& out) {
  std::ifstream in(timeline.path, std::ios::binary);
  std::string line;
  if (!std::getline(in, line)) throw std::runtime_error(timeline.path + ": cannot be read, or is empty");
  std::string quoted = nlohmann::json(timeline.name).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  quoted = quoted.substr(1, quoted.size() - 2);
  numbers.first_process = numbers.last_process;
  numbers.first_track = numbers.last_track;
  for (std::size_t number = 2; std::getline(in, line) && line != "]}"; ++number) {
    if (line.ends_with(',')) line.pop_back();
    if (line.empty()) continue;
    if (!adapt(line, quoted, numbers)) {
      throw std::runtime_error(timeline.path + " line " + std::to_string(number) + ": is no event of a timeline");
    }
    out << (first ? "\n" : ",\n") << line;
    first = false;
  }
  if (line != "]}") throw std::runtime_error(timeline.path + ": ends before its last event; it was cut off");
}

}  // namespace

void merge_timelines(const std::vector<named_timeline>& timelines, const std::string& path) {
  const std::string beside = path + ".part";
  std::error_code ignored;
  try {
    std::ofstream out(beside, std::ios::binary | std::ios::trunc);
    out << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
    numbering numbers;
    bool first = true;
    for (const auto& timeline : timelines) append(timeline, numbers, first, out);
    out << "\n]}\n";
    out.close();
    if (!out) throw std::runtime_error(path + ": could not be written whole; is the disk full?");
    std::filesystem::rename(beside, path);
  } catch (...) {
    std::filesystem::remove(beside, ignored);
    throw;
  }
}

}  // namespace dvp::platform
