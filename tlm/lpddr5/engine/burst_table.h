// Which queue entry holds a burst address: a small open-addressing hash table, one entry per key.
#pragma once

#include <cstdint>
#include <vector>

namespace dvp::lpddr5 {

class burst_table {
 public:
  static constexpr std::int32_t none = -1;

  explicit burst_table(std::size_t most_entries) {
    std::size_t size = 16;
    while (size < 4 * most_entries) size *= 2;
    slots_.resize(size);
    mask_ = size - 1;
  }

  std::int32_t find(std::uint64_t key) const {
    for (std::size_t i = home(key);; i = (i + 1) & mask_) {
      if (slots_[i].entry == none) return none;
      if (slots_[i].key == key) return slots_[i].entry;
    }
  }

  // Replaces the entry of a key that is already there.
  void put(std::uint64_t key, std::int32_t entry) {
    std::size_t i = home(key);
    while (slots_[i].entry != none && slots_[i].key != key) i = (i + 1) & mask_;
    slots_[i] = {key, entry};
  }

  // Only if the key still belongs to `entry`.
  void erase(std::uint64_t key, std::int32_t entry) {
    std::size_t hole = home(key);
    while (slots_[hole].entry != none && slots_[hole].key != key) hole = (hole + 1) & mask_;
    if (slots_[hole].entry != entry) return;
    // Closes the gap, so that no search ends too early.
    for (std::size_t i = (hole + 1) & mask_; slots_[i].entry != none; i = (i + 1) & mask_) {
      const std::size_t wanted = home(slots_[i].key);
      if (((i - wanted) & mask_) >= ((i - hole) & mask_)) {
        slots_[hole] = slots_[i];
        hole = i;
      }
    }
    slots_[hole].entry = none;
  }

 private:
  struct slot {
    std::uint64_t key = 0;
    std::int32_t entry = none;
  };
  std::size_t home(std::uint64_t key) const { return (key * 0x9e3779b97f4a7c15U >> 32) & mask_; }

  std::vector<slot> slots_;
  std::size_t mask_ = 0;
};

}  // namespace dvp::lpddr5
