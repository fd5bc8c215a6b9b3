// One process's way to DRAM: a payload with an access tag, reused for every access through the NPU's memory socket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <systemc>
#include <tlm>

#include "tlm/core/access_tag.h"
#include "tlm/npu/counters.h"
#include "tlm/npu/reset_line.h"

namespace dvp::npu {

class memory_port {
 public:
  // What it shares with the others; everything outlives the port.
  memory_port(tlm::tlm_initiator_socket<>& socket, counters& counts, reset_line& reset)
      : socket_(socket), counts_(counts), reset_(reset) {
    payload_.set_extension(&tag_);
  }
  memory_port(const memory_port&) = delete;
  memory_port& operator=(const memory_port&) = delete;
  ~memory_port() { payload_.clear_extension(&tag_); }

  // True when the access was answered with OK; its bytes are then counted and moved. `delay` is the time from now at
  // which it is issued on entry and at which it is complete on return, as in b_transport. The elements of the tag
  // follow from its precision. Throws restarted when a reset happened inside.
  bool read(std::uint64_t address, std::span<std::byte> data, gen::precision precision, gen::purpose purpose,
            sc_core::sc_time& delay);
  bool write(std::uint64_t address, std::span<const std::byte> data, gen::precision precision, gen::purpose purpose,
             sc_core::sc_time& delay);

 private:
  bool transfer(tlm::tlm_command command, std::uint64_t address, std::byte* data, std::size_t bytes,
                gen::precision precision, gen::purpose purpose, sc_core::sc_time& delay);

  tlm::tlm_initiator_socket<>& socket_;
  counters& counts_;
  reset_line& reset_;
  tlm::tlm_generic_payload payload_;
  core::access_tag tag_;
};

}  // namespace dvp::npu
