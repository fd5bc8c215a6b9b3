// Driver of the platform-level interrupt controller (PLIC) for hart 0, and the end of one device's line at it.
//
// A source that asks is claimed by wait() and asks again only after complete(). The order for a device is therefore:
// claim, clear the device's own interrupt status, complete; completed earlier, the level that is still high asks again.
// A source that was claimed by somebody who did not wait for it stays claimed and quiet, so no request keeps the hart
// awake that nobody serves; its owner finds it completed when it next waits, and its level asks again.
//
// A request stays latched when its device is served without a wait: the next wait may return for nothing. Whoever waits
// looks at the device again, and waits again.
#pragma once

#include <cstdint>
#include <span>

namespace dvp::drivers {

class interrupts {
 public:
  // Opens the controller at `base` for exactly these sources (1 to 31), all of one priority. Never blocks.
  void start(std::uint64_t base, std::span<const std::uint32_t> sources);

  // Blocks until a source asks, and claims it. 0 after timeout_us of simulated time without one; timeout 0 waits for
  // ever.
  [[nodiscard]] std::uint32_t wait(std::uint32_t timeout_us);

  // Lets a source ask again. Without effect on one that is not claimed.
  void complete(std::uint32_t source);

  // Claimed by a wait(), whoever's, and not completed since.
  [[nodiscard]] bool claimed(std::uint32_t source) const { return (claimed_ >> source & 1) != 0; }

 private:
  std::uint64_t base_ = 0;
  std::uint32_t claimed_ = 0;  // bit per source
};

// What a device's driver sees of the controller.
class interrupt_line {
 public:
  // The controller outlives the line.
  interrupt_line(interrupts& controller, std::uint32_t source) : controller_(&controller), source_(source) {}

  // Blocks until this source was claimed; lets it ask first, in case it is claimed still. False after timeout_us
  // without any claim; 0 waits for ever.
  [[nodiscard]] bool wait(std::uint32_t timeout_us);
  void complete() { controller_->complete(source_); }

 private:
  interrupts* controller_;
  std::uint32_t source_;
};

}  // namespace dvp::drivers
