// rtl/converter/precision_converter.sv as an object. In each cycle: drive, read, clock().
#pragma once

#include <cstdint>
#include <string>

namespace dvp::regress {

inline constexpr std::size_t converter_burst_bytes = 32;

// Codes of precision and mode are those of rtl/converter/converter_pkg.sv.
struct converter_input {
  std::uint8_t data[converter_burst_bytes] = {};
  std::uint8_t count = 0;
  bool last = false;
  std::uint8_t precision = 0, mode = 0, clip = 0, shift = 0, threshold = 0;
};

struct converter_output {
  std::uint8_t data[converter_burst_bytes] = {};
  std::uint8_t count = 0;
  bool last = false;
  std::uint8_t precision = 0;
  bool half_step = false;

  friend bool operator==(const converter_output&, const converter_output&) = default;
};

class converter_design {
 public:
  virtual ~converter_design() = default;

  virtual void drive_reset(bool asserted) = 0;
  virtual void drive_burst(const converter_input* burst) = 0;  // nullptr: valid low
  virtual void drive_result_ready(bool ready) = 0;

  virtual bool ready() = 0;
  virtual bool result_valid() const = 0;
  virtual converter_output result() const = 0;

  virtual void clock() = 0;

  // FST, two time steps per cycle as in verilated_array.
  virtual void open_waves(const std::string& path) = 0;
  virtual void record_waves(bool on) = 0;
};

}  // namespace dvp::regress
