#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "testbenches/unit/cpu/rv64/program.h"
#include "tlm/cpu/rv64/instruction.h"

namespace dvp::cpu::rv64 {
namespace {

// programs/decode.S, line by line.
struct meaning {
  std::uint8_t bytes;
  work kind;
  flow control = flow::straight;
  special handling = special::none;
  access memory = access::none;
  std::uint8_t size = 0;
  bool sign_extended = false;
  std::uint8_t data = 0;
  std::uint8_t base = 0;
  std::int32_t offset = 0;
};

meaning loads(std::uint8_t bytes, std::uint8_t size, bool sign, std::uint8_t data, std::uint8_t base, int offset) {
  return {bytes, work::load, flow::straight, special::none, access::load, size, sign, data, base, offset};
}
meaning float_loads(std::uint8_t bytes, std::uint8_t size, std::uint8_t data, std::uint8_t base, int offset) {
  return {bytes, work::load, flow::straight, special::none, access::float_load, size, false, data, base, offset};
}
meaning stores(std::uint8_t bytes, access kind, std::uint8_t size, std::uint8_t data, std::uint8_t base, int offset) {
  return {bytes, work::store, flow::straight, special::none, kind, size, false, data, base, offset};
}
meaning atomic(access kind, std::uint8_t size, special handling = special::none) {
  return {4, work::atomic, flow::straight, handling, kind, size, true, 10, 11, 0};
}
meaning plain(std::uint8_t bytes, work kind) {
  return {bytes, kind};
}
meaning jumps(std::uint8_t bytes, flow control) {
  return {bytes, work::jump, control};
}
meaning system(std::uint8_t bytes, special handling, flow control = flow::straight) {
  return {bytes, work::csr, control, handling};
}

TEST(decode, says_what_the_assembler_meant) {
  const std::vector<meaning> expected{
      loads(2, 4, true, 11, 10, 124),
      loads(2, 8, true, 12, 9, 248),
      float_loads(2, 8, 13, 15, 8),
      stores(2, access::store, 4, 14, 8, 64),
      stores(2, access::store, 8, 15, 12, 128),
      stores(2, access::float_store, 8, 8, 13, 240),
      loads(2, 4, true, 5, 2, 252),
      loads(2, 8, true, 27, 2, 504),
      float_loads(2, 8, 29, 2, 328),
      stores(2, access::store, 4, 31, 2, 196),
      stores(2, access::store, 8, 23, 2, 456),
      stores(2, access::float_store, 8, 27, 2, 80),
      plain(2, work::alu),
      plain(2, work::alu),
      plain(2, work::alu),
      plain(2, work::alu),
      plain(2, work::alu),
      plain(2, work::alu),
      plain(2, work::alu),
      jumps(2, flow::jump),
      jumps(2, flow::ret),
      jumps(2, flow::jump),
      jumps(2, flow::ret),
      jumps(2, flow::call),
      {2, work::branch, flow::branch},
      {2, work::branch, flow::branch},
      system(2, special::ebreak),
      loads(4, 1, true, 10, 11, -2048),
      loads(4, 2, false, 28, 29, 2047),
      loads(4, 4, true, 1, 2, -4),
      loads(4, 4, false, 10, 11, 0),
      loads(4, 8, true, 10, 11, 16),
      stores(4, access::store, 1, 10, 11, -1),
      stores(4, access::store, 2, 31, 30, -2048),
      stores(4, access::store, 4, 0, 3, 2047),
      stores(4, access::store, 8, 10, 11, 8),
      float_loads(4, 4, 10, 11, 4),
      float_loads(4, 8, 31, 11, -8),
      stores(4, access::float_store, 4, 10, 11, 4),
      stores(4, access::float_store, 8, 31, 11, -8),
      atomic(access::load_reserved, 4),
      atomic(access::store_conditional, 8),
      atomic(access::amo, 4),
      atomic(access::amo, 8),
      atomic(access::amo, 4, special::amo_extreme),
      plain(4, work::alu),
      plain(4, work::alu),
      plain(4, work::alu),
      plain(4, work::alu),
      plain(4, work::alu),
      plain(4, work::multiply),
      plain(4, work::multiply),
      plain(4, work::multiply),
      plain(4, work::divide),
      plain(4, work::divide),
      plain(4, work::float_add),
      plain(4, work::float_add),
      plain(4, work::float_multiply),
      plain(4, work::float_multiply),
      plain(4, work::float_divide),
      plain(4, work::float_divide),
      plain(4, work::float_move),
      {4, work::float_move, flow::straight, special::float_extreme},
      plain(4, work::float_move),
      plain(4, work::float_move),
      plain(4, work::float_move),
      jumps(4, flow::call),
      jumps(4, flow::call),
      jumps(4, flow::jump),
      jumps(4, flow::jump),
      jumps(4, flow::call),
      jumps(4, flow::ret),
      jumps(4, flow::ret),
      jumps(4, flow::jump),
      jumps(4, flow::call),
      jumps(4, flow::ret),
      {4, work::branch, flow::branch},
      plain(4, work::fence),
      {4, work::fence, flow::straight, special::fence_i},
      system(4, special::ecall),
      system(4, special::ebreak),
      system(4, special::mret, flow::trap_return),
      system(4, special::wfi),
      system(4, special::csr),
      system(4, special::csr),
      plain(4, work::csr),
      plain(4, work::csr),
      system(4, special::illegal),
  };
  const test::program image("decode");
  std::size_t at = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_LT(at, image.bytes.size());
    std::uint32_t bits = 0;
    std::memcpy(&bits, image.bytes.data() + at, std::min<std::size_t>(4, image.bytes.size() - at));
    const instruction what = decode(bits);
    const meaning& e = expected[i];
    SCOPED_TRACE("instruction " + std::to_string(i) + " of decode.S");
    EXPECT_EQ(what.bytes, e.bytes);
    EXPECT_EQ(what.bits, e.bytes == 2 ? bits & 0xffff : bits);
    EXPECT_EQ(what.kind, e.kind);
    EXPECT_EQ(what.control, e.control);
    EXPECT_EQ(what.handling, e.handling);
    EXPECT_EQ(what.memory, e.memory);
    EXPECT_EQ(what.size, e.size);
    EXPECT_EQ(what.sign_extended, e.sign_extended);
    EXPECT_EQ(what.data, e.data);
    EXPECT_EQ(what.base, e.base);
    EXPECT_EQ(what.offset, e.offset);
    at += what.bytes;
  }
  EXPECT_EQ(at, image.bytes.size());
}

}  // namespace
}  // namespace dvp::cpu::rv64
