// Command streams as text: "0 ACT1 3 7; 1 ACT2 3 7; 15 RD 3" is clock, command, bank, row (5 unless given). A bank of
// another rank is written rank.bank. RD*4+6 is a tagged read of four column accesses whose data is six clocks late.
#pragma once

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tlm/lpddr5/device/command.h"

namespace dvp::lpddr5::test {

inline issued_command parse_command(const std::string& text) {
  std::istringstream in(text);
  issued_command c;
  std::string what, bank = "0";
  in >> c.at >> what >> bank;
  if (!(in >> c.row)) c.row = 5;
  if (const auto plus = what.find('+'); plus != std::string::npos) {
    c.late_cycles = static_cast<std::uint8_t>(std::stoi(what.substr(plus + 1)));
    what.resize(plus);
  }
  if (const auto star = what.find('*'); star != std::string::npos) {
    c.columns = static_cast<std::uint8_t>(std::stoi(what.substr(star + 1)));
    what.resize(star);
  }
  if (const auto dot = bank.find('.'); dot != std::string::npos) {
    c.rank = static_cast<std::uint8_t>(std::stoi(bank.substr(0, dot)));
    bank.erase(0, dot + 1);
  }
  c.bank = static_cast<std::uint8_t>(std::stoi(bank));
  const auto name = std::find(command_names.begin(), command_names.end(), what);
  if (name == command_names.end()) throw std::invalid_argument("no command '" + what + "'");
  c.what = static_cast<command>(name - command_names.begin());
  return c;
}

inline std::vector<issued_command> parse_script(const std::string& text) {
  std::vector<issued_command> commands;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ';');) {
    if (part.find_first_not_of(' ') != std::string::npos) commands.push_back(parse_command(part));
  }
  return commands;
}

}  // namespace dvp::lpddr5::test
