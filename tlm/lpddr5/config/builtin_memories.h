// The files of configs/, put into the library when it is built so that it needs none at run time.
#pragma once

#include <span>
#include <string_view>

namespace dvp::lpddr5 {

struct builtin_memory {
  std::string_view name;  // of the file, without extension
  std::string_view text;
};

std::span<const builtin_memory> builtin_memory_texts();

}  // namespace dvp::lpddr5
