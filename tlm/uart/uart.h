// Serial port with FIFOs of 8 bytes each way (gen/spec/blocks/uart.json; SiFive's UART) and a console behind it.
//
// A character is a start bit, 8 data bits and one or two stop bits of div + 1 input clocks each; its time is rounded
// down to a picosecond. Only simulated time decides when a byte moves:
//   send     While txen is 1 and nothing is being sent, the oldest byte leaves the FIFO; a character time later the
//            console has it. Clearing txen lets the byte under way go. A write to a full FIFO is dropped and counted.
//   receive  While rxen is 1, the receive FIFO has room and the console may still send, the console is asked once in a
//            character time; a byte that it has then enters the FIFO. With no room nobody asks, so nothing is lost.
// The interrupt line is ie & ip != 0 and follows one delta cycle after what changes it.
//
// When the simulation ends, bytes still on their way out are given to the console, unless txen is 0: a program that
// ends the run right after printing is seen to the end.
//
// Figures, below the module's base name: bytes_sent, bytes_received, bytes_dropped.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <systemc>

#include "tlm/core/register_target.h"
#include "tlm/core/statistics.h"
#include "tlm/uart/console.h"

namespace dvp::uart {

struct uart_config {
  std::uint64_t clock_hz = 0;  // input clock, 1 to 2^32 - 1
  std::uint64_t bit_rate = 0;  // bits per second at the start: what `div` begins with, to the nearest divisor
};

class uart : public core::register_target {
 public:
  static constexpr std::size_t fifo_bytes = 8;

  // A clock out of range, or a bit rate that no divisor gives, is a fatal report with the module's name. Console and
  // figures outlive the module.
  uart(const sc_core::sc_module_name& name, const uart_config& config, console& far_end, core::statistics& figures);

  sc_core::sc_out<bool> interrupt;

  // Gives the console what is on its way out, at once; done by itself at the end of the simulation.
  void drain();

 private:
  void attach_registers();
  void end_of_simulation() override { drain(); }
  std::uint32_t causes() const;
  sc_core::sc_time character_time() const;
  void write_data(std::uint32_t value);
  void take_received();
  void start_sending();
  void sent();
  void deliver();
  void listen();
  void ask();
  void drive_interrupt();

  std::uint64_t clock_hz_;
  console& console_;
  std::deque<std::uint8_t> to_send_;
  std::deque<std::uint8_t> received_;
  std::optional<std::uint8_t> sending_;
  bool listening_ = false;  // the console will be asked at the event ask_
  sc_core::sc_event sent_;
  sc_core::sc_event ask_;
  sc_core::sc_event changed_;
  std::uint64_t& bytes_sent_;
  std::uint64_t& bytes_received_;
  std::uint64_t& bytes_dropped_;
};

}  // namespace dvp::uart
