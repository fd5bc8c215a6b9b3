// Which address bit selects what: channel, rank, bank group, bank, row, column, byte.
//
// Each component bit is the XOR of one or more address bits. The mapping must be a bijection: as many component bits as
// address bits, every address bit used, and the bit matrix invertible.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tlm/lpddr5/device/device.h"

namespace dvp::lpddr5 {

struct location {
  std::uint32_t channel = 0;
  std::uint32_t rank = 0;
  std::uint32_t bank_group = 0;
  std::uint32_t bank = 0;  // within its group
  std::uint32_t row = 0;
  std::uint32_t column = 0;  // device columns
  std::uint32_t byte = 0;    // within a column
  friend bool operator==(const location&, const location&) = default;
};

// Element i lists the address bits whose XOR is bit i of the component.
using bit_list = std::vector<std::vector<std::uint32_t>>;

struct mapping_bits {
  bit_list channel, rank, bank_group, bank, row, column, byte;
};

class address_mapping {
 public:
  // std::invalid_argument, one sentence, when the bits do not fit the device and number of channels: a wrong number of
  // bits for a component, an address bit used twice or never, a matrix that is not invertible, or bursts that are not
  // contiguous (byte bits and the low column bits of a burst must be the lowest address bits, plain and in order).
  address_mapping(const mapping_bits& bits, const organisation& shape, std::uint32_t channels);

  // address < bytes().
  location decode(std::uint64_t address) const;
  std::uint64_t encode(const location& where) const;

  std::uint64_t bytes() const { return std::uint64_t{1} << address_bits_; }
  std::uint32_t channels() const { return channels_; }

 private:
  struct component {
    std::uint32_t location::*field;
    std::vector<std::uint64_t> masks;  // per bit: the address bits to XOR
    // Fast path: bits that are consecutive plain address bits.
    bool contiguous = false;
    std::uint32_t shift = 0;
    std::uint32_t mask = 0;
  };
  std::vector<component> components_;
  std::vector<std::uint64_t> inverse_;  // per address bit: the packed component bits to XOR
  std::uint32_t address_bits_ = 0;
  std::uint32_t channels_ = 1;
};

// The usual orders, for any device and any power-of-two number of channels. Names from the most to the least
// significant component, as in the literature:
//   "row-bank-column-channel"        RoBaRaCoCh: a row's columns follow each other, then bank group, bank, row
//   "row-column-bank-channel"        bank groups change from burst to burst, then banks: streams at full rate
//   "bank-row-column-channel"        a bank's rows follow each other
//   "row-bank-column-group-channel"  bank groups change from burst to burst, a group's row stays open (the default)
//   "row-bank-column-group-quad-channel"  the same with four bursts of a row together: as many columns as a burst of q2
//                                    elements carries, so that tagged reads fill their bursts
// `interleave_bytes`: consecutive bytes of one channel, a power of two, at least one burst.
// `xor_banks` folds low row bits into bank and bank group.
mapping_bits standard_mapping(const std::string& order, const organisation& shape, std::uint32_t channels,
                              std::uint64_t interleave_bytes, bool xor_banks);
// The orders standard_mapping knows.
const std::vector<std::string>& standard_mapping_orders();

}  // namespace dvp::lpddr5
