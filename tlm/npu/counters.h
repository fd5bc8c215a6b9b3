// Where the cycles and bytes went.
//
// Every engine is in exactly one state at any time and the time in each is summed when the state changes, so the
// figures of an engine add up to the cycles since start() by construction. For the array the register counters are
//
//     cycles = array_busy + stall_dependency + stall_empty + (cycles in which the array itself waited for banks)
//
//     stall_dependency  the gemm at the head of the array's FIFO waits for other engines; or the FIFO is empty while
//                       descriptors rung in are not dispatched yet (fetch, dispatch, a full FIFO of another engine)
//     stall_empty       the FIFO is empty and every descriptor rung in is dispatched
//     stall_scratchpad  is the sum over all engines; cycles_in() tells them apart
//
// Plain arithmetic on edge numbers of the NPU clock, which never decrease from call to call.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dvp_gen/descriptor.h"
#include "dvp_gen/npu_regs.h"
#include "tlm/npu/work.h"

namespace dvp::npu {

enum class engine_id : std::uint8_t { dma_load, dma_store, array, vector, sampling, stage };
inline constexpr std::size_t engine_count = 6;
constexpr const char* name_of(engine_id id) {
  constexpr const char* names[] = {"dma_load", "dma_store", "array", "vector", "sampling", "stage"};
  return names[static_cast<std::size_t>(id)];
}

// idle: nothing in its FIFO. waiting: the head of its FIFO waits for other descriptors. blocked: it waits for banks.
enum class engine_state : std::uint8_t { idle, waiting, blocked, busy };
inline constexpr std::size_t engine_state_count = 4;

class counters {
 public:
  // Everything to 0; time counts from `edge` on, or not at all until the next start().
  void start(std::uint64_t edge);
  void clear();
  bool started() const { return started_; }

  void enter(engine_id engine, engine_state state, std::uint64_t edge);
  // Whether a queue that runs holds descriptors rung in but not dispatched.
  void set_backlog(bool backlog, std::uint64_t edge);

  void count_read(std::uint64_t bytes) { bytes_read_ += bytes; }
  void count_written(std::uint64_t bytes) { bytes_written_ += bytes; }
  void count_work(const work& done) { work_ += done; }
  void count_descriptor(gen::opcode op) { ++descriptors_[static_cast<std::size_t>(op)]; }

  // 0 before start().
  std::uint64_t cycles(std::uint64_t edge) const { return started_ ? edge - start_ : 0; }
  std::uint64_t cycles_in(engine_id engine, engine_state state, std::uint64_t edge) const;
  std::uint64_t descriptors(gen::opcode op) const { return descriptors_[static_cast<std::size_t>(op)]; }
  const work& done() const { return work_; }
  // The register counter; 0 for a number that names none.
  std::uint64_t value(gen::npu::counter which, std::uint64_t edge) const;

 private:
  struct engine_times {
    engine_state state = engine_state::idle;
    std::uint64_t since = 0;
    std::array<std::uint64_t, engine_state_count> cycles{};
  };

  static constexpr std::size_t opcodes = static_cast<std::size_t>(gen::opcode::update) + 1;

  void settle(engine_id engine, std::uint64_t edge);
  // Idle cycles of the array in which a queue had a backlog.
  std::uint64_t starved(std::uint64_t edge) const;

  bool started_ = false;
  std::uint64_t start_ = 0;
  std::array<engine_times, engine_count> engines_{};
  bool backlog_ = false;
  std::uint64_t starved_ = 0;
  std::uint64_t bytes_read_ = 0;
  std::uint64_t bytes_written_ = 0;
  work work_;
  std::array<std::uint64_t, opcodes> descriptors_{};
};

}  // namespace dvp::npu
