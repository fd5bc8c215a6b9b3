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
// How long an interrupt that the block has raised may be under way.
constexpr std::uint32_t delivery_us = 1;

std::uint32_t low(std::uint64_t value) {
  return static_cast<std::uint32_t>(value);
}
std::uint32_t high(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32);
}

std::uint32_t interrupt_causes() {
  return regs::irq_status::completion.set(regs::irq_status::error.set(0, queue_bit), queue_bit);
}

// What makes the exclusive or of the slot's bytes the parity of the format; its own byte counts as 0.
template <class Slot>
std::uint8_t check_byte(Slot* slot) {
  slot->header.check = 0;
  std::uint64_t words[gen::descriptor_bytes / sizeof(std::uint64_t)];
  std::memcpy(words, slot, sizeof(words));
  std::uint64_t all = 0;
  for (const std::uint64_t word : words) {
    all ^= word;
  }
  all ^= all >> 32;
  all ^= all >> 16;
  all ^= all >> 8;
  return static_cast<std::uint8_t>(all ^ gen::descriptor_parity);
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

npu_code npu::start(std::uint64_t ring_address, std::uint64_t record_address, std::uint32_t entries,
                    std::uint32_t watchdog_us) {
  if (!std::has_single_bit(entries) || entries < fewest_entries || entries > most_entries ||
      ring_address % gen::descriptor_bytes != 0) {
    return npu_code::bad_argument;
  }
  ring_ = hal::objects<ring_slot>(ring_address, entries);
  records_ = hal::objects<gen::completion_record>(record_address, entries);
  if (ring_.empty() || records_.empty()) {
    return npu_code::bad_argument;
  }
  ring_address_ = ring_address;
  record_address_ = record_address;
  watchdog_us_ = watchdog_us;
  lost_interrupts_ = 0;
  restart();
  return npu_code::ok;
}

void npu::restart() {
  written_ = rung_ = head_ = quiet_us_ = 0;
  reset();
  hal::write32(base_ + regs::queue::base_lo::at(queue_number), low(ring_address_ - memory_base_));
  hal::write32(base_ + regs::queue::base_hi::at(queue_number), high(ring_address_ - memory_base_));
  hal::write32(base_ + regs::queue::size::at(queue_number),
               regs::queue::size::check.set(static_cast<std::uint32_t>(ring_.size()), 1));
  hal::write32(base_ + regs::queue::completion_lo::at(queue_number), low(record_address_ - memory_base_));
  hal::write32(base_ + regs::queue::completion_hi::at(queue_number), high(record_address_ - memory_base_));
  hal::write32(base_ + regs::irq_status::offset, interrupt_causes());
  hal::write32(base_ + regs::irq_enable::offset, interrupt_causes());
  line_.complete();  // whoever used the block before may have left its request claimed
  hal::write32(base_ + regs::control::offset, regs::control::enable.set(0, 1));
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
  if ((slot.header.flags & gen::descriptor_flag::interrupt) != 0) {
    slot.header.flags |= gen::descriptor_flag::record;
    // What an earlier descriptor left there is not to be taken for this one's.
    records_[written_ & (entries - 1)].index = ~written_;
  }
  slot.header.check = check_byte(&slot);
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
  claimed_ = false;
  for (;;) {
    // Clear first, look second: a completion between the two raises the line again and the sleep ends at once.
    hal::write32(base_ + regs::irq_status::offset, interrupt_causes());
    if (claimed_) {
      line_.complete();
    }
    const bool stopped = queue_stopped();
    const std::uint32_t now = hal::read32(base_ + regs::queue::head::at(queue_number));
    if (now != head_) {
      head_ = now;
      quiet_us_ = 0;
      hal::feed_watchdog();
    }
    if (complete(index)) {
      hal::fence();
      return record_agrees(index) ? npu_code::ok : npu_code::bad_record;
    }
    if (stopped) {
      return npu_code::stopped;
    }
    if (watchdog_us_ != 0 && quiet_us_ >= watchdog_us_) {
      return npu_code::timeout;
    }
    sleep();
  }
}

void npu::sleep() {
  const std::uint32_t slice = watchdog_us_ / 4 + (watchdog_us_ % 4 != 0 ? 1 : 0);
  claimed_ = line_.wait(slice);
  if (claimed_) {
    return;
  }
  quiet_us_ += slice;
  if ((hal::read32(base_ + regs::irq_status::offset) & interrupt_causes()) != 0) {
    // Raised; if it was only just, it is heard now.
    claimed_ = line_.wait(delivery_us);
    lost_interrupts_ += claimed_ ? 0 : 1;
  }
}

bool npu::record_agrees(std::uint32_t index) const {
  if (written_ - index > ring_.size()) {
    return true;  // its slot was used again, so it is long complete
  }
  const std::size_t slot = index & (ring_.size() - 1);
  const gen::completion_record& record = records_[slot];
  return record.index == index && record.error == static_cast<std::uint16_t>(regs::error_code::none) &&
         record.op == static_cast<std::uint16_t>(ring_[slot].header.op);
}

bool npu::is_complete(std::uint32_t index) const {
  const std::uint32_t head = hal::read32(base_ + regs::queue::head::at(queue_number));
  return static_cast<std::int32_t>(head - index) > 0;
}

bool npu::queue_stopped() const {
  return regs::status::error.get(hal::read32(base_ + regs::status::offset)) != 0;
}

npu_fault npu::fault() const {
  const std::uint32_t error = hal::read32(base_ + regs::queue::error::at(queue_number));
  return {.error = static_cast<regs::error_code>(regs::queue::error::code.get(error)),
          .index = hal::read32(base_ + regs::queue::error_index::at(queue_number)),
          .address = std::uint64_t{hal::read32(base_ + regs::queue::fault_address_hi::at(queue_number))} << 32 |
                     hal::read32(base_ + regs::queue::fault_address_lo::at(queue_number))};
}

void npu::disable() {
  hal::write32(base_ + regs::control::offset, 0);
}

void npu::reset() {
  hal::write32(base_ + regs::control::offset, regs::control::soft_reset.set(0, 1));
}

}  // namespace dvp::drivers
