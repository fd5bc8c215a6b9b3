// The precision converter: one code exhaustively against the C++ definition, streams of bursts against a model of their
// own, which knows the contract in exact binary fractions and packs bit by bit.
#include "tlm/numerics/converter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <fstream>
#include <iomanip>
#include <optional>
#include <random>
#include <vector>

#include "Vconverter_functions.h"
#include "Vprecision_converter.h"

namespace dvp::test {
namespace {

using numerics::view;
using numerics::view_mode;

// The RTL's encoding of a precision.
std::uint8_t encoded(std::uint8_t precision) {
  return precision == 8 ? 1 : precision == 4 ? 2 : precision == 2 ? 3 : 0;
}

std::string text_of(const view& v) {
  return "p " + std::to_string(v.precision) + " mode " + std::to_string(static_cast<int>(v.mode)) + " clip " +
         std::to_string(v.clip) + " shift " + std::to_string(v.shift) + " threshold " + std::to_string(v.threshold);
}

class converter_code : public ::testing::Test {
 protected:
  // All 256 codes in the view v.
  void expect_equal(const view& v) {
    functions_.precision_i = encoded(v.precision);
    functions_.mode_i = static_cast<std::uint8_t>(v.mode);
    functions_.clip_i = v.clip;
    functions_.shift_i = v.shift;
    functions_.threshold_i = v.threshold;
    for (int q = -128; q < 128; ++q) {
      functions_.code_i = static_cast<std::uint8_t>(q);
      functions_.eval();
      const auto actual = static_cast<std::int8_t>(functions_.code_o);
      ASSERT_EQ(actual, numerics::convert(v, static_cast<std::int8_t>(q))) << text_of(v) << " q " << q;
      ++compared_;
    }
    const std::int32_t of_zero = numerics::array_value(v, 0);
    ASSERT_EQ(functions_.half_step_o, of_zero != 0) << text_of(v);
  }

  Vconverter_functions functions_;
  std::uint64_t compared_ = 0;
};

constexpr std::array<std::uint8_t, 4> precisions = {8, 4, 2, 0};
constexpr std::array<view_mode, 4> modes = {view_mode::midpoint, view_mode::round, view_mode::fitted,
                                            view_mode::truncate};

TEST_F(converter_code, every_code_in_every_fitted_view) {
  for (int clip = 0; clip < 128; ++clip) {
    for (int shift = 0; shift < 8; ++shift) {
      expect_equal({4, view_mode::fitted, static_cast<std::uint8_t>(clip), static_cast<std::uint8_t>(shift)});
      if (HasFatalFailure()) return;
    }
  }
  for (int threshold = 0; threshold < 128; ++threshold) {
    expect_equal({2, view_mode::fitted, 127, 4, static_cast<std::uint8_t>(threshold)});
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(compared_, 256U * (128 * 8 + 128));
}

TEST_F(converter_code, every_code_in_every_mode_with_corner_fields) {
  constexpr std::array<std::uint8_t, 8> bytes = {0, 1, 7, 32, 63, 64, 126, 127};
  for (const auto precision : precisions) {
    for (const auto mode : modes) {
      for (const auto clip : bytes) {
        for (const auto threshold : bytes) {
          for (std::uint8_t shift = 0; shift < 8; ++shift) {
            expect_equal({precision, mode, clip, shift, threshold});
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

constexpr int burst_bytes = 32;

struct burst {
  view descriptor;
  std::vector<std::int8_t> codes;  // up to burst_bytes; fewer than that, and not none: last
  bool last = false;
};

struct packed_burst {
  std::array<bool, burst_bytes * 8> bits{};
  int count = 0;
  bool last = false;
  std::uint8_t precision = 0;
  bool half_step = false;

  friend bool operator==(const packed_burst&, const packed_burst&) = default;
};

int model_code(const view& v, int q) {
  if (v.precision == 8) return q;
  const double lowest = -std::pow(2.0, v.precision - 1);
  const double step = v.precision == 4 ? 16 : 64;
  const auto limited = [&](double t) { return static_cast<int>(std::fmin(std::fmax(t, lowest), -lowest - 1)); };
  switch (v.mode) {
    case view_mode::round:
      return limited(std::nearbyint(q / step));
    case view_mode::fitted:
      if (v.precision == 2) return q > v.threshold ? 1 : -q > v.threshold ? -1 : 0;
      return limited(std::nearbyint(std::fmin(std::fmax(q, -double{1} * v.clip), v.clip) / std::pow(2.0, v.shift)));
    default:
      return static_cast<int>(std::floor(q / step));
  }
}

// What the bursts pushed so far deliver: finished output bursts, and the one being filled.
class stream_model {
 public:
  void push(const burst& in) {
    const std::uint8_t precision = in.descriptor.precision;
    const bool half_step = in.descriptor.mode == view_mode::midpoint && (precision == 4 || precision == 2);
    const bool empty = precision == 0 || in.codes.empty();
    if (!empty) {
      if (filling_ && (filling_->precision != precision || filling_->half_step != half_step)) finish();
      if (!filling_) filling_ = packed_burst{{}, 0, false, precision, half_step};
      for (const std::int8_t q : in.codes) {
        const int code = model_code(in.descriptor, q);
        for (int b = 0; b < precision; ++b) {
          filling_->bits[static_cast<std::size_t>(filling_->count * precision + b)] = ((code >> b) & 1) != 0;
        }
        ++filling_->count;
      }
    }
    if (in.last) {
      if (!filling_) filling_.emplace();
      filling_->last = true;
      finish();
    } else if (filling_ && filling_->count * filling_->precision == burst_bytes * 8) {
      finish();
    }
  }

  bool filling() const { return filling_.has_value(); }
  std::deque<packed_burst>& finished() { return finished_; }

 private:
  void finish() {
    finished_.push_back(*filling_);
    filling_.reset();
  }

  std::optional<packed_burst> filling_;
  std::deque<packed_burst> finished_;
};

// Drives the module cycle by cycle and compares what it delivers with the model.
class converter_stream : public ::testing::Test {
 protected:
  void SetUp() override { reset(); }

  void start(std::uint32_t seed) {
    RecordProperty("seed", static_cast<int>(seed));
    trace_.emplace(__FILE__, __LINE__, ::testing::Message() << "seed " << seed);
    random_.seed(seed);
  }

  bool chance(std::uint32_t percent) { return random_() % 100 < percent; }

  // One cycle. Returns whether `in` (may be null) was accepted.
  bool step(const burst* in, bool result_ready) {
    dut_.burst_valid_i = in != nullptr;
    if (in != nullptr) {
      for (int word = 0; word < burst_bytes / 4; ++word) {
        dut_.burst_data_i[word] = static_cast<std::uint32_t>(random_());  // beyond the count: anything
      }
      for (std::size_t i = 0; i < in->codes.size(); ++i) {
        auto& word = dut_.burst_data_i[i / 4];
        word = (word & ~(0xffU << (i % 4 * 8))) | std::uint32_t{static_cast<std::uint8_t>(in->codes[i])} << (i % 4 * 8);
      }
      dut_.burst_count_i = static_cast<std::uint8_t>(in->codes.size());
      dut_.burst_last_i = in->last;
      dut_.burst_precision_i = encoded(in->descriptor.precision);
      dut_.burst_mode_i = static_cast<std::uint8_t>(in->descriptor.mode);
      dut_.burst_clip_i = in->descriptor.clip;
      dut_.burst_shift_i = in->descriptor.shift;
      dut_.burst_threshold_i = in->descriptor.threshold;
    }
    dut_.result_ready_i = result_ready;
    dut_.eval();
    const bool accepted = in != nullptr && dut_.burst_ready_o != 0;
    check_output(result_ready);
    if (accepted) {
      model_.push(*in);
      ++accepted_;
    }
    clock();
    return accepted;
  }

  void reset() {
    dut_.rst_ni = 0;
    clock();
    dut_.rst_ni = 1;
    model_ = {};
    stalled_.reset();
  }

  burst random_burst() {
    burst in;
    in.descriptor = {precisions[random_() % 4], modes[random_() % 4], static_cast<std::uint8_t>(random_() % 128),
                     static_cast<std::uint8_t>(random_() % 8), static_cast<std::uint8_t>(random_() % 128)};
    in.last = chance(20);
    const std::size_t count = chance(5) ? 0 : in.last && chance(60) ? 1 + random_() % burst_bytes : burst_bytes;
    for (std::size_t i = 0; i < count; ++i) in.codes.push_back(static_cast<std::int8_t>(random_()));
    return in;
  }

  // Takes what is finished; nothing else may come.
  void drain() {
    for (int cycle = 0; cycle < 6; ++cycle) step(nullptr, true);
    EXPECT_TRUE(model_.finished().empty()) << model_.finished().size() << " bursts are missing";
  }

  // Traffic in which the descriptor of a burst is that of the one before in `keep` percent of the cases.
  void run(int cycles, std::uint32_t valid, std::uint32_t ready, std::uint32_t keep, std::uint32_t resets) {
    std::optional<burst> waiting;
    view before;
    for (int cycle = 0; cycle < cycles && !HasFailure(); ++cycle) {
      if (!waiting && chance(valid)) {
        waiting = random_burst();
        if (chance(keep)) waiting->descriptor = before;
        before = waiting->descriptor;
      }
      if (step(waiting ? &*waiting : nullptr, chance(ready))) waiting.reset();
      if (resets != 0 && random_() % resets == 0) reset();
    }
    if (!HasFailure()) drain();
  }

  Vprecision_converter dut_;
  std::ofstream recording_;  // when open: every cycle from here on
  stream_model model_;
  std::mt19937 random_;
  std::uint64_t accepted_ = 0, delivered_ = 0;

 private:
  packed_burst output() const {
    packed_burst out;
    for (std::size_t b = 0; b < out.bits.size(); ++b) out.bits[b] = ((dut_.result_data_o[b / 32] >> (b % 32)) & 1) != 0;
    out.count = dut_.result_count_o;
    out.last = dut_.result_last_o != 0;
    out.precision = std::array<std::uint8_t, 4>{0, 8, 4, 2}[dut_.result_precision_o];
    out.half_step = dut_.result_half_step_o != 0;
    return out;
  }

  void check_output(bool taken) {
    if (dut_.result_valid_o == 0) {
      EXPECT_FALSE(stalled_) << "valid fell before the burst was taken";
      return;
    }
    const packed_burst out = output();
    EXPECT_TRUE(!stalled_ || out == *stalled_) << "the burst changed while it waited";
    ASSERT_FALSE(model_.finished().empty()) << "a burst nobody expected, number " << delivered_;
    const packed_burst& expected = model_.finished().front();
    EXPECT_EQ(out.count, expected.count) << "burst " << delivered_;
    EXPECT_EQ(out.last, expected.last) << "burst " << delivered_;
    EXPECT_EQ(out.precision, expected.precision) << "burst " << delivered_;
    EXPECT_EQ(out.half_step, expected.half_step) << "burst " << delivered_;
    EXPECT_TRUE(out.bits == expected.bits)
        << "data of burst " << delivered_ << ", precision " << static_cast<int>(expected.precision);
    if (taken) {
      model_.finished().pop_front();
      ++delivered_;
      stalled_.reset();
    } else {
      stalled_ = out;
    }
  }

  void clock() {
    dut_.clk_i = 0;
    dut_.eval();
    if (recording_.is_open()) record();
    dut_.clk_i = 1;
    dut_.eval();
  }

  // One cycle as a line of hexadecimal fields: inputs, ready, valid, and the output burst as one word.
  void record() {
    const auto words = [&](const auto& data) {
      for (int word = burst_bytes / 4 - 1; word >= 0; --word) {
        recording_ << std::setw(8) << std::setfill('0') << std::uint32_t{data[word]};
      }
    };
    const auto fields = [&](auto... values) { ((recording_ << unsigned{values} << ' '), ...); };
    recording_ << std::hex;
    fields(dut_.rst_ni, dut_.burst_valid_i);
    words(dut_.burst_data_i);
    recording_ << ' ';
    fields(dut_.burst_count_i, dut_.burst_last_i, dut_.burst_precision_i, dut_.burst_mode_i, dut_.burst_clip_i,
           dut_.burst_shift_i, dut_.burst_threshold_i, dut_.result_ready_i, dut_.burst_ready_o, dut_.result_valid_o);
    recording_ << ((dut_.result_half_step_o << 3) | (dut_.result_precision_o << 1) | dut_.result_last_o) << std::setw(2)
               << std::setfill('0') << unsigned{dut_.result_count_o};
    words(dut_.result_data_o);
    recording_ << '\n';
  }

  std::optional<packed_burst> stalled_;
  std::optional<::testing::ScopedTrace> trace_;
};

TEST_F(converter_stream, random_bursts_with_random_back_pressure) {
  start(20271);
  for (const std::uint32_t ready : {100U, 80U, 50U, 10U}) {
    for (const std::uint32_t valid : {100U, 50U, 10U}) {
      run(8'000, valid, ready, 50, 0);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(delivered_, 20'000U);
}

TEST_F(converter_stream, precision_changing_on_every_burst_at_full_rate) {
  start(20272);
  for (int n = 0; n < 20'000 && !HasFailure(); ++n) {
    burst in = random_burst();
    in.descriptor.precision = precisions[static_cast<std::size_t>(n % 4)];
    ASSERT_TRUE(step(&in, true)) << "not ready in cycle " << n;
  }
  drain();
}

TEST_F(converter_stream, reset_at_any_time) {
  start(20273);
  run(40'000, 90, 60, 70, 15);
}

// The recording is replayed in Icarus by the CTest case rtl_converter_icarus.
TEST_F(converter_stream, recorded_for_the_second_simulator) {
  start(20275);
  recording_.open(DVP_CONVERTER_RECORDING);
  ASSERT_TRUE(recording_) << DVP_CONVERTER_RECORDING;
  reset();
  run(3'000, 90, 70, 70, 100);
}

TEST_F(converter_stream, latency_fill_and_flush) {
  start(20274);
  const auto full = [&](std::uint8_t precision, bool last) {
    burst in{{precision, view_mode::round}, {}, last};
    for (int i = 0; i < burst_bytes; ++i) in.codes.push_back(static_cast<std::int8_t>(random_()));
    return in;
  };
  // Bursts that fill one output burst, and the two cycles until it leaves.
  for (const auto& [precision, bursts] : {std::pair{8, 1}, {4, 2}, {2, 4}}) {
    for (int n = 0; n < bursts; ++n) {
      const burst in = full(static_cast<std::uint8_t>(precision), false);
      ASSERT_TRUE(step(&in, true));
      ASSERT_EQ(dut_.result_valid_o, 0) << "precision " << precision;
    }
    step(nullptr, false);
    ASSERT_EQ(dut_.result_valid_o, 1) << "precision " << precision;
    ASSERT_EQ(dut_.result_count_o, bursts * burst_bytes);
    step(nullptr, true);
    ASSERT_EQ(dut_.result_valid_o, 0);
  }
  // A burst that is not ended waits; an empty last ends it; one more last without elements leaves alone.
  burst in = full(2, false);
  step(&in, true);
  for (int n = 0; n < 10; ++n) step(nullptr, true);
  EXPECT_TRUE(model_.filling());
  burst nothing{{0, view_mode::midpoint}, {}, true};
  step(&nothing, true);
  drain();
  EXPECT_EQ(delivered_, 4U);
  step(&nothing, true);
  drain();
  EXPECT_EQ(delivered_, 5U);
  // q0 without last vanishes, also between the two halves of an output burst.
  for (const std::uint8_t precision : {std::uint8_t{4}, std::uint8_t{0}, std::uint8_t{4}}) {
    in = full(precision, false);
    step(&in, true);
  }
  drain();
  EXPECT_EQ(delivered_, 6U);
}

}  // namespace
}  // namespace dvp::test
