// Physical memory protection: what not even this firmware may do.
#pragma once

#include <cstdint>

namespace dvp::port {

// Locks, for the calling hart, number `hart`, until reset: the guard pages of its stacks no access; code read and
// execute; constants read; data, bss and stacks read and write; the rest of the image's memory read. Memory outside
// stays as it is.
void protect_memory(std::uint32_t hart);

}  // namespace dvp::port
