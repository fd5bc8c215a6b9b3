// What one request was, what came back, and what it cost. Plain data between session and reports.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "dvp_gen/compression.h"
#include "dvp_gen/request.h"
#include "tlm/platform/shape/decision_feed.h"

namespace dvp::platform {

struct prompt {
  std::string id;
  std::string text;                       // as typed, without the model's suffix
  std::vector<std::uint32_t> tokens{};    // instead of the text, where there is none
  std::optional<std::string> expected{};  // exact answer, when known
};

struct commit {
  std::uint32_t position = 0;
  std::uint32_t token = 0;
};

// One forward as the host saw it: which positions of the block got which token.
struct forward_record {
  gen::progress_kind kind = gen::progress_kind::forward;
  std::uint32_t forward = 0;
  std::uint32_t first = 0;   // position of the block
  std::uint32_t length = 0;  // of the block
  gen::prefix_reading prefix = gen::prefix_reading::whole;
  gen::network_pass network = gen::network_pass::whole;
  std::uint64_t end_ps = 0;  // simulated: the host was told
  std::vector<commit> commits;
};

struct answer {
  prompt request;
  gen::result_record result;
  std::string fault;                  // why the run ended early, from the host's side; "" when it did not
  std::vector<std::uint32_t> tokens;  // prompt and answer
  std::uint32_t prompt_tokens = 0;
  std::string text;            // the answer up to its end token
  std::uint64_t begin_ps = 0;  // simulated: the firmware accepted the request
  std::uint64_t end_ps = 0;
  std::vector<forward_record> forwards;
  decision_log decisions;                        // where the run keeps them
  std::vector<gen::layer_statistics> layers;     // what compression did; empty without
  std::vector<std::uint64_t> descriptor_hashes;  // by queue, over every descriptor fetched; empty when there was none
  nlohmann::ordered_json figures;                // every counter of the platform, over this request alone
  nlohmann::ordered_json prefill_figures;        // the same up to the end of the prefill; null without one

  bool ok() const { return fault.empty() && result.code == gen::result_code::ok; }
  bool right() const { return ok() && request.expected && *request.expected == text; }
  std::uint32_t generated() const {
    const auto total = static_cast<std::uint32_t>(tokens.size());
    return total > prompt_tokens ? total - prompt_tokens : 0;
  }
};

}  // namespace dvp::platform
