// Physical memory protection of a hart that has machine mode only.
//
// 16 entries with a grain of 4 KiB (the privileged architecture, 20211203, section 3.7): an entry acts on machine mode
// only once it is locked, an unlocked one shadows later locked ones. NA4 cannot be selected; R=0 W=1 is stored as no
// access. An address that no entry matches may be used.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace dvp::cpu::rv64 {

enum class permission : std::uint8_t { read = 1, write = 2, execute = 4 };
inline constexpr std::uint8_t all_permissions = 7;

class pmp {
 public:
  static constexpr std::size_t entries = 16;
  static constexpr std::uint64_t grain_bytes = 4096;

  // pmpcfg<2 i>: eight entries each, i 0 or 1.
  std::uint64_t config(std::size_t i) const;
  std::uint64_t address(std::size_t entry) const;
  // True when a permission may have changed. Locked entries keep what they have.
  bool write_config(std::size_t i, std::uint64_t value);
  bool write_address(std::size_t entry, std::uint64_t value);

  // The first byte of [address, address + bytes) that may not be used so (bits of `permission`), with bytes 1 to a
  // page; nothing when all may.
  std::optional<std::uint64_t> denied(std::uint64_t address, std::uint64_t bytes, std::uint8_t wanted) const;
  // Permissions (bits of `permission`) of the page that holds the address.
  std::uint8_t permissions(std::uint64_t address) const;
  // Addresses inside [first, last] where permissions may change, ascending; multiples of the grain.
  std::vector<std::uint64_t> borders(std::uint64_t first, std::uint64_t last) const;

 private:
  struct range {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    bool empty = true;
  };
  range range_of(std::size_t entry) const;

  std::array<std::uint8_t, entries> config_{};
  std::array<std::uint64_t, entries> address_{};
};

}  // namespace dvp::cpu::rv64
