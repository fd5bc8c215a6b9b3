#include "tlm/core/converted_read.h"

#include "tlm/core/byte_access.h"

namespace dvp::core {

tlm::tlm_response_status check_converted(const tlm::tlm_generic_payload& payload, const numerics::view_table& views,
                                         std::uint64_t bytes) {
  const access_tag& tag = tag_of(payload);
  const std::uint8_t bits = delivered_bits(tag.precision);
  const std::uint64_t length = payload.get_data_length();
  const std::uint64_t elements = elements_read(tag, length);
  if (bits != 0) {
    if (length == 0 || payload.get_streaming_width() < length || length != numerics::delivered_bytes(elements, bits)) {
      return tlm::TLM_BURST_ERROR_RESPONSE;
    }
    if (payload.get_data_ptr() == nullptr) return tlm::TLM_GENERIC_ERROR_RESPONSE;
    if (payload.get_byte_enable_ptr() != nullptr) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
    if (views.find(bits, tag.view) == nullptr) return tlm::TLM_COMMAND_ERROR_RESPONSE;
  }
  return is_inside(payload.get_address(), elements, bytes) ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE;
}

void move_converted(tlm::tlm_generic_payload& payload, const numerics::view_table& views, const std::uint8_t* memory) {
  const access_tag& tag = tag_of(payload);
  const std::uint8_t bits = delivered_bits(tag.precision);
  if (bits == 0 || tag.timing_only) return;
  const std::uint64_t length = payload.get_data_length();
  const auto* codes = reinterpret_cast<const std::byte*>(memory + payload.get_address());
  views.find(bits, tag.view)
      ->convert_all({codes, elements_read(tag, length)},
                    {reinterpret_cast<std::byte*>(payload.get_data_ptr()), length});
}

}  // namespace dvp::core
