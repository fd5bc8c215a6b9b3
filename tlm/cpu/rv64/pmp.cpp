#include "tlm/cpu/rv64/pmp.h"

#include <algorithm>
#include <bit>

namespace dvp::cpu::rv64 {

namespace {

constexpr std::uint8_t locked = 0x80;
constexpr unsigned mode_shift = 3;
enum mode : std::uint8_t { off, tor, na4, napot };
// pmpaddr holds address bits 55..2; with a grain of 4 KiB its low ten bits carry no address.
constexpr std::uint64_t address_mask = (1ULL << 54) - 1;
constexpr std::uint64_t grain_mask = (pmp::grain_bytes >> 2) - 1;

mode mode_of(std::uint8_t config) {
  return static_cast<mode>((config >> mode_shift) & 3U);
}

std::uint8_t legal(std::uint8_t value, std::uint8_t before) {
  value &= 0x9f;
  if ((value & 3U) == 2) value &= 0xfc;  // write without read is reserved
  if (mode_of(value) == na4) {
    value = static_cast<std::uint8_t>((value & ~(3U << mode_shift)) | (before & (3U << mode_shift)));
  }
  return value;
}

}  // namespace

std::uint64_t pmp::config(std::size_t i) const {
  std::uint64_t value = 0;
  for (std::size_t byte = 0; byte < 8; ++byte) value |= std::uint64_t{config_[8 * i + byte]} << (8 * byte);
  return value;
}

std::uint64_t pmp::address(std::size_t entry) const {
  const std::uint64_t stored = address_[entry];
  return mode_of(config_[entry]) == napot ? stored | (grain_mask >> 1) : stored & ~grain_mask;
}

bool pmp::write_config(std::size_t i, std::uint64_t value) {
  bool changed = false;
  for (std::size_t byte = 0; byte < 8; ++byte) {
    std::uint8_t& config = config_[8 * i + byte];
    if ((config & locked) != 0) continue;
    const std::uint8_t wanted = legal(static_cast<std::uint8_t>(value >> (8 * byte)), config);
    changed |= wanted != config;
    config = wanted;
  }
  return changed;
}

bool pmp::write_address(std::size_t entry, std::uint64_t value) {
  const bool next_holds_it =
      entry + 1 < entries && (config_[entry + 1] & locked) != 0 && mode_of(config_[entry + 1]) == tor;
  if ((config_[entry] & locked) != 0 || next_holds_it) return false;
  value &= address_mask;
  const bool changed = address_[entry] != value;
  address_[entry] = value;
  return changed;
}

pmp::range pmp::range_of(std::size_t entry) const {
  const std::uint64_t top = address_[entry] & ~grain_mask;
  switch (mode_of(config_[entry])) {
    case tor: {
      const std::uint64_t bottom = entry == 0 ? 0 : address_[entry - 1] & ~grain_mask;
      if (bottom >= top) return {};
      return {bottom << 2, (top << 2) - 1, false};
    }
    case napot: {
      const std::uint64_t pattern = address(entry);
      const auto ones = static_cast<unsigned>(std::countr_one(pattern));
      const std::uint64_t size_mask = ones >= 54 ? ~0ULL : (1ULL << (ones + 3)) - 1;
      const std::uint64_t first = (pattern << 2) & ~size_mask;
      return {first, first | size_mask, false};
    }
    default:
      return {};
  }
}

std::uint8_t pmp::permissions(std::uint64_t address) const {
  for (std::size_t entry = 0; entry < entries; ++entry) {
    const range matched = range_of(entry);
    if (matched.empty || address < matched.first || address > matched.last) continue;
    return (config_[entry] & locked) != 0 ? config_[entry] & all_permissions : all_permissions;
  }
  return all_permissions;
}

std::optional<std::uint64_t> pmp::denied(std::uint64_t address, std::uint64_t bytes, std::uint8_t wanted) const {
  const std::uint64_t last = address + (bytes - 1);
  if ((permissions(address) & wanted) != wanted) return address;
  if ((permissions(last) & wanted) != wanted) return last / grain_bytes * grain_bytes;
  return std::nullopt;
}

std::vector<std::uint64_t> pmp::borders(std::uint64_t first, std::uint64_t last) const {
  std::vector<std::uint64_t> found;
  const auto add = [&](std::uint64_t address) {
    if (address > first && address <= last) found.push_back(address);
  };
  for (std::size_t entry = 0; entry < entries; ++entry) {
    const range matched = range_of(entry);
    if (matched.empty) continue;
    add(matched.first);
    if (matched.last != ~0ULL) add(matched.last + 1);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace dvp::cpu::rv64
