// What both the fuzz target and the mutation test do with bytes that may or may not be a model.
#pragma once

#include <cstddef>
#include <span>

namespace dvp::testbenches {

enum class outcome { refused, read, imaged };

// Reads the bytes as GGUF, walks all metadata, makes a tokenizer and uses it, and makes a compression sidecar, else a
// model and its image (of at most 8 MiB), of them. A load_error or encode_error is an answer; any other exception
// leaves, and a broken promise (a decoded text that differs from the encoded one) ends the process.
outcome exercise(std::span<const std::byte> bytes);

}  // namespace dvp::testbenches
