#include "firmware/drivers/uart.h"

#include "dvp_gen/uart_regs.h"
#include "firmware/hal/hal.h"

namespace dvp::drivers {

namespace regs = gen::uart;

namespace {

// A character takes several microseconds at the usual rates: the hart sleeps between two looks.
void pause() {
  static_cast<void>(hal::wait_for_interrupt(1));
}

}  // namespace

// Watermark 1: txwm then means an empty FIFO, which is what flush() waits for.
void uart::start() {
  hal::write32(base_ + regs::txctrl::offset, regs::txctrl::txcnt.set(regs::txctrl::txen.set(0, 1), 1));
  hal::write32(base_ + regs::rxctrl::offset, regs::rxctrl::rxen.set(0, 1));
}

void uart::put(char byte) {
  while (regs::txdata::full.get(hal::read32(base_ + regs::txdata::offset)) != 0) {
    pause();
  }
  hal::write32(base_ + regs::txdata::offset, regs::txdata::data.set(0, static_cast<std::uint8_t>(byte)));
}

void uart::put(std::string_view text) {
  for (const char byte : text) {
    put(byte);
  }
}

void uart::flush() {
  while (regs::ip::txwm.get(hal::read32(base_ + regs::ip::offset)) == 0) {
    pause();
  }
}

std::optional<char> uart::get() {
  const std::uint32_t word = hal::read32(base_ + regs::rxdata::offset);
  if (regs::rxdata::empty.get(word) != 0) {
    return std::nullopt;
  }
  return static_cast<char>(regs::rxdata::data.get(word));
}

}  // namespace dvp::drivers
