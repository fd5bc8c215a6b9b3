#include "tlm/lpddr5/config/traffic_setup.h"

#include <filesystem>

namespace dvp::lpddr5 {

namespace {

constexpr std::uint64_t most = std::uint64_t{1} << 60;

std::string type_of(const core::json_object& json) {
  if (json.has("type")) return json.text("type");
  if (json.has("states")) return "statemachine";
  if (json.has("rowIncrement")) return "rowhammer";
  return json.has("numRequests") ? "generator" : "player";
}

void read_generator(const core::json_object& json, traffic_setup& t) {
  constexpr core::named_value<bool> distributions[] = {{"random", true}, {"sequential", false}};
  t.seed = json.whole_or("seed", 0, 0, UINT64_MAX);
  t.requests = json.whole("numRequests", 1, most);
  t.max_transactions = json.whole_or("maxTransactions", 0, 0, most);
  t.read_share = json.number("rwRatio", 0, 1);
  t.random = json.choice("addressDistribution", distributions);
  t.increment_bytes = json.whole_or("addressIncrement", 0, 0, most);
  t.alignment_bytes = json.whole_or("dataAlignment", 0, 0, most);
  t.min_address = json.whole_or("minAddress", 0, 0, most);
  if (json.has("maxAddress")) {
    t.max_address = json.whole("maxAddress", 0, most);
    if (*t.max_address < t.min_address) json.fail("maxAddress", "is below minAddress; exchange them");
  }
}

}  // namespace

traffic_setup read_traffic_setup(const core::json_object& json, const std::string& folder) {
  const std::string type = type_of(json);
  traffic_setup t;
  if (core::same_word(type, "statemachine") || core::same_word(type, "rowhammer") || core::same_word(type, "hammer")) {
    json.fail("type", "this model plays no " + type + "; use a player or a generator");
  }
  if (core::same_word(type, "generator")) {
    t.kind = traffic_kind::generator;
  } else if (!core::same_word(type, "player")) {
    json.fail("type", "\"" + type.substr(0, 40) + "\" is not known; it takes player or generator");
  }
  t.clock_mhz = json.number("clkMhz", 1e-3, 1e6);
  t.name = json.text("name");
  t.data_bytes = json.whole_or("dataLength", 0, 0, std::uint64_t{1} << 30);
  t.max_pending_reads = json.whole_or("maxPendingReadRequests", 0, 0, most);
  t.max_pending_writes = json.whole_or("maxPendingWriteRequests", 0, 0, most);
  if (t.kind == traffic_kind::generator) {
    read_generator(json, t);
  } else {
    t.path = (std::filesystem::path(folder) / t.name).string();
  }
  json.finish();
  return t;
}

}  // namespace dvp::lpddr5
