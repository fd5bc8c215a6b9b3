// Which file it is, which text.
#pragma once

#include <filesystem>
#include <string>

namespace dvp::platform {

// SHA-256 of its bytes, 64 lower-case hexadecimal digits. A path is read once in a process's life: models have
// gigabytes. loader::load_error when it cannot be read or is empty.
std::string file_digest(const std::filesystem::path& path);

// The same of a text.
std::string text_digest(const std::string& text);

}  // namespace dvp::platform
