// Array seat over the Verilated RTL.
//
// Plays the sequencer of array_timing.h: packs the vectors into beats, loads one fold while the previous one streams,
// starts every fold after the interval I, and feeds the sums a fold leaves back as the presets of the next fold of its
// chain. It counts the cycles of the RTL itself; results come when the RTL presents them.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tlm/array/array_seat.h"
#include "tlm/cosim/verilated_array.h"

namespace dvp::cosim {

struct rtl_options {
  std::uint32_t seed = 1;            // of state the RTL leaves undefined
  std::string waves = {};            // FST file; empty: none
  std::uint64_t first_wave_job = 0;  // jobs recorded, by id, both included
  std::uint64_t last_wave_job = std::numeric_limits<std::uint64_t>::max();
};

class rtl_array final : public array::array_seat {
 public:
  // Throws std::invalid_argument for a configuration that was not built, std::runtime_error if the waveform file
  // cannot be written.
  explicit rtl_array(std::string_view config, const rtl_options& options = {});

  std::string_view name() const override { return "rtl"; }
  array::array_shape shape() const { return shape_; }

  // Throws std::invalid_argument for operands the array cannot take, std::runtime_error if the RTL does not answer as
  // array_timing.h says (a result missing, too many, or too late for the fold that needs it).
  std::uint64_t run(const array::array_job& job) override;

 private:
  // One beat of every fold of the job in work.
  struct planned_beat {
    numerics::stream_format format;
    bool half_step;
    bool last;                 // false: the low bytes of a bf16 vector
    std::uint32_t more;        // vectors beyond the first
    std::uint32_t vectors[4];  // [more + 1]
    std::uint64_t result;      // index of its results among those of the fold
  };

  void plan(const numerics::chain_operands& operands);
  void stream(const numerics::chain_operands& operands, std::uint64_t fold, const planned_beat& beat);
  void load(const numerics::chain_operands& operands, std::uint64_t fold, std::uint32_t row);
  void take_result(const array::array_job& job, std::uint64_t cycle);
  void pass_starts(const numerics::chain_operands& operands);
  const float* start(const numerics::chain_operands& operands, std::uint64_t fold, std::uint32_t vector) const;
  float* sums(const numerics::chain_operands& operands, std::uint64_t fold, std::uint32_t vector) const;

  std::unique_ptr<verilated_array> array_;
  array::array_shape shape_;
  rtl_options options_;
  std::vector<planned_beat> beats_;     // of the job in work
  std::vector<std::uint32_t> results_;  // the beats that give results, by index
  std::uint64_t folds_per_chain_ = 0;
  std::uint64_t taken_ = 0;             // beats of results so far
  std::vector<std::uint16_t> values_;   // [C]
  std::vector<std::uint8_t> lanes_;     // [R * lane_bits / 8]
  std::vector<std::uint32_t> presets_;  // [slots][C]
};

}  // namespace dvp::cosim
