// Drives a verilated_array beat by beat and checks every result against a double loop in the host's arithmetic.
//
// The bench keeps its own copy of the banks. A beat's expected sums are computed when the array accepts it, and the
// result is expected exactly Rows * AdderStages + Columns + 1 unstalled cycles later; with an output buffer it passes
// the bench's own count of the two entries.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "testbenches/rtl/host_arithmetic.h"
#include "tlm/cosim/verilated_array.h"

namespace dvp::test {

using numerics::stream_format;

struct stationary_row {
  std::uint32_t row = 0;
  bool bank = false;
  bool active = true;
  std::vector<std::uint16_t> values;  // [C]
};

struct streamed_vector {
  std::vector<std::uint16_t> elements;  // [R]: bf16 bits, or a code in the low bits
  std::vector<std::uint32_t> presets;   // [C]
};

// Vectors that travel together, or half of one: the low or the high bytes of a bf16 vector in lanes of 8 bits.
struct streamed_beat {
  enum class part { whole, low, high };
  bool bank = false;
  stream_format format = stream_format::q8;
  bool half_step = false;
  part which = part::whole;
  std::vector<streamed_vector> vectors;
};

class array_bench {
 public:
  array_bench(const char* config, std::uint32_t seed)
      : array_(cosim::make_verilated_array(config, seed)), shape_(array_->shape()), filler_(seed) {
    forget();
  }

  const array::array_shape& shape() const { return shape_; }
  std::uint32_t rows() const { return shape_.rows; }
  std::uint32_t columns() const { return shape_.columns; }
  std::uint64_t moves() const { return moves_; }      // unstalled cycles
  std::uint64_t results() const { return results_; }  // vectors
  std::uint64_t numbers() const { return numbers_; }  // expected sums that are not NaN
  // First move in which a row of the bank may be loaded.
  std::uint64_t row_free(bool bank, std::uint32_t row) const {
    return last_use_[bank] + std::uint64_t{row} * shape_.adder_stages + shape_.columns;
  }

  // One cycle; either beat may be null. Returns whether the beats were accepted.
  bool step(const stationary_row* row, const streamed_beat* beat, bool result_ready = true) {
    drive(row);
    drive(beat);
    array_->drive_result_ready(result_ready);
    const bool ready = array_->ready();
    const bool valid = array_->result_valid();
    const bool due = !expected_.empty() && expected_.front().move <= moves_;
    EXPECT_EQ(valid, shape_.output_buffer ? buffered_ > 0 : due) << "move " << moves_;
    EXPECT_EQ(ready, shape_.output_buffer ? buffered_ < 2 : result_ready || !valid) << "move " << moves_;
    const bool enters_buffer = ready && expected_.size() > buffered_ && expected_[buffered_].move == moves_;
    if (valid) check_result(result_ready);
    if (shape_.output_buffer) buffered_ += (enters_buffer ? 1 : 0) - (valid && result_ready ? 1 : 0);
    if (ready) {
      if (beat != nullptr && beat->which != streamed_beat::part::low) expect(*beat);
      if (row != nullptr) keep(*row);
      ++moves_;
    }
    array_->clock();
    return ready;
  }

  // Expectations use the row from now on, though its load is still to come.
  void announce(const stationary_row& row) { keep(row); }

  void drain() {
    while (!expected_.empty() && !::testing::Test::HasFailure()) step(nullptr, nullptr);
  }

  // `cycles` of reset: everything in flight is gone, every row inactive.
  void reset(int cycles) {
    array_->drive_reset(true);
    for (int n = 0; n < cycles; ++n) array_->clock();
    array_->drive_reset(false);
    forget();
  }

  // The number an element stands for, by the contract's words.
  static float value(const streamed_beat& beat, std::uint16_t element) {
    switch (beat.format) {
      case stream_format::bf16:
        return host_bf16(element);
      case stream_format::q4: {
        const int code = (element & 15) - ((element & 8) != 0 ? 16 : 0);
        return static_cast<float>(beat.half_step ? code * 16 + 8 : code);
      }
      case stream_format::q2: {
        const int code = (element & 3) - ((element & 2) != 0 ? 4 : 0);
        return static_cast<float>(beat.half_step ? code * 64 + 32 : code);
      }
      default:
        return static_cast<float>(static_cast<std::int8_t>(element & 0xff));
    }
  }

 private:
  struct expected_result {
    std::uint64_t move = 0;
    std::vector<std::vector<std::uint32_t>> sums;  // [vectors][C]
  };

  void drive(const stationary_row* row) {
    if (row == nullptr) return array_->drive_load(nullptr);
    const cosim::load_beat beat{row->row, row->bank, row->active, row->values.data()};
    array_->drive_load(&beat);
  }

  // Bits that carry nothing are random.
  void drive(const streamed_beat* beat) {
    if (beat == nullptr) return array_->drive_stream(nullptr);
    const std::uint32_t bytes = shape_.lane_bits / 8;
    lanes_.resize(std::size_t{rows()} * bytes);
    presets_.resize(std::size_t{shape_.slots()} * columns());
    for (auto& lane : lanes_) lane = static_cast<std::uint8_t>(filler_());
    for (auto& preset : presets_) preset = filler_();
    const std::uint32_t bits = numerics::element_bits(beat->format);
    for (std::size_t j = 0; j < beat->vectors.size(); ++j) {
      const streamed_vector& vector = beat->vectors[j];
      for (std::uint32_t r = 0; r < rows(); ++r) {
        if (bits < 16) {
          const auto mask = ((1U << bits) - 1) << (j * bits);
          lanes_[r * bytes] = static_cast<std::uint8_t>((lanes_[r * bytes] & ~mask) |
                                                        (std::uint32_t{vector.elements[r]} << (j * bits) & mask));
        } else if (beat->which == streamed_beat::part::whole) {
          lanes_[2 * r] = static_cast<std::uint8_t>(vector.elements[r]);
          lanes_[2 * r + 1] = static_cast<std::uint8_t>(vector.elements[r] >> 8);
        } else {
          lanes_[r] =
              static_cast<std::uint8_t>(vector.elements[r] >> (beat->which == streamed_beat::part::high ? 8 : 0));
        }
      }
      std::copy(vector.presets.begin(), vector.presets.end(),
                presets_.begin() + static_cast<std::ptrdiff_t>(j * columns()));
    }
    const cosim::stream_beat driven{beat->bank,      beat->format,
                                    beat->half_step, static_cast<std::uint32_t>(beat->vectors.size() - 1),
                                    lanes_.data(),   presets_.data()};
    array_->drive_stream(&driven);
  }

  void forget() {
    expected_.clear();
    buffered_ = 0;
    for (int bank = 0; bank < 2; ++bank) {
      values_[bank].assign(std::size_t{rows()} * columns(), 0);
      active_[bank].assign(rows(), false);
      last_use_[bank] = moves_;
    }
  }

  void keep(const stationary_row& row) {
    std::copy(row.values.begin(), row.values.end(), values_[row.bank].begin() + std::size_t{row.row} * columns());
    active_[row.bank][row.row] = row.active;
  }

  void expect(const streamed_beat& beat) {
    expected_result result{moves_ + rows() * shape_.adder_stages + columns() + 1, {}};
    for (const streamed_vector& vector : beat.vectors) {
      result.sums.push_back(vector.presets);
      for (std::uint32_t c = 0; c < columns(); ++c) {
        float sum = std::bit_cast<float>(vector.presets[c]);
        for (std::uint32_t r = 0; r < rows(); ++r) {
          if (!active_[beat.bank][r]) continue;
          const float product = value(beat, vector.elements[r]) * host_bf16(values_[beat.bank][r * columns() + c]);
          sum = sum + product;
        }
        result.sums.back()[c] = host_bits(sum);
        if (sum == sum) ++numbers_;
      }
    }
    expected_.push_back(std::move(result));
    last_use_[beat.bank] = moves_;
  }

  void check_result(bool taken) {
    ASSERT_FALSE(expected_.empty()) << "a result nobody asked for, move " << moves_;
    const expected_result& wanted = expected_.front();
    ASSERT_EQ(array_->result_more() + 1, wanted.sums.size());
    const std::uint32_t* actual = array_->result();
    for (std::size_t j = 0; j < wanted.sums.size(); ++j) {
      for (std::uint32_t c = 0; c < columns(); ++c) {
        ASSERT_EQ(*actual++, wanted.sums[j][c])
            << std::hex << "slot " << j << ", column " << c << ", result " << std::dec << results_;
      }
    }
    if (taken) {
      results_ += wanted.sums.size();
      expected_.pop_front();
    }
  }

  std::unique_ptr<cosim::verilated_array> array_;
  array::array_shape shape_;
  random_words filler_;
  std::vector<std::uint8_t> lanes_;
  std::vector<std::uint32_t> presets_;
  std::vector<std::uint16_t> values_[2];
  std::vector<bool> active_[2];
  std::uint64_t last_use_[2] = {0, 0};
  std::deque<expected_result> expected_;  // the buffered ones first
  std::size_t buffered_ = 0;
  std::uint64_t moves_ = 0;
  std::uint64_t results_ = 0;
  std::uint64_t numbers_ = 0;
};

}  // namespace dvp::test
