// Which file it is: SHA-256 (FIPS 180-4), computed by OpenSSL.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace dvp::loader {

// 64 lower-case hexadecimal digits.
std::string sha256(std::span<const std::byte> bytes);

}  // namespace dvp::loader
