// One stretch of a soak: a device, a controller and a kind of traffic, drawn at random.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tlm/lpddr5/engine/memory_system.h"
#include "tlm/lpddr5/traffic/random.h"

namespace dvp::lpddr5::test {

enum class traffic_kind : std::uint8_t { sequential, uniform, hot, conflicts, mixed };

struct traffic {
  traffic_kind kind = traffic_kind::mixed;
  double write_share = 0;
  double tagged_share = 0;    // of the reads
  std::uint32_t window = 1;   // accesses in flight
  std::uint32_t backlog = 1;  // accesses that may wait for room
  cycles gap = 0;             // up to so many clocks between two
  cycles pause = 0;           // one in 200 comes so much later
  std::uint64_t region = 0;   // bytes that `hot` is about
};

struct episode {
  device memory;
  std::vector<rule_row> rules;
  controller_config config;
  std::uint32_t channels = 1;
  mapping_bits mapping;
  std::string mapping_order;
  traffic load;

  std::string description() const;
};

episode random_episode(random_generator& random);

// The next access of the kind; `previous` is where the last one ended.
access random_access(random_generator& random, const episode& e, std::uint64_t bytes, std::uint64_t previous);

}  // namespace dvp::lpddr5::test
