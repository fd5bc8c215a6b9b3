// What every byte-addressed memory does with a generic payload, whatever its timing.
//
// Any alignment, length, byte enables and streaming width are served. Functions here never throw and take no time.
#pragma once

#include <cstdint>
#include <tlm>

namespace dvp::core {

// [address, address + length) is inside a memory of so many bytes.
constexpr bool is_inside(std::uint64_t address, std::uint64_t length, std::uint64_t bytes) {
  return length <= bytes && address <= bytes - length;
}

// How a memory of `bytes` answers a read or write of plain bytes, in the order it is checked:
//   length or streaming width 0     -> TLM_BURST_ERROR_RESPONSE
//   byte enables of length 0        -> TLM_BYTE_ENABLE_ERROR_RESPONSE
//   touches a byte outside          -> TLM_ADDRESS_ERROR_RESPONSE
//   anything else                   -> TLM_OK_RESPONSE
tlm::tlm_response_status check_bytes(const tlm::tlm_generic_payload& payload, std::uint64_t bytes);

// Bytes from the payload's address on that an access which passed check_bytes() touches.
std::uint64_t touched_bytes(const tlm::tlm_generic_payload& payload);

// Moves the bytes of a read or write that passed check_bytes(), unless its tag says timing_only. `memory` is the byte
// at address 0.
void move_bytes(tlm::tlm_generic_payload& payload, std::uint8_t* memory);

// The same for transport_dbg: data length only, no enables, no streaming. The number of bytes moved: all or, when the
// range leaves the memory or the command is neither read nor write, 0.
unsigned int move_debug_bytes(tlm::tlm_generic_payload& payload, std::uint8_t* memory, std::uint64_t bytes);

}  // namespace dvp::core
