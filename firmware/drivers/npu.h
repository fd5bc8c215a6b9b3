// Driver of the NPU: one command queue, its interrupt, its errors.
//
// Descriptors are numbered from 0 in the order of submission since the last start() or restart(); the NPU counts the
// same way. The driver uses queue 0. What damages its traffic is found: every descriptor carries a check byte, and
// those that interrupt, which are those one can wait for, leave a completion record that must say what it has to. An
// interrupt that gets lost costs time only: whoever waits looks at the block every quarter of the watch-dog time.
#pragma once

#include <cstdint>
#include <span>

#include "dvp_gen/descriptor.h"
#include "dvp_gen/npu_regs.h"
#include "firmware/drivers/interrupts.h"

namespace dvp::drivers {

enum class npu_code : std::uint8_t {
  ok,
  absent,        // wrong identification or an impossible capability; nothing was written
  bad_argument,  // hardware untouched
  stopped,       // the queue stopped with an error, see fault(); no descriptor after it runs; reset() recovers
  timeout,       // the head did not move within the watch-dog time; reset() recovers
  bad_record,    // the completion record contradicts the head; reset() recovers
  window,  // no code of this driver: a command of the address window was refused, or a residency is not as outlined
};

struct npu_limits {
  std::uint32_t rows = 0;     // reduction indices per fold
  std::uint32_t columns = 0;  // tokens per tile
  std::uint32_t scratchpad_bytes = 0;
  std::uint32_t scratchpad_banks = 0;
  std::uint32_t accumulator_vectors = 0;  // most vectors of one GEMM descriptor
};

struct npu_fault {
  gen::npu::error_code error = gen::npu::error_code::none;
  std::uint32_t index = 0;    // of the descriptor that stopped the queue
  std::uint64_t address = 0;  // of the access that failed, as the NPU used it; 0 for errors that are none of memory
};

class npu {
 public:
  // Smallest ring: interrupts for back-pressure come every quarter of it.
  static constexpr std::uint32_t fewest_entries = 16;
  static constexpr std::uint32_t most_entries = 1u << 15;

  explicit npu(interrupt_line line) : line_(line) {}

  // Identifies the block at `base` and reads its limits. Codes: ok, absent.
  [[nodiscard]] npu_code probe(std::uint64_t base);
  const npu_limits& limits() const { return limits_; }

  // Resets the block and gives queue 0 the ring at `ring_address` (64-byte aligned, `entries` descriptors, a power of
  // two within the limits above) and as many completion records at `record_address` (8-byte aligned). watchdog_us: time
  // without a move of the head that counts as stuck; 0: never, and a lost interrupt is then waited for without end.
  // Codes: ok, bad_argument.
  [[nodiscard]] npu_code start(std::uint64_t ring_address, std::uint64_t record_address, std::uint32_t entries,
                               std::uint32_t watchdog_us);
  // The same again with the same rings, after a failure; needs a start() that was ok.
  void restart();
  // With an address window that shows the rings: the bus address that would be at device address 0 if all memory were
  // in line with them. Before start(); 0 without a window.
  void see_memory_from(std::uint64_t bus) { memory_base_ = bus; }

  // Index that the next submitted descriptor gets.
  std::uint32_t next_index() const { return written_; }

  // Places from next_index() back to `index`, as the wait field of a descriptor wants it. 0, no wait, when the
  // descriptor is so far back that its ring slot was used again: then it is complete by construction.
  std::uint16_t after(std::uint32_t index) const;

  // Copies a descriptor into the ring. Blocks only while the ring is full, until a quarter of it is free. The NPU sees
  // descriptors in batches; flush() shows it the rest. Codes: ok, stopped, timeout, bad_record.
  template <class Descriptor>
  [[nodiscard]] npu_code submit(const Descriptor& descriptor) {
    static_assert(sizeof(Descriptor) == gen::descriptor_bytes);
    return submit_bytes(&descriptor);
  }

  // Rings the doorbell for everything submitted. Never blocks.
  void flush();

  // Blocks, asleep, until descriptor `index` and all before it are complete. Its interrupt flag must be set. Codes: ok,
  // bad_argument (not submitted), stopped, timeout, bad_record.
  [[nodiscard]] npu_code wait_complete(std::uint32_t index);

  // Whether descriptor `index` and all before it are complete, by a look at the head.
  bool is_complete(std::uint32_t index) const;

  // Interrupts since start() that did not come, whatever restart() there was: the block asked and was not heard.
  std::uint32_t lost_interrupts() const { return lost_interrupts_; }

  // Why the queue stopped; error none while it runs.
  npu_fault fault() const;

  // Both disable the block until the next start(). disable() is for an idle block and keeps its counters; reset() drops
  // all queued work and clears errors and counters.
  void disable();
  void reset();

 private:
  struct alignas(8) ring_slot {
    gen::descriptor_header header;
    std::uint8_t rest[gen::descriptor_bytes - sizeof(gen::descriptor_header)];
  };

  [[nodiscard]] npu_code submit_bytes(const void* descriptor);
  void sleep();
  bool record_agrees(std::uint32_t index) const;
  bool queue_stopped() const;
  bool complete(std::uint32_t index) const { return static_cast<std::int32_t>(head_ - index) > 0; }

  interrupt_line line_;
  std::uint64_t base_ = 0;
  npu_limits limits_;
  std::uint64_t ring_address_ = 0;
  std::uint64_t record_address_ = 0;
  std::uint64_t memory_base_ = 0;
  std::span<ring_slot> ring_;
  std::span<gen::completion_record> records_;  // one per slot of the ring
  std::uint32_t written_ = 0;                  // descriptors in the ring so far
  std::uint32_t rung_ = 0;                     // of these, shown to the NPU
  std::uint32_t head_ = 0;                     // completed, as last read
  std::uint32_t watchdog_us_ = 0;
  std::uint32_t quiet_us_ = 0;  // slept since the head last moved
  bool claimed_ = false;        // the last sleep ended with the block's interrupt
  std::uint32_t lost_interrupts_ = 0;
};

}  // namespace dvp::drivers
