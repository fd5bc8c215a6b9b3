// An NPU with a memory, registers driven by plain calls, and rings in DRAM: what a driver does, without firmware.
//
// Memory map: descriptor ring of queue q at ring_base(q), its completion ring at record_base(q), data from data_base
// on.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <systemc>
#include <vector>

#include "dvp_gen/npu_regs.h"
#include "testbenches/lib/tlm_initiator.h"
#include "tlm/array/model_array.h"
#include "tlm/core/memory_seat.h"
#include "tlm/core/protocol_checker.h"
#include "tlm/npu/npu.h"

namespace dvp::npu::test {

// 8x8 array, 64 KiB scratchpad of 16 banks, 1 GHz, 32 bursts outstanding; the rest as shipped.
npu_config small_npu();
// The same with non-blocking memory accesses.
npu_config small_non_blocking_npu();
// The same with rows in blocks of 2 KiB.
npu_config small_block_npu();

class npu_bench {
 public:
  static constexpr std::uint32_t ring_entries = 64;
  static constexpr std::uint64_t data_base = 0x10000;
  static constexpr std::uint64_t memory_bytes = 1 << 20;
  static constexpr std::uint64_t ring_base(std::uint32_t q) { return 0x2000 * q; }
  static constexpr std::uint64_t record_base(std::uint32_t q) { return 0x8000 + 0x1000 * q; }

  // Memory: 100 ns, 64 bytes per ns; with config.memory_non_blocking two channels of LPDDR5-6400 with refresh, which
  // queue, reorder and push back. No seat: a model array.
  explicit npu_bench(const npu_config& config = small_npu(), array::array_seat* seat = nullptr,
                     const std::string& trace = {});
  // No protocol rule was broken, and no payload is left behind when nothing is under way.
  ~npu_bench();

  std::uint32_t read(std::uint32_t offset);
  void write(std::uint32_t offset, std::uint32_t value);
  std::uint64_t counter(gen::npu::counter which);

  // Programs the rings of the queues, allows all interrupts and enables the block.
  void enable();
  void soft_reset();
  // Puts a 64-byte record into the ring; ring_doorbell() makes all put so far visible.
  template <typename Record>
  void put(std::uint32_t q, const Record& record) {
    const descriptor_view bytes(record);
    std::memcpy(dram() + ring_base(q) + tails_[q]++ % ring_entries * sizeof bytes, &bytes, sizeof bytes);
  }
  void ring_doorbell(std::uint32_t q) { write(gen::npu::queue::tail::at(q), tails_[q]); }
  void set_tail(std::uint32_t q, std::uint32_t tail) { tails_[q] = tail; }
  // Both of the above for one descriptor after another.
  template <typename... Records>
  void submit(std::uint32_t q, const Records&... records) {
    (put(q, records), ...);
    ring_doorbell(q);
  }

  std::uint32_t head(std::uint32_t q) { return read(gen::npu::queue::head::at(q)); }
  gen::npu::error_code error(std::uint32_t q) {
    return static_cast<gen::npu::error_code>(read(gen::npu::queue::error::at(q)));
  }
  std::uint32_t error_index(std::uint32_t q) { return read(gen::npu::queue::error_index::at(q)); }
  std::uint64_t fault_address(std::uint32_t q) {
    return std::uint64_t{read(gen::npu::queue::fault_address_hi::at(q))} << 32 |
           read(gen::npu::queue::fault_address_lo::at(q));
  }
  gen::completion_record record(std::uint32_t q, std::uint32_t index);

  // Writes a command of the address window and its operands; the command is under way then, unless it was refused.
  void window(const window_command& command);
  bool window_busy() { return gen::npu::window_status::busy.get(read(gen::npu::window_status::offset)) != 0; }
  gen::npu::window_result window_result() {
    return static_cast<gen::npu::window_result>(
        gen::npu::window_status::result.get(read(gen::npu::window_status::offset)));
  }

  // The blocking memory answers accesses to this byte as one whose data it cannot correct.
  void spoil(std::uint64_t address) { spoiled_ = address; }

  // Until nothing is left to happen, or for this long.
  void run() { sc_core::sc_start(); }
  void run_ns(std::uint64_t ns) { sc_core::sc_start(static_cast<double>(ns), sc_core::SC_NS); }
  static std::uint64_t now_ns() { return sc_core::sc_time_stamp().value() / 1000; }

  std::byte* dram() { return reinterpret_cast<std::byte*>(memory->data()); }
  std::span<std::byte> pad() { return block.scratchpad_bytes(); }
  template <typename T>
  T dram_at(std::uint64_t address) {
    T value;
    std::memcpy(&value, dram() + address, sizeof value);
    return value;
  }
  template <typename T>
  void set_dram(std::uint64_t address, T value) {
    std::memcpy(dram() + address, &value, sizeof value);
  }

  core::statistics figures;
  core::timeline timeline;

 private:
  // When the line rose, in ns.
  struct line_watch : sc_core::sc_module {
    sc_core::sc_in<bool> line{"line"};
    std::vector<std::uint64_t> rises;
    explicit line_watch(const sc_core::sc_module_name& name);
    void changed();
  };

  // Between the checker and the blocking memory.
  struct memory_gate : sc_core::sc_module {
    tlm_utils::simple_target_socket<memory_gate> in{"in"};
    tlm_utils::simple_initiator_socket<memory_gate> out{"out"};
    const std::uint64_t& spoiled;
    memory_gate(const sc_core::sc_module_name& name, const std::uint64_t& spoiled_byte);
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  };

  array::model_array model_;
  std::uint64_t spoiled_ = ~std::uint64_t{0};
  std::uint32_t tails_[2] = {0, 0};
  sc_core::sc_signal<bool> irq_{"irq"};

 public:
  dvp::test::tlm_initiator initiator{"initiator"};
  npu block;
  core::protocol_checker checker{"checker"};
  std::unique_ptr<core::memory_seat> memory;
  std::unique_ptr<memory_gate> gate;
  line_watch line{"line_watch"};
};

}  // namespace dvp::npu::test
