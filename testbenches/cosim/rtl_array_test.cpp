// The Verilated array behind the seat: bits against the host's arithmetic, cycles against the formula.
#include "tlm/cosim/rtl_array.h"

#include <gtest/gtest.h>

#include <tuple>

#include "dvp_gen/arrays.h"
#include "testbenches/cosim/random_job.h"
#include "tlm/array/array_config.h"
#include "tlm/array/model_array.h"

namespace dvp::test {
namespace {

// Configuration, and the seed of the registers' initial contents and of the jobs.
class rtl_array : public ::testing::TestWithParam<std::tuple<const char*, std::uint32_t>> {
 protected:
  rtl_array() { RecordProperty("seed", static_cast<int>(seed_)); }

  // One job on RTL and model: bits by the definition, cycles by the formula.
  void check(const job_shape& shape) {
    const random_job item(shape, id_++, random_);
    const std::uint64_t cycles = array_.run(item.job());
    SCOPED_TRACE(
        ::testing::Message() << "columns " << shape.columns << " vectors " << shape.vectors << " group " << shape.group
                             << " chains " << shape.chains << " format " << static_cast<int>(shape.format.format)
                             << (shape.format.half_step ? " half" : "") << (shape.format.mixed ? " mixed" : ""));
    expect_bits(item, "rtl");
    ASSERT_EQ(cycles, model_.run(item.job()));
    expect_bits(item, "model");
    ++jobs_;
  }

  void expect_bits(const random_job& item, const char* who) {
    const numerics::chain_operands& operands = item.job().operands;
    std::size_t index = 0;
    for (std::uint32_t g = 0; g < operands.chains(); ++g) {
      for (std::uint32_t v = 0; v < operands.vectors; ++v) {
        for (std::uint32_t c = 0; c < operands.columns; ++c) {
          ASSERT_EQ(item.out_bits(index++), item.expected_bits(g, v, c)) << who << ' ' << g << ' ' << v << ' ' << c;
        }
      }
    }
  }

  const std::uint32_t seed_ = std::get<1>(GetParam());
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, ::testing::Message() << "seed " << seed_};
  cosim::rtl_array array_{std::get<0>(GetParam()), {.seed = seed_}};
  array::model_array model_{array_.shape()};
  random_words random_{seed_};
  std::uint64_t id_ = 0;
  std::uint32_t jobs_ = 0;
};

TEST_P(rtl_array, bits_and_cycles_of_border_shapes) {
  const std::uint32_t rows = array_.shape().rows;
  const std::uint32_t turnaround = static_cast<std::uint32_t>(array::vector_latency(array_.shape()));
  for (const std::uint32_t columns : {1u, array_.shape().columns}) {
    for (const std::uint32_t vectors : {1u, 2u, turnaround, turnaround + 1, turnaround + 2}) {
      for (const std::uint32_t group : {1u, rows - 1, rows, rows + 1, 2 * rows, 3 * rows + 1}) {
        for (const std::uint32_t chains : {1u, 2u, 3u}) {
          const job_format& format = job_formats[id_ % std::size(job_formats)];
          check({columns, vectors, group, chains, format, vectors % 2 == 0});
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_P(rtl_array, bits_and_cycles_of_random_shapes) {
  constexpr std::uint32_t shapes = 150;
  while (jobs_ < shapes && !HasFatalFailure()) {
    const std::uint32_t long_chain = random_() % 20 == 0 ? 300 : 40;
    const std::uint32_t formats = static_cast<std::uint32_t>(std::size(job_formats));
    const job_format& format = job_formats[random_() % 2 == 0 ? formats - 1 : random_() % formats];
    check({1 + random_() % array_.shape().columns, 1 + random_() % 60, 1 + random_() % long_chain, 1 + random_() % 6,
           format, random_() % 2 == 0});
  }
}

TEST_P(rtl_array, refuses_what_it_cannot_take) {
  random_job item({array_.shape().columns + 1, 1, 1, 1, q8_job, false}, 0, random_);
  EXPECT_THROW(array_.run(item.job()), std::invalid_argument);
}

std::string name_of(const ::testing::TestParamInfo<std::tuple<const char*, std::uint32_t>>& tested) {
  return std::string(std::get<0>(tested.param)) + "_" + std::to_string(std::get<1>(tested.param));
}

INSTANTIATE_TEST_SUITE_P(configurations, rtl_array,
                         ::testing::Combine(::testing::Values("edge_8x8", "ref_16x16", "tiny_4x4", "lean_8x4",
                                                              "block_32x32"),
                                            ::testing::Values(4409u, 4410u, 4411u)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(large, rtl_array, ::testing::Combine(::testing::Values("nano"), ::testing::Values(4409u)),
                         name_of);

TEST(rtl_array_configuration, shapes_are_those_of_the_specification) {
  for (const char* config : {"edge_8x8", "ref_16x16", "tiny_4x4", "lean_8x4", "block_32x32"}) {
    const array::array_shape shape = cosim::rtl_array(config).shape();
    const gen::array_config& wanted = *gen::find_array(config);
    EXPECT_EQ(shape.rows, wanted.rows);
    EXPECT_EQ(shape.slots(), wanted.packing ? 4u : 1u);
    EXPECT_EQ(shape.banks, wanted.double_buffered ? 2u : 1u);
  }
}

TEST(rtl_array_configuration, unknown_name_is_refused_with_the_known_ones) {
  try {
    cosim::rtl_array array("no_such_array");
    FAIL() << "no exception";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("ref_16x16"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace dvp::test
