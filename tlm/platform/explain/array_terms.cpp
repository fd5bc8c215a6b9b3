// The systolic array.
#include "dvp_gen/arrays.h"
#include "tlm/platform/explain/terms.h"
#include "tlm/platform/figures.h"

namespace dvp::platform {

namespace {

double ratio(double a, double b) {
  return b == 0 ? 0 : a / b;
}

derivation extent(const char* name, double value, const std::string& array) {
  derivation d;
  d.name = name;
  d.value = value;
  d.kind = "choice";
  d.source = "gen/spec/arrays/" + array + ".json, which npu.array of the configuration names";
  return d;
}

}  // namespace

derivation array_utilisation(const scope& s) {
  const derivation stored = s.figure("array.utilisation", "");
  const std::string name = text_at(s.run.stats(), "configuration.npu.array");
  const gen::array_config* array = gen::find_array(name);
  if (array == nullptr) return stored;
  const derivation macs = s.figure("array.macs", "");
  const derivation cycles = s.figure("npu_cycles", "");
  const derivation rows = extent("rows", array->rows, name);
  const derivation columns = extent("columns", array->columns, name);
  return with_formula(stored, "array.macs / (rows * columns * npu_cycles)", "tlm/platform/report.cpp",
                      {macs, rows, columns, cycles}, ratio(macs.value, rows.value * columns.value * cycles.value));
}

derivation array_busy(const scope& s) {
  const derivation busy = s.figure("busy_cycles.array", "");
  const derivation cycles = s.figure("npu_cycles", "");
  return with_formula(s.figure("array.busy", ""), "busy_cycles.array / npu_cycles",
                      "tlm/platform/report.cpp; cycles of a descriptor: tlm/npu/timing.h", {busy, cycles},
                      ratio(busy.value, cycles.value));
}

}  // namespace dvp::platform
