// The slices of a timeline file, [name, begin in us, duration in us, args] each, in file order.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace dvp::test {

inline nlohmann::json timeline_slices(const std::string& text) {
  const nlohmann::json file = nlohmann::json::parse(text);
  nlohmann::json slices = nlohmann::json::array();
  for (const nlohmann::json& event : file.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    slices.push_back(
        {event.at("name"), event.at("ts"), event.at("dur"), event.value("args", nlohmann::json::object())});
  }
  return slices;
}

}  // namespace dvp::test
