// The converter driver's register accesses, in order, and what it promises for each code.
#include "dvp_gen/descriptor.h"
#include "dvp_gen/system.h"
#include "firmware/drivers/converter.h"
#include "firmware/drivers/interrupts.h"
#include "firmware/drivers/npu.h"
#include "testbenches/unit/firmware/functional_machine.h"
#include "testbenches/unit/firmware/scripted_machine.h"
#include "tlm/numerics/converter.h"

namespace dvp {
namespace {

using drivers::converter_code;
using testbench::scripted_machine;

// The register map of the published specification, written out here on purpose.
constexpr std::uint64_t base = 0x2001'0000;
constexpr std::uint64_t id = base, views = base + 4, first_view = base + 0x200;
constexpr std::uint32_t magic = 0x6456'4331;
constexpr std::uint32_t fitted4 = 0x0064'0524;  // precision 4, fitted, shift 5, clip 100

TEST(converter_driver, sets_views_and_reads_them_back) {
  scripted_machine m;
  drivers::converter converter;
  m.read(id, magic).read(views, 128);
  ASSERT_EQ(converter.probe(base), converter_code::ok);
  EXPECT_EQ(converter.views(), 128U);
  m.write(first_view, fitted4).read(first_view, fitted4);
  EXPECT_EQ(converter.set_view(1, fitted4), converter_code::ok);
  m.write(first_view + 127 * 4, fitted4).read(first_view + 127 * 4, fitted4);
  EXPECT_EQ(converter.set_view(128, fitted4), converter_code::ok);
  m.write(first_view + 4, 5).read(first_view + 4, fitted4);
  EXPECT_EQ(converter.set_view(2, 5), converter_code::refused) << "stands for what it stood for before";
}

TEST(converter_driver, leaves_the_device_alone_for_numbers_it_does_not_have) {
  scripted_machine m;
  drivers::converter converter;
  EXPECT_EQ(converter.set_view(1, fitted4), converter_code::bad_argument) << "not probed";
  m.read(id, magic).read(views, 2);
  ASSERT_EQ(converter.probe(base), converter_code::ok);
  for (const std::uint32_t number : {0U, 3U, 129U, ~0U}) {
    EXPECT_EQ(converter.set_view(number, fitted4), converter_code::bad_argument);
  }
  m.read(id, magic).read(views, 0xffff);
  ASSERT_EQ(converter.probe(base), converter_code::ok);
  EXPECT_EQ(converter.views(), 128U) << "more than the device has registers for";
}

TEST(converter_driver, another_device_is_absent) {
  scripted_machine m;
  drivers::converter converter;
  m.read(id, 0x6476'7001);
  EXPECT_EQ(converter.probe(base), converter_code::absent);
}

// Set, gather by it, store what came: rows of codes by list, against the definition of one code.
TEST(converter_driver, reads_submitted_afterwards_convert_by_the_view) {
  testbench::functional_machine machine({});
  drivers::converter converter;
  ASSERT_EQ(converter.probe(gen::system::converter_base), converter_code::ok);
  ASSERT_EQ(converter.set_view(5, fitted4), converter_code::ok);
  EXPECT_EQ(converter.set_view(6, 8), converter_code::refused);

  drivers::interrupts controller;
  constexpr std::uint32_t sources[] = {gen::system::npu_interrupt};
  controller.start(gen::system::plic_base, sources);
  drivers::npu npu(drivers::interrupt_line(controller, gen::system::npu_interrupt));
  constexpr std::uint64_t ring = gen::system::dram_base, table = ring + 0x10000, list = ring + 0x20000,
                          out = ring + 0x30000;
  ASSERT_EQ(npu.probe(gen::system::npu_base), drivers::npu_code::ok);
  ASSERT_EQ(npu.start(ring, ring + 0x8000, 64, 1000), drivers::npu_code::ok);

  constexpr std::uint32_t elements = 24, rows = 5, stride = 32;
  constexpr std::uint32_t indices[rows] = {7, 8, 1, 0, 8};
  for (std::uint32_t i = 0; i < 9 * stride; ++i) {
    *machine.at<std::uint8_t>(table + i) = static_cast<std::uint8_t>(i * 89 + 7);
  }
  for (std::uint32_t r = 0; r < rows; ++r) *machine.at<std::uint32_t>(list + 4 * r) = indices[r];
  gen::dma_descriptor gather;
  gather.header.op = gen::opcode::dma_gather;
  gather.header.tag_precision = gen::precision::q4;
  gather.header.function = 5;
  gather.header.bytes_purpose = gen::purpose::prefix_kv;
  gather.dram_address = table;
  gather.list_address = list;
  gather.row_bytes = elements / 2;
  gather.rows = rows;
  gather.planes = 1;
  gather.dram_stride = stride;
  gather.scratchpad_stride = elements / 2;
  gen::dma_descriptor store;
  store.header.op = gen::opcode::dma_store;
  store.header.flags = gen::descriptor_flag::interrupt;
  store.header.tag_precision = gen::precision::raw;
  store.header.wait[0] = 1;
  store.dram_address = out;
  store.row_bytes = rows * elements / 2;
  store.rows = store.planes = 1;
  ASSERT_EQ(npu.submit(gather), drivers::npu_code::ok);
  ASSERT_EQ(npu.submit(store), drivers::npu_code::ok);
  ASSERT_EQ(npu.wait_complete(1), drivers::npu_code::ok);
  const numerics::view v{4, numerics::view_mode::fitted, 100, 5, 0};
  for (std::uint32_t i = 0; i < rows * elements; ++i) {
    const int nibble = *machine.at<std::uint8_t>(out + i / 2) >> i % 2 * 4 & 15;
    const auto stored = *machine.at<std::int8_t>(table + indices[i / elements] * stride + i % elements);
    EXPECT_EQ(nibble < 8 ? nibble : nibble - 16, numerics::convert(v, stored)) << "element " << i;
  }
  EXPECT_EQ(machine.moved(gen::purpose::prefix_kv, gen::precision::q4), rows * elements / 2);

  gather.header.function = 6;
  gather.header.flags = gen::descriptor_flag::interrupt;
  ASSERT_EQ(npu.submit(gather), drivers::npu_code::ok);
  EXPECT_EQ(npu.wait_complete(2), drivers::npu_code::stopped) << "a view that is not set";
  EXPECT_EQ(npu.fault().error, gen::npu::error_code::bus_error);
}

TEST(converter_driver, a_memory_that_does_not_convert_has_no_views) {
  testbench::functional_machine machine({.converts = false});
  drivers::converter converter;
  ASSERT_EQ(converter.probe(gen::system::converter_base), converter_code::ok);
  EXPECT_EQ(converter.views(), 0U);
  EXPECT_EQ(converter.set_view(1, fitted4), converter_code::bad_argument);
}

}  // namespace
}  // namespace dvp
