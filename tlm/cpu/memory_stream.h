// Bytes that go by between a hart's caches and main memory while it computes: bursts on the hart's socket.
//
//   address ──> | burst | burst | ... | burst |   cut at multiples of burst_bytes, at most `outstanding` under way
//
// Burst i of n leaves when fewer than `outstanding` are under way and, at full speed, the program has come to burst
// i - outstanding: no sooner than pace * (i - outstanding) / n after the begin. So a stream that the memory keeps up
// with is spread over the computation, as prefetching does it, and one that it does not keep up with is as fast as the
// memory and those who share it allow.
//
// No byte changes: what a read brings is dropped, and a write stores what was there at the moment it leaves, which asks
// for a memory that moves bytes when an access arrives. Accesses are tagged raw, with the purpose given: a CPU reads
// whole bytes.
//
// blocking: b_transport at the moment a burst leaves, for memories that serve accesses in the order of the calls.
// non-blocking: nb_transport, base protocol, one request at a time, responses in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <systemc>
#include <tlm>
#include <vector>

#include "dvp_gen/descriptor.h"
#include "tlm/core/access_tag.h"

namespace dvp::cpu {

struct memory_stream_config {
  std::uint32_t burst_bytes = 64;  // a power of two
  std::uint32_t outstanding = 16;  // 1 or more
  bool non_blocking = false;
};

struct streamed_bytes {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  bool written = false;
  gen::purpose purpose = gen::purpose::other;
};

class memory_stream : tlm::tlm_mm_interface {
 public:
  // The socket outlives the stream; its owner passes nb_transport_bw on.
  memory_stream(tlm::tlm_initiator_socket<>& socket, const memory_stream_config& config)
      : socket_(socket), config_(config) {}
  memory_stream(const memory_stream&) = delete;
  memory_stream& operator=(const memory_stream&) = delete;
  ~memory_stream() override;

  // Moves the bytes, 1 or more, from a thread, and returns when the last burst is complete. stored: where the host sees
  // them. False when the bus refused a burst, after which none leaves.
  bool move(const streamed_bytes& what, const std::uint8_t* stored, const sc_core::sc_time& pace);

  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);

 private:
  struct burst : tlm::tlm_generic_payload {
    core::access_tag tag;
    std::vector<std::uint8_t> data;
  };

  burst& take();
  void free(tlm::tlm_generic_payload* payload) override;
  void send_blocking(burst& b);
  void send_non_blocking(burst& b);
  void request_is_over(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& at);
  void complete(burst& b, const sc_core::sc_time& at);
  void wait_until_under_way(std::size_t most);

  tlm::tlm_initiator_socket<>& socket_;
  const memory_stream_config config_;
  std::deque<burst> pool_;
  std::vector<burst*> free_;
  std::size_t unanswered_ = 0;
  std::deque<sc_core::sc_time> ends_;  // of answered bursts, ascending; those ahead are under way
  const tlm::tlm_generic_payload* requesting_ = nullptr;
  sc_core::sc_time request_over_;  // when the next request may leave
  sc_core::sc_event answered_;     // a request or a burst
  bool refused_ = false;
};

}  // namespace dvp::cpu
