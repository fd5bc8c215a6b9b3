// All generated headers in one translation unit. The expectations are written by hand, not read from the specification:
// a change of a layout that software or hardware relies on has to be made here as well.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string_view>
#include <type_traits>

#include "dvp_gen/arrays.h"
#include "dvp_gen/bit_field.h"
#include "dvp_gen/clint_bank.h"
#include "dvp_gen/clint_regs.h"
#include "dvp_gen/descriptor.h"
#include "dvp_gen/dram.h"
#include "dvp_gen/finisher_bank.h"
#include "dvp_gen/finisher_regs.h"
#include "dvp_gen/image.h"
#include "dvp_gen/mailbox_bank.h"
#include "dvp_gen/mailbox_regs.h"
#include "dvp_gen/npu_bank.h"
#include "dvp_gen/npu_regs.h"
#include "dvp_gen/numbers.h"
#include "dvp_gen/plic_bank.h"
#include "dvp_gen/plic_regs.h"
#include "dvp_gen/register_table.h"
#include "dvp_gen/request.h"
#include "dvp_gen/system.h"
#include "dvp_gen/uart_bank.h"
#include "dvp_gen/uart_regs.h"

namespace dvp::gen {
namespace {

TEST(headers_test, bit_fields_get_and_set) {
  constexpr bit_field middle{8, 4};
  static_assert(middle.mask() == 0xf00);
  static_assert(middle.get(0xabcd) == 0xb);
  static_assert(middle.set(0xffff'ffff, 0) == 0xffff'f0ff);
  static_assert(middle.set(0, 0x1f) == 0xf00, "bits beyond the field are dropped");
  constexpr bit_field whole{0, 32};
  static_assert(whole.mask() == 0xffff'ffff);
  static_assert(whole.set(0, 0x8765'4321) == 0x8765'4321);
  constexpr bit_field top{31, 1};
  static_assert(top.mask() == 0x8000'0000 && top.get(0x8000'0000) == 1);
}

TEST(headers_test, register_offsets) {
  static_assert(npu::window_bytes == 4096);
  static_assert(npu::id::offset == 0 && npu::id::reset == 0x6476'7001);
  static_assert(npu::control::offset == 0x20 && npu::control::soft_reset.mask() == 2);
  static_assert(npu::irq_status::error.mask() == 0x300);
  static_assert(npu::queue::count == 2 && npu::queue::offset == 0x100 && npu::queue::stride == 0x40);
  static_assert(npu::queue::tail::offset == 0xc && npu::queue::tail::at(0) == 0x10c &&
                npu::queue::tail::at(1) == 0x14c);
  static_assert(npu::counters::value_hi::at(12) == 0x264);
  static_assert(npu::queue::size::at(0) == 0x108 && npu::queue::size::check.mask() == 0x10000);
  static_assert(npu::counters::count == static_cast<std::uint32_t>(npu::counter::stage_busy) + 1);
  static_assert(mailbox::finish::offset == 0x10 && mailbox::finish::code.mask() == 0xff);
}

// The layouts that existing drivers of these devices expect.
TEST(headers_test, devices_are_laid_out_as_the_field_has_them) {
  static_assert(clint::window_bytes == 0x1'0000 && clint::mtime_lo::offset == 0xbff8 &&
                clint::mtime_hi::offset == 0xbffc);
  static_assert(clint::msip::state::at(3) == 0xc && clint::mtimecmp::lo::at(0) == 0x4000 &&
                clint::mtimecmp::hi::at(3) == 0x401c);
  static_assert(plic::window_bytes == 0x40'0000 && plic::source::priority::at(31) == 4 * 31 &&
                plic::pending::offset == 0x1000);
  static_assert(plic::enables::word::at(3) == 0x2180 && plic::context::threshold::at(1) == 0x20'1000 &&
                plic::context::claim::at(3) == 0x20'3004);
  static_assert(uart::txdata::offset == 0 && uart::txdata::full.mask() == 1U << 31 &&
                uart::txdata::data.mask() == 0xff);
  static_assert(uart::rxdata::offset == 4 && uart::rxdata::empty.mask() == 1U << 31);
  static_assert(uart::txctrl::offset == 8 && uart::txctrl::txcnt.mask() == 7U << 16 && uart::rxctrl::offset == 12);
  static_assert(uart::ie::offset == 16 && uart::ip::offset == 20 && uart::div::offset == 24);
  static_assert(finisher::finish::offset == 0 && static_cast<int>(finisher::outcome::pass) == 0x5555);
  static_assert(static_cast<int>(finisher::outcome::fail) == 0x3333 && finisher::finish::code.lsb == 16);
  static_assert(mailbox::request_state::offset == 0x14 && mailbox::request_state::pending.mask() == 1);
}

TEST(headers_test, drams_are_whole_texts) {
  static_assert(std::size(dram::standards) == 1 && std::size(dram::speeds) == 3);
  static_assert(dram::standards[0].name == "lpddr5" && dram::speeds[1].name == "lpddr5_6400");
  for (const dram::file& file : dram::speeds) {
    EXPECT_EQ(file.text.substr(file.text.find_first_not_of('\n'), 1), "{");
    EXPECT_EQ(file.text.back(), '}');
    EXPECT_NE(file.text.find("\"tck_fs\""), std::string_view::npos);
  }
}

TEST(headers_test, register_tables) {
  static_assert(npu::bank.register_count == 19 + 2 * 11 + 14 * 2);
  static_assert(mailbox::bank.register_count == 6);
  EXPECT_STREQ(npu::bank.name, "npu");
  const register_info& control = npu::bank.registers[5];
  EXPECT_STREQ(control.name, "control");
  EXPECT_EQ(control.write_mask, 1U);
  EXPECT_EQ(control.w1s_mask, 2U);
  EXPECT_EQ(control.read_mask, 3U);
  const register_info& tail_1 = npu::bank.registers[19 + 11 + 3];
  EXPECT_STREQ(tail_1.name, "queue[1].tail");
  EXPECT_EQ(tail_1.offset, 0x14cU);
  EXPECT_STREQ(tail_1.fields[0].name, "index");
  const register_info& finish = mailbox::bank.registers[4];
  EXPECT_EQ(finish.mode, access::wo);
  EXPECT_EQ(finish.write_mask, 0xffU);
  EXPECT_EQ(finish.read_mask, 0U);
}

TEST(headers_test, records_have_the_layout_hardware_reads) {
  static_assert(sizeof(descriptor_header) == 16 && offsetof(descriptor_header, check) == 5 &&
                offsetof(descriptor_header, wait) == 6);
  static_assert(sizeof(dma_descriptor) == 64 && offsetof(dma_descriptor, list_address) == 24);
  static_assert(sizeof(gemm_descriptor) == 64 && offsetof(gemm_descriptor, out_stride) == 60);
  static_assert(sizeof(vector_descriptor) == 64 && offsetof(vector_descriptor, scalar0) == 48);
  static_assert(sizeof(sample_descriptor) == 64 && offsetof(sample_descriptor, first_row) == 60);
  static_assert(sizeof(completion_record) == 16 && offsetof(completion_record, end_cycle) == 8);
  static_assert(sizeof(image_header) == 128 && offsetof(image_header, total_bytes) == 8);
  static_assert(sizeof(tensor_entry) == 48 && offsetof(tensor_entry, data_offset) == 16);
  static_assert(sizeof(request_record) == 256 && offsetof(request_record, seed) == 56);
  static_assert(sizeof(result_record) == 192 && offsetof(result_record, state_hash) == 40);
  static_assert(std::is_trivially_copyable_v<request_record> && std::is_standard_layout_v<request_record>);
  static_assert(std::is_same_v<decltype(descriptor_header::op), opcode>);
  static_assert(std::is_same_v<decltype(request_record::threshold), float>);
}

TEST(headers_test, members_start_at_zero) {
  const gemm_descriptor fresh;
  unsigned char bytes[sizeof fresh];
  std::memcpy(bytes, &fresh, sizeof fresh);
  for (const unsigned char byte : bytes) {
    EXPECT_EQ(byte, 0);
  }
}

TEST(headers_test, enums_and_constants) {
  static_assert(sizeof(opcode) == 1 && static_cast<int>(opcode::sample) == 6 && static_cast<int>(opcode::stage) == 7);
  static_assert(sizeof(tensor_kind) == 2 && static_cast<int>(tensor_kind::rope_table) == 15);
  static_assert(std::is_same_v<std::underlying_type_t<npu::error_code>, std::uint32_t>);
  static_assert(std::is_same_v<decltype(descriptor_flag::last_chunk), const std::uint8_t>);
  static_assert(descriptor_flag::last_chunk == 16 && image_flag::block_causal == 16);
  static_assert(image_magic == ('d' | 'v' << 8 | 'P' << 16 | 'M' << 24) && no_token == 0xffff'ffff);
  EXPECT_STREQ(name_of(opcode::dma_gather), "dma_gather");
  EXPECT_STREQ(name_of(static_cast<opcode>(200)), "unknown");
  EXPECT_STREQ(name_of(npu::counter::stall_scratchpad), "stall_scratchpad");
  EXPECT_STREQ(name_of(result_code::bad_image), "bad_image");
}

TEST(headers_test, platform) {
  static_assert(system::npu_base == 0x2000'0000 && system::npu_interrupt == 1 && system::npu_bytes == 4096);
  static_assert(system::mailbox_base == 0x1000'0000);
  static_assert(system::finisher_base == 0x10'0000 && system::clint_base == 0x200'0000);
  static_assert(system::plic_base == 0xc00'0000 && system::plic_bytes == 0x40'0000);
  static_assert(system::uart_base == 0x1001'0000 && system::uart_interrupt == 3 && system::mailbox_interrupt == 2);
  static_assert(system::boot_rom_base == 0x1000 && system::boot_rom_bytes == 0x1000);
  static_assert(system::firmware_base == 0x8000'0000 && system::firmware_bytes == 0x10'0000);
  static_assert(system::most_harts == 4 && system::timebase_hz == 1'000'000'000);
  static_assert(system::dram_base == 0x8010'0000 && system::dram_bytes == 0xf'7ff0'0000);
  static_assert(find_array("edge_8x8")->rows == 8 && find_array("ref_16x16")->columns == 16);
  static_assert(find_array("ref_16x16")->packing && !find_array("edge_8x8")->packing);
  static_assert(find_array("lean_8x4")->adder_stages == 3 && !find_array("lean_8x4")->double_buffered);
  static_assert(find_array("tiny_4x4")->output_buffer && !find_array("block_32x32")->output_buffer);
  static_assert(find_array("nano")->rows == 64 && find_array("nx")->columns == 128);
  static_assert(find_array("edge") == nullptr && find_array("") == nullptr);
  static_assert(numbers::bf16.canonical_nan == 0x7fc0 && numbers::fp16.bias == 15 && numbers::weight_group == 32);
  static_assert(numbers::q8.is_signed);
}

}  // namespace
}  // namespace dvp::gen
