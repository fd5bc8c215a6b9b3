#include "tlm/lpddr5/engine/address_mapping.h"

#include <gtest/gtest.h>

#include <bit>
#include <iostream>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>

namespace dvp::lpddr5 {
namespace {

// Reads the lists one bit at a time.
std::uint32_t component_of(const bit_list& bits, std::uint64_t address) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < bits.size(); ++i) {
    for (const std::uint32_t b : bits[i]) value ^= static_cast<std::uint32_t>((address >> b) & 1) << i;
  }
  return value;
}

location slow_decode(const mapping_bits& m, std::uint64_t a) {
  location w;
  w.channel = component_of(m.channel, a);
  w.rank = component_of(m.rank, a);
  w.bank_group = component_of(m.bank_group, a);
  w.bank = component_of(m.bank, a);
  w.row = component_of(m.row, a);
  w.column = component_of(m.column, a);
  w.byte = component_of(m.byte, a);
  return w;
}

auto key_of(const location& w) {
  return std::tuple(w.channel, w.rank, w.bank_group, w.bank, w.row, w.column, w.byte);
}

organisation small_shape() {
  organisation o;
  o.ranks = 2;
  o.rows = 8;
  o.columns = 64;
  return o;
}

void expect_same(const address_mapping& mapping, const mapping_bits& bits, std::uint64_t address) {
  const location where = mapping.decode(address);
  ASSERT_TRUE(where == slow_decode(bits, address)) << "address " << address;
  ASSERT_EQ(mapping.encode(where), address);
}

TEST(standard_mapping, every_order_is_a_bijection_on_a_small_memory) {
  const organisation shape = small_shape();
  for (const std::string& order : standard_mapping_orders()) {
    for (const std::uint32_t channels : {1U, 4U}) {
      for (const std::uint64_t interleave : {32U, 64U, 1024U}) {
        for (const bool xored : {false, true}) {
          SCOPED_TRACE(order + " channels " + std::to_string(channels) + " interleave " + std::to_string(interleave) +
                       (xored ? " xor" : ""));
          const mapping_bits bits = standard_mapping(order, shape, channels, interleave, xored);
          const address_mapping mapping(bits, shape, channels);
          ASSERT_EQ(mapping.bytes(), shape.bytes_per_channel() * channels);
          ASSERT_EQ(mapping.channels(), channels);
          std::set<decltype(key_of(location{}))> seen;
          for (std::uint64_t a = 0; a < mapping.bytes(); a += 1) {
            expect_same(mapping, bits, a);
            if (a % 32 == 0) {
              ASSERT_TRUE(seen.insert(key_of(mapping.decode(a))).second) << a;
            }
          }
        }
      }
    }
  }
}

TEST(standard_mapping, the_default_order_changes_the_bank_group_with_every_burst_of_a_channel) {
  organisation shape;
  for (const std::uint32_t channels : {1U, 2U, 16U}) {
    for (const std::uint64_t interleave : {32U, 256U, 4096U}) {
      const auto& order = standard_mapping_orders().front();
      EXPECT_EQ(order, "row-bank-column-group-channel");
      const address_mapping mapping(standard_mapping(order, shape, channels, interleave, false), shape, channels);
      std::vector<std::uint32_t> last(channels, 99);
      for (std::uint64_t a = 0; a < (1U << 20); a += shape.burst_bytes()) {
        const location w = mapping.decode(a);
        ASSERT_NE(w.bank_group, last[w.channel]) << a;
        last[w.channel] = w.bank_group;
      }
    }
  }
}

TEST(standard_mapping, orders_mean_what_their_names_say) {
  const organisation shape = small_shape();
  const auto at = [&](const char* order, std::uint64_t burst) {
    return address_mapping(standard_mapping(order, shape, 1, 32, false), shape, 1).decode(burst * 32);
  };
  // Four bursts a row, four groups, four banks, two ranks, eight rows.
  EXPECT_EQ(at("row-bank-column-channel", 3).column, 48U);
  EXPECT_EQ(at("row-bank-column-channel", 4).rank, 1U);
  EXPECT_EQ(at("row-bank-column-channel", 8).bank_group, 1U);
  EXPECT_EQ(at("row-bank-column-channel", 32).bank, 1U);
  EXPECT_EQ(at("row-bank-column-channel", 128).row, 1U);
  EXPECT_EQ(at("row-column-bank-channel", 1).bank_group, 1U);
  EXPECT_EQ(at("row-column-bank-channel", 4).bank, 1U);
  EXPECT_EQ(at("row-column-bank-channel", 16).column, 16U);
  EXPECT_EQ(at("bank-row-column-channel", 4).row, 1U);
  EXPECT_EQ(at("bank-row-column-channel", 32).bank_group, 1U);
  EXPECT_EQ(at("row-bank-column-group-channel", 1).bank_group, 1U);
  EXPECT_EQ(at("row-bank-column-group-channel", 4).column, 16U);
  EXPECT_EQ(at("row-bank-column-group-channel", 16).bank, 1U);
}

TEST(standard_mapping, channel_bits_sit_at_the_interleave) {
  const organisation shape;
  const address_mapping mapping(standard_mapping("row-bank-column-channel", shape, 8, 512, false), shape, 8);
  for (std::uint64_t a = 0; a < 64 * 1024; a += 32) ASSERT_EQ(mapping.decode(a).channel, a / 512 % 8);
}

TEST(address_mapping, random_invertible_matrices_on_a_large_memory) {
  const auto seed = std::random_device{}();
  std::cout << "seed " << seed << std::endl;
  std::mt19937_64 random(seed);
  organisation shape;
  shape.ranks = 2;
  shape.width_bits = 64;
  constexpr std::uint32_t channels = 16;
  for (int round = 0; round < 200; ++round) {
    mapping_bits bits = standard_mapping("row-bank-column-group-channel", shape, channels, 1024, false);
    // XOR of one component bit into another keeps the matrix invertible; bursts stay as they are.
    std::vector<std::vector<std::uint32_t>*> rows;
    for (bit_list* list : {&bits.channel, &bits.rank, &bits.bank_group, &bits.bank, &bits.row}) {
      for (auto& element : *list) rows.push_back(&element);
    }
    for (int step = 0; step < 20; ++step) {
      auto& to = *rows[random() % rows.size()];
      const auto& from = *rows[random() % rows.size()];
      if (&to == &from) continue;
      std::set<std::uint32_t> sum(to.begin(), to.end());
      for (const std::uint32_t b : from) {
        if (!sum.insert(b).second) sum.erase(b);
      }
      to.assign(sum.begin(), sum.end());
    }
    const address_mapping mapping(bits, shape, channels);
    for (int i = 0; i < 200; ++i) expect_same(mapping, bits, random() & (mapping.bytes() - 1));
    expect_same(mapping, bits, mapping.bytes() - 1);
  }
}

TEST(address_mapping, faults_are_told_in_one_sentence) {
  const organisation shape = small_shape();
  const mapping_bits good = standard_mapping("row-bank-column-group-channel", shape, 1, 32, false);
  const auto refusal = [&](auto spoil, std::uint32_t channels = 1) -> std::string {
    mapping_bits bits = good;
    organisation o = shape;
    spoil(bits, o);
    try {
      const address_mapping mapping(bits, o, channels);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "accepted";
  };
  using m = mapping_bits;
  using s = organisation;
  const std::pair<std::string, std::string> cases[] = {
      {refusal([](m&, s&) {}), "accepted"},
      {refusal([](m& b, s&) { b.row.pop_back(); }), "row has 2 bits, but 8 values need 3"},
      {refusal([](m&, s&) {}, 2), "channel has 0 bits, but 2 values need 1"},
      {refusal([](m& b, s&) { b.row[0] = b.row[1]; }), "is used twice, as row bit 0 and as row bit 1"},
      {refusal([](m& b, s&) {
         b.row[2] = {b.row[0].front(), b.row[1].front()};
       }),
       "is never used"},
      {refusal([](m& b, s&) { b.row[2].push_back(40); }), "row bit 2 uses address bit 40, but the memory has only"},
      {refusal([](m& b, s&) { b.row[2].push_back(b.row[2].front()); }), "twice; name it once"},
      {refusal([](m& b, s&) { b.row[2].clear(); }), "made of no address bit"},
      {refusal([](m& b, s&) { b.row[2].push_back(3); }), "row bit 2 is misplaced"},
      {refusal([](m& b, s&) { std::swap(b.column[0], b.row[0]); }), "is misplaced; the lowest 5 address bits"},
      {refusal([](m& b, s&) { std::swap(b.column[0], b.column[1]); }), "column bit 0 is misplaced"},
      {refusal([](m& b, s&) {
         const auto [x, y, z] = std::tuple(b.row[0].front(), b.row[1].front(), b.row[2].front());
         b.row = {{x, y}, {y, z}, {x, z}};
       }),
       "two addresses would select the same cell"},
      {refusal([](m&, s& o) { o.rows = 6; }), "6 values of row; a mapping by address bits needs a power of two"}};
  for (const auto& [said, phrase] : cases) EXPECT_NE(said.find(phrase), std::string::npos) << said;
}

TEST(standard_mapping, refuses_what_it_cannot_build) {
  const organisation shape = small_shape();
  const auto refusal = [&](const char* order, std::uint32_t channels, std::uint64_t interleave) -> std::string {
    try {
      standard_mapping(order, shape, channels, interleave, false);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_NE(refusal("row-channel", 1, 32).find("there is no order \"row-channel\"; there are: row-bank"),
            std::string::npos);
  EXPECT_NE(refusal("row-bank-column-channel", 1, 16).find("at least one burst, 32 bytes"), std::string::npos);
  EXPECT_NE(refusal("row-bank-column-channel", 1, 48).find("not a power of two"), std::string::npos);
  EXPECT_NE(refusal("row-bank-column-channel", 3, 64).find("power of two"), std::string::npos);
  EXPECT_NE(refusal("row-bank-column-channel", 2, 1U << 30).find("more than a channel holds"), std::string::npos);
}

}  // namespace
}  // namespace dvp::lpddr5
