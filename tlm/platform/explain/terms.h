// The formulas themselves, one function a figure.
//
// A scope is where a figure stands: "total", or "answers.3". Formulas go down to raw counters where these are of the
// same prompts, that is in the total when every prompt was answered; elsewhere they end at the parts that stats.json
// has.
#pragma once

#include <string>
#include <vector>

#include "tlm/platform/explain/explained_run.h"

namespace dvp::platform {

struct scope {
  const explained_run& run;
  std::string path;

  std::string at(const std::string& figure) const { return path + "." + figure; }
  bool has(const std::string& figure) const;
  bool counted() const { return path == "total" && run.counted(); }
  derivation figure(const std::string& name, const std::string& unit) const { return run.figure(at(name), name, unit); }
};

// `d` with the formula over these terms, and what it gives.
derivation with_formula(derivation d, std::string formula, std::string source, std::vector<derivation> terms,
                        double computed);

// A term that is not in stats.json: its value is what the formula gives.
derivation made_of(std::string name, std::string unit, std::string kind, std::string formula, std::string source,
                   std::vector<derivation> terms, double computed);

// `d` as the sum of the terms.
derivation as_sum(derivation d, std::string source, std::vector<derivation> terms);

derivation latency(const scope& s);
derivation tokens_per_second(const scope& s);
derivation tokens_per_forward(const scope& s);

derivation array_utilisation(const scope& s);
derivation array_busy(const scope& s);

derivation bytes_read(const scope& s);
derivation bytes_written(const scope& s);
derivation bytes_per_second(const scope& s);
derivation peak_bytes_per_second(const scope& s);
derivation bus_busy(const scope& s);
derivation row_hits(const scope& s);
derivation bound(const scope& s);

derivation system_energy(const scope& s);
derivation dram_energy(const scope& s);
derivation dram_movement(const scope& s);
derivation npu_energy(const scope& s);
derivation cpu_energy(const scope& s);

}  // namespace dvp::platform
