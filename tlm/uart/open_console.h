// Consoles by name, as command lines give them.
#pragma once

#include <memory>
#include <ostream>
#include <string>

#include "tlm/uart/console.h"

namespace dvp::uart {

// stdio, none, pty, tcp:PORT (0: the host chooses), or the path of a file for the output. Where the other side has to
// know a name, one line with it goes to `told`. std::runtime_error, one sentence, where it cannot be had.
std::unique_ptr<console> open_console(const std::string& what, std::ostream& told);

}  // namespace dvp::uart
