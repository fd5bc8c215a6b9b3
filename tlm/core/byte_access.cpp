#include "tlm/core/byte_access.h"

#include <algorithm>
#include <cstring>

#include "tlm/core/access_tag.h"

namespace dvp::core {

tlm::tlm_response_status check_bytes(const tlm::tlm_generic_payload& payload, std::uint64_t bytes) {
  const std::uint64_t touched = touched_bytes(payload);
  if (touched == 0) return tlm::TLM_BURST_ERROR_RESPONSE;
  if (payload.get_byte_enable_ptr() != nullptr && payload.get_byte_enable_length() == 0) {
    return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  }
  return is_inside(payload.get_address(), touched, bytes) ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE;
}

std::uint64_t touched_bytes(const tlm::tlm_generic_payload& payload) {
  return std::min(payload.get_data_length(), payload.get_streaming_width());
}

void move_bytes(tlm::tlm_generic_payload& payload, std::uint8_t* memory) {
  if (tag_of(payload).timing_only) return;
  std::uint8_t* stored = memory + payload.get_address();
  std::uint8_t* moved = payload.get_data_ptr();
  const std::uint32_t length = payload.get_data_length();
  const std::uint32_t width = payload.get_streaming_width();
  const std::uint8_t* enables = payload.get_byte_enable_ptr();
  const std::uint32_t enables_length = payload.get_byte_enable_length();
  if (enables == nullptr && width >= length) {
    payload.is_read() ? std::memcpy(moved, stored, length) : std::memcpy(stored, moved, length);
    return;
  }
  for (std::uint32_t i = 0; i < length; ++i) {
    if (enables != nullptr && enables[i % enables_length] != TLM_BYTE_ENABLED) continue;
    if (payload.is_read()) {
      moved[i] = stored[i % width];
    } else {
      stored[i % width] = moved[i];
    }
  }
}

unsigned int move_debug_bytes(tlm::tlm_generic_payload& payload, std::uint8_t* memory, std::uint64_t bytes) {
  const unsigned int length = payload.get_data_length();
  if (length == 0 || !is_inside(payload.get_address(), length, bytes)) return 0;
  std::uint8_t* stored = memory + payload.get_address();
  if (payload.is_read()) {
    std::memcpy(payload.get_data_ptr(), stored, length);
  } else if (payload.is_write()) {
    std::memcpy(stored, payload.get_data_ptr(), length);
  } else {
    return 0;
  }
  return length;
}

}  // namespace dvp::core
