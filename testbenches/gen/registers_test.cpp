// Every offset, reset and mask of the generated register tables against the JSON, read here by other code than the
// generator's.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "dvp_gen/clint_bank.h"
#include "dvp_gen/converter_bank.h"
#include "dvp_gen/finisher_bank.h"
#include "dvp_gen/mailbox_bank.h"
#include "dvp_gen/npu_bank.h"
#include "dvp_gen/plic_bank.h"
#include "dvp_gen/uart_bank.h"
#include "testbenches/gen/scratch_spec.h"

namespace dvp::testbenches {
namespace {

using json = nlohmann::json;

std::uint32_t value_of(const json& number) {
  if (number.is_number()) {
    return number.get<std::uint32_t>();
  }
  std::uint32_t value = 0;
  for (const char c : number.get<std::string>().substr(2)) {
    if (c != '_') {
      value = value * 16 + static_cast<std::uint32_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    }
  }
  return value;
}

// Bit by bit, so that no shift or mask arithmetic is shared with the generator.
std::uint32_t bits_of(const std::string& range) {
  const int high = std::stoi(range);
  const int low = std::stoi(range.substr(range.find(':') + 1));
  std::uint32_t mask = 0;
  for (int bit = low; bit <= high; ++bit) {
    mask += std::uint32_t{1} << bit;
  }
  return mask;
}

struct expected_register {
  json description;
  std::uint32_t offset = 0;
};

std::map<std::string, expected_register> expected_registers(const json& block) {
  std::map<std::string, expected_register> result;
  for (const json& item : block.at("registers")) {
    result[item.at("name").get<std::string>()] = {item, value_of(item.at("offset"))};
  }
  for (const json& array : block.at("register_arrays")) {
    std::uint32_t start = value_of(array.at("offset"));
    for (int i = 0; i < array.at("count").get<int>(); ++i, start += value_of(array.at("stride"))) {
      for (const json& item : array.at("registers")) {
        const std::string name =
            array.at("name").get<std::string>() + "[" + std::to_string(i) + "]." + item.at("name").get<std::string>();
        result[name] = {item, start + value_of(item.at("offset"))};
      }
    }
  }
  return result;
}

std::string name_of_access(gen::access mode) {
  const std::map<gen::access, std::string> names{{gen::access::ro, "ro"},
                                                 {gen::access::rw, "rw"},
                                                 {gen::access::wo, "wo"},
                                                 {gen::access::w1c, "w1c"},
                                                 {gen::access::w1s, "w1s"}};
  return names.at(mode);
}

void check_register(const gen::register_info& actual, const expected_register& expected) {
  const json& description = expected.description;
  const std::string access = description.at("access").get<std::string>();
  EXPECT_EQ(actual.offset, expected.offset);
  EXPECT_EQ(name_of_access(actual.mode), access);
  EXPECT_EQ(actual.hardware, description.value("hardware", false));
  EXPECT_EQ(actual.pair, description.contains("pair"));
  EXPECT_EQ(actual.reset, description.contains("reset") ? value_of(description.at("reset")) : 0);

  std::map<std::string, std::uint32_t> masks;
  ASSERT_EQ(actual.field_count, description.at("fields").size());
  for (std::uint32_t i = 0; i < actual.field_count; ++i) {
    const json& field = description.at("fields")[i];
    const std::uint32_t mask = bits_of(field.at("bits").get<std::string>());
    const std::string mode = field.value("access", access);
    masks[mode] |= mask;
    EXPECT_EQ(actual.fields[i].name, field.at("name").get<std::string>());
    EXPECT_EQ(name_of_access(actual.fields[i].mode), mode);
    EXPECT_EQ((gen::bit_field{actual.fields[i].lsb, actual.fields[i].width}.mask()), mask);
  }
  EXPECT_EQ(actual.write_mask, masks["rw"] | masks["wo"]);
  EXPECT_EQ(actual.w1c_mask, masks["w1c"]);
  EXPECT_EQ(actual.w1s_mask, masks["w1s"]);
  EXPECT_EQ(actual.read_mask, masks["ro"] | masks["rw"] | masks["w1c"] | masks["w1s"]);
}

void check_bank(const gen::block_info& bank) {
  const json block = json::parse(read_text("gen/spec/blocks/" + std::string(bank.name) + ".json"));
  const auto expected = expected_registers(block);
  EXPECT_EQ(bank.window_bytes, value_of(block.at("window_bytes")));
  ASSERT_EQ(bank.register_count, expected.size());
  for (std::uint32_t i = 0; i < bank.register_count; ++i) {
    SCOPED_TRACE(std::string(bank.name) + "." + bank.registers[i].name);
    ASSERT_TRUE(expected.contains(bank.registers[i].name));
    check_register(bank.registers[i], expected.at(bank.registers[i].name));
  }
}

class bank_test : public testing::TestWithParam<const gen::block_info*> {};

TEST_P(bank_test, follows_the_specification) {
  check_bank(*GetParam());
}

INSTANTIATE_TEST_SUITE_P(blocks, bank_test,
                         testing::Values(&gen::clint::bank, &gen::converter::bank, &gen::finisher::bank,
                                         &gen::mailbox::bank, &gen::npu::bank, &gen::plic::bank, &gen::uart::bank),
                         [](const auto& item) { return std::string(item.param->name); });

// The constants drivers use agree with the table the model interprets.
TEST(registers_test, constants_agree_with_the_table) {
  std::map<std::string, std::uint32_t> offsets;
  for (std::uint32_t i = 0; i < gen::npu::bank.register_count; ++i) {
    offsets[gen::npu::bank.registers[i].name] = gen::npu::bank.registers[i].offset;
  }
  EXPECT_EQ(offsets.at("status"), gen::npu::status::offset);
  EXPECT_EQ(offsets.at("irq_enable"), gen::npu::irq_enable::offset);
  for (std::uint32_t q = 0; q < gen::npu::queue::count; ++q) {
    const std::string queue = "queue[" + std::to_string(q) + "].";
    EXPECT_EQ(offsets.at(queue + "base_lo"), gen::npu::queue::base_lo::at(q));
    EXPECT_EQ(offsets.at(queue + "head"), gen::npu::queue::head::at(q));
    EXPECT_EQ(offsets.at(queue + "error_index"), gen::npu::queue::error_index::at(q));
  }
  for (std::uint32_t i = 0; i < gen::npu::counters::count; ++i) {
    EXPECT_EQ(offsets.at("counters[" + std::to_string(i) + "].value_lo"), gen::npu::counters::value_lo::at(i));
  }
}

}  // namespace
}  // namespace dvp::testbenches
