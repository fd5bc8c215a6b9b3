// A test program: its bytes and its symbols, as the build left them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace dvp::test {

struct program {
  static constexpr std::uint64_t base = 0x8000'0000;

  std::vector<char> bytes;
  std::map<std::string, std::uint64_t> symbols;

  explicit program(const std::string& name) {
    const std::string path = std::string(DVP_RV64_PROGRAMS) + "/" + name;
    std::ifstream image(path + ".bin", std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(image), {});
    if (bytes.empty()) throw std::runtime_error(path + ".bin cannot be read");
    std::ifstream table(path + ".sym");
    std::string address, kind, symbol;
    while (table >> address >> kind >> symbol) symbols[symbol] = std::stoull(address, nullptr, 16);
  }
  std::uint64_t operator[](const std::string& symbol) const {
    const auto found = symbols.find(symbol);
    if (found == symbols.end()) throw std::runtime_error("no symbol " + symbol);
    return found->second;
  }
};

}  // namespace dvp::test
