// What both the fuzz target and the mutation test do with bytes that may or may not be an executable.
#pragma once

#include <cstddef>
#include <span>

namespace dvp::testbenches {

// Reads the bytes as an executable and holds it to every promise of tlm/loader/elf.h; a broken one ends the process.
// Whether it was accepted; a load_error is an answer, any other exception leaves.
bool exercise_elf(std::span<const std::byte> bytes);

}  // namespace dvp::testbenches
