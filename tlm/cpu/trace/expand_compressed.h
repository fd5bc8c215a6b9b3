// The 32-bit instruction that a 16-bit one stands for.
#pragma once

#include <cstdint>

namespace dvp::cpu::trace {

// Of RV64C (RISC-V Instruction Set Manual, volume I, chapter 16). 0 where the encoding is reserved or only a hint that
// no instruction of its own stands for.
std::uint32_t expand_compressed(std::uint16_t bits);

}  // namespace dvp::cpu::trace
