// Driver of the NPU's address window: what main memory the NPU sees, and at which device addresses.
//
// One command at a time. A start_ call hands it to the NPU and returns, so that the caller can do other work; finish()
// ends it. map, unmap and flush are the two together. The driver sleeps on the NPU's line, which it shares with
// completions: while it waits only the window's cause is enabled, and what else asks meanwhile stays pending for the
// NPU's driver. It looks at the block every quarter of the time-out, so that a lost interrupt costs time only, and
// feeds the watch-dog whenever it does: a command that hangs ends with its own time. A reset of the NPU ends a command
// under way and frees every entry.
//
//     entries   start_map ──> finish ──> accesses of the NPU find it ──> start_unmap: they fault ──> finish ──> free
#pragma once

#include <cstdint>

#include "dvp_gen/npu_regs.h"
#include "firmware/drivers/interrupts.h"

namespace dvp::drivers {

enum class window_code : std::uint8_t {
  ok,
  absent,            // the NPU has no window
  bad_argument,      // no whole pages, or more than the registers hold; hardware untouched
  bad_entry,         // no such entry, or it is in use (map), or free (unmap)
  not_page_aligned,  // of a bus address
  bad_range,         // beyond the window, bus addresses that wrap (map), or pages that are not mapped (flush)
  overlap,           // of pages with another entry
  busy,              // another command is under way; this one has no effect
  timeout,           // the command did not end in time; a reset of the NPU ends it
};

struct window_geometry {
  std::uint64_t bytes = 0;  // device addresses 0 to bytes - 1; 0: no window, a device address is the bus address
  std::uint32_t entries = 0;
  std::uint32_t page_bytes = 0;  // a power of two
};

class npu_window {
 public:
  explicit npu_window(interrupt_line line) : line_(line) {}

  // Reads the geometry of the NPU at `base`, which npu::probe() found there. timeout_us: how long finish() waits for
  // one command, and as much again for every 256 pages of the window; 0: for ever, also for an interrupt that got lost.
  void open(std::uint64_t base, std::uint32_t timeout_us);
  const window_geometry& geometry() const { return geometry_; }
  bool present() const { return geometry_.bytes != 0; }

  // Entry `entry` gives device addresses from `device` on the `bytes` bytes from bus address `bus` on. All three are
  // whole pages. Codes: ok (under way), absent, bad_argument, busy.
  [[nodiscard]] window_code start_map(std::uint32_t entry, std::uint64_t bus, std::uint64_t device,
                                      std::uint64_t bytes);
  // Codes: ok (under way), absent, bad_argument, busy.
  [[nodiscard]] window_code start_unmap(std::uint32_t entry);
  // What the CPU wrote to these device addresses becomes visible to the NPU; rounded outward to pages. Codes: ok (under
  // way), absent, bad_argument, busy.
  [[nodiscard]] window_code start_flush(std::uint64_t device, std::uint64_t bytes);

  // Interrupts since open() that did not come: a command was over, the block had asked and was not heard.
  std::uint32_t lost_interrupts() const { return lost_interrupts_; }

  // Whether a command is under way.
  [[nodiscard]] bool busy() const;
  // Blocks, asleep, until the command started last is over. Codes: ok, bad_entry, not_page_aligned, bad_range, overlap,
  // timeout.
  [[nodiscard]] window_code finish();

  // Start and finish: the codes of both.
  [[nodiscard]] window_code map(std::uint32_t entry, std::uint64_t bus, std::uint64_t device, std::uint64_t bytes);
  [[nodiscard]] window_code unmap(std::uint32_t entry);
  [[nodiscard]] window_code flush(std::uint64_t device, std::uint64_t bytes);

 private:
  // Page number and count for the registers; bad_argument when they cannot hold them.
  [[nodiscard]] window_code set_pages(std::uint64_t first, std::uint64_t count);
  [[nodiscard]] window_code command(gen::npu::window_operation operation);
  void sleep_until_over();

  interrupt_line line_;
  std::uint64_t base_ = 0;
  std::uint32_t slice_us_ = 0;  // between two looks at the block; 0: until the interrupt
  std::uint64_t timeout_us_ = 0;
  std::uint32_t page_shift_ = 0;
  std::uint32_t lost_interrupts_ = 0;
  window_geometry geometry_;
};

}  // namespace dvp::drivers
