// Spoilt configurations: bytes changed, words exchanged, pieces of one in another. Always an answer, never a crash.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "testbenches/unit/lpddr5/config/dramsys_files.h"
#include "testbenches/unit/lpddr5/config/fuzz/exercise.h"

namespace dvp::testbenches {
namespace {

constexpr std::array<const char*, 14> numbers = {
    "0",     "1",   "2",   "3",    "-1",   "16",         "1e308",
    "1e-30", "0.5", "255", "1024", "null", "4294967296", "18446744073709551615"};

// One number, byte or stretch of the text replaced.
void spoil(std::string& text, const std::vector<std::string>& seeds, std::mt19937_64& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const std::size_t at = below(text.size());
  switch (below(5)) {
    case 0:
      text[at] = static_cast<char>(random());
      break;
    case 1:
      text.erase(at, 1 + below(12));
      break;
    case 2: {
      const std::string& other = seeds[below(seeds.size())];
      text.insert(at, other.substr(below(other.size()), below(40)));
      break;
    }
    default: {
      const std::size_t begin = text.find_first_of("0123456789", at);
      if (begin == std::string::npos) return;
      const std::size_t end = text.find_first_not_of("0123456789.eE-", begin);
      if (end == std::string::npos) return;
      text.replace(begin, end - begin, numbers[below(numbers.size())]);
    }
  }
}

TEST(memory_config, spoilt_text_is_read_or_refused_in_one_line) {
  const auto seed = std::random_device{}();
  std::cout << "seed " << seed << std::endl;
  std::mt19937_64 random(seed);
  const std::vector<std::string> seeds = memory_config_seeds();
  for (const std::string& text : seeds) EXPECT_EQ(exercise_memory_config(text), outcome::read) << text;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(4);
  int read = 0;
  int refused = 0;
  while (read + refused < 20'000 && std::chrono::steady_clock::now() < end) {
    std::string text = seeds[random() % seeds.size()];
    for (std::uint64_t i = 0; i <= random() % 3 && !text.empty(); ++i) spoil(text, seeds, random);
    (exercise_memory_config(text) == outcome::read ? read : refused) += 1;
  }
  EXPECT_GT(read, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace dvp::testbenches
