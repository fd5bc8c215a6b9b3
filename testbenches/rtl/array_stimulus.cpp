// Random traffic through a Verilated array, written down for another simulator.
//
//   rtl_array_stimulus CONFIG SEED CYCLES STIMULUS RESULTS
//
// One line per cycle, hexadecimal. Stimulus: rst_ni; load valid, bank, row, active, data; stream valid, bank, format,
// half step, more, data, presets; result ready. Results: ready, valid, more, sums (slots without a vector as 0).
// array_replay.sv reads the one and writes the other. Everything is random at any time, resets and loads of rows in use
// included: what the contract forbids its users is as much the same in every simulator as the rest.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "testbenches/rtl/host_arithmetic.h"
#include "tlm/cosim/verilated_array.h"

namespace dvp::test {
namespace {

template <class Word>
std::string hexadecimal(const std::vector<Word>& little_endian) {
  std::ostringstream text;
  text << std::hex << std::setfill('0');
  for (std::size_t n = little_endian.size(); n-- > 0;) {
    text << std::setw(2 * sizeof(Word)) << std::uint64_t{little_endian[n]};
  }
  return text.str();
}

std::uint16_t ordinary_or_corner(random_words& random) {
  if (random() % 16 == 0) return bf16_corners[random() % std::size(bf16_corners)];
  return static_cast<std::uint16_t>((random() & 0x807fu) | (120 + random() % 14) << 7);
}

void record(cosim::verilated_array& array, random_words& random, int cycles, std::ostream& stimulus,
            std::ostream& results) {
  const array::array_shape shape = array.shape();
  std::vector<std::uint16_t> row_values(shape.columns);
  std::vector<std::uint8_t> lanes(std::size_t{shape.rows} * shape.lane_bits / 8);
  std::vector<std::uint32_t> presets(std::size_t{shape.slots()} * shape.columns);
  for (int n = 0; n < cycles; ++n) {
    for (auto& value : row_values) value = ordinary_or_corner(random);
    for (auto& preset : presets) preset = random() % 2 == 0 ? 0 : std::uint32_t{ordinary_or_corner(random)} << 16;
    for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i] = static_cast<std::uint8_t>(random());
    const bool reset = random() % 256 == 0;
    const bool loads = random() % 2 == 0;
    const bool streams = random() % 8 != 0;
    const bool ready = random() % 4 != 0;
    const cosim::load_beat load{random() % shape.rows, random() % 2 != 0, random() % 8 != 0, row_values.data()};
    const auto format = static_cast<numerics::stream_format>(random() % 4);
    const cosim::stream_beat beat{random() % 2 != 0, format,
                                  random() % 2 != 0, random() % array::vectors_per_beat(shape, format),
                                  lanes.data(),      presets.data()};
    array.drive_reset(reset);
    array.drive_load(loads ? &load : nullptr);
    array.drive_stream(streams ? &beat : nullptr);
    array.drive_result_ready(ready);
    stimulus << !reset << ' ' << loads << ' ' << load.bank << ' ' << std::hex << load.row << ' ' << load.active << ' '
             << hexadecimal(row_values) << ' ' << streams << ' ' << beat.bank << ' ' << static_cast<int>(format) << ' '
             << beat.half_step << ' ' << beat.more << ' ' << hexadecimal(lanes) << ' ' << hexadecimal(presets) << ' '
             << ready << '\n';
    const bool taken = array.ready();
    const bool valid = array.result_valid();
    std::vector<std::uint32_t> sums(presets.size(), 0);
    if (valid) std::copy_n(array.result(), std::size_t{array.result_more() + 1} * shape.columns, sums.begin());
    results << taken << ' ' << valid << ' ' << (valid ? array.result_more() : 0) << ' ' << hexadecimal(sums) << '\n';
    array.clock();
  }
}

}  // namespace
}  // namespace dvp::test

int main(int argc, char** argv) {
  if (argc != 6) {
    std::cerr << "usage: rtl_array_stimulus CONFIG SEED CYCLES STIMULUS RESULTS\n";
    return 2;
  }
  const auto seed = static_cast<std::uint32_t>(std::stoul(argv[2]));
  const auto array = dvp::cosim::make_verilated_array(argv[1], seed);
  dvp::test::random_words random(seed);
  std::ofstream stimulus(argv[4]);
  std::ofstream results(argv[5]);
  dvp::test::record(*array, random, std::stoi(argv[3]), stimulus, results);
  std::cout << argv[1] << ", seed " << seed << ", " << argv[3] << " cycles\n";
  return stimulus && results ? 0 : 1;
}
