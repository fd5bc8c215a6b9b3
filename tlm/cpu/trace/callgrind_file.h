// A profile in the format of Callgrind, for callgrind_annotate, KCachegrind and QCachegrind.
//
// Events: Instructions, Cycles, Waiting (profile.h). Positions: instruction address and line. Source: Valgrind manual,
// "Callgrind Format Specification".
#pragma once

#include <string>

#include "tlm/cpu/trace/output_file.h"
#include "tlm/cpu/trace/profile.h"
#include "tlm/cpu/trace/source_lines.h"

namespace dvp::cpu::trace {

// After profile::finish(); completes the file. `command` is what was run. std::runtime_error when it could not be
// written whole.
void write_callgrind(output_file& file, const std::string& command, profile& data, const source_lines& lines);

}  // namespace dvp::cpu::trace
