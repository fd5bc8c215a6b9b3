// Reads tagged q4, q2 or q0, as every memory that converts serves them: the address is that of the first element's q8
// byte, `elements` says how many, the data are their codes, packed (numerics/converter.h). With elements 0, as many as
// the data length holds. q0 delivers nothing.
#pragma once

#include <cstdint>
#include <tlm>

#include "tlm/core/access_tag.h"
#include "tlm/numerics/view_table.h"

namespace dvp::core {

// Bits of an element that cross from the memory to the initiator: 4, 2, 0; 8 for every other precision.
constexpr std::uint8_t delivered_bits(gen::precision precision) {
  switch (precision) {
    case gen::precision::q4:
      return 4;
    case gen::precision::q2:
      return 2;
    case gen::precision::q0:
      return 0;
    default:
      return 8;
  }
}

// Elements, of 8 bits stored, that a read of `bytes` delivered bytes with this tag reads.
constexpr std::uint64_t elements_read(const access_tag& tag, std::uint64_t bytes) {
  const std::uint8_t bits = delivered_bits(tag.precision);
  return tag.elements != 0 ? tag.elements : bits == 0 ? 0 : bytes * 8 / bits;
}

// Whether an access is served here and not as one of plain bytes: a read whose tag says q4, q2 or q0.
inline bool is_converted_read(const tlm::tlm_generic_payload& payload) {
  return payload.is_read() && delivered_bits(tag_of(payload).precision) != 8;
}

// How a memory of `bytes` answers a converted read, in the order it is checked:
//   length 0, streaming, or a length that is not that of its elements   -> TLM_BURST_ERROR_RESPONSE
//   no data pointer                                                     -> TLM_GENERIC_ERROR_RESPONSE
//   byte enables                                                        -> TLM_BYTE_ENABLE_ERROR_RESPONSE
//   a view that is not set or has another precision                     -> TLM_COMMAND_ERROR_RESPONSE
//   an element outside                                                  -> TLM_ADDRESS_ERROR_RESPONSE
//   anything else                                                       -> TLM_OK_RESPONSE
// Of these only the last concerns a read of q0.
tlm::tlm_response_status check_converted(const tlm::tlm_generic_payload& payload, const numerics::view_table& views,
                                         std::uint64_t bytes);

// Delivers the codes of a converted read that passed check_converted(). `memory` is the byte at address 0.
void move_converted(tlm::tlm_generic_payload& payload, const numerics::view_table& views, const std::uint8_t* memory);

}  // namespace dvp::core
