#include "tlm/npu/memory_port.h"

#include <optional>

namespace dvp::npu {

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
  link_.submit(access, sc_core::SC_ZERO_TIME, [&](const memory_answer& given) {
    answer = given;
    answered_.notify();
  });
  while (!answer) link_.reset().wait(answered_);
  return *answer;
}

}  // namespace dvp::npu
