// The ROM's instruction words against those an assembler writes for the listing in its README, and its memory manners.
#include "tlm/boot_rom/boot_rom.h"

#include <gtest/gtest.h>

#include <cstring>

#include "testbenches/lib/tlm_initiator.h"
#include "tlm/boot_rom/encoding.h"

namespace dvp::boot_rom {
namespace {

using bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t entry = 0x12'8000'4242;

struct bench {
  test::tlm_initiator initiator{"initiator"};
  boot_rom rom{"boot_rom", entry};

  bench() {
    initiator.socket.bind(rom.socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
};

// From GNU as for rv64i.
TEST(boot_rom, encoders_write_what_the_assembler_writes) {
  EXPECT_EQ(auipc(reg::t0, 0), 0x0000'0297U);
  EXPECT_EQ(auipc(reg::a1, 0xfffff), 0xffff'f597U);
  EXPECT_EQ(csrr(reg::a0, 0xf14), 0xf140'2573U);
  EXPECT_EQ(csrr(reg::t0, 0x305), 0x3050'22f3U);
  EXPECT_EQ(addi(reg::a1, reg::zero, 0), 0x0000'0593U);
  EXPECT_EQ(addi(reg::a0, reg::a0, -1), 0xfff5'0513U);
  EXPECT_EQ(ld(reg::t0, reg::t0, 24), 0x0182'b283U);
  EXPECT_EQ(ld(reg::t0, reg::a0, -8), 0xff85'3283U);
  EXPECT_EQ(jalr(reg::zero, reg::t0, 0), 0x0002'8067U);
  EXPECT_EQ(jalr(reg::zero, reg::t0, -4), 0xffc2'8067U);
}

TEST(boot_rom, holds_the_five_instructions_the_entry_and_zeros) {
  bench b;
  bytes all(4096);
  ASSERT_EQ(b.initiator.read(0, all).status, tlm::TLM_OK_RESPONSE);
  const std::uint32_t code[] = {0x0000'0297, 0xf140'2573, 0x0000'0593, 0x0182'b283, 0x0002'8067, 0};
  bytes expected(4096, 0);
  std::memcpy(expected.data(), code, sizeof code);
  std::memcpy(expected.data() + 24, &entry, sizeof entry);
  EXPECT_EQ(all, expected);
}

TEST(boot_rom, is_read_in_any_way_and_never_written) {
  bench b;
  bytes odd(7);
  EXPECT_EQ(b.initiator.read(25, odd).status, tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(odd, (bytes{0x42, 0x00, 0x80, 0x12, 0, 0, 0}));
  EXPECT_EQ(b.initiator.debug(tlm::TLM_READ_COMMAND, 25, odd), 7U);
  EXPECT_EQ(b.initiator.read(4090, odd).status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(b.initiator.read(~0ULL, odd).status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(b.initiator.write(0, {1, 2, 3, 4}).status, tlm::TLM_COMMAND_ERROR_RESPONSE);
  EXPECT_EQ(b.initiator.debug(tlm::TLM_WRITE_COMMAND, 0, odd), 0U);

  tlm::tlm_dmi dmi;
  ASSERT_TRUE(b.initiator.direct(4095, dmi));
  EXPECT_TRUE(dmi.is_read_allowed());
  EXPECT_FALSE(dmi.is_write_allowed());
  EXPECT_EQ(dmi.get_start_address(), 0U);
  EXPECT_EQ(dmi.get_end_address(), 4095U);
  EXPECT_EQ(dmi.get_dmi_ptr()[0], 0x97);
  EXPECT_FALSE(b.initiator.direct(4096, dmi));

  tlm::tlm_generic_payload to_write;
  to_write.set_write();
  to_write.set_address(0);
  EXPECT_FALSE(b.initiator.socket->get_direct_mem_ptr(to_write, dmi));
}

TEST(boot_rom, an_odd_entry_is_fatal) {
  test::throw_on_fatal();
  try {
    boot_rom rom("boot_rom", 0x8000'0001);
    FAIL() << "accepted";
  } catch (const sc_core::sc_report& report) {
    EXPECT_STREQ(report.get_msg(), "boot_rom: no instruction can start at the odd address 0x80000001");
  }
}

}  // namespace
}  // namespace dvp::boot_rom
