// The memory a simulator may use by pointer: grants cut by protection, kept equal in Unicorn.
#pragma once

#include <cstdint>
#include <map>

#include "tlm/cpu/rv64/granted_memory.h"
#include "tlm/cpu/rv64/pmp.h"

struct uc_struct;

namespace dvp::cpu::rv64 {

class memory_map {
 public:
  explicit memory_map(uc_struct* simulator) : simulator_(simulator) {}

  // Takes the whole pages of a grant; false when there are none or they overlap what is there.
  bool add(const granted_memory& grant);
  void forget();
  bool holds(std::uint64_t address) const { return find(address) != nullptr; }
  // Host memory of an address, as far as it is granted; null when it is not.
  const std::uint8_t* data(std::uint64_t address) const;

  // The same where it may be written.
  std::uint8_t* writable_data(std::uint64_t address) const;

  // What apply() last made the simulator know.
  bool is_mapped(std::uint64_t address) const;
  // Makes the simulator's map follow grants and protection. Not while it executes. std::runtime_error when it refuses.
  void apply(const pmp& protection);

 private:
  struct piece {
    std::uint64_t last = 0;
    std::uint8_t* data = nullptr;
    std::uint32_t permissions = 0;  // Unicorn's bits
    friend bool operator==(const piece&, const piece&) = default;
  };
  using pieces = std::map<std::uint64_t, piece>;  // by first address

  const granted_memory* find(std::uint64_t address) const;
  void cut(const granted_memory& grant, const pmp& protection, pieces& into) const;

  uc_struct* simulator_;
  std::map<std::uint64_t, granted_memory> grants_;  // by first address
  pieces mapped_;
};

}  // namespace dvp::cpu::rv64
