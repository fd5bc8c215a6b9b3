// The scratchpad: its bytes, and the ports of its banks.
//
// A bank has a compute port (array, vector, sampling) and a DMA port (load, store). While an engine works it holds
// that port of every bank between the first and the last byte of each of its operands. Ports of several banks are
// taken in ascending order, so engines wait for each other without deadlock; each port serves in order of arrival, so
// none is kept out and nothing depends on the order in which the kernel runs processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <systemc>
#include <vector>

#include "tlm/npu/counters.h"
#include "tlm/npu/operands.h"
#include "tlm/npu/reset_line.h"

namespace dvp::npu {

// Bit b is bank b.
using bank_set = std::uint64_t;

class scratchpad {
 public:
  // At most 64 banks, which divide the bytes.
  scratchpad(std::uint32_t bytes, std::uint32_t banks, reset_line& reset);

  std::span<std::byte> bytes() { return {reinterpret_cast<std::byte*>(words_.data()), bytes_}; }

  // Banks touched by operands that lie inside the scratchpad.
  bank_set banks_of(const operand_list& operands) const;

  // Whether the engine could have its port of all these banks at once.
  bool is_free(bank_set banks, engine_id engine) const;
  // Waits until it has them. An engine may hold a bank several times and gives it back as often.
  void acquire(bank_set banks, engine_id engine);
  void release(bank_set banks, engine_id engine);
  // Soft reset: nobody holds anything.
  void release_all();

 private:
  struct port {
    engine_id owner = engine_id::array;
    std::uint32_t holds = 0;  // 0: free
    std::deque<engine_id> waiting;

    bool serves(engine_id engine) const { return holds == 0 || owner == engine; }
  };

  std::vector<port>& ports_of(engine_id engine) { return engine <= engine_id::dma_store ? dma_ports_ : compute_ports_; }
  const std::vector<port>& ports_of(engine_id engine) const {
    return engine <= engine_id::dma_store ? dma_ports_ : compute_ports_;
  }

  std::uint32_t bytes_;
  std::uint32_t bank_bytes_;
  std::vector<std::uint64_t> words_;  // aligned for every element type
  std::vector<port> dma_ports_;
  std::vector<port> compute_ports_;
  sc_core::sc_event released_;
  reset_line& reset_;
};

}  // namespace dvp::npu
