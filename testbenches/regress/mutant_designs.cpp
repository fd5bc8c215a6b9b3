// One design as a netlist with mutants, one of which is on; scripts/mutate compiles it.
#include <stdexcept>
#include <type_traits>

#include "Vmutants.h"
#include "testbenches/regress/converter_model.h"
#include "testbenches/regress/designs.h"
#include "tlm/cosim/verilated_model.h"
#ifdef DVP_MUTANT_ARRAY
#include "dvp_gen/arrays.h"
#include "tlm/array/array_config.h"
#endif

namespace dvp::regress {
namespace {

std::uint32_t selected = 0;  // 0: none

class mutants final : public Vmutants {
 public:
  explicit mutants(VerilatedContext* context) : Vmutants(context) {
    mutant_i = static_cast<std::remove_reference_t<decltype(mutant_i)>>(selected);
  }
};

}  // namespace

void set_variant(const std::string& text) {
  selected = static_cast<std::uint32_t>(std::stoul(text));
}

#ifdef DVP_MUTANT_ARRAY

std::vector<std::string> design_names() {
  return {"array/" DVP_MUTANT_ARRAY};
}

std::unique_ptr<cosim::verilated_array> make_array(std::string_view config, std::uint32_t seed) {
  return std::make_unique<cosim::verilated_model<mutants>>(array::shape_of(*gen::find_array(config)), seed);
}

std::unique_ptr<converter_design> make_converter(std::uint32_t) {
  throw std::invalid_argument("the converter is not in this program");
}

#else

std::vector<std::string> design_names() {
  return {"converter"};
}

std::unique_ptr<cosim::verilated_array> make_array(std::string_view, std::uint32_t) {
  throw std::invalid_argument("no array is in this program");
}

std::unique_ptr<converter_design> make_converter(std::uint32_t seed) {
  return std::make_unique<converter_model<mutants>>(seed);
}

#endif

}  // namespace dvp::regress
