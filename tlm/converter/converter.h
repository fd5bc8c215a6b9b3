// View table of the memory's precision converter: the registers by which firmware says how reads tagged q4 and q2
// convert (gen/spec/blocks/converter.json). The conversion itself happens where the bytes are, in the memory.
//
// A write of view v's register goes to the memory as view number v + 1, inside the write and without time; reads that
// arrive there afterwards convert by it. The register shows the write only when the memory took the view.
#pragma once

#include <cstdint>
#include <functional>
#include <systemc>

#include "tlm/core/register_target.h"
#include "tlm/numerics/converter.h"

namespace dvp::converter {

class converter : public core::register_target {
 public:
  // Whether the memory took the view.
  using set_view = std::function<bool(std::uint16_t number, const numerics::view&)>;

  // views: how many numbers can be set, from 1 on; 0: the memory does not convert and `set` is never called. More than
  // the table of registers has is a fatal report with the module's name.
  converter(const sc_core::sc_module_name& name, std::uint32_t views, set_view set);

 private:
  set_view set_;
};

}  // namespace dvp::converter
