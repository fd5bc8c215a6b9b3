#include "tlm/platform/cpu_options.h"

#include <utility>

#include "dvp_gen/system.h"
#include "tlm/platform/command_line.h"

namespace dvp::platform {

namespace po = boost::program_options;

void add_cpu_options(po::options_description& options) {
  // clang-format off
  options.add_options()
    ("harts", po::value<std::string>(), "rv64: how many harts start (default: the configuration's)")
    ("uart", po::value<std::string>(), "rv64: console of the CPU: stdio, none, pty, tcp:PORT, or a file to write to")
    ("gdb", po::value<std::string>(), "rv64: wait for GDB on this port of 127.0.0.1 before the first instruction")
    ("trace-functions", po::value<std::string>(), "rv64: write calls and returns to this file")
    ("trace-instructions", po::value<std::string>(), "rv64: write every instruction to this file")
    ("trace-filter", po::value<std::string>(), "of --trace-instructions: one function, or addresses FIRST-LAST")
    ("trace-registers", po::value<std::string>(), "write every access to a device register to this file (CSV)")
    ("profile", po::value<std::string>(), "rv64: write a profile in callgrind's format and print the hottest functions")
    ("coverage", po::value<std::string>(), "rv64: write the lines executed in lcov's format (.info)")
    ("limit-us", po::value<std::string>(), "end the run after so many simulated microseconds");
  // clang-format on
}

cpu_options read_cpu_options(const po::variables_map& given) {
  cpu_options options;
  const std::pair<const char*, std::string*> texts[] = {{"uart", &options.uart},
                                                        {"trace-functions", &options.trace_functions},
                                                        {"trace-instructions", &options.trace_instructions},
                                                        {"trace-filter", &options.trace_filter},
                                                        {"trace-registers", &options.trace_registers},
                                                        {"profile", &options.profile},
                                                        {"coverage", &options.coverage}};
  for (const auto& [option, place] : texts) {
    if (given.count(option) == 0) continue;
    *place = option_text(given, option);
    if (place->empty()) throw usage_error(std::string("--") + option + ": is empty");
  }
  if (given.count("harts") != 0)
    options.harts =
        option_number<std::uint32_t>(given, "harts", 1, gen::system::most_harts,
                                     ("a number from 1 to " + std::to_string(gen::system::most_harts)).c_str());
  if (given.count("gdb") != 0)
    options.gdb = option_number<std::uint16_t>(given, "gdb", 1, 65535, "a port from 1 to 65535");
  if (given.count("limit-us") != 0) {
    options.limit_us =
        option_number<std::uint64_t>(given, "limit-us", 1, 1'000'000'000'000, "a whole number from 1 to 10^12");
  }
  refuse_idle(given, "trace-filter", !options.trace_instructions.empty(), "without --trace-instructions");
  return options;
}

void refuse_idle_cpu_options(const cpu_options& options, cpu_choice seat) {
  if (seat == cpu_choice::rv64) return;
  const std::pair<const char*, bool> given[] = {{"firmware", !options.firmware.empty()},
                                                {"harts", options.harts.has_value()},
                                                {"uart", !options.uart.empty()},
                                                {"gdb", options.gdb.has_value()},
                                                {"trace-functions", !options.trace_functions.empty()},
                                                {"timeline-functions", options.timeline_functions},
                                                {"trace-instructions", !options.trace_instructions.empty()},
                                                {"profile", !options.profile.empty()},
                                                {"coverage", !options.coverage.empty()}};
  for (const auto& [option, is_given] : given) {
    if (is_given) {
      throw usage_error(std::string("--") + option +
                        ": has no effect on firmware compiled for the host; add --cpu rv64");
    }
  }
}

std::vector<std::string> overrides_of(const cpu_options& options) {
  if (!options.harts) return {};
  return {"cpu.rv64.harts=" + std::to_string(*options.harts)};
}

std::vector<named_file> output_files(const cpu_options& options) {
  std::vector<named_file> files;
  const auto add = [&](const char* option, const std::string& path) {
    if (!path.empty()) files.push_back({option, path});
  };
  add("--trace-functions", options.trace_functions);
  add("--trace-instructions", options.trace_instructions);
  add("--trace-registers", options.trace_registers);
  add("--profile", options.profile);
  add("--coverage", options.coverage);
  const bool no_file =
      options.uart == "stdio" || options.uart == "none" || options.uart == "pty" || options.uart.starts_with("tcp:");
  if (!no_file) add("--uart", options.uart);
  return files;
}

const char* name_of(cpu_choice seat) {
  return seat == cpu_choice::rv64 ? "rv64" : "native";
}

}  // namespace dvp::platform
