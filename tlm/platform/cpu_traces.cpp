#include "tlm/platform/cpu_traces.h"

#include <filesystem>

#include "tlm/cpu/trace/address_filter.h"
#include "tlm/cpu/trace/callgrind_file.h"
#include "tlm/platform/files.h"
#include "tlm/platform/rv64_seat.h"

namespace dvp::platform {

namespace {

constexpr std::size_t profile_rows = 15;

cpu::trace::address_filter filter_of(const cpu_options& options, const core::symbol_table& symbols) {
  if (options.trace_filter.empty()) return {};
  try {
    return {options.trace_filter, symbols};
  } catch (const std::invalid_argument& error) {
    throw usage_error(std::string("--trace-instructions: ") + error.what());
  }
}

// Who makes the access under way, from the module whose thread it is: "hart 0" for cpu0, "cpu" for the native seat.
std::string initiator() {
  const sc_core::sc_object* module = sc_core::sc_get_current_process_handle().get_parent_object();
  if (module == nullptr) return "host";
  const std::string name = module->basename();
  return name.starts_with("cpu") && name.size() > 3 ? "hart " + name.substr(3) : name;
}

}  // namespace

cpu_traces::cpu_traces(const cpu_options& options, const program_image* image, std::uint64_t clock_hz)
    : options_(options), image_(image), clock_hz_(clock_hz) {
  const core::symbol_table none;
  const core::symbol_table& symbols = image == nullptr ? none : image->symbols();
  const cpu::trace::address_filter filter = filter_of(options, symbols);
  if (!options.profile.empty() || !options.coverage.empty()) lines_ = cpu::trace::source_lines(image->path(), symbols);
  if (!options.coverage.empty() && lines_.all().empty()) {
    throw usage_error("--coverage: " + image->path() + " has no debug information; compile it with -g");
  }
  if (!options.trace_registers.empty()) registers_.emplace(options.trace_registers);
  if (!options.trace_functions.empty()) {
    functions_.emplace(options.trace_functions, clock_hz, symbols);
    watchers_.add(*functions_);
  }
  if (!options.trace_instructions.empty()) {
    instructions_.emplace(options.trace_instructions, clock_hz, symbols, filter);
    watchers_.add(*instructions_);
  }
  if (!options.profile.empty()) {
    profile_file_.emplace(options.profile);
    profile_.emplace(symbols);
    watchers_.add(*profile_);
  }
  if (!options.coverage.empty()) {
    coverage_file_.emplace(options.coverage);
    coverage_.emplace();
    watchers_.add(*coverage_);
  }
}

void cpu_traces::attach(platform& chip, core::timeline& timeline) {
  if (registers_) {
    for (core::register_bank* bank : chip.banks()) {
      bank->on_access([this](const core::register_event& what) { registers_->access(initiator(), what); });
    }
  }
  if (options_.timeline_functions) {
    slices_.emplace(timeline, chip.rv64->harts(), clock_hz_, image_->symbols());
    watchers_.add(*slices_);
  }
  if (!watchers_.empty()) chip.rv64->cluster().observe(&watchers_);
}

void cpu_traces::end_timeline() {
  if (slices_) slices_->finish();
}

void cpu_traces::finish(std::ostream& out) {
  if (registers_) registers_->finish();
  if (functions_) functions_->finish();
  if (instructions_) instructions_->finish();
  if (profile_) {
    profile_->finish();
    write_callgrind(*profile_file_, image_->path(), *profile_, lines_);
    out << '\n' << profile_->flat(profile_rows);
  }
  if (coverage_) {
    const std::size_t left_out =
        coverage_->write(*coverage_file_, image_->symbols(), lines_, [](const std::string& source) {
          std::error_code ignored;
          return std::filesystem::is_regular_file(source, ignored);
        });
    if (left_out != 0) {
      out << "  coverage    without " << left_out << " source files that are not on this host (the compiler's own)\n";
    }
  }
}

}  // namespace dvp::platform
