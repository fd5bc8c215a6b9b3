#include "firmware/drivers/npu_window.h"

#include "firmware/hal/hal.h"

namespace dvp::drivers {
namespace {

namespace regs = gen::npu;

constexpr std::uint32_t most_pages = UINT32_MAX;
// How often in a time-out a command is looked at, whatever the line says.
constexpr std::uint32_t looks = 4;
constexpr std::uint64_t pages_per_timeout = 256;
// How long an interrupt that the block has raised may be under way.
constexpr std::uint32_t delivery_us = 1;

window_code code_of(regs::window_result result) {
  switch (result) {
    case regs::window_result::ok:
      return window_code::ok;
    case regs::window_result::no_window:
      return window_code::absent;
    case regs::window_result::bad_command:
      return window_code::bad_argument;
    case regs::window_result::bad_entry:
      return window_code::bad_entry;
    case regs::window_result::not_page_aligned:
      return window_code::not_page_aligned;
    case regs::window_result::bad_range:
      return window_code::bad_range;
    case regs::window_result::overlap:
      return window_code::overlap;
  }
  return window_code::bad_argument;
}

}  // namespace

void npu_window::open(std::uint64_t base, std::uint32_t timeout_us) {
  base_ = base;
  lost_interrupts_ = 0;
  const std::uint32_t geometry = hal::read32(base + regs::window_geometry::offset);
  page_shift_ = regs::window_geometry::page_shift.get(geometry);
  geometry_.bytes = std::uint64_t{hal::read32(base + regs::window_size_hi::offset)} << 32 |
                    hal::read32(base + regs::window_size_lo::offset);
  geometry_.entries = regs::window_geometry::entries.get(geometry);
  geometry_.page_bytes = 1u << page_shift_;
  slice_us_ = timeout_us / looks + (timeout_us % looks != 0 ? 1 : 0);
  timeout_us_ = timeout_us * (1 + (geometry_.bytes >> page_shift_) / pages_per_timeout);
}

window_code npu_window::start_map(std::uint32_t entry, std::uint64_t bus, std::uint64_t device, std::uint64_t bytes) {
  const std::uint64_t rest = geometry_.page_bytes - 1;
  if ((device & rest) != 0 || (bytes & rest) != 0 || entry > regs::window_entry::index.mask()) {
    return window_code::bad_argument;
  }
  const window_code code = set_pages(device >> page_shift_, bytes >> page_shift_);
  if (code != window_code::ok) {
    return code;
  }
  hal::write32(base_ + regs::window_bus_lo::offset, static_cast<std::uint32_t>(bus));
  hal::write32(base_ + regs::window_bus_hi::offset, static_cast<std::uint32_t>(bus >> 32));
  hal::write32(base_ + regs::window_entry::offset, entry);
  return command(regs::window_operation::map);
}

window_code npu_window::start_unmap(std::uint32_t entry) {
  if (!present()) {
    return window_code::absent;
  }
  if (entry > regs::window_entry::index.mask()) {
    return window_code::bad_argument;
  }
  hal::write32(base_ + regs::window_entry::offset, entry);
  return command(regs::window_operation::unmap);
}

window_code npu_window::start_flush(std::uint64_t device, std::uint64_t bytes) {
  if (bytes == 0 || device > UINT64_MAX - (bytes - 1)) {
    return window_code::bad_argument;
  }
  const std::uint64_t first = device >> page_shift_;
  const std::uint64_t last = (device + (bytes - 1)) >> page_shift_;
  const window_code code = set_pages(first, last - first + 1);
  return code == window_code::ok ? command(regs::window_operation::flush) : code;
}

window_code npu_window::set_pages(std::uint64_t first, std::uint64_t count) {
  if (!present()) {
    return window_code::absent;
  }
  if (first > most_pages || count == 0 || count > most_pages) {
    return window_code::bad_argument;
  }
  hal::write32(base_ + regs::window_page::offset, static_cast<std::uint32_t>(first));
  hal::write32(base_ + regs::window_count::offset, static_cast<std::uint32_t>(count));
  return window_code::ok;
}

window_code npu_window::command(regs::window_operation operation) {
  hal::write32(base_ + regs::irq_status::offset, regs::irq_status::window.mask());
  hal::fence();
  hal::write32(base_ + regs::window_command::offset,
               regs::window_command::operation.set(0, static_cast<std::uint32_t>(operation)));
  const std::uint32_t status = hal::read32(base_ + regs::window_status::offset);
  return regs::window_status::refused.get(status) != 0 ? window_code::busy : window_code::ok;
}

bool npu_window::busy() const {
  return regs::window_status::busy.get(hal::read32(base_ + regs::window_status::offset)) != 0;
}

window_code npu_window::finish() {
  sleep_until_over();
  const std::uint32_t status = hal::read32(base_ + regs::window_status::offset);
  if (regs::window_status::busy.get(status) != 0) {
    return window_code::timeout;
  }
  hal::fence();
  return code_of(static_cast<regs::window_result>(regs::window_status::result.get(status)));
}

void npu_window::sleep_until_over() {
  if (!busy()) {
    return;
  }
  const std::uint32_t others = hal::read32(base_ + regs::irq_enable::offset);
  hal::write32(base_ + regs::irq_enable::offset, regs::irq_enable::window.mask());
  for (std::uint64_t slept = 0; busy() && (timeout_us_ == 0 || slept < timeout_us_);) {
    // True also for a request of another cause that was latched in the controller before: busy() tells.
    if (!line_.wait(slice_us_)) {
      slept += slice_us_;
      // Over; if it is only just, it is heard now.
      lost_interrupts_ += !busy() && !line_.wait(delivery_us) ? 1 : 0;
    }
    hal::feed_watchdog();
  }
  hal::write32(base_ + regs::irq_status::offset, regs::irq_status::window.mask());
  line_.complete();
  hal::write32(base_ + regs::irq_enable::offset, others);
}

window_code npu_window::map(std::uint32_t entry, std::uint64_t bus, std::uint64_t device, std::uint64_t bytes) {
  const window_code code = start_map(entry, bus, device, bytes);
  return code == window_code::ok ? finish() : code;
}

window_code npu_window::unmap(std::uint32_t entry) {
  const window_code code = start_unmap(entry);
  return code == window_code::ok ? finish() : code;
}

window_code npu_window::flush(std::uint64_t device, std::uint64_t bytes) {
  const window_code code = start_flush(device, bytes);
  return code == window_code::ok ? finish() : code;
}

}  // namespace dvp::drivers
