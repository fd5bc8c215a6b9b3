// What `dllm-vp run` and `dllm-vp boot` share: the RV64 seat's image, console, debugger and traces.
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tlm/platform/config.h"
#include "tlm/platform/shared_files.h"

namespace dvp::platform {

struct cpu_options {
  std::string firmware;                // image; empty: the one built with this program
  std::optional<std::uint32_t> harts;  // instead of the configuration's
  std::string uart;                    // console, see consoles.h; empty: the command's default
  std::optional<std::uint16_t> gdb;    // port
  std::string trace_registers;         // files; empty: none
  std::string trace_functions;
  bool timeline_functions = false;  // of a run
  std::string trace_instructions;
  std::string trace_filter;  // function name, or first-last address
  std::string profile;
  std::string coverage;
  std::optional<std::uint64_t> limit_us;  // simulated
};

void add_cpu_options(boost::program_options::options_description& options);

// usage_error naming the option and what it takes.
cpu_options read_cpu_options(const boost::program_options::variables_map& given);

// usage_error for an option that has no effect with this seat.
void refuse_idle_cpu_options(const cpu_options& options, cpu_choice seat);

// What these options change in the configuration, as for --set.
std::vector<std::string> overrides_of(const cpu_options& options);

// The files that these options name, to be compared with others.
std::vector<named_file> output_files(const cpu_options& options);

const char* name_of(cpu_choice seat);

}  // namespace dvp::platform
