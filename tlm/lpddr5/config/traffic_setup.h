// Entries of DRAMSys's "tracesetup": what traffic a simulation file asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tlm/core/strict_json.h"

namespace dvp::lpddr5 {

enum class traffic_kind : std::uint8_t { player, generator };

struct traffic_setup {
  traffic_kind kind = traffic_kind::player;
  std::string name;              // of a generator
  std::string path;              // of a player's trace: beside the simulation file unless absolute
  double clock_mhz = 0;          // the initiator's, which trace cycles and the pace of a generator count in
  std::uint64_t data_bytes = 0;  // of a request that does not say itself; 0: one burst
  std::uint64_t max_pending_reads = 0, max_pending_writes = 0;  // 0: no limit
  // Generators.
  std::uint64_t seed = 0;
  std::uint64_t requests = 0;
  std::uint64_t max_transactions = 0;  // 0: no limit
  double read_share = 1;               // probability of a read
  bool random = false;                 // otherwise sequential
  std::uint64_t increment_bytes = 0;   // sequential; 0: data_bytes
  std::uint64_t alignment_bytes = 0;   // random; 0: data_bytes
  std::uint64_t min_address = 0;
  std::optional<std::uint64_t> max_address;  // inclusive; absent: the end of the memory
};

// One entry; `folder` is that of the simulation file. Entries without "type" are told apart by their keys, as in older
// files. config_error for state machines and row hammers, which this model does not play.
traffic_setup read_traffic_setup(const core::json_object& json, const std::string& folder);

}  // namespace dvp::lpddr5
