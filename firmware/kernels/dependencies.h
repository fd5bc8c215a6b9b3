// Finds out what a descriptor must wait for, from the bytes it touches.
//
// The scratchpad is cut into granules; for each, the tracker knows the last descriptor that wrote it and, per engine,
// the last that read it since. DRAM that the NPU both writes and reads is tracked as whole objects. A descriptor waits
// for the last writer of what it reads, and for the last writer and all readers of what it writes. Two facts remove
// most of these waits again: an engine works in order, so its own earlier descriptors are complete; and whatever a
// waited-for descriptor had seen complete is complete too (one clock per descriptor, with an entry per engine).
//
// Sharing a granule costs a wait that was not needed, never a missing one.
#pragma once

#include <array>
#include <cstdint>

namespace dvp::kernels {

enum class engine : std::uint8_t { load, store, array, vector, sampling, stage };
inline constexpr std::uint32_t engines = 6;

// DRAM written and read by descriptors of the same forward. nothing: never written by the NPU, or never read by it.
// staged_*: the parts of memory that the stage engine fills.
// kv_store: codes and terms of the compressed cache. kv_side: its Gram matrices and ranking. ffn_side: activity, drift.
enum class dram_object : std::uint8_t {
  nothing,
  kv_cache,
  residual,
  staged_low,
  staged_high,
  staged_whole,
  kv_store,
  kv_side,
  ffn_side
};
inline constexpr std::uint32_t dram_objects = 9;

class dependency_tracker {
 public:
  static constexpr std::uint32_t granules = 256;
  static constexpr std::uint32_t most_window = 1024;

  struct wait_list {
    std::uint32_t count = 0;
    std::array<std::uint32_t, engines> index{};  // of the descriptors to wait for
  };

  // Forgets everything. window: the ring's length, at most most_window; older descriptors are complete.
  void start(std::uint32_t scratchpad_bytes, std::uint32_t window);

  std::uint32_t granule_bytes() const { return 1u << granule_shift_; }

  // Describes the next descriptor: its engine, then what it touches (at most 6 ranges and one object).
  void begin(engine by);
  void touches(std::uint32_t address, std::uint32_t bytes, bool written);
  void touches(dram_object object, bool written);

  // What it must wait for if it becomes descriptor `index`.
  wait_list resolve(std::uint32_t index);

  // It was submitted as `index`, after the waits of resolve() or a barrier.
  void submitted(std::uint32_t index);

  // A fence was submitted as `index`: who waits for it finds everything before it complete. Replaces the waits that
  // resolve() found for the descriptor described last.
  void barrier(std::uint32_t index);

 private:
  // Stamps are index + 1; 0: never.
  using clock = std::array<std::uint32_t, engines>;
  struct history {
    std::uint32_t written = 0;
    engine writer = engine::load;
    clock read{};
  };
  struct range {
    std::uint32_t first = 0;  // granule
    std::uint32_t last = 0;
    bool written = false;
  };
  static constexpr std::uint32_t most_ranges = 8;

  void add(std::uint32_t first, std::uint32_t last, bool written);

  std::uint32_t granule_shift_ = 0;
  std::uint32_t window_ = 0;
  std::array<history, granules + dram_objects> histories_{};
  std::array<clock, most_window> clocks_{};  // at index modulo window: complete when that descriptor is complete
  clock newest_{};                           // newest descriptor of each engine
  clock pending_{};                          // clock of the descriptor being described, when it starts
  engine by_ = engine::load;
  std::array<range, most_ranges> ranges_{};
  std::uint32_t range_count_ = 0;
};

}  // namespace dvp::kernels
