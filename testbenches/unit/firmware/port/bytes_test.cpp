// Every alignment against the host's own memcpy and memset, with the bytes around.
#include "firmware/port/riscv/bytes.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace dvp::port {
namespace {

constexpr std::size_t most = 100, room = most + 32;
using buffer = std::array<std::byte, room>;

buffer counting(unsigned first) {
  buffer b;
  for (std::size_t i = 0; i < room; ++i) b[i] = static_cast<std::byte>(first + i * 7);
  return b;
}

TEST(bytes, copies_of_every_length_and_alignment) {
  alignas(8) const buffer source = counting(1);
  for (std::size_t count = 0; count <= most; ++count) {
    for (std::size_t from = 0; from < 8; ++from) {
      for (std::size_t to = 8; to < 16; ++to) {
        alignas(8) buffer expected = counting(100), found = expected;
        std::memcpy(expected.data() + to, source.data() + from, count);
        copy_bytes(found.data() + to, source.data() + from, count);
        ASSERT_EQ(found, expected) << count << " bytes from " << from << " to " << to;
      }
    }
  }
}

TEST(bytes, fills_of_every_length_and_alignment) {
  for (std::size_t count = 0; count <= most; ++count) {
    for (std::size_t to = 8; to < 16; ++to) {
      alignas(8) buffer expected = counting(100), found = expected;
      std::memset(expected.data() + to, 0xa5, count);
      fill_bytes(found.data() + to, 0xa5, count);
      ASSERT_EQ(found, expected) << count << " bytes to " << to;
    }
  }
}

}  // namespace
}  // namespace dvp::port
