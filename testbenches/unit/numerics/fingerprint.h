// One number that stands for the bits of the whole numerics library.
#pragma once

#include <cstdint>

namespace dvp::numerics::test {

enum class part { special, rotary, rows, sampling, chains, compressed };

// FNV-1a over the results of one part on fixed pseudo-random operands, specials included. Freestanding, so that the
// same source runs on the host and on RV64 and the two are compared by number.
std::uint64_t fingerprint(part which);

}  // namespace dvp::numerics::test
