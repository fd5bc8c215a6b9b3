// The waveform file has time in it: some tool pairs write headers only, without a word.
#include <gtest/gtest.h>

#include "testbenches/cosim/random_job.h"
#include "testbenches/lib/scratch_file.h"
#include "tlm/cosim/rtl_array.h"

namespace dvp::test {
namespace {

constexpr std::uint32_t seed = 1;

// FST: the header block starts with type 0 and its length, then first and last time and four counters, all big-endian.
struct fst_header {
  explicit fst_header(const std::string& bytes) {
    if (bytes.size() < 73 || bytes[0] != 0) return;
    valid = true;
    first_time = number(bytes, 9);
    last_time = number(bytes, 17);
    variables = number(bytes, 49);
    value_blocks = number(bytes, 65);
  }
  static std::uint64_t number(const std::string& bytes, std::size_t at) {
    std::uint64_t value = 0;
    for (std::size_t n = 0; n < 8; ++n) value = value << 8 | static_cast<std::uint8_t>(bytes[at + n]);
    return value;
  }
  bool valid = false;
  std::uint64_t first_time = 0, last_time = 0, variables = 0, value_blocks = 0;
};

TEST(waves, fifty_cycles_have_time_stamps) {
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  const scratch_file file("fifty.fst");
  {
    const auto array = cosim::make_verilated_array("edge_8x8", seed);
    array->open_waves(file.path());
    const std::uint64_t start = array->cycles();
    for (int n = 0; n < 50; ++n) array->clock();
    array->close_waves();
    const std::string bytes = file.text();
    const fst_header header(bytes);
    ASSERT_TRUE(header.valid);
    EXPECT_EQ(header.first_time, 2 * start);
    EXPECT_EQ(header.last_time, 2 * (start + 50) - 1);
    EXPECT_GT(header.variables, 300u);
    EXPECT_GE(header.value_blocks, 1u);
    EXPECT_GT(bytes.size(), 1000u);
  }
}

TEST(waves, only_the_jobs_asked_for) {
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  const scratch_file file("window.fst");
  random_words random(seed);
  std::uint64_t cycles = 2;  // of reset
  std::uint64_t window_begin = 0, window_end = 0;
  {
    cosim::rtl_array array("edge_8x8", {.seed = seed, .waves = file.path(), .first_wave_job = 2, .last_wave_job = 3});
    for (std::uint64_t id = 0; id < 6; ++id) {
      const random_job item({8, 10, 16, 2, q8_job, false}, id, random);
      if (id == 2) window_begin = cycles;
      cycles += array.run(item.job());
      if (id == 3) window_end = cycles;
    }
  }
  const fst_header header(file.text());
  ASSERT_TRUE(header.valid);
  EXPECT_EQ(header.first_time, 2 * window_begin);
  EXPECT_EQ(header.last_time, 2 * window_end - 1);
}

}  // namespace
}  // namespace dvp::test
