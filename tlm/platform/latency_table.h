// Latency tables: how long a forward takes by its rows, for drafts that are to cost no time (decode.mbsd.latency).
//
// `dllm-vp profile` measures them on a configuration and a model and writes a file (configs/latency.schema.json). Times
// follow from the platform and the model's shape alone, so a file says both, and belongs to every configuration and
// model that agree with it there, and to slices of that model.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tlm/platform/config.h"
#include "tlm/platform/loaded_model.h"

namespace dvp::platform {

// What a forward's time depends on: of a configuration's document, and of a model.
nlohmann::ordered_json timed_platform(const nlohmann::ordered_json& config);
nlohmann::ordered_json timed_shape(const loaded_model& model);

// The file that decode.mbsd.latency names; none when it names none or drafts are off. usage_error when it is not beside
// the configuration or one of its bases.
std::optional<std::filesystem::path> find_latency_file(const platform_config& config);

// Reads the file that decode.mbsd.latency names, if it names one and drafts are on, into config.decode.latencies.
// usage_error when it is not beside the configuration or one of its bases, is no latency file, or does not belong to
// this configuration or model: the first key that differs is named.
void read_latency_file(platform_config& config, const loaded_model& model);

// Where that file would be written for a configuration's file: "phone.json" -> "phone.latency.json", beside it.
std::filesystem::path latency_file_of(const std::filesystem::path& config);

}  // namespace dvp::platform
