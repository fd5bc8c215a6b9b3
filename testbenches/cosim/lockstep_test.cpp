// Lockstep: silent on equal seats, and exact about the first difference of a corrupted one.
#include <gtest/gtest.h>

#include "testbenches/cosim/random_job.h"
#include "testbenches/lib/scratch_file.h"
#include "tlm/array/model_array.h"
#include "tlm/cosim/lockstep_array.h"
#include "tlm/cosim/rtl_array.h"

namespace dvp::test {
namespace {

constexpr array::array_shape shape{8, 8};
constexpr std::uint32_t seed = 5501;

// Adds a fault to another seat: from reduction index `element` of chain `chain` on, the lowest bit of the sums of one
// column is flipped in every vector from `vector` on, if the job is long enough.
class faulty_array final : public array::array_seat {
 public:
  explicit faulty_array(array::array_seat& inner) : inner_(inner) {}
  std::string_view name() const override { return "faulty"; }
  std::uint64_t run(const array::array_job& job) override {
    const std::uint64_t cycles = inner_.run(job);
    const numerics::chain_operands& operands = job.operands;
    const bool whole = operands.vectors > vector;
    const std::uint32_t first_vector = whole ? vector : 0;
    const std::uint32_t faulty_chain = whole ? chain : 0;
    if (flips && operands.group > element) {
      for (std::uint32_t v = first_vector; v < operands.vectors; ++v) {
        float& sum = operands.out[(faulty_chain * operands.vectors + v) * operands.columns + column];
        sum = std::bit_cast<float>(std::bit_cast<std::uint32_t>(sum) ^ 1u);
      }
    }
    return cycles + late;
  }

  bool flips = true;
  std::uint32_t chain = 1, vector = 7, column = 3, element = 21;
  std::uint64_t late = 0;

 private:
  array::array_seat& inner_;
};

std::string failure_of(array::array_seat& seat, const array::array_job& job) {
  try {
    seat.run(job);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

class lockstep : public ::testing::Test {
 protected:
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, ::testing::Message() << "seed " << seed};
  array::model_array model_{shape};
  cosim::rtl_array rtl_{"edge_8x8", {.seed = seed}};
  scratch_file dump_{"array_difference.txt"};
  random_words random_{seed};
};

TEST_F(lockstep, model_equals_rtl) {
  cosim::lockstep_array both(model_, rtl_, shape, {.every = 1, .dump = dump_.path()});
  for (std::uint32_t n = 0; n < 60; ++n) {
    const job_format& format = job_formats[n % std::size(job_formats)];
    const random_job item({1 + n % 8, 1 + n % 37, 1 + n % 29, 1 + n % 4, format, n % 3 == 0}, n, random_);
    both.run(item.job());
  }
  EXPECT_EQ(both.compared_jobs(), 60u);
}

TEST_F(lockstep, first_difference_has_its_coordinates) {
  faulty_array faulty(rtl_);
  cosim::lockstep_array both(model_, faulty, shape, {.every = 1, .dump = dump_.path()});
  const random_job item({5, 20, 40, 2, q8_job, false}, 12, random_);
  const std::string text = failure_of(both, item.job());
  // Element 21 of the chain is row 5 of its fold 2.
  EXPECT_NE(text.find("job 12, chain 1, vector 7, column 3, fold 2 of the chain, row 5: model "), std::string::npos)
      << text;
  char expected[16];
  std::snprintf(expected, sizeof expected, "%08x (", item.expected_bits(1, 7, 3));
  EXPECT_NE(text.find(std::string("model ") + expected), std::string::npos) << text;
  std::snprintf(expected, sizeof expected, "%08x (", item.expected_bits(1, 7, 3) ^ 1u);
  EXPECT_NE(text.find(std::string("faulty ") + expected), std::string::npos) << text;

  const std::string dump = dump_.text();
  EXPECT_NE(dump.find(text.substr(0, text.find("; inputs"))), std::string::npos);
  EXPECT_NE(dump.find("\n61 2 5 "), std::string::npos) << dump;  // 40 + 21
}

// The chain begins in the middle of a byte of the packed vector.
TEST_F(lockstep, first_difference_of_narrow_codes) {
  for (const job_format& format : {job_formats[2], job_formats[5]}) {
    faulty_array faulty(rtl_);
    cosim::lockstep_array both(model_, faulty, shape, {.every = 1, .dump = dump_.path()});
    const random_job item({5, 20, 39, 2, format, false}, 13, random_);
    const std::string text = failure_of(both, item.job());
    EXPECT_NE(text.find("job 13, chain 1, vector 7, column 3, fold 2 of the chain, row 5: model "), std::string::npos)
        << text;
    const bool half_step = format.half_step;
    EXPECT_NE(dump_.text().find(half_step ? "stationary q2+half\n" : "stationary q4\n"), std::string::npos);
    const std::string element = std::to_string(item.each()[7].stored(39 + 21)) + "\n";
    const std::string dump = dump_.text();
    const std::size_t line = dump.find("\n60 2 5 ");
    ASSERT_NE(line, std::string::npos) << dump;
    const std::size_t end = dump.find('\n', line + 1) + 1;
    EXPECT_EQ(dump.substr(end - element.size() - 1, element.size() + 1), " " + element);
  }
}

TEST_F(lockstep, compares_one_job_in_n) {
  faulty_array faulty(rtl_);
  cosim::lockstep_array both(model_, faulty, shape, {.every = 5, .dump = dump_.path()});
  for (std::uint64_t id = 1; id < 5; ++id) {
    const random_job item({5, 20, 40, 2, q8_job, false}, id, random_);
    EXPECT_EQ(failure_of(both, item.job()), "");
  }
  const random_job item({5, 20, 40, 2, q8_job, false}, 5, random_);
  EXPECT_NE(failure_of(both, item.job()), "");
  EXPECT_EQ(both.compared_jobs(), 1u);
}

TEST_F(lockstep, a_late_seat_is_reported) {
  faulty_array late(rtl_);
  late.flips = false;
  late.late = 1;
  cosim::lockstep_array both(model_, late, shape, {.every = 1, .dump = dump_.path()});
  const random_job item({5, 20, 40, 2, q8_job, false}, 3, random_);
  const std::uint64_t cycles = array::job_cycles(shape, 20, 80, 40);
  EXPECT_EQ(failure_of(both, item.job()), "array seats differ: job 3 took " + std::to_string(cycles) +
                                              " cycles on model, " + std::to_string(cycles + 1) + " on faulty");
}

}  // namespace
}  // namespace dvp::test
