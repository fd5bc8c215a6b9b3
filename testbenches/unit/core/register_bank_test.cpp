// Access rules of the register bank on a small table written by hand; the oracle applies the rules bit by bit.
#include "tlm/core/register_bank.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>

namespace dvp::core {
namespace {

using gen::access;

constexpr std::uint32_t id = 0x00, control = 0x04, status = 0x08, doorbell = 0x0c, live_lo = 0x10, live_hi = 0x14;

constexpr gen::field_info id_fields[] = {{"magic", 0, 32, access::ro, ""}};
constexpr gen::field_info control_fields[] = {
    {"enable", 0, 1, access::rw, ""}, {"start", 1, 1, access::w1s, ""}, {"mode", 4, 4, access::rw, ""}};
constexpr gen::field_info status_fields[] = {{"done", 0, 2, access::w1c, ""}, {"error", 8, 2, access::w1c, ""}};
constexpr gen::register_info registers[] = {
    {"id", id, 0x64766d01, access::ro, false, 0, 0, 0, 0xffffffff, id_fields, 1},
    {"control", control, 0x20, access::rw, false, 0xf1, 0, 0x02, 0xf3, control_fields, 3},
    {"status", status, 0x303, access::w1c, false, 0, 0x303, 0, 0x303, status_fields, 2},
    {"doorbell", doorbell, 0, access::wo, false, 0xff, 0, 0, 0, id_fields, 1},
    {"live_lo", live_lo, 0, access::ro, true, 0, 0, 0, 0xffff, id_fields, 1},
    {"live_hi", live_hi, 7, access::ro, true, 0, 0, 0, 0xffffffff, id_fields, 1},
};
constexpr gen::block_info table{"toy", 0x40, registers, 6};

// A large window, described out of order: a hardware register that is written and read apart, and pairs of every kind.
constexpr std::uint32_t port = 0x3f'fffc, limit = 0x20'0000, clock_lo = 0xbff8, ring = 0x10;
constexpr gen::register_info wide_registers[] = {
    {"port", port, 0, access::rw, true, 0xff, 0, 0, 0x8000'0000, id_fields, 1},
    {"limit_hi", limit + 4, 0, access::rw, false, 0xffffffff, 0, 0, 0xffffffff, id_fields, 1},
    {"limit_lo", limit, 3, access::rw, false, 0xffffff00, 0, 0, 0xffffffff, id_fields, 1, true},
    {"clock_lo", clock_lo, 0, access::rw, true, 0xffffffff, 0, 0, 0xffffffff, id_fields, 1, true},
    {"clock_hi", clock_lo + 4, 0, access::rw, true, 0xffffffff, 0, 0, 0xffffffff, id_fields, 1},
    {"ring_lo", ring, 0, access::wo, false, 0xffffffff, 0, 0, 0, id_fields, 1, true},
    {"ring_hi", ring + 4, 0, access::wo, false, 0xffffffff, 0, 0, 0, id_fields, 1},
};
constexpr gen::block_info wide_table{"wide", 0x40'0000, wide_registers, 7};

struct word_access {
  std::array<std::uint8_t, 8> bytes{};
  tlm::tlm_generic_payload payload;

  word_access(tlm::tlm_command command, std::uint64_t address, std::uint64_t value = 0, unsigned length = 4) {
    std::memcpy(bytes.data(), &value, sizeof value);
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(bytes.data());
    payload.set_data_length(length);
    payload.set_streaming_width(length);
  }
  word_access(const word_access&) = delete;
  word_access& operator=(const word_access&) = delete;
  static word_access of_pair(tlm::tlm_command command, std::uint64_t address, std::uint64_t value = 0) {
    return {command, address, value, 8};
  }
  std::uint32_t value() const { return static_cast<std::uint32_t>(wide_value()); }
  std::uint64_t wide_value() const {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    return word;
  }
};

std::uint32_t read(register_bank& bank, std::uint32_t offset, bool debug = false) {
  word_access a(tlm::TLM_READ_COMMAND, offset);
  EXPECT_EQ(bank.access(a.payload, debug), tlm::TLM_OK_RESPONSE) << "read of 0x" << std::hex << offset;
  EXPECT_EQ(a.payload.get_response_status(), tlm::TLM_OK_RESPONSE);
  return a.value();
}

void write(register_bank& bank, std::uint32_t offset, std::uint32_t value) {
  word_access a(tlm::TLM_WRITE_COMMAND, offset, value);
  EXPECT_EQ(bank.access(a.payload, false), tlm::TLM_OK_RESPONSE) << "write of 0x" << std::hex << offset;
}

TEST(register_bank, random_writes_follow_the_rule_of_every_bit) {
  register_bank bank(table);
  const std::uint32_t seed = 20250611;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::uint32_t expected[2] = {0x20, 0x303};
  std::uint32_t hook_value = 0;
  bank.on_write(control, [&](std::uint32_t value) { hook_value = value; });
  bank.on_write(status, [&](std::uint32_t value) { hook_value = value; });
  for (int i = 0; i < 2000; ++i) {
    const bool to_status = random() % 2 == 0;
    const std::uint32_t offset = to_status ? status : control;
    const auto value = static_cast<std::uint32_t>(random());
    std::uint32_t& word = expected[to_status ? 1 : 0];
    if (random() % 4 == 0) {  // the model raises causes and takes start bits back, now and then
      word = to_status ? 0x303 : word & ~0x2U;
      bank.set(offset, word);
    }
    std::uint32_t seen_by_hook = 0;
    for (std::uint32_t bit = 0; bit < 32; ++bit) {
      const std::uint32_t mask = 1U << bit;
      const bool one = (value & mask) != 0;
      const bool rw = !to_status && (bit == 0 || (bit >= 4 && bit <= 7));
      const bool w1s = !to_status && bit == 1;
      const bool w1c = to_status && (bit <= 1 || bit == 8 || bit == 9);
      if (rw) word = one ? word | mask : word & ~mask;
      if (w1s && one) word |= mask;
      if (w1c && one) word &= ~mask;
      if ((rw || w1s || w1c) && one) seen_by_hook |= mask;
    }
    write(bank, offset, value);
    ASSERT_EQ(bank.get(offset), word) << "step " << i;
    ASSERT_EQ(read(bank, offset), word) << "step " << i;
    ASSERT_EQ(hook_value, seen_by_hook) << "step " << i;
  }
  EXPECT_EQ(bank.writes(), 2000U);
  EXPECT_EQ(bank.reads(), 2000U);
  EXPECT_EQ(bank.refused(), 0U);
  bank.reset();
  EXPECT_EQ(read(bank, control), 0x20U);
  EXPECT_EQ(read(bank, status), 0x303U);
}

TEST(register_bank, refused_accesses_change_nothing) {
  register_bank bank(table);
  int hooks = 0;
  bank.on_write(control, [&](std::uint32_t) { ++hooks; });
  bank.on_write(doorbell, [&](std::uint32_t) { ++hooks; });
  bank.on_read(
      live_lo, [&] { return 1U; }, [&] { ++hooks; });
  bank.on_access([&](const register_event&) { ++hooks; });

  const auto answer = [&](word_access& a, bool debug = false) {
    const auto before = a.bytes;
    const tlm::tlm_response_status status_returned = bank.access(a.payload, debug);
    EXPECT_EQ(a.payload.get_response_status(), status_returned);
    EXPECT_EQ(a.bytes, before) << "a refused access moved data";
    return status_returned;
  };
  std::uint64_t expected_refusals = 0;
  for (const tlm::tlm_command command : {tlm::TLM_READ_COMMAND, tlm::TLM_WRITE_COMMAND}) {
    for (const unsigned length : {1U, 2U, 3U, 8U}) {
      word_access a(command, control, 0xffffffff);
      a.payload.set_data_length(length);
      a.payload.set_streaming_width(length);
      EXPECT_EQ(answer(a), tlm::TLM_BURST_ERROR_RESPONSE) << "length " << length;
      ++expected_refusals;
    }
    word_access streamed(command, control, 0xffffffff);
    streamed.payload.set_streaming_width(2);
    EXPECT_EQ(answer(streamed), tlm::TLM_BURST_ERROR_RESPONSE);
    for (const std::uint64_t address : {0x05ULL, 0x06ULL, 0x18ULL, 0x3cULL, 0x40ULL, 0x100000004ULL, ~0ULL, ~3ULL}) {
      word_access a(command, address, 0xffffffff);
      EXPECT_EQ(answer(a), tlm::TLM_ADDRESS_ERROR_RESPONSE) << "address " << address;
      ++expected_refusals;
    }
    std::uint8_t enables[4] = {0xff, 0xff, 0xff, 0xff};
    word_access masked(command, control, 0xffffffff);
    masked.payload.set_byte_enable_ptr(enables);
    masked.payload.set_byte_enable_length(4);
    EXPECT_EQ(answer(masked), tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    expected_refusals += 2;
  }
  for (const std::uint32_t offset : {id, live_lo}) {
    word_access a(tlm::TLM_WRITE_COMMAND, offset, 0xffffffff);
    EXPECT_EQ(answer(a), tlm::TLM_COMMAND_ERROR_RESPONSE);
  }
  word_access of_wo(tlm::TLM_READ_COMMAND, doorbell, 0xffffffff);
  EXPECT_EQ(answer(of_wo), tlm::TLM_COMMAND_ERROR_RESPONSE);
  expected_refusals += 3;
  word_access debug_write(tlm::TLM_WRITE_COMMAND, control, 0xffffffff);
  EXPECT_EQ(answer(debug_write, true), tlm::TLM_COMMAND_ERROR_RESPONSE);

  EXPECT_EQ(hooks, 0);
  EXPECT_EQ(bank.refused(), expected_refusals);
  EXPECT_EQ(bank.reads() + bank.writes(), 0U);
  for (const gen::register_info& info : registers) EXPECT_EQ(bank.get(info.offset), info.reset) << info.name;
}

TEST(register_bank, a_latching_read_latches_for_the_bus_only) {
  register_bank bank(table);
  std::uint64_t count = 0x5'0001'0002;
  std::uint32_t latched = 0;
  bank.on_read(
      live_lo, [&] { return static_cast<std::uint32_t>(count); },
      [&] { latched = static_cast<std::uint32_t>(count >> 32); });
  bank.on_read(live_hi, [&] { return latched; });
  EXPECT_EQ(read(bank, live_lo, true), 0x0002U) << "read mask of live_lo is 16 bits";
  EXPECT_EQ(read(bank, live_hi), 0U) << "a debug read latched";
  EXPECT_EQ(read(bank, live_lo), 0x0002U);
  count = 0x6'0000'0000;
  EXPECT_EQ(read(bank, live_hi), 5U);
  EXPECT_EQ(bank.reads(), 3U);
  EXPECT_EQ(read(bank, doorbell, true), 0U) << "debug may look at a wo register";
}

TEST(register_bank, hardware_register_without_hook_reads_as_set) {
  register_bank bank(table);
  EXPECT_EQ(read(bank, live_hi), 7U);
  bank.set(live_hi, 0xdeadbeef);
  EXPECT_EQ(read(bank, live_hi), 0xdeadbeefU);
}

TEST(register_bank, observer_sees_what_crossed_the_bus) {
  register_bank bank(table);
  std::vector<std::string> seen;
  bank.on_access([&](const register_event& event) {
    seen.push_back(std::string(event.write ? "write " : "read ") + decode(event.info, event.value));
  });
  write(bank, control, 0xffffff53);
  read(bank, control);
  read(bank, control, true);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0], "write control = 0xffffff53 {enable=1, start=1, mode=5}");
  EXPECT_EQ(seen[1], "read control = 0x00000053 {enable=1, start=1, mode=5}");
}

TEST(register_bank, a_hardware_register_takes_writes_and_reads_apart) {
  register_bank bank(wide_table);
  std::vector<std::uint32_t> sent;
  int reads = 0;
  bank.on_read(
      port, [&] { return sent.size() > 1 ? 0xffff'ffff : 0; }, [&] { ++reads; });
  bank.on_write(port, [&](std::uint32_t value) { sent.push_back(value); });
  EXPECT_EQ(read(bank, port), 0U);
  write(bank, port, 0xabcd'ef41);
  write(bank, port, 0x42);
  EXPECT_EQ(sent, (std::vector<std::uint32_t>{0x41, 0x42})) << "limited to the writable bits";
  EXPECT_EQ(read(bank, port, true), 0x8000'0000U) << "limited to the readable bits";
  EXPECT_EQ(reads, 1) << "a debug read had an effect";
  write(bank, clock_lo, 77);
  EXPECT_EQ(read(bank, clock_lo), 77U) << "without a hook a hardware register reads as written";
}

TEST(register_bank, a_pair_takes_one_access_of_both_halves) {
  register_bank bank(wide_table);
  std::uint64_t time = 0x1'ffff'ffff;
  std::vector<std::string> seen;
  const auto note = [&](const std::string& what) { seen.push_back(what); };
  bank.on_read(
      clock_lo, [&] { return static_cast<std::uint32_t>(time); }, [&] { note("after lo"); });
  bank.on_read(
      clock_lo + 4, [&] { return static_cast<std::uint32_t>(time >> 32); }, [&] { note("after hi"); });
  const auto both = [&] { return std::to_string(bank.get(limit)) + "," + std::to_string(bank.get(limit + 4)); };
  bank.on_write(limit, [&](std::uint32_t value) { note("lo " + std::to_string(value) + " of " + both()); });
  bank.on_write(limit + 4, [&](std::uint32_t value) { note("hi " + std::to_string(value) + " of " + both()); });
  bank.on_access([&](const register_event& event) { note(event.info.name); });

  auto reading = word_access::of_pair(tlm::TLM_READ_COMMAND, clock_lo);
  ASSERT_EQ(bank.access(reading.payload, false), tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(reading.wide_value(), 0x1'ffff'ffffU);
  EXPECT_EQ(seen, (std::vector<std::string>{"after lo", "clock_lo", "after hi", "clock_hi"}));
  EXPECT_EQ(bank.reads(), 1U);
  seen.clear();
  auto debugging = word_access::of_pair(tlm::TLM_READ_COMMAND, clock_lo);
  ASSERT_EQ(bank.access(debugging.payload, true), tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(debugging.wide_value(), 0x1'ffff'ffffU);
  EXPECT_TRUE(seen.empty());

  auto writing = word_access::of_pair(tlm::TLM_WRITE_COMMAND, limit, 9ULL << 32 | 1025);
  ASSERT_EQ(bank.access(writing.payload, false), tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(seen, (std::vector<std::string>{"lo 1024 of 1027,9", "limit_lo", "hi 9 of 1027,9", "limit_hi"}))
      << "a hook sees a half-written pair, or bits that are not writable";
  EXPECT_EQ(bank.writes(), 1U);
}

TEST(register_bank, other_accesses_of_eight_bytes_are_refused) {
  register_bank bank(wide_table);
  const auto answer = [&](tlm::tlm_command command, std::uint64_t address, unsigned width = 8) {
    auto a = word_access::of_pair(command, address, ~0ULL);
    a.payload.set_streaming_width(width);
    const auto result = bank.access(a.payload, false);
    EXPECT_EQ(a.wide_value(), ~0ULL) << "a refused access moved data";
    return result;
  };
  for (const std::uint64_t address :
       {limit + 4ULL, limit - 4ULL, limit + 1ULL, clock_lo + 4ULL, port + 0ULL, 0x30ULL, (1ULL << 32) + limit, ~7ULL}) {
    EXPECT_EQ(answer(tlm::TLM_READ_COMMAND, address), tlm::TLM_BURST_ERROR_RESPONSE) << std::hex << address;
    EXPECT_EQ(answer(tlm::TLM_WRITE_COMMAND, address), tlm::TLM_BURST_ERROR_RESPONSE) << std::hex << address;
  }
  EXPECT_EQ(answer(tlm::TLM_WRITE_COMMAND, limit, 4), tlm::TLM_BURST_ERROR_RESPONSE) << "streaming width";
  EXPECT_EQ(answer(tlm::TLM_READ_COMMAND, ring), tlm::TLM_COMMAND_ERROR_RESPONSE) << "a pair that is write-only";
  EXPECT_EQ(bank.get(limit), 3U);
  EXPECT_EQ(bank.refused(), 18U);
  EXPECT_EQ(bank.reads() + bank.writes(), 0U);
}

TEST(register_bank, misuse_by_the_model_is_named) {
  register_bank bank(table);
  EXPECT_THROW(bank.get(0x18), std::invalid_argument);
  EXPECT_THROW(bank.set(0x02, 0), std::invalid_argument);
  EXPECT_THROW(bank.on_write(id, [](std::uint32_t) {}), std::invalid_argument);
  EXPECT_THROW(bank.on_read(control, [] { return 0U; }), std::invalid_argument);
  try {
    bank.set(0x18, 0);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "register_bank toy, set(0x18): no register there");
  }
  const gen::register_info twice[] = {registers[0], registers[0]};
  EXPECT_THROW(register_bank({"twice", 0x40, twice, 2}), std::invalid_argument);
  EXPECT_THROW(register_bank({"small", 0x10, registers, 6}), std::invalid_argument);
  const gen::register_info& low = wide_registers[2];
  const gen::register_info alone[] = {low, registers[0]};
  EXPECT_THROW(register_bank({"alone", 0x40'0000, alone, 2}), std::invalid_argument);
  gen::register_info unlike[] = {low, wide_registers[1]};
  unlike[1].mode = access::ro;
  EXPECT_THROW(register_bank({"unlike", 0x40'0000, unlike, 2}), std::invalid_argument);
  gen::register_info crooked[] = {low, low};
  crooked[0].offset = 4;
  crooked[1].offset = 8;
  crooked[1].pair = false;
  EXPECT_THROW(register_bank({"crooked", 0x40'0000, crooked, 2}), std::invalid_argument);
}

}  // namespace
}  // namespace dvp::core
