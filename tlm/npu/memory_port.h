// One process's way to DRAM where it needs the answer before it goes on: hands an access to the memory link and waits.
#pragma once

#include <cstdint>
#include <span>
#include <systemc>

#include "tlm/npu/memory_link.h"

namespace dvp::npu {

class memory_port {
 public:
  // The link outlives the port.
  explicit memory_port(memory_link& link) : link_(link) {}
  memory_port(const memory_port&) = delete;
  memory_port& operator=(const memory_port&) = delete;

  // Hands over an access issued now and waits for its answer, not for its end.
  memory_answer read(std::uint64_t address, std::span<std::byte> data, gen::precision precision, gen::purpose purpose);
  memory_answer write(std::uint64_t address, std::span<const std::byte> data, gen::precision precision,
                      gen::purpose purpose);

 private:
  memory_answer wait_for(const memory_access& access);

  memory_link& link_;
  sc_core::sc_event answered_;
};

}  // namespace dvp::npu
