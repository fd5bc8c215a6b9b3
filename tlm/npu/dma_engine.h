// The load DMA (dma_load, dma_gather) and the store DMA: two instances of one engine.
//
// Bursts are issued in order, at least dma_issue_cycles and the scratchpad width apart, with at most
// dma_max_outstanding in flight. They are handed over with their issue time as offset, so the engine waits once per
// quantum and not once per burst. Answers may come inside the call or later, in any order, each with the time its burst
// is complete: the engine counts answers and relies on no order. When its last burst is issued the next descriptor may
// start; a descriptor is complete, in order, when all its bursts are, rounded up to an edge. A gather first reads its
// list of indices. Where the list names rows that follow one another without a gap on both sides they move as one
// piece, so the time of such a gather depends on which rows of its list are neighbours; on nothing else the list says.
//
// A load or gather tagged q4 or q2 reads codes that the memory converts: a burst is as long as any other in delivered
// bytes, and covers two or four times as many stored ones.
//
// With dma_block_bytes rows go to the memory in blocks, each with the bursts of its rows: as many cycles to issue, and
// as many in flight, half of dma_max_outstanding at most, so that blocks overlap as bursts would (dma_blocks.h).
//
// Bytes move when a burst is handed to the memory, between start and completion of the descriptor. A burst answered
// with an error stops the descriptor and its queue with the error answered first; bytes moved before stay moved.
#pragma once

#include <cstdint>
#include <deque>
#include <systemc>
#include <vector>

#include "tlm/npu/dma_blocks.h"
#include "tlm/npu/engine.h"
#include "tlm/npu/memory_link.h"

namespace dvp::npu {

class dma_engine : public engine {
 public:
  dma_engine(const sc_core::sc_module_name& name, engine_id id, npu_parts& parts, memory_link& memory);

  void clear() override;

 private:
  // A descriptor begun and not complete.
  struct work {
    dma_engine* engine;
    in_flight* item;
    bank_set banks;
    sc_core::sc_time begin;
    sc_core::sc_time end;          // of the latest of its bursts answered
    std::uint32_t unanswered = 0;  // accesses
    bool issued = false;           // all of them
    gen::npu::error_code error = gen::npu::error_code::none;
    std::uint64_t fault_address = 0;

    bool ok() const { return error == gen::npu::error_code::none; }
  };

  void show(engine_state state) override;
  void issue_process();
  void drain_process();
  void serve();
  void drain();
  // Until a burst of the descriptor is answered with an error; false after one.
  void issue_all(work& of, const gen::dma_descriptor& d);
  void issue_gather(work& of, const gen::dma_descriptor& d);
  bool issue_segment(work& of, const gen::dma_descriptor& d, std::uint64_t dram, std::uint64_t scratchpad,
                     std::uint64_t bytes);
  // What is issued at once: a burst, or a block of rows with so many, and the cycles until the next may be.
  struct portion {
    std::uint64_t dram = 0;
    std::span<std::byte> data;
    core::row_block block = {};
    burst_cost cost = {};
  };
  // Rows in blocks. Their data follow one another in the scratchpad.
  bool issue_rows(work& of, const gen::dma_descriptor& d, const row_run& rows, std::uint64_t scratchpad);
  // `as` says what the access is for: precision, view, purpose.
  memory_access access_of(const portion& what, const gen::descriptor_header& as) const;
  bool issue(work& of, const portion& what, const gen::descriptor_header& as);
  // Makes room for so many bursts and returns when there is; waits while no answer tells.
  sc_core::sc_time take_slots(std::uint32_t bursts);
  void answered(work& of, std::uint32_t bursts, const memory_answer& answer);

  memory_link& link_;
  // The bursts in flight, dma_max_outstanding at most: those not answered, and those of what was, the earliest first.
  struct answered_bursts {
    sc_core::sc_time end;
    std::uint32_t bursts;
  };
  std::uint32_t in_flight_ = 0;
  std::deque<answered_bursts> ends_;
  sc_core::sc_event answer_arrival_;
  sc_core::sc_time next_issue_;
  std::vector<std::uint32_t> list_;
  engine_state issue_state_ = engine_state::idle;  // of the issuing process, whatever still drains
  std::deque<work> work_;                          // in order
  sc_core::sc_event drain_arrival_;                // one is issued and answered
  sc_core::sc_time drawn_until_;
};

}  // namespace dvp::npu
