// What the options of a run put around the CPU: the image it executes, its console, debugger and traces.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include "tlm/core/symbols.h"
#include "tlm/core/timeline.h"
#include "tlm/cpu/debug/gdb_server.h"
#include "tlm/platform/console_record.h"
#include "tlm/platform/cpu_options.h"
#include "tlm/platform/cpu_traces.h"
#include "tlm/platform/platform.h"
#include "tlm/platform/program_image.h"
#include "tlm/uart/console.h"

namespace dvp::platform {

class cpu_side {
 public:
  // Opens what is asked for. console: what --uart stands for when it is not given; empty: nobody, but what was said
  // last is kept. `told` gets the names of consoles that have one. usage_error, loader::load_error, std::runtime_error
  // for an output that cannot be written.
  cpu_side(const cpu_options& options, const platform_config& config, const std::string& console, std::ostream& told);
  ~cpu_side();

  uart::console& console() { return *console_; }
  std::uint64_t entry() const;
  const core::symbol_table& symbols() const;

  // Before the simulation: loads the image into the SRAM, and with into_dram into main memory as well, and attaches
  // debugger and traces. This object outlives the simulation, and the timeline this object's last call.
  void attach(platform& chip, bool into_dram, core::timeline& timeline, std::ostream& told);
  // The timeline is about to be closed: shows the functions still active as ending now.
  void end_timeline() { traces_.end_timeline(); }
  // The debugger ended the run.
  bool killed() const { return killed_; }

  // After the simulation: tells the debugger how the program ended, writes what is to be written, and shows the
  // profile. std::runtime_error when that fails, or when the console lost output of a run that ended well.
  void finish(platform& chip, int exit_code, std::ostream& out);
  // What the console said last, line by line behind a mark; empty when somebody could read it anyway.
  std::string transcript() const;

 private:
  cpu_options options_;
  std::optional<program_image> image_;
  std::optional<cpu::debug::listener> port_;  // the debugger's, until it is attached; before any output is opened
  cpu_traces traces_;
  console_record record_;
  std::unique_ptr<uart::console> opened_;
  uart::console* console_ = &record_;
  std::unique_ptr<cpu::debug::gdb_server> debugger_;
  bool killed_ = false;
};

}  // namespace dvp::platform
