#include "testbenches/unit/loader/fuzz/exercise.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tlm/loader/compression_sidecar.h"
#include "tlm/loader/model_image.h"
#include "tlm/loader/tokenizer.h"

namespace dvp::testbenches {
namespace {

using namespace dvp::loader;

void promise(bool kept, const char* what) {
  if (!kept) {
    std::fprintf(stderr, "broken promise: %s\n", what);
    std::abort();
  }
}

// Reads every byte of a value; returns something that depends on all of them.
std::size_t walk(const gguf_value& value) {
  if (value.type == value_type::string) {
    return printable(value.text()).size();
  }
  if (value.type != value_type::array) {
    return static_cast<std::size_t>(value.integer()) + static_cast<std::size_t>(value.number() > 0);
  }
  // An element takes 32 bytes of memory: long arrays are the caller's choice.
  std::size_t sum = value.count;
  if (value.count < 4096) {
    for (const gguf_value& element : value.elements()) {
      sum += walk(element);
    }
  }
  return sum;
}

void use_tokenizer(const gguf_file& file) {
  const tokenizer t(file);
  std::vector<std::string> texts = {"ab a\u00e9 1'\n <tool>abcab", "<|mask|> ab<|end|>"};
  for (std::uint32_t token = 0; token < t.size() && token < 64; ++token) {
    texts[0] += t.bytes_of(token);
  }
  for (const std::string& text : texts) {
    for (const auto handling : {tokenizer::control::as_text, tokenizer::control::as_tokens}) {
      try {
        const std::vector<std::uint32_t> tokens = t.encode(text, handling);
        std::string bytes;
        for (const std::uint32_t token : tokens) {
          bytes += t.bytes_of(token);
        }
        promise(bytes == text, "the tokens of a text spell the text");
        t.decode(tokens);
      } catch (const encode_error& error) {
        promise(error.position() < text.size(), "the position of an encode_error is in the text");
      }
    }
  }
}

bool make_image(const gguf_file& file) {
  const model source = read_model(file);
  const image_layout layout = plan_image(source, {.context_limit = 64});
  if (layout.header.total_bytes > (8u << 20)) {
    return false;
  }
  std::vector<std::byte> memory(layout.header.total_bytes);
  return write_image(source, layout, memory).image_bytes == memory.size();
}

}  // namespace

outcome exercise(std::span<const std::byte> bytes) {
  try {
    const gguf_file file("fuzz.gguf", bytes);
    std::size_t sum = 0;
    for (const gguf_entry& entry : file.metadata()) {
      promise(file.find(entry.key) == &entry.value, "a key finds its value");
      sum += walk(entry.value);
    }
    for (const gguf_tensor& tensor : file.tensors()) {
      promise(file.find_tensor(tensor.name) == &tensor, "a name finds its tensor");
      sum += std::to_integer<std::size_t>(tensor.data.front()) + std::to_integer<std::size_t>(tensor.data.back());
    }
    [[maybe_unused]] static volatile std::size_t sink;  // keeps the reads
    sink = sum;
    try {
      use_tokenizer(file);
    } catch (const load_error&) {  // a model without a usable tokenizer may still have an image
    }
    try {
      read_sidecar(file);
      return outcome::read;
    } catch (const load_error&) {  // nor is every file a sidecar
    }
    return make_image(file) ? outcome::imaged : outcome::read;
  } catch (const load_error& error) {
    promise(std::string_view(error.what()).starts_with("fuzz.gguf: "), "an error starts with the file");
    return outcome::refused;
  }
}

}  // namespace dvp::testbenches
