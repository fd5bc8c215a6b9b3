// The subcommands of dllm-vp. Each takes its own arguments and returns the process's exit code; usage_error and
// loader::load_error leave them for main to print.
#pragma once

#include <string>
#include <vector>

namespace dvp::platform {

enum exit_code : int {
  exit_ok = 0,
  exit_fault = 1,  // the simulation found a fault: lockstep difference, NPU error, firmware result code, broken rule,
                   // golden figure that is off; the program on the CPU failed, trapped or stands still, or the time
                   // limit came; or the output could not be written
  exit_usage = 2,  // command line, configuration, prompt file or trace
  exit_model = 3   // a model file or firmware image that cannot be used
                   // 128 + a signal's number: that signal ended the run, see interruption.h
};

int run_command(const std::vector<std::string>& arguments);
int compare_command(const std::vector<std::string>& arguments);
int sweep_command(const std::vector<std::string>& arguments);
int profile_command(const std::vector<std::string>& arguments);
int report_command(const std::vector<std::string>& arguments);
int explain_command(const std::vector<std::string>& arguments);
int boot_command(const std::vector<std::string>& arguments);
int dram_command(const std::vector<std::string>& arguments);
int check_array_command(const std::vector<std::string>& arguments);
int inspect_command(const std::vector<std::string>& arguments);

}  // namespace dvp::platform
