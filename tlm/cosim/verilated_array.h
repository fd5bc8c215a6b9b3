// The Verilated systolic array as an object with three channels and a clock.
//
// Ports and timing are those of rtl/array/systolic_array.sv. In each cycle: drive what the array shall see, read ready
// and result, then clock(). Driven values stay until driven anew.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tlm/array/array_timing.h"

namespace dvp::cosim {

// One row of stationary values.
struct load_beat {
  std::uint32_t row = 0;
  bool bank = false;
  bool active = true;                     // false: the row takes no part
  const std::uint16_t* values = nullptr;  // bf16 [C]
};

// One beat of the stream.
struct stream_beat {
  bool bank = false;
  numerics::stream_format format = numerics::stream_format::q8;  // not q0
  bool half_step = false;
  std::uint32_t more = 0;                 // vectors beyond the first
  const std::uint8_t* lanes = nullptr;    // [R * lane_bits / 8], low byte first
  const std::uint32_t* preset = nullptr;  // binary32 bits [slots][C]
};

class verilated_array {
 public:
  virtual ~verilated_array() = default;
  virtual array::array_shape shape() const = 0;

  virtual void drive_reset(bool asserted) = 0;
  virtual void drive_load(const load_beat* beat) = 0;      // nullptr: valid low
  virtual void drive_stream(const stream_beat* beat) = 0;  // nullptr: valid low
  virtual void drive_result_ready(bool ready) = 0;

  // Ready of both input channels for the values driven so far.
  virtual bool ready() = 0;
  // The result of this cycle, to be read before clock().
  virtual bool result_valid() const = 0;
  virtual std::uint32_t result_more() const = 0;    // vectors beyond the first
  virtual const std::uint32_t* result() const = 0;  // binary32 bits [slots][C]

  // A rising clock edge. Throws std::runtime_error if the RTL has called $finish or $stop.
  virtual void clock() = 0;
  virtual std::uint64_t cycles() const = 0;  // edges so far

  // Opens an FST file and records from here on, two time steps per cycle: clock low at 2 n, high at 2 n + 1 for cycle
  // n.
  virtual void open_waves(const std::string& path) = 0;
  virtual void record_waves(bool on) = 0;  // pause and resume
  virtual void close_waves() = 0;
};

// The array of that configuration, reset and idle. State and X values that the RTL leaves open are filled at random
// from the seed. Throws std::invalid_argument naming the known configurations if there is none of that name.
std::unique_ptr<verilated_array> make_verilated_array(std::string_view config, std::uint32_t seed);

}  // namespace dvp::cosim
