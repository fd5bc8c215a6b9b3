// The NPU's memory socket as its processes share it: accesses with an access tag go in, answers come out.
//
// submit() is the seam to the memory: the caller learns from `done`, and from nothing else, whether and when an access
// is complete. Two back ends:
//   blocking      b_transport, handed over with the issue time as delay; answers inside submit() with an end that may
//                 lie ahead. For memories that serve accesses in the order of the calls.
//   non-blocking  nb_transport, base protocol: waits until the access is due, then for the request phase to be free,
//                 and holds submit() until END_REQ. Answers when the response arrives, in any order. One request at a
//                 time goes out, in the order in which processes come.
// Accesses of one process to the same byte take effect in the order they are handed over.
//
// With an address window the address of an access is a device address, unless it says bus. It is translated when it is
// handed over, and goes to the bus in as many accesses as it meets map entries whose bytes do not follow one another
// there; the answer is one. If a byte of it is not mapped nothing of it goes out, and the answer is window_fault. Rows
// of a block go out as accesses of their own where the block does not lie behind one map entry. What is translated are
// the stored bytes; the pieces of a converted read hold whole delivered bytes, since its address and the pages are
// multiples of stored_per_byte(). Translation takes no time: the entries are few enough to be looked up in the cycle of
// the issue.
//
// Without data (shape_only) only bytes whose purpose carries decisions move.
//
// A reset drops the answers of accesses under way; their payloads, and copies of their data, stay alive until the
// memory is done with them. A submit() under way throws restarted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <systemc>
#include <tlm>
#include <vector>

#include "tlm/core/access_tag.h"
#include "tlm/npu/address_window.h"
#include "tlm/npu/counters.h"
#include "tlm/npu/dma_segments.h"
#include "tlm/npu/reset_line.h"

namespace dvp::npu {

enum class address_space : std::uint8_t { device, bus };

// The elements of the tag follow from its precision. A write leaves `data` as it is. A read tagged q4 or q2 covers
// stored_bytes() from its address on, of which `data` takes the view.
struct memory_access {
  tlm::tlm_command command;
  std::uint64_t address;
  std::span<std::byte> data;
  gen::precision precision;
  gen::purpose purpose;
  address_space space = address_space::device;
  std::uint16_t view = 0;      // of a read tagged q4 or q2
  core::row_block block = {};  // how `data` lie in memory

  std::uint64_t stored_per_byte() const {
    return command == tlm::TLM_READ_COMMAND ? npu::stored_per_byte(precision) : 1;
  }
  // Of one row, of a block.
  std::uint64_t stored_bytes() const { return data.size() / block.rows * stored_per_byte(); }
};

struct memory_answer {
  gen::npu::error_code error;  // none: answered with OK; its bytes are counted and moved
  std::uint64_t address;       // with an error: what failed, as the caller named it
  sc_core::sc_time end;        // when the access is complete, now or later

  bool ok() const { return error == gen::npu::error_code::none; }
};

class memory_link : tlm::tlm_mm_interface {
 public:
  using answer_handler = std::function<void(const memory_answer&)>;

  // Everything outlives the link. The owner of the socket passes nb_transport_bw on.
  memory_link(tlm::tlm_initiator_socket<>& socket, address_window& window, counters& counts, reset_line& reset,
              bool non_blocking, bool shape_only = false)
      : socket_(socket),
        window_(window),
        counts_(counts),
        reset_(reset),
        non_blocking_(non_blocking),
        shape_only_(shape_only) {}
  memory_link(const memory_link&) = delete;
  memory_link& operator=(const memory_link&) = delete;
  ~memory_link() override;

  // Hands over an access issued `offset` from now, from a thread. `done` is called once, inside or later, unless a
  // reset comes first. The data stay in place until the answer or the reset.
  void submit(const memory_access& access, const sc_core::sc_time& offset, const answer_handler& done);

  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);

  // Whether everything from the access's address to the end of its last row lies behind one map entry, or needs none:
  // a block goes out as one access.
  bool is_in_one_place(const memory_access& access) const;

  // Payloads that are with the memory or with a caller.
  std::size_t payloads_out() const { return out_; }

  reset_line& reset() const { return reset_; }

 private:
  struct transaction : tlm::tlm_generic_payload {
    core::access_tag tag;
    std::vector<std::byte> copy;  // non-blocking: what the memory moves
    std::span<std::byte> data;    // the caller's
    answer_handler done;
    std::uint64_t asked = 0;  // the caller's address
    std::uint64_t resets = 0;
  };
  // An access and where it is on the bus.
  struct bus_access {
    memory_access asked;
    std::uint64_t bus;
  };

  void submit_rows(const memory_access& access, const sc_core::sc_time& offset, const answer_handler& done);
  void submit_pieces(const memory_access& access, const sc_core::sc_time& offset, const answer_handler& done);
  void hand_over(const bus_access& access, const sc_core::sc_time& offset, const answer_handler& done);
  transaction& take(const bus_access& access, std::span<std::byte> moved);
  void free(tlm::tlm_generic_payload* payload) override;
  void submit_blocking(const bus_access& access, const sc_core::sc_time& offset, const answer_handler& done);
  void submit_non_blocking(const bus_access& access, const sc_core::sc_time& offset, const answer_handler& done);
  void wait_for_turn();
  void request_is_over(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& at);
  void answer(transaction& of, const sc_core::sc_time& end);

  tlm::tlm_initiator_socket<>& socket_;
  address_window& window_;
  counters& counts_;
  reset_line& reset_;
  const bool non_blocking_;
  const bool shape_only_;
  std::deque<transaction> pool_;
  std::vector<transaction*> free_;
  std::size_t out_ = 0;
  const tlm::tlm_generic_payload* requesting_ = nullptr;
  std::uint64_t requests_ = 0;       // begun
  std::uint64_t requests_over_ = 0;  // of those, answered with END_REQ or more
  sc_core::sc_time free_from_;       // when the next request may go
  sc_core::sc_event turn_;           // the request phase is free
};

}  // namespace dvp::npu
