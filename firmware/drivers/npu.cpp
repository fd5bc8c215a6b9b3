#include "firmware/drivers/npu.h"

#include <bit>
#include <cstring>

#include "firmware/hal/hal.h"

namespace dvp::drivers {
namespace {

namespace regs = gen::npu;

constexpr std::uint32_t queue_number = 0;
constexpr std::uint32_t queue_bit = 1u << queue_number;
// Doorbell after this many descriptors: early enough to keep the engines fed, rare enough to be cheap.
constexpr std::uint32_t batch = 8;

std::uint32_t low(std::uint64_t value) {
  return static_cast<std::uint32_t>(value);
}
std::uint32_t high(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32);
}

std::uint32_t interrupt_causes() {
  return regs::irq_status::completion.set(regs::irq_status::error.set(0, queue_bit), queue_bit);
}

}  // namespace

npu_code npu::probe(std::uint64_t base) {
  base_ = base;
  if (hal::read32(base + regs::id::offset) != regs::id::reset) {
    return npu_code::absent;
  }
  const std::uint32_t capability = hal::read32(base + regs::capability::offset);
  limits_.rows = regs::capability::rows.get(capability);
  limits_.columns = regs::capability::columns.get(capability);
  limits_.scratchpad_bytes = hal::read32(base + regs::scratchpad_size::offset);
  limits_.scratchpad_banks = regs::scratchpad_banks::count.get(hal::read32(base + regs::scratchpad_banks::offset));
  limits_.accumulator_vectors = regs::accumulator::vectors.get(hal::read32(base + regs::accumulator::offset));
  const bool possible = limits_.rows != 0 && limits_.columns != 0 && limits_.scratchpad_bytes != 0 &&
                        limits_.scratchpad_banks != 0 && limits_.accumulator_vectors != 0 &&
                        regs::capability::queues.get(capability) > queue_number;
  return possible ? npu_code::ok : npu_code::absent;
}

npu_code npu::start(std::uint64_t ring_address, std::uint32_t entries, std::uint32_t watchdog_us) {
  if (!std::has_single_bit(entries) || entries < fewest_entries || entries > most_entries ||
      ring_address % gen::descriptor_bytes != 0) {
    return npu_code::bad_argument;
  }
  ring_ = hal::objects<ring_slot>(ring_address, entries);
  if (ring_.empty()) {
    return npu_code::bad_argument;
  }
  written_ = rung_ = head_ = 0;
  watchdog_us_ = watchdog_us;
  reset();
  hal::write32(base_ + regs::queue::base_lo::at(queue_number), low(ring_address));
  hal::write32(base_ + regs::queue::base_hi::at(queue_number), high(ring_address));
  hal::write32(base_ + regs::queue::size::at(queue_number), entries);
  hal::write32(base_ + regs::queue::completion_lo::at(queue_number), 0);
  hal::write32(base_ + regs::queue::completion_hi::at(queue_number), 0);
  hal::write32(base_ + regs::irq_status::offset, interrupt_causes());
  hal::write32(base_ + regs::irq_enable::offset, interrupt_causes());
  line_.complete();  // whoever used the block before may have left its request claimed
  hal::write32(base_ + regs::control::offset, regs::control::enable.set(0, 1));
  return npu_code::ok;
}

std::uint16_t npu::after(std::uint32_t index) const {
  const std::uint32_t distance = written_ - index;
  return distance > ring_.size() ? std::uint16_t{0} : static_cast<std::uint16_t>(distance);
}

npu_code npu::submit_bytes(const void* descriptor) {
  const std::uint32_t entries = static_cast<std::uint32_t>(ring_.size());
  const std::uint32_t quarter = entries / 4;
  if (written_ - head_ == entries) {
    // The oldest quarter ends with a descriptor that interrupts.
    const npu_code code = wait_complete((head_ | (quarter - 1)));
    if (code != npu_code::ok) {
      return code;
    }
  }
  ring_slot& slot = ring_[written_ & (entries - 1)];
  std::memcpy(&slot, descriptor, sizeof(slot));
  if ((written_ + 1) % quarter == 0) {
    slot.header.flags |= gen::descriptor_flag::interrupt;
  }
  ++written_;
  if (written_ - rung_ == batch) {
    flush();
  }
  return npu_code::ok;
}

void npu::flush() {
  if (rung_ == written_) {
    return;
  }
  hal::spend(hal::work::descriptor, written_ - rung_);
  hal::fence();
  hal::write32(base_ + regs::queue::tail::at(queue_number), written_);
  rung_ = written_;
}

npu_code npu::wait_complete(std::uint32_t index) {
  if (static_cast<std::int32_t>(written_ - index) <= 0) {
    return npu_code::bad_argument;
  }
  flush();
  for (bool claimed = false;;) {
    // Clear first, look second: a completion between the two raises the line again and the wait returns at once.
    hal::write32(base_ + regs::irq_status::offset, interrupt_causes());
    if (claimed) {
      line_.complete();
    }
    const bool stopped = queue_stopped();
    const std::uint32_t now = hal::read32(base_ + regs::queue::head::at(queue_number));
    if (now != head_) {
      head_ = now;
      hal::feed_watchdog();
    }
    if (complete(index)) {
      hal::fence();
      return npu_code::ok;
    }
    if (stopped) {
      return npu_code::stopped;
    }
    claimed = line_.wait(watchdog_us_);
    if (!claimed && hal::read32(base_ + regs::queue::head::at(queue_number)) == head_) {
      // It may have stopped after the look above, with its interrupt just behind the time-out.
      return queue_stopped() ? npu_code::stopped : npu_code::timeout;
    }
  }
}

bool npu::queue_stopped() const {
  return regs::status::error.get(hal::read32(base_ + regs::status::offset)) != 0;
}

npu_fault npu::fault() const {
  const std::uint32_t error = hal::read32(base_ + regs::queue::error::at(queue_number));
  return {.error = static_cast<regs::error_code>(regs::queue::error::code.get(error)),
          .index = hal::read32(base_ + regs::queue::error_index::at(queue_number))};
}

void npu::disable() {
  hal::write32(base_ + regs::control::offset, 0);
}

void npu::reset() {
  hal::write32(base_ + regs::control::offset, regs::control::soft_reset.set(0, 1));
}

}  // namespace dvp::drivers
