// A short fuzz run of the ordinary build: seed files, spoiled at random, are either refused with a load_error or
// read. `scripts/fuzz` runs the long one.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>

#include "testbenches/unit/loader/fuzz/exercise.h"
#include "testbenches/unit/loader/tiny_model.h"
#include "testbenches/unit/loader/tiny_sidecar.h"

namespace dvp::testbenches {
namespace {

constexpr std::uint64_t seed = 0x6775'6775;
constexpr int iterations = 20000;

class mutator {
 public:
  explicit mutator(std::uint64_t random_seed) : random_(random_seed), seeds_(seed_files()) {
    seeds_.push_back(tiny_sidecar().build());
  }

  byte_string next() {
    byte_string bytes = pick_seed();
    for (std::uint64_t n = 1 + random_() % 3; n > 0; --n) {
      spoil(bytes);
    }
    return bytes;
  }

 private:
  const byte_string& pick_seed() { return seeds_[random_() % seeds_.size()]; }
  // Mostly in the first 3 KiB: header, metadata and tensor table.
  std::size_t position(const byte_string& bytes) {
    const std::size_t range = random_() % 8 == 0 ? bytes.size() : std::min<std::size_t>(bytes.size(), 3072);
    return random_() % range;
  }

  void spoil(byte_string& bytes) {
    if (bytes.empty()) {
      return;
    }
    const std::size_t at = position(bytes);
    constexpr std::uint64_t numbers[] = {0,        1,        2,          31,         33,         255,
                                         1u << 16, 1u << 31, 1ull << 32, 1ull << 60, 1ull << 63, ~0ull};
    const std::uint64_t number = numbers[random_() % std::size(numbers)];
    switch (random_() % 6) {
      case 0:
        bytes[at] ^= static_cast<std::byte>(1u << random_() % 8);
        break;
      case 1:
        bytes[at] = static_cast<std::byte>(random_());
        break;
      case 2: {
        const std::size_t length = std::min<std::size_t>(random_() % 2 == 0 ? 8 : 4, bytes.size() - at);
        std::memcpy(bytes.data() + at, &number, length);
        break;
      }
      case 3:
        bytes.resize(at);
        break;
      case 4:
        bytes.erase(bytes.begin() + at, bytes.begin() + std::min<std::size_t>(at + 1 + random_() % 40, bytes.size()));
        break;
      default: {
        const byte_string& other = pick_seed();
        const std::size_t from = position(other);
        const std::size_t length = std::min<std::size_t>(random_() % 200, other.size() - from);
        bytes.insert(bytes.begin() + at, other.begin() + from, other.begin() + from + length);
      }
    }
  }

  std::mt19937_64 random_;
  std::vector<byte_string> seeds_;
};

TEST(mutations, are_refused_or_read) {
  mutator mutations(seed);
  int counts[3] = {};
  for (int i = 0; i < iterations; ++i) {
    const byte_string bytes = mutations.next();
    const std::unique_ptr<std::byte[]> exact(new std::byte[bytes.size()]);
    std::copy(bytes.begin(), bytes.end(), exact.get());
    try {
      ++counts[static_cast<int>(exercise({exact.get(), bytes.size()}))];
    } catch (const std::exception& error) {
      FAIL() << "seed " << seed << ", iteration " << i << ": " << error.what();
    }
  }
  std::printf("seed %llu: %d refused, %d read, %d made into an image\n", static_cast<unsigned long long>(seed),
              counts[0], counts[1], counts[2]);
  // The mutations must reach both ends to mean anything.
  EXPECT_GT(counts[0], iterations / 4);
  EXPECT_GT(counts[2], iterations / 50);
}

TEST(mutations, seeds_themselves_make_images) {
  for (const byte_string& bytes : seed_files()) {
    EXPECT_EQ(exercise(bytes), outcome::imaged);
  }
  EXPECT_EQ(exercise(tiny_sidecar().build()), outcome::read);
}

}  // namespace
}  // namespace dvp::testbenches
