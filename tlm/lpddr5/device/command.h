// Commands of an LPDDR5 channel and the record of one that was issued.
//
// ACTIVATE is two commands (ACT-1, then ACT-2 within tAAD); CAS starts WCK and is followed by its RD or WR in the next
// clock. Each command takes one CK of the command bus.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dvp::lpddr5 {

// Clocks of CK, the command clock, since the start of the simulation; differences as well.
using cycles = std::int64_t;

enum class command : std::uint8_t {
  act1,
  act2,
  pre,      // one bank
  pre_all,  // every bank of the rank
  cas,
  rd,
  wr,
  rda,  // with auto precharge
  wra,
  ref_all,
  ref_bank,  // one bank, or two banks per2BankOffset apart
  pd_enter,
  pd_exit,
  sr_enter,
  sr_exit,
};
constexpr std::size_t command_count = 15;

// Names in rule files, statistics and messages.
constexpr std::array<std::string_view, command_count> command_names = {
    "ACT1", "ACT2", "PRE", "PREab", "CAS", "RD", "WR", "RDA", "WRA", "REFab", "REFpb", "PDE", "PDX", "SRE", "SRX"};

constexpr std::string_view name_of(command c) {
  return command_names[static_cast<std::size_t>(c)];
}

constexpr bool is_read(command c) {
  return c == command::rd || c == command::rda;
}
constexpr bool is_write(command c) {
  return c == command::wr || c == command::wra;
}
constexpr bool is_column(command c) {
  return is_read(c) || is_write(c);
}

// One command on a channel's command bus.
struct issued_command {
  cycles at = 0;
  command what = command::act1;
  std::uint8_t rank = 0;
  std::uint8_t bank = 0;     // within the rank: bank group * banks per group + bank; the lower one for ref_bank
  std::uint32_t row = 0;     // act1, act2, rd, wr, rda, wra
  std::uint16_t column = 0;  // rd, wr, rda, wra: in units of the device's columns
  // Of precision-tagged reads; see engine/burst.h. A plain burst makes one column access.
  std::uint8_t columns = 1;      // column accesses behind the burst
  std::uint16_t io_cycles = 0;   // clocks of the data bus; 0: the device's burst
  std::uint8_t late_cycles = 0;  // clocks by which the burst's data comes later than RL
};

// Where a channel tells what it issues, in the order of the command bus.
class command_sink {
 public:
  virtual ~command_sink() = default;
  virtual void issued(std::uint32_t channel, const issued_command& command) = 0;
};

}  // namespace dvp::lpddr5
