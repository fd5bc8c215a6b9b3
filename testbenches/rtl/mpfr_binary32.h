// binary32 by MPFR, independent of the host's floating point.
#pragma once

#include <mpfr.h>

#include "testbenches/rtl/host_arithmetic.h"

namespace dvp::test {

// One rounding with subnormals, by the library's own recipe.
class binary32 {
 public:
  binary32() {
    mpfr_set_emin(-148);
    mpfr_set_emax(128);
    mpfr_inits2(24, a_, b_, result_, static_cast<mpfr_ptr>(nullptr));
  }
  ~binary32() { mpfr_clears(a_, b_, result_, static_cast<mpfr_ptr>(nullptr)); }

  template <class Operation>
  std::uint32_t compute(float a, float b, Operation operation) {
    mpfr_set_flt(a_, a, MPFR_RNDN);
    mpfr_set_flt(b_, b, MPFR_RNDN);
    const int ternary = operation(result_, a_, b_, MPFR_RNDN);
    mpfr_subnormalize(result_, ternary, MPFR_RNDN);
    return host_bits(mpfr_get_flt(result_, MPFR_RNDN));
  }

 private:
  mpfr_t a_, b_, result_;
};

}  // namespace dvp::test
