// The bits of the CPU path: prints one number per part of tlm/numerics. The host computes the same ones
// (numerics_fingerprint).
#include "firmware/port/riscv/console.h"
#include "testbenches/unit/numerics/fingerprint.h"

int main() {
  using dvp::numerics::test::part;
  constexpr struct {
    const char* name;
    part which;
  } parts[] = {{"special", part::special},   {"rotary", part::rotary}, {"rows", part::rows},
               {"sampling", part::sampling}, {"chains", part::chains}, {"compressed", part::compressed}};
  for (const auto& p : parts) {
    dvp::port::print(p.name, " ", dvp::port::hex{dvp::numerics::test::fingerprint(p.which)}, "\n");
  }
  return 0;
}
