// Registers of one block by plain calls from a test body, and the levels of its output lines.
//
// The block must take no time for an access with a delay of zero (core::register_target does not).
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <systemc>
#include <vector>

#include "testbenches/lib/tlm_initiator.h"

namespace dvp::test {

class register_driver {
 public:
  // Binds to the block; the kernel must not run yet.
  template <typename Block>
  explicit register_driver(Block& block) {
    initiator_.socket.bind(block.socket);
  }

  std::uint32_t read(std::uint64_t offset) { return static_cast<std::uint32_t>(read_bytes(offset, 4)); }
  std::uint64_t read_pair(std::uint64_t offset) { return read_bytes(offset, 8); }
  void write(std::uint64_t offset, std::uint32_t value) { write_bytes(offset, value, 4); }
  void write_pair(std::uint64_t offset, std::uint64_t value) { write_bytes(offset, value, 8); }

  // The answer to an access of 4 bytes that may be refused.
  tlm::tlm_response_status try_write(std::uint64_t offset, std::uint32_t value) {
    return initiator_.write(offset, bytes_of(value, 4)).status;
  }
  std::uint32_t debug_read(std::uint64_t offset) {
    std::vector<std::uint8_t> data(4);
    EXPECT_EQ(initiator_.debug(tlm::TLM_READ_COMMAND, offset, data), 4U);
    return static_cast<std::uint32_t>(value_of(data));
  }

 private:
  static std::vector<std::uint8_t> bytes_of(std::uint64_t value, std::size_t count) {
    std::vector<std::uint8_t> data(count);
    std::memcpy(data.data(), &value, count);
    return data;
  }
  static std::uint64_t value_of(const std::vector<std::uint8_t>& data) {
    std::uint64_t value = 0;
    std::memcpy(&value, data.data(), data.size());
    return value;
  }
  std::uint64_t read_bytes(std::uint64_t offset, std::size_t count) {
    std::vector<std::uint8_t> data(count);
    EXPECT_EQ(initiator_.read(offset, data).status, tlm::TLM_OK_RESPONSE) << "read of 0x" << std::hex << offset;
    return value_of(data);
  }
  void write_bytes(std::uint64_t offset, std::uint64_t value, std::size_t count) {
    EXPECT_EQ(initiator_.write(offset, bytes_of(value, count)).status, tlm::TLM_OK_RESPONSE)
        << "write of 0x" << std::hex << offset;
  }

  tlm_initiator initiator_{"initiator"};
};

// Lets the delta cycles of this instant pass; the first call starts the kernel.
inline void settle() {
  if (!sc_core::sc_start_of_simulation_invoked()) sc_core::sc_start(sc_core::SC_ZERO_TIME);
  while (sc_core::sc_pending_activity_at_current_time()) sc_core::sc_start(sc_core::SC_ZERO_TIME);
}

}  // namespace dvp::test
