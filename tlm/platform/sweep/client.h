// Other programs' answers.
#pragma once

#include <string>
#include <vector>

namespace dvp::platform::sweep {

struct client_answer {
  int code = 0;           // exit code, or 128 + the signal that ended it; 127: there is no such program
  std::string output;     // standard output
  std::string complaint;  // last line of standard error
};

// Runs a program of PATH to its end.
client_answer ask_client(const std::vector<std::string>& command);

}  // namespace dvp::platform::sweep
