#include "firmware/port/riscv/bytes.h"

namespace dvp::port {
namespace {

// May alias anything, as memcpy may.
using word [[gnu::may_alias]] = std::uint64_t;

std::uintptr_t misalignment(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) % sizeof(word);
}

}  // namespace

// The compiler would turn these loops into calls of memcpy and memset, which are made of them.
#pragma GCC optimize("no-tree-loop-distribute-patterns")

void copy_bytes(std::byte* to, const std::byte* from, std::size_t count) {
  if (misalignment(to) == misalignment(from)) {
    for (; count != 0 && misalignment(to) != 0; --count) {
      *to++ = *from++;
    }
    for (; count >= 4 * sizeof(word); count -= 4 * sizeof(word)) {
      const word* source = reinterpret_cast<const word*>(from);
      word* target = reinterpret_cast<word*>(to);
      const word a = source[0], b = source[1], c = source[2], d = source[3];
      target[0] = a;
      target[1] = b;
      target[2] = c;
      target[3] = d;
      from += 4 * sizeof(word);
      to += 4 * sizeof(word);
    }
    for (; count >= sizeof(word); count -= sizeof(word)) {
      *reinterpret_cast<word*>(to) = *reinterpret_cast<const word*>(from);
      from += sizeof(word);
      to += sizeof(word);
    }
  }
  for (; count != 0; --count) {
    *to++ = *from++;
  }
}

void fill_bytes(std::byte* to, std::uint8_t value, std::size_t count) {
  const word pattern = 0x0101'0101'0101'0101u * value;
  for (; count != 0 && misalignment(to) != 0; --count) {
    *to++ = std::byte{value};
  }
  for (; count >= 4 * sizeof(word); count -= 4 * sizeof(word)) {
    word* target = reinterpret_cast<word*>(to);
    target[0] = pattern;
    target[1] = pattern;
    target[2] = pattern;
    target[3] = pattern;
    to += 4 * sizeof(word);
  }
  for (; count != 0; --count) {
    *to++ = std::byte{value};
  }
}

}  // namespace dvp::port
