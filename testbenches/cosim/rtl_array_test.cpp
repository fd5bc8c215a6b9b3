// The Verilated array behind the seat: bits against the host's arithmetic, cycles against the formula.
#include "tlm/cosim/rtl_array.h"

#include <gtest/gtest.h>

#include <tuple>

#include "testbenches/cosim/random_job.h"

namespace dvp::test {
namespace {

// Configuration, and the seed of the registers' initial contents and of the jobs.
class rtl_array : public ::testing::TestWithParam<std::tuple<const char*, std::uint32_t>> {
 protected:
  rtl_array() { RecordProperty("seed", static_cast<int>(seed_)); }

  void check(const job_shape& shape) {
    const random_job item(shape, id_++, random_);
    const std::uint64_t cycles = array_.run(item.job());
    const numerics::chain_operands& operands = item.job().operands;
    SCOPED_TRACE(::testing::Message() << "columns " << shape.columns << " vectors " << shape.vectors << " group "
                                      << shape.group << " chains " << shape.chains << " q8 " << shape.q8);
    ASSERT_EQ(cycles, array::job_cycles(array_.shape(), shape.vectors, operands.reduction, operands.group));
    std::size_t index = 0;
    for (std::uint32_t g = 0; g < shape.chains; ++g) {
      for (std::uint32_t v = 0; v < shape.vectors; ++v) {
        for (std::uint32_t c = 0; c < shape.columns; ++c) {
          ASSERT_EQ(item.out_bits(index++), item.expected_bits(g, v, c)) << g << ' ' << v << ' ' << c;
        }
      }
    }
  }

  const std::uint32_t seed_ = std::get<1>(GetParam());
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, ::testing::Message() << "seed " << seed_};
  cosim::rtl_array array_{std::get<0>(GetParam()), {.seed = seed_}};
  random_words random_{seed_};
  std::uint64_t id_ = 0;
};

TEST_P(rtl_array, bits_and_cycles_of_border_shapes) {
  const std::uint32_t rows = array_.shape().rows;
  const std::uint32_t turnaround = static_cast<std::uint32_t>(array::vector_latency(array_.shape()));
  for (const std::uint32_t columns : {1u, array_.shape().columns}) {
    for (const std::uint32_t vectors : {1u, 2u, turnaround, turnaround + 1, turnaround + 2}) {
      for (const std::uint32_t group : {1u, rows - 1, rows, rows + 1, 2 * rows, 3 * rows + 1}) {
        for (const std::uint32_t chains : {1u, 2u, 3u}) {
          check({columns, vectors, group, chains, (columns + group + chains) % 2 == 0, vectors % 2 == 0});
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_P(rtl_array, bits_and_cycles_of_random_shapes) {
  for (int n = 0; n < 200 && !HasFatalFailure(); ++n) {
    const std::uint32_t long_chain = random_() % 20 == 0 ? 300 : 40;
    check({1 + random_() % array_.shape().columns, 1 + random_() % 60, 1 + random_() % long_chain, 1 + random_() % 6,
           random_() % 2 == 0, random_() % 2 == 0});
  }
}

TEST_P(rtl_array, refuses_what_it_cannot_take) {
  random_job item({array_.shape().columns + 1, 1, 1, 1, true, false}, 0, random_);
  EXPECT_THROW(array_.run(item.job()), std::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(configurations, rtl_array,
                         ::testing::Combine(::testing::Values("edge_8x8", "ref_16x16"),
                                            ::testing::Values(4409u, 4410u, 4411u)),
                         [](const auto& tested) {
                           return std::string(std::get<0>(tested.param)) + "_" +
                                  std::to_string(std::get<1>(tested.param));
                         });

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
