// Who works on a point, so that points of a program that was killed are found again.
#pragma once

#include <string>

namespace dvp::platform::sweep {

// This process, as JSON: {"host", "boot", "pid", "start"}. No other process, now or later, has the same.
std::string own_identity();

// Whether a process of such an identity may still be at work: it is, or it is on another machine, of which nothing is
// known here.
bool may_be_alive(const std::string& identity);

// Whether the process is, or was, on this machine.
bool is_here(const std::string& identity);

// For messages: "process 4711 of elsewhere", "Slurm job dllm-vp-sweep-0123456789ab".
std::string describe_owner(const std::string& identity);

}  // namespace dvp::platform::sweep
