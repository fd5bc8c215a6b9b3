// One process's way to DRAM: accesses with an access tag through the NPU's memory socket.
//
// submit() is the seam to the memory: the caller learns from `done`, and from nothing else, whether and when an access
// is complete. The back end here is b_transport, which answers inside submit() with an end that may lie ahead. One over
// nb_transport takes its place by answering when a response arrives, in any order, and by holding submit() until
// END_REQ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <systemc>
#include <tlm>

#include "tlm/core/access_tag.h"
#include "tlm/npu/counters.h"
#include "tlm/npu/reset_line.h"

namespace dvp::npu {

// The elements of the tag follow from its precision. A write leaves `data` as it is.
struct memory_access {
  tlm::tlm_command command;
  std::uint64_t address;
  std::span<std::byte> data;
  gen::precision precision;
  gen::purpose purpose;
};

struct memory_answer {
  bool ok;               // answered with OK; its bytes are counted and moved
  sc_core::sc_time end;  // when the access is complete, now or later
};

class memory_port {
 public:
  using answer_handler = std::function<void(const memory_answer&)>;

  // What it shares with the others; everything outlives the port.
  memory_port(tlm::tlm_initiator_socket<>& socket, counters& counts, reset_line& reset)
      : socket_(socket), counts_(counts), reset_(reset) {
    payload_.set_extension(&tag_);
  }
  memory_port(const memory_port&) = delete;
  memory_port& operator=(const memory_port&) = delete;
  ~memory_port() { payload_.clear_extension(&tag_); }

  // Hands over an access issued `offset` from now; accesses to the same byte take effect in the order they are handed
  // over. `done` is called once, inside or later, unless a reset comes first: the answer is then dropped, and a
  // submit() that is under way throws restarted. The data stay in place until the answer or the reset;
  // a dropped answer does not touch them.
  void submit(const memory_access& access, const sc_core::sc_time& offset, const answer_handler& done);

  // Hands over an access issued now and waits for its answer, not for its end.
  memory_answer read(std::uint64_t address, std::span<std::byte> data, gen::precision precision, gen::purpose purpose);
  memory_answer write(std::uint64_t address, std::span<const std::byte> data, gen::precision precision,
                      gen::purpose purpose);

 private:
  memory_answer wait_for(const memory_access& access);

  tlm::tlm_initiator_socket<>& socket_;
  counters& counts_;
  reset_line& reset_;
  tlm::tlm_generic_payload payload_;
  core::access_tag tag_;
  sc_core::sc_event answered_;
};

}  // namespace dvp::npu
