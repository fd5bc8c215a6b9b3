// Byte-pair encoding on token numbers: the list of merges and their application.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace dvp::loader {

class byte_pairs {
 public:
  // The next merge of the list: left followed by right becomes result. Earlier merges go first; a pair that is listed
  // again keeps its first place.
  void add(std::uint32_t left, std::uint32_t right, std::uint32_t result);
  bool empty() const { return merges_.empty(); }

  // Replaces neighbours until no pair of the list is left: always the pair that is earliest in the list, among equals
  // the leftmost. O(n log n).
  void apply(std::vector<std::uint32_t>& tokens) const;

 private:
  struct merge {
    std::uint32_t rank;
    std::uint32_t result;
  };
  const merge* find(std::uint32_t left, std::uint32_t right) const;

  std::unordered_map<std::uint64_t, merge> merges_;  // by left << 32 | right
};

}  // namespace dvp::loader
