#include "tlm/npu/memory_port.h"

#include <optional>

namespace dvp::npu {

void memory_port::submit(const memory_access& access, const sc_core::sc_time& offset, const answer_handler& done) {
  const std::uint64_t resets = reset_.pulses();
  const auto bytes = static_cast<unsigned int>(access.data.size());
  tag_.precision = access.precision;
  tag_.purpose = access.purpose;
  payload_.set_command(access.command);
  payload_.set_address(access.address);
  payload_.set_data_ptr(reinterpret_cast<unsigned char*>(access.data.data()));
  payload_.set_data_length(bytes);
  payload_.set_streaming_width(bytes);
  payload_.set_byte_enable_ptr(nullptr);
  payload_.set_dmi_allowed(false);
  payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  sc_core::sc_time delay = offset;
  socket_->b_transport(payload_, delay);
  reset_.check(resets);
  const bool ok = payload_.is_response_ok();
  if (ok) access.command == tlm::TLM_READ_COMMAND ? counts_.count_read(bytes) : counts_.count_written(bytes);
  done({ok, sc_core::sc_time_stamp() + delay});
}

memory_answer memory_port::read(std::uint64_t address, std::span<std::byte> data, gen::precision precision,
                                gen::purpose purpose) {
  return wait_for({tlm::TLM_READ_COMMAND, address, data, precision, purpose});
}

memory_answer memory_port::write(std::uint64_t address, std::span<const std::byte> data, gen::precision precision,
                                 gen::purpose purpose) {
  // The payload's pointer serves both directions; a target does not change the data of a write.
  const std::span<std::byte> source(const_cast<std::byte*>(data.data()), data.size());
  return wait_for({tlm::TLM_WRITE_COMMAND, address, source, precision, purpose});
}

memory_answer memory_port::wait_for(const memory_access& access) {
  std::optional<memory_answer> answer;
  submit(access, sc_core::SC_ZERO_TIME, [&](const memory_answer& given) {
    answer = given;
    answered_.notify();
  });
  while (!answer) reset_.wait(answered_);
  return *answer;
}

}  // namespace dvp::npu
