// The stage engine: copies bytes in memory, from a bus address to a device address, so that the next operator's data
// comes into the address window while the array computes.
//
//     read burst ──> buffer ──> write burst        dma_max_outstanding buffers of dma_max_burst_bytes, or as many bytes
//                                                  in blocks (dma_block_bytes)
//
// A burst ends where the copy does, or at a multiple of dma_max_burst_bytes of the source or of the destination; the
// two placed alike meet both at once. Reads go in order as buffers become free, each write when its bytes are here.
// Reads and writes have a port each, with the pace and the run-ahead of the DMAs, and go out in the order of their
// times. One descriptor at a time, complete, rounded up to an edge, when its last write is; the next one starts then.
// An access answered with an error stops the descriptor and its queue with the error answered first, after all accesses
// under way; bytes copied before stay copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <systemc>
#include <vector>

#include "tlm/npu/engine.h"
#include "tlm/npu/memory_link.h"

namespace dvp::npu {

class stage_engine : public engine {
 public:
  stage_engine(const sc_core::sc_module_name& name, npu_parts& parts, memory_link& memory);

  void clear() override;

 private:
  // A buffer. It is free, or its bytes have arrived, since `since`, which may lie ahead; else the memory has it.
  struct burst {
    std::uint64_t destination = 0;
    std::uint64_t bytes = 0;
    sc_core::sc_time since;
    std::vector<std::byte> data;
  };
  // The descriptor in work.
  struct copy {
    gen::dma_descriptor d;
    std::uint64_t asked = 0;  // bytes read or being read
    sc_core::sc_time end;     // of the latest access answered
    gen::npu::error_code error = gen::npu::error_code::none;
    std::uint64_t fault_address = 0;

    bool ok() const { return error == gen::npu::error_code::none; }
  };

  void process();
  void serve();
  void begin(const gen::dma_descriptor& d);
  void run();
  // When the next read, or write, may go out; nothing when there is none, or an answer must come first.
  std::optional<sc_core::sc_time> next_read_time() const;
  std::optional<sc_core::sc_time> next_write_time() const;
  void read(const sc_core::sc_time& ready);
  void write(const sc_core::sc_time& ready);
  // Hands over an access due at the first edge at or after `ready`; its port is free again some cycles later. The
  // burst comes into `next` with the answer.
  void issue(burst& of, const memory_access& access, const sc_core::sc_time& ready, sc_core::sc_time& port,
             std::deque<burst*>& next);
  void answered(burst& of, const memory_answer& answer, std::deque<burst*>& next);

  memory_link& link_;
  std::vector<burst> buffers_;
  std::deque<burst*> free_;  // both by `since`
  std::deque<burst*> arrived_;
  std::uint32_t unanswered_ = 0;
  copy copy_;
  sc_core::sc_time next_read_;
  sc_core::sc_time next_write_;
  sc_core::sc_event answer_arrival_;
};

}  // namespace dvp::npu
