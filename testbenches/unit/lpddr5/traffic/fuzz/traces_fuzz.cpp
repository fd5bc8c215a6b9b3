// libFuzzer target over the trace readers.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "testbenches/unit/lpddr5/traffic/trace_text.h"

namespace {

void promise(bool kept, const char* what) {
  if (!kept) {
    std::fprintf(stderr, "broken promise: %s\n", what);
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dvp::lpddr5;
  if (size == 0) return 0;
  static const organisation shape;
  static const address_mapping mapping(standard_mapping("row-bank-column-channel", shape, 2, 32, false), shape, 2);
  trace_options options;
  options.mapping = &mapping;
  options.shape = &shape;
  options.memory_bytes = mapping.bytes();
  options.clock_period_fs = 1'250'001;
  const std::size_t form = data[0] % (std::size(trace_format_names) + 1);
  if (form < std::size(trace_format_names)) options.format = static_cast<trace_format>(form);
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto outcome = dvp::testbenches::read_trace("fuzz", text, options);
  for (const auto& r : outcome.requests) {
    promise(r.bytes >= 1 && r.address <= mapping.bytes() - r.bytes, "a request is within the memory");
    promise(r.time_ps >= 0, "times are not negative");
  }
  promise(outcome.error.empty() || outcome.error.starts_with("fuzz line "), "an error names file and line");
  promise(outcome.error.size() < 300, "an error is one short sentence");
  return 0;
}
