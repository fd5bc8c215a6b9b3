// The traces, profile and coverage that the options of a run ask for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>

#include "tlm/core/timeline.h"
#include "tlm/cpu/trace/coverage.h"
#include "tlm/cpu/trace/fan_out.h"
#include "tlm/cpu/trace/function_timeline.h"
#include "tlm/cpu/trace/function_trace.h"
#include "tlm/cpu/trace/instruction_trace.h"
#include "tlm/cpu/trace/output_file.h"
#include "tlm/cpu/trace/profile.h"
#include "tlm/cpu/trace/register_trace.h"
#include "tlm/cpu/trace/source_lines.h"
#include "tlm/platform/cpu_options.h"
#include "tlm/platform/platform.h"
#include "tlm/platform/program_image.h"

namespace dvp::platform {

class cpu_traces {
 public:
  // Opens every file; they get their names in finish(), see output_file.h. image: null without one; it outlives this.
  // usage_error for a filter that names nothing and for coverage of an image without debug information,
  // std::runtime_error for a file that cannot be written and for lines that cannot be known.
  cpu_traces(const cpu_options& options, const program_image* image, std::uint64_t clock_hz);

  // Before the simulation, which this outlives, as the timeline does.
  void attach(platform& chip, core::timeline& timeline);
  // Before the timeline is closed.
  void end_timeline();
  // After it: completes all files and shows the profile. std::runtime_error.
  void finish(std::ostream& out);

 private:
  cpu_options options_;
  const program_image* image_;
  std::uint64_t clock_hz_;
  cpu::trace::source_lines lines_;
  std::optional<cpu::trace::register_trace> registers_;
  std::optional<cpu::trace::function_trace> functions_;
  std::optional<cpu::trace::function_timeline> slices_;
  std::optional<cpu::trace::instruction_trace> instructions_;
  std::optional<cpu::trace::profile> profile_;
  std::optional<cpu::trace::output_file> profile_file_;
  std::optional<cpu::trace::coverage> coverage_;
  std::optional<cpu::trace::output_file> coverage_file_;
  cpu::trace::fan_out watchers_;
};

}  // namespace dvp::platform
