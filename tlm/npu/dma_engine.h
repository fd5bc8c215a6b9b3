// The load DMA (dma_load, dma_gather) and the store DMA: two instances of one engine.
//
// Bursts are issued in order, at least dma_issue_cycles and the scratchpad width apart, with at most
// dma_max_outstanding in flight: burst n is issued no earlier than burst n - dma_max_outstanding is complete. They go
// through b_transport with their issue time as delay, so the engine waits once per quantum and not once per burst. When
// its last burst is issued the next descriptor may start; a descriptor is complete, in order, when its last burst is,
// rounded up to an edge. A gather first reads its list of indices.
//
// Bytes move when a burst is handed to the memory, between start and completion of the descriptor. A burst answered
// with an error stops the descriptor and its queue with bus_error; bytes moved before stay moved.
#pragma once

#include <cstdint>
#include <deque>
#include <systemc>
#include <vector>

#include "tlm/npu/engine.h"
#include "tlm/npu/memory_port.h"

namespace dvp::npu {

class dma_engine : public engine {
 public:
  dma_engine(const sc_core::sc_module_name& name, engine_id id, npu_parts& parts, tlm::tlm_initiator_socket<>& memory);

  void clear() override;

 private:
  // A descriptor whose bursts are all issued.
  struct draining {
    in_flight* item;
    bank_set banks;
    sc_core::sc_time begin;
    sc_core::sc_time end;  // of the last burst
    bool ok;
  };

  void show(engine_state state) override;
  void issue_process();
  void drain_process();
  void serve();
  void drain();
  bool issue_all(const gen::dma_descriptor& d);
  bool issue_gather(const gen::dma_descriptor& d);
  bool issue_segment(const gen::dma_descriptor& d, std::uint64_t dram, std::uint64_t scratchpad, std::uint64_t bytes);
  bool issue(std::uint64_t dram, std::span<std::byte> data, gen::precision precision, gen::purpose purpose);

  memory_port port_;
  std::vector<sc_core::sc_time> outstanding_;  // completion times of the last dma_max_outstanding bursts, a ring
  std::size_t oldest_ = 0;
  sc_core::sc_time next_issue_;
  sc_core::sc_time last_end_;  // of the descriptor in issue
  std::vector<std::uint32_t> list_;
  engine_state issue_state_ = engine_state::idle;  // of the issuing process, whatever still drains
  std::uint32_t in_work_ = 0;                      // descriptors begun and not complete
  std::deque<draining> draining_;
  sc_core::sc_event drain_arrival_;
  sc_core::sc_time drawn_until_;
};

}  // namespace dvp::npu
