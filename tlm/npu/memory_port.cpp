#include "tlm/npu/memory_port.h"

namespace dvp::npu {

bool memory_port::read(std::uint64_t address, std::span<std::byte> data, gen::precision precision, gen::purpose purpose,
                       sc_core::sc_time& delay) {
  const bool ok = transfer(tlm::TLM_READ_COMMAND, address, data.data(), data.size(), precision, purpose, delay);
  if (ok) counts_.count_read(data.size());
  return ok;
}

bool memory_port::write(std::uint64_t address, std::span<const std::byte> data, gen::precision precision,
                        gen::purpose purpose, sc_core::sc_time& delay) {
  // The payload's pointer serves both directions; a target does not change the data of a write.
  std::byte* source = const_cast<std::byte*>(data.data());
  const bool ok = transfer(tlm::TLM_WRITE_COMMAND, address, source, data.size(), precision, purpose, delay);
  if (ok) counts_.count_written(data.size());
  return ok;
}

bool memory_port::transfer(tlm::tlm_command command, std::uint64_t address, std::byte* data, std::size_t bytes,
                           gen::precision precision, gen::purpose purpose, sc_core::sc_time& delay) {
  const std::uint64_t resets = reset_.pulses();
  tag_.precision = precision;
  tag_.purpose = purpose;
  payload_.set_command(command);
  payload_.set_address(address);
  payload_.set_data_ptr(reinterpret_cast<unsigned char*>(data));
  payload_.set_data_length(static_cast<unsigned int>(bytes));
  payload_.set_streaming_width(static_cast<unsigned int>(bytes));
  payload_.set_byte_enable_ptr(nullptr);
  payload_.set_dmi_allowed(false);
  payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  socket_->b_transport(payload_, delay);
  reset_.check(resets);
  return payload_.is_response_ok();
}

}  // namespace dvp::npu
