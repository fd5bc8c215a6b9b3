// What both the fuzz target and the mutation test do with text that may or may not describe a memory.
#pragma once

#include <string_view>

namespace dvp::testbenches {

enum class outcome { refused, read };

// Reads the text as a memory configuration of either form. A config_error of one line that starts with the file is an
// answer, any other exception leaves. What was read must keep its promises (rules compile, the mapping is a bijection,
// the document that was used reads the same again), or the process ends.
outcome exercise_memory_config(std::string_view text);

}  // namespace dvp::testbenches
