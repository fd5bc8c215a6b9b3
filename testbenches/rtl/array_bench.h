// Drives a verilated_array beat by beat and checks every result against a double loop in the host's arithmetic.
//
// The bench keeps its own copy of both banks. A vector's expected sums are computed when the array accepts it, and its
// result is expected exactly Rows + Columns + 1 unstalled cycles later.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "testbenches/rtl/host_arithmetic.h"
#include "tlm/cosim/verilated_array.h"

namespace dvp::test {

struct stationary_row {
  std::uint32_t row = 0;
  bool bank = false;
  bool active = true;
  std::vector<std::uint16_t> values;  // [C]
};

struct streamed_vector {
  bool bank = false;
  bool q8 = false;
  std::vector<std::uint16_t> lanes;    // [R]
  std::vector<std::uint32_t> presets;  // [C]
};

class array_bench {
 public:
  array_bench(const char* config, std::uint32_t seed)
      : array_(cosim::make_verilated_array(config, seed)),
        rows_(array_->shape().rows),
        columns_(array_->shape().columns) {
    forget();
  }

  std::uint32_t rows() const { return rows_; }
  std::uint32_t columns() const { return columns_; }
  std::uint64_t moves() const { return moves_; }  // unstalled cycles
  std::uint64_t results() const { return results_; }
  std::uint64_t numbers() const { return numbers_; }  // expected sums that are not NaN
  // First move in which row 0 of the bank may be loaded.
  std::uint64_t bank_free(bool bank) const { return last_use_[bank] + columns_; }

  // One cycle; either beat may be null. Returns whether the beats were accepted.
  bool step(const stationary_row* row, const streamed_vector* vector, bool result_ready = true) {
    if (row != nullptr) {
      const cosim::load_beat beat{row->row, row->bank, row->active, row->values.data()};
      array_->drive_load(&beat);
    } else {
      array_->drive_load(nullptr);
    }
    if (vector != nullptr) {
      const cosim::stream_beat beat{vector->bank, vector->q8, vector->lanes.data(), vector->presets.data()};
      array_->drive_stream(&beat);
    } else {
      array_->drive_stream(nullptr);
    }
    array_->drive_result_ready(result_ready);
    const bool ready = array_->ready();
    EXPECT_EQ(ready, result_ready || !array_->result_valid());
    if (array_->result_valid())
      check_result(result_ready);
    else
      EXPECT_TRUE(expected_.empty() || expected_.front().move > moves_) << "a result is late";
    if (ready) {
      if (vector != nullptr) expect(*vector);
      if (row != nullptr) keep(*row);
      ++moves_;
    }
    array_->clock();
    return ready;
  }

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

 private:
  struct expected_result {
    std::uint64_t move = 0;
    std::vector<std::uint32_t> sums;
  };

  void forget() {
    expected_.clear();
    for (int bank = 0; bank < 2; ++bank) {
      values_[bank].assign(std::size_t{rows_} * columns_, 0);
      active_[bank].assign(rows_, false);
      last_use_[bank] = moves_;
    }
  }

  void keep(const stationary_row& row) {
    std::copy(row.values.begin(), row.values.end(), values_[row.bank].begin() + std::size_t{row.row} * columns_);
    active_[row.bank][row.row] = row.active;
  }

  void expect(const streamed_vector& vector) {
    expected_result result{moves_ + rows_ + columns_ + 1, vector.presets};
    for (std::uint32_t c = 0; c < columns_; ++c) {
      float sum = std::bit_cast<float>(vector.presets[c]);
      for (std::uint32_t r = 0; r < rows_; ++r) {
        if (!active_[vector.bank][r]) continue;
        const float element = vector.q8 ? static_cast<float>(static_cast<std::int8_t>(vector.lanes[r] & 0xff))
                                        : host_bf16(vector.lanes[r]);
        const float product = element * host_bf16(values_[vector.bank][r * columns_ + c]);
        sum = sum + product;
      }
      result.sums[c] = host_bits(sum);
      if (sum == sum) ++numbers_;
    }
    expected_.push_back(std::move(result));
    last_use_[vector.bank] = moves_;
  }

  void check_result(bool taken) {
    ASSERT_FALSE(expected_.empty()) << "a result nobody asked for, move " << moves_;
    const expected_result& wanted = expected_.front();
    ASSERT_EQ(moves_, wanted.move) << "result at the wrong time";
    const std::uint32_t* actual = array_->result();
    for (std::uint32_t c = 0; c < columns_; ++c) {
      ASSERT_EQ(actual[c], wanted.sums[c]) << std::hex << "column " << c << ", result " << std::dec << results_;
    }
    if (taken) {
      expected_.pop_front();
      ++results_;
    }
  }

  std::unique_ptr<cosim::verilated_array> array_;
  std::uint32_t rows_, columns_;
  std::vector<std::uint16_t> values_[2];
  std::vector<bool> active_[2];
  std::uint64_t last_use_[2] = {0, 0};
  std::deque<expected_result> expected_;
  std::uint64_t moves_ = 0;
  std::uint64_t results_ = 0;
  std::uint64_t numbers_ = 0;
};

}  // namespace dvp::test
