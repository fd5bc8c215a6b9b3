// What compression did, for stats.json and the summary.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <vector>

#include "dvp_gen/compression.h"
#include "tlm/platform/compression_config.h"
#include "tlm/platform/loaded_model.h"

namespace dvp::platform {

// Adds the counts of one run to those of others, layer by layer; the largest drift is that of all. An empty total
// becomes what is added.
void add(std::vector<gen::layer_statistics>& total, const std::vector<gen::layer_statistics>& layers);

// `compression` of an answer or of all: the sum over layers, then every layer. Keys as in configs/stats.schema.json.
nlohmann::ordered_json compression_figures(const compression_config& config,
                                           const std::vector<gen::layer_statistics>& layers);

// `compression` of the run: what was used, and where the sidecar comes from.
nlohmann::ordered_json compression_used(const compression_config& config, const loaded_model& model);

// The summary's lines; none when stats.json has no compression.
void write_compression(std::ostream& out, const nlohmann::ordered_json& stats);

}  // namespace dvp::platform
