// Lines of the register trace for accesses of a small bank.
#include "tlm/cpu/trace/register_trace.h"

#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>

#include "testbenches/lib/scratch_file.h"

namespace dvp::cpu::trace {
namespace {

constexpr gen::field_info fields[] = {{"enable", 0, 1, gen::access::rw, ""}, {"level", 4, 8, gen::access::rw, ""}};
constexpr gen::register_info registers[] = {
    {"control", 0, 0, gen::access::rw, false, 0xff1, 0, 0, 0xff1, fields, 2},
    {"queue[1].tail", 4, 7, gen::access::ro, false, 0, 0, 0, 0xffff'ffff, nullptr, 0}};
constexpr gen::block_info block{"npu", 0x1000, registers, 2};

tlm::tlm_response_status access(core::register_bank& bank, tlm::tlm_command command, std::uint64_t offset,
                                std::uint32_t value, bool debug = false) {
  unsigned char data[4];
  std::memcpy(data, &value, 4);
  tlm::tlm_generic_payload payload;
  payload.set_command(command);
  payload.set_address(offset);
  payload.set_data_ptr(data);
  payload.set_data_length(4);
  payload.set_streaming_width(4);
  payload.set_byte_enable_ptr(nullptr);
  return bank.access(payload, debug);
}

TEST(register_trace, lines) {
  const test::scratch_file file("registers.csv");
  register_trace trace(file.path());
  core::register_bank bank(block);
  const char* who = "hart 0";
  bank.on_access([&](const core::register_event& what) { trace.access(who, what); });
  access(bank, tlm::TLM_WRITE_COMMAND, 0, 0x231);
  sc_core::sc_start(sc_core::sc_time(12'345, sc_core::SC_PS));
  access(bank, tlm::TLM_READ_COMMAND, 0, 0);
  who = "npu";
  access(bank, tlm::TLM_READ_COMMAND, 4, 0);
  EXPECT_NE(access(bank, tlm::TLM_WRITE_COMMAND, 4, 1), tlm::TLM_OK_RESPONSE);  // refused: no line
  access(bank, tlm::TLM_READ_COMMAND, 4, 0, true);                              // a debugger's: no line
  trace.finish();
  EXPECT_EQ(file.text(),
            "ns,who,access,block,register,value,fields\n"
            "0.000,hart 0,write,npu,control,0x00000231,\"enable=1, level=35\"\n"
            "12.345,hart 0,read,npu,control,0x00000231,\"enable=1, level=35\"\n"
            "12.345,npu,read,npu,queue[1].tail,0x00000007,\"\"\n");
}

TEST(register_trace, says_what_cannot_be_written) {
  EXPECT_THROW(register_trace("/nowhere/registers.csv"), std::runtime_error);
}

}  // namespace
}  // namespace dvp::cpu::trace
