// Storage and access rules of one block's registers, driven by the generated gen::block_info table.
//
// The bank keeps one 32-bit word per register, starts at the reset values and knows who may do what to which bit.
// Behaviour is attached by the block as short hooks. Offsets are bytes from the start of the block's window.
//
// A bus access is one aligned 32-bit word, or one aligned 64-bit word where the table has a pair of registers. Answers,
// in the order they are checked:
//   TLM_IGNORE_COMMAND                            -> OK, nothing happens
//   byte enables                                  -> TLM_BYTE_ENABLE_ERROR_RESPONSE
//   length not 4 and not that of a pair at its address, or streaming width below the length
//                                                 -> TLM_BURST_ERROR_RESPONSE
//   address not a multiple of 4, or no register   -> TLM_ADDRESS_ERROR_RESPONSE
//   write to an ro register, read of a wo register-> TLM_COMMAND_ERROR_RESPONSE
// A refused access changes nothing and calls no hook.
//
// An access to a pair counts once and shows both registers at one simulated time: the low one is read, with its
// after_read, before the high one; a write stores both before the hooks run, low one first. Observers see two events.
//
// Written bits: rw and wo bits take the written value, w1c bits written as 1 become 0, w1s bits written as 1 become 1
// and stay so until the model clears them with set(); other bits keep theirs. Read bits: the read mask of the table,
// others are 0.
//
// A debug access has no side effects: it reads any register (a wo register reads as what its read mask leaves) and
// refuses writes with TLM_COMMAND_ERROR_RESPONSE.
//
// Misuse by the model (an offset without a register, a hook that could never run) throws std::invalid_argument with
// the block and the offset; nothing reachable from the bus throws.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <tlm>
#include <vector>

#include "dvp_gen/register_table.h"

namespace dvp::core {

// One register in a successful bus access, for register traces.
struct register_event {
  const gen::block_info& block;
  const gen::register_info& info;
  bool write = false;
  std::uint32_t value = 0;  // as it crossed the bus
};

class register_bank {
 public:
  explicit register_bank(const gen::block_info& block);

  const gen::block_info& block() const { return block_; }

  // Model side: the stored word, all bits, no hooks, no masks.
  std::uint32_t get(std::uint32_t offset) const;
  void set(std::uint32_t offset, std::uint32_t value);

  // Runs after a bus write was stored. The argument is the written value limited to the writable bits: for rw and wo
  // bits what is now stored, for w1c and w1s bits which ones were written as 1. get() tells the stored result.
  // The register must not be ro.
  void on_write(std::uint32_t offset, std::function<void(std::uint32_t)> hook);

  // The value of a register of kind "hardware", whatever is written to it; a write reaches the hook of on_write. It is
  // asked anew by every bus and debug read, so it must not change anything. What a read does to the block belongs in
  // after_read, which runs after a bus read only, at the same simulated time. A hardware register without hook reads as
  // stored with set() or written.
  void on_read(std::uint32_t offset, std::function<std::uint32_t()> value, std::function<void()> after_read = {});

  // Runs after every successful bus access, after the hooks.
  void on_access(std::function<void(const register_event&)> observer);

  // Performs the access, sets the payload's response status and returns it. Adds no time.
  tlm::tlm_response_status access(tlm::tlm_generic_payload& payload, bool debug);

  // All registers to their reset values; hooks stay and are not called, access counts stay.
  void reset();

  // Successful bus reads and writes, and refused ones; debug accesses are not counted.
  std::uint64_t reads() const { return reads_; }
  std::uint64_t writes() const { return writes_; }
  std::uint64_t refused() const { return refused_; }

 private:
  struct entry {
    const gen::register_info* info = nullptr;
    std::uint32_t value = 0;
    std::function<void(std::uint32_t)> on_write;
    std::function<std::uint32_t()> on_read;
    std::function<void()> after_read;
  };

  const entry* find(std::uint64_t offset) const;
  const entry* pair_at(const tlm::tlm_generic_payload& payload) const;
  const entry& at(std::uint32_t offset, const char* caller) const;
  entry& at(std::uint32_t offset, const char* caller);
  tlm::tlm_response_status check(const tlm::tlm_generic_payload& payload, bool debug) const;
  std::uint32_t readable(const entry& e) const;
  void read(std::span<entry> entries, std::uint8_t* data, bool debug);
  void write(std::span<entry> entries, const std::uint8_t* data);
  static std::uint32_t store(entry& e, std::uint32_t value);
  void notify(const entry& e, bool write, std::uint32_t value);

  const gen::block_info& block_;
  std::vector<entry> entries_;  // by offset
  std::function<void(const register_event&)> observer_;
  std::uint64_t reads_ = 0;
  std::uint64_t writes_ = 0;
  std::uint64_t refused_ = 0;
};

// "control = 0x00000001 {enable=1, soft_reset=0}": the register's name and the value split into its fields, those of 16
// bits and more in hexadecimal.
std::string decode(const gen::register_info& info, std::uint32_t value);

}  // namespace dvp::core
