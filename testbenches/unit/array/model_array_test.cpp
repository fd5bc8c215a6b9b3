#include "tlm/array/model_array.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>
#include <stdexcept>
#include <vector>

namespace dvp::array {
namespace {

struct job_shape {
  std::uint32_t columns, vectors, reduction, group;
};

// Cycle by cycle in the array's own terms: a bank of stationary rows can be loaded once the fold before last has left
// it, a chained fold starts when the sums of the fold before are written.
std::uint64_t scheduled_cycles(array_shape shape, const job_shape& job) {
  const std::uint64_t folds = job.reduction / job.group * ((job.group + shape.rows - 1) / shape.rows);
  const std::uint64_t way = shape.rows + shape.columns + 1;
  std::uint64_t cycle = 0;
  std::uint64_t first_accepted = shape.rows;
  for (std::uint64_t fold = 0; fold < folds; ++fold) {
    if (fold > 0) {
      const std::uint64_t vectors_done = first_accepted + job.vectors;
      const std::uint64_t sums_written = first_accepted + way + 1;
      first_accepted = std::max(vectors_done, sums_written);
    }
    const std::uint64_t last_result = first_accepted + job.vectors - 1 + way;
    cycle = last_result + 1;
  }
  return cycle;
}

struct job_data {
  std::vector<std::uint16_t> stationary;
  std::vector<std::int8_t> stream;
  std::vector<float> out;
  array_job job;

  job_data(const job_shape& s, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    const std::size_t stride = s.reduction + 5;
    stationary.resize(std::size_t{s.reduction} * s.columns);
    for (auto& x : stationary) x = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(normal(random)) >> 16);
    stream.resize(s.vectors * stride);
    for (auto& w : stream) w = static_cast<std::int8_t>(random());
    out.resize(std::size_t{s.reduction / s.group} * s.vectors * s.columns);
    job.operands = {numerics::stream_format::q8, s.columns,     s.vectors, s.reduction, s.group,
                    stationary.data(),           stream.data(), stride,    nullptr,     out.data()};
  }
};

TEST(model_array, bits_are_the_plain_loops_and_cycles_the_schedule_for_every_kind_of_tile) {
  const array_shape shape{8, 4};
  model_array array(shape);
  const job_shape shapes[] = {{4, 9, 64, 32},  {1, 1, 1, 1},   {3, 40, 8, 8},   {2, 13, 9, 9},
                              {4, 12, 96, 32}, {4, 100, 7, 7}, {1, 512, 33, 11}};
  std::uint32_t seed = 1;
  for (const job_shape& s : shapes) {
    SCOPED_TRACE(testing::Message() << s.columns << " columns, " << s.vectors << " vectors, reduction " << s.reduction
                                    << ", group " << s.group << ", seed " << seed);
    job_data data(s, seed++);
    EXPECT_EQ(array.run(data.job), scheduled_cycles(shape, s));
    const std::size_t stride = data.job.operands.stream_stride;
    for (std::uint32_t g = 0; g < s.reduction / s.group; ++g) {
      for (std::uint32_t v = 0; v < s.vectors; ++v) {
        for (std::uint32_t c = 0; c < s.columns; ++c) {
          float sum = 0;
          for (std::uint32_t k = g * s.group; k < (g + 1) * s.group; ++k) {
            const float x = std::bit_cast<float>(std::uint32_t{data.stationary[k * s.columns + c]} << 16);
            sum = sum + x * static_cast<float>(data.stream[v * stride + k]);
          }
          ASSERT_EQ(data.out[(std::size_t{g} * s.vectors + v) * s.columns + c], sum) << g << ' ' << v << ' ' << c;
        }
      }
    }
  }
}

TEST(model_array, refuses_jobs_and_shapes_that_do_not_exist) {
  EXPECT_THROW(model_array({0, 4}), std::invalid_argument);
  EXPECT_THROW(model_array({4, 0}), std::invalid_argument);
  model_array array({4, 4});
  for (const job_shape& s : {job_shape{5, 1, 4, 4}, {0, 1, 4, 4}, {1, 0, 4, 4}, {1, 1, 4, 3}, {1, 1, 4, 0}}) {
    array_job job;
    job.operands.columns = s.columns;
    job.operands.vectors = s.vectors;
    job.operands.reduction = s.reduction;
    job.operands.group = s.group;
    job.id = 77;
    try {
      array.run(job);
      ADD_FAILURE() << "accepted";
    } catch (const std::invalid_argument& problem) {
      EXPECT_NE(std::string(problem.what()).find("job 77"), std::string::npos) << problem.what();
    }
  }
}

}  // namespace
}  // namespace dvp::array
