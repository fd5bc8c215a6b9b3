#include "gen/npugen/node.h"

#include <algorithm>

#include "gen/npugen/spec_error.h"

namespace dvp::npugen {

std::string element_path(const std::string& list_path, const nlohmann::json& element, std::size_t index) {
  const bool named = element.is_object() && element.contains("name") && element["name"].is_string();
  return list_path + "[" + (named ? element["name"].get<std::string>() : std::to_string(index)) + "]";
}

std::string member_path(const std::string& object_path, std::string_view key) {
  return object_path.empty() ? std::string(key) : object_path + "." + std::string(key);
}

node node::child(std::string_view key) const {
  return {*source_, value_->at(key), member_path(path_, key)};
}

std::vector<node> node::items(std::string_view key) const {
  std::vector<node> result;
  if (has(key)) {
    const nlohmann::json& list = value_->at(key);
    for (std::size_t i = 0; i < list.size(); ++i) {
      result.push_back({*source_, list[i], element_path(member_path(path_, key), list[i], i)});
    }
  }
  return result;
}

std::string node::text(std::string_view key) const {
  return has(key) ? value_->at(key).get<std::string>() : std::string();
}

std::vector<std::string> node::texts(std::string_view key) const {
  return value_->at(key).get<std::vector<std::string>>();
}

bool node::flag(std::string_view key) const {
  return has(key) && value_->at(key).get<bool>();
}

std::uint64_t node::number(std::string_view key, std::uint64_t maximum) const {
  const nlohmann::json& value = value_->at(key);
  std::uint64_t result = 0;
  if (value.is_string()) {
    std::string digits = value.get<std::string>().substr(2);
    std::erase(digits, '_');
    digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
    if (digits.size() > 16) {
      child(key).fail(value.get<std::string>() + " has more than 64 bits", "give a smaller number");
    }
    result = digits.empty() ? 0 : std::stoull(digits, nullptr, 16);
  } else {
    result = value.get<std::uint64_t>();
  }
  if (result > maximum) {
    child(key).fail(std::to_string(result) + " is too large", "the largest value here is " + std::to_string(maximum));
  }
  return result;
}

void node::fail(const std::string& what, const std::string& remedy) const {
  throw spec_error(source_->shown, path_, what, remedy);
}

}  // namespace dvp::npugen
