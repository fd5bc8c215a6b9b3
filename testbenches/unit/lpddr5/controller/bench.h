// Memories for the controller's tests: LPDDR5-6400 x16 in bank-group mode, as in the golden numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tlm/lpddr5/controller.h"

namespace dvp::lpddr5::test {

struct memory_shape {
  std::uint32_t channels = 1;
  refresh_policy refresh = refresh_policy::none;
  scheduler_policy scheduler = scheduler_policy::fr_fcfs;
  std::uint32_t queue = 32;  // entries of either direction
  bool posted_writes = true;
};

memory_config make_memory(const memory_shape& shape = {});

// One clock of CK.
inline sc_core::sc_time ck(std::uint64_t n) {
  return {static_cast<double>(1250 * n), sc_core::SC_PS};
}

}  // namespace dvp::lpddr5::test
