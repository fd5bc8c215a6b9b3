// Speed of one Verilated array by itself, every element busy and every cell of a beat filled, then idle.
//
// Prints a line: clock in kHz and million element updates per second for q8 and q2, clock in kHz when idle; CPU time.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <random>

#include "Vsystolic_array.h"

namespace {

constexpr std::uint32_t size = DVP_SIZE;
constexpr double seconds_per_figure = 1;

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

class busy_array {
 public:
  busy_array() {
    array_.rst_ni = 0;
    clock();
    array_.rst_ni = 1;
    array_.result_ready_i = 1;
    array_.load_active_i = 1;
    array_.load_valid_i = 1;
    for (std::uint32_t row = 0; row < size; ++row) {
      array_.load_row_i = static_cast<std::uint8_t>(row);
      // Ordinary bf16 values: exponents around 1.
      fill(array_.load_data_i, 0x81ff, 0x3e00);
      clock();
    }
    array_.load_valid_i = 0;
    std::memset(&array_.stream_preset_i, 0, sizeof array_.stream_preset_i);
  }

  // Clock in Hz with beats of that format, `more` vectors beyond the first in each; idle without.
  double rate(bool streams, std::uint8_t format, std::uint8_t more) {
    array_.stream_valid_i = streams;
    array_.stream_format_i = format;
    array_.stream_more_i = more;
    for (std::uint32_t n = 0; n < 4 * size; ++n) clock();
    std::uint64_t cycles = 0;
    const double start = cpu_seconds();
    double now = start;
    while (now - start < seconds_per_figure) {
      for (int n = 0; n < 100; ++n) {
        if (streams) fill(array_.stream_data_i, 0xffff, 0);
        clock();
      }
      cycles += 100;
      now = cpu_seconds();
    }
    return static_cast<double>(cycles) / (now - start);
  }

 private:
  template <class Port>
  void fill(Port& port, std::uint32_t kept, std::uint32_t added) {
    std::uint16_t words[sizeof(Port) / 2];
    for (auto& word : words) word = static_cast<std::uint16_t>((random_() & kept) | added);
    std::memcpy(&port, words, sizeof words);
  }
  void clock() {
    array_.clk_i = 0;
    array_.eval();
    array_.clk_i = 1;
    array_.eval();
  }

  VerilatedContext context_;
  Vsystolic_array array_{&context_};
  std::minstd_rand random_{1};
};

}  // namespace

int main() {
  busy_array array;
  const double q8 = array.rate(true, 1, 0);
  const double q2 = array.rate(true, 3, 3);
  const double idle = array.rate(false, 1, 0);
  std::printf("%.0f %.0f %.0f %.0f %.0f\n", q8 / 1e3, q8 * size * size / 1e6, q2 / 1e3, 4 * q2 * size * size / 1e6,
              idle / 1e3);
}
