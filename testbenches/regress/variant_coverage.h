// The designs with Verilator's coverage counters, which every instance leaves in a file when it ends.
#pragma once

#include <verilated.h>
#include <verilated_cov.h>

#include <string>

namespace dvp::regress {

inline std::string coverage_prefix = "coverage";
inline int coverage_files = 0;

// Files are <prefix>.<n>.dat, n counting the instances from 0.
inline void select_variant(const std::string& prefix) {
  coverage_prefix = prefix;
}

template <class Model>
class variant final : public Model {
 public:
  explicit variant(VerilatedContext* context) : Model(context), context_(context) {}
  ~variant() {
    context_->coveragep()->write((coverage_prefix + "." + std::to_string(coverage_files++) + ".dat").c_str());
  }

 private:
  VerilatedContext* context_;
};

}  // namespace dvp::regress
