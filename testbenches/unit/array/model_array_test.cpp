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

// Beat by beat in the array's own terms, without the formula: a row of a bank can be loaded once the last beat that
// uses it has left it and is needed before the first beat of the next fold gets there; a chained fold starts when the
// sums of the fold before are written. `packed` holds, per beat, whether it is the last one of its vectors.
std::uint64_t scheduled_cycles(array_shape shape, const job_shape& job, const std::vector<bool>& packed) {
  const std::uint64_t folds = job.reduction / job.group * ((job.group + shape.rows - 1) / shape.rows);
  const std::uint64_t stages = shape.adder_stages;
  const std::uint64_t way = shape.rows * stages + shape.columns + 1 + (shape.output_buffer ? 1 : 0);
  const std::uint64_t beats = packed.size();
  // First cycle of each fold: the earliest that meets every condition. With one bank rows are loaded `stages` cycles
  // apart, row 0 in the cycle before the first beat; with two, one per cycle, all before the first beat.
  std::vector<std::uint64_t> first(folds);
  for (std::uint64_t fold = 0; fold < folds; ++fold) {
    std::uint64_t start = shape.banks == 1 ? 1 : shape.rows;
    if (fold > 0) {
      start = first[fold - 1] + beats;
      for (std::uint64_t beat = 0; beat < beats; ++beat) {
        if (!packed[beat]) continue;
        const std::uint64_t written = first[fold - 1] + beat + way;  // the cycle in which its sums leave
        start = std::max(start, written + 1 - beat);
      }
    }
    const std::uint64_t user = shape.banks;  // folds back to the one that used this bank
    if (fold >= user) {
      for (std::uint64_t row = 0; row < shape.rows; ++row) {
        const std::uint64_t free = first[fold - user] + beats - 1 + row * stages + shape.columns;
        const std::uint64_t after_load = shape.banks == 1 ? row * stages - 1 : row - shape.rows;  // may wrap below 0
        start = std::max(start, free - after_load);
      }
    }
    first[fold] = start;
  }
  return first.back() + beats - 1 + way + 1;
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
    EXPECT_EQ(array.run(data.job), scheduled_cycles(shape, s, std::vector<bool>(s.vectors, true)));
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

// Vectors of formats in this order, packed by hand.
TEST(model_array, cycles_are_the_schedule_for_every_shape_and_format) {
  using enum numerics::stream_format;
  constexpr numerics::stream_format formats[] = {q4, q4, q4, bf16, q2, q0, q2, q2, q2, q2, q8, q4, q0, q0, bf16, bf16};
  // Per vector, in packed and plain arrays: how many beats it begins.
  constexpr int packed_beats[] = {1, 0, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1};
  constexpr int plain_beats[] = {1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1};
  int shapes = 0;
  for (const std::uint32_t lane_bits : {8u, 16u}) {
    for (const bool packing : {false, true}) {
      for (const std::uint32_t stages : {1u, 2u, 3u}) {
        for (const std::uint32_t banks : {1u, 2u}) {
          for (const bool buffer : {false, true}) {
            for (const std::uint32_t repeats : {1u, 4u}) {
              for (const std::uint32_t group : {3u, 8u, 20u}) {
                const array_shape shape{8, 4, lane_bits, packing, stages, banks, buffer};
                const job_shape s{2, 16 * repeats, 2 * group, group};
                job_data data(s, 7);
                std::vector<numerics::stream_vector> each;
                std::vector<bool> beats;
                for (std::uint32_t v = 0; v < s.vectors; ++v) {
                  each.push_back({formats[v % 16], false, &data.stationary[0]});
                  const int begun = (packing ? packed_beats : plain_beats)[v % 16];
                  const bool halves = formats[v % 16] == bf16 && lane_bits == 8;
                  if (begun == 1 && halves) beats.push_back(false);
                  if (begun == 1) beats.push_back(true);
                }
                data.job.operands.each = each.data();
                SCOPED_TRACE(testing::Message()
                             << lane_bits << " bits, packing " << packing << ", " << stages << " stages, " << banks
                             << " banks, buffer " << buffer << ", " << s.vectors << " vectors, group " << group);
                EXPECT_EQ(model_array(shape).run(data.job), scheduled_cycles(shape, s, beats));
                ++shapes;
              }
            }
          }
        }
      }
    }
  }
  EXPECT_EQ(shapes, 288);
}

TEST(model_array, a_stream_of_q0_takes_no_cycles) {
  const job_shape s{4, 9, 64, 32};
  job_data data(s, 8);
  std::vector<float> preset(s.vectors * s.columns, 1.5f);
  data.job.operands.format = numerics::stream_format::q0;
  data.job.operands.preset = preset.data();
  EXPECT_EQ(model_array({8, 4}).run(data.job), 0u);
  for (std::size_t i = 0; i < data.out.size(); ++i) EXPECT_EQ(data.out[i], i < preset.size() ? 1.5f : 0.0f);
}

TEST(model_array, refuses_jobs_and_shapes_that_do_not_exist) {
  EXPECT_THROW(model_array({0, 4}), std::invalid_argument);
  EXPECT_THROW(model_array({4, 0}), std::invalid_argument);
  EXPECT_THROW(model_array({4, 4, 12}), std::invalid_argument);
  EXPECT_THROW(model_array({4, 4, 16, true, 4}), std::invalid_argument);
  EXPECT_THROW(model_array({4, 4, 16, true, 1, 3}), std::invalid_argument);
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
