// Timing rules: rows of a data file, and their compiled form for one device.
//
// A row says: after one of the earlier commands, one of the later commands on the same bank (bank group, rank, channel;
// or on another rank of the channel) may come no sooner than `latency` clocks. With window n the distance counts from
// the n-th last earlier command (tFAW: n = 4). `hole` forbids distances in a half-open range [from, to) beyond the
// latency (BL32 in bank-group mode). Latency and hole are expressions over the device's timing fields: + - * / ( )
// integers max(a, b) min(a, b).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tlm/lpddr5/device/device.h"

namespace dvp::lpddr5 {

enum class rule_scope : std::uint8_t { bank, bank_group, rank, channel, other_rank };
constexpr std::size_t rule_scope_count = 5;

struct rule_row {
  rule_scope scope = rule_scope::bank;
  std::vector<command> earlier;
  std::vector<command> later;
  std::string latency;             // expression
  std::uint32_t window = 1;        // 1 to 8
  std::string hole_from, hole_to;  // expressions, both empty: none
  std::string why;                 // the rule's name or source, for messages and the table in the README
};

// One consequence of an earlier command.
struct rule_effect {
  command later;
  cycles latency;
};

struct windowed_rule {
  rule_scope scope;            // rank or channel
  std::uint32_t earlier_mask;  // bit c: command c
  std::uint32_t later_mask;
  std::uint32_t window;
  cycles latency;
};

struct hole_rule {
  rule_scope scope;  // rank or channel
  std::uint32_t earlier_mask;
  std::uint32_t later_mask;
  cycles from, to;
};

struct rule_table {
  // effects[scope][earlier]: of the rows with window 1, the longest latency for each later command.
  std::array<std::array<std::vector<rule_effect>, command_count>, rule_scope_count> effects;
  std::vector<windowed_rule> windows;
  std::vector<hole_rule> holes;
};

// Evaluates the rows for a device. std::invalid_argument naming row and expression for an unknown name, a division by
// zero, or a negative latency, and for a window or hole on a scope that has none.
rule_table compile(const std::vector<rule_row>& rows, const timing& t);

}  // namespace dvp::lpddr5
