#include "tlm/uart/uart.h"

#include <limits>

#include "dvp_gen/uart_bank.h"
#include "dvp_gen/uart_regs.h"

namespace dvp::uart {

namespace reg = gen::uart;

namespace {

constexpr std::uint64_t ps_per_second = 1'000'000'000'000;
constexpr std::uint64_t start_and_data_bits = 9;

// What `div` has to be for the bit rate.
std::uint32_t divisor(const uart_config& config, const char* name) {
  const auto fail = [name](const std::string& what) {
    SC_REPORT_FATAL("/dvp/uart", (std::string(name) + ": " + what).c_str());
  };
  const std::uint64_t most = std::uint64_t{reg::div::divisor.mask()} + 1;
  if (config.clock_hz == 0 || config.clock_hz > std::numeric_limits<std::uint32_t>::max()) {
    fail("an input clock of " + std::to_string(config.clock_hz) + " Hz");
  }
  const std::uint64_t clocks = config.bit_rate == 0 || config.bit_rate > config.clock_hz
                                   ? 0
                                   : (config.clock_hz + config.bit_rate / 2) / config.bit_rate;
  if (clocks == 0 || clocks > most) {
    fail(std::to_string(config.bit_rate) + " bits per second cannot be divided from " +
         std::to_string(config.clock_hz) + " Hz, use " + std::to_string((config.clock_hz + most - 1) / most) + " to " +
         std::to_string(config.clock_hz));
  }
  return static_cast<std::uint32_t>(clocks - 1);
}

}  // namespace

uart::uart(const sc_core::sc_module_name& name, const uart_config& config, console& far_end, core::statistics& figures)
    : register_target(name, reg::bank),
      interrupt("interrupt"),
      clock_hz_(config.clock_hz),
      console_(far_end),
      bytes_sent_(figures.counter(std::string(basename()) + ".bytes_sent")),
      bytes_received_(figures.counter(std::string(basename()) + ".bytes_received")),
      bytes_dropped_(figures.counter(std::string(basename()) + ".bytes_dropped")) {
  registers_.set(reg::div::offset, divisor(config, this->name()));
  attach_registers();
  SC_HAS_PROCESS(uart);
  SC_METHOD(drive_interrupt);
  sensitive << changed_;
  SC_METHOD(sent);
  sensitive << sent_;
  dont_initialize();
  SC_METHOD(ask);
  sensitive << ask_;
  dont_initialize();
}

void uart::attach_registers() {
  registers_.on_read(reg::txdata::offset,
                     [this] { return reg::txdata::full.set(0, to_send_.size() >= fifo_bytes ? 1 : 0); });
  registers_.on_write(reg::txdata::offset, [this](std::uint32_t value) { write_data(value); });
  registers_.on_read(
      reg::rxdata::offset,
      [this] { return received_.empty() ? reg::rxdata::empty.set(0, 1) : std::uint32_t{received_.front()}; },
      [this] { take_received(); });
  registers_.on_write(reg::txctrl::offset, [this](std::uint32_t) { start_sending(); });
  registers_.on_write(reg::rxctrl::offset, [this](std::uint32_t) { listen(); });
  registers_.on_write(reg::ie::offset, [this](std::uint32_t) { changed_.notify(sc_core::SC_ZERO_TIME); });
  registers_.on_read(reg::ip::offset, [this] { return causes(); });
}

std::uint32_t uart::causes() const {
  const std::uint32_t least = reg::txctrl::txcnt.get(registers_.get(reg::txctrl::offset));
  const std::uint32_t most = reg::rxctrl::rxcnt.get(registers_.get(reg::rxctrl::offset));
  return reg::ip::txwm.set(0, to_send_.size() < least ? 1 : 0) | reg::ip::rxwm.set(0, received_.size() > most ? 1 : 0);
}

sc_core::sc_time uart::character_time() const {
  const std::uint64_t stop_bits = 1 + reg::txctrl::nstop.get(registers_.get(reg::txctrl::offset));
  const std::uint64_t clocks =
      (start_and_data_bits + stop_bits) * (std::uint64_t{registers_.get(reg::div::offset)} + 1);
  return {static_cast<double>(clocks * ps_per_second / clock_hz_), sc_core::SC_PS};
}

void uart::write_data(std::uint32_t value) {
  if (to_send_.size() >= fifo_bytes) {
    ++bytes_dropped_;
    return;
  }
  to_send_.push_back(static_cast<std::uint8_t>(reg::txdata::data.get(value)));
  start_sending();
}

void uart::start_sending() {
  const bool enabled = reg::txctrl::txen.get(registers_.get(reg::txctrl::offset)) != 0;
  if (enabled && !sending_ && !to_send_.empty()) {
    sending_ = to_send_.front();
    to_send_.pop_front();
    sent_.notify(character_time());
  }
  changed_.notify(sc_core::SC_ZERO_TIME);
}

void uart::sent() {
  deliver();
  start_sending();
}

// The byte under way reaches the console.
void uart::deliver() {
  console_.put(*sending_);
  ++bytes_sent_;
  sending_.reset();
}

void uart::drain() {
  sent_.cancel();
  if (sending_) deliver();
  if (reg::txctrl::txen.get(registers_.get(reg::txctrl::offset)) == 0) return;
  for (; !to_send_.empty(); to_send_.pop_front()) {
    sending_ = to_send_.front();
    deliver();
  }
}

void uart::take_received() {
  if (received_.empty()) return;
  received_.pop_front();
  listen();
}

// Sees to it that the console is asked a character time from now, where it is to be asked at all.
void uart::listen() {
  const bool enabled = reg::rxctrl::rxen.get(registers_.get(reg::rxctrl::offset)) != 0;
  if (!enabled) {
    listening_ = false;
    ask_.cancel();
  } else if (!listening_ && received_.size() < fifo_bytes && console_.may_send()) {
    listening_ = true;
    ask_.notify(character_time());
  }
  changed_.notify(sc_core::SC_ZERO_TIME);
}

void uart::ask() {
  listening_ = false;
  if (const std::optional<std::uint8_t> byte = console_.poll()) {
    received_.push_back(*byte);
    ++bytes_received_;
  }
  listen();
}

void uart::drive_interrupt() {
  interrupt.write((registers_.get(reg::ie::offset) & causes()) != 0);
}

}  // namespace dvp::uart
