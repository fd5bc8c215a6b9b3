// A value of a sweep as arguments of `dllm-vp run`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace dvp::platform::sweep {

// "npu.vector.lanes", 32 -> {"--set=npu.vector.lanes=32"}; "--threshold", 0.9 -> {"--threshold=0.9"}; true switches an
// option on, false leaves it out, a list gives it several times. std::invalid_argument saying why not: an option that
// the sweep sets itself or that writes a file all points would share, or a value an option cannot take.
std::vector<std::string> arguments_of(const std::string& name, const nlohmann::ordered_json& value);

}  // namespace dvp::platform::sweep
