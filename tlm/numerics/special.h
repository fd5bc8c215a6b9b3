// Special functions of the vector and sampling units: binary32 arithmetic and integer steps only, in one fixed order,
// so the bits are the same on every machine. No libm.
//
// Largest errors, in units of the last place of the correctly rounded binary32 result, over all finite results
// (subnormals included), measured against references of 64 bits and more:
//
//     exp 1.0    log 1.0    rsqrt 1.25   reciprocal 0.5    sigmoid 2.5    silu 3.5
//
// NaN in gives the canonical NaN out.
#pragma once

namespace dvp::numerics {

// exp(-inf) = +0, exp(+inf) = +inf, exp(+-0) = 1. Below -103.97208 +0, above 88.722839 +inf, subnormal results rounded.
float exp(float x);

// Natural logarithm. log(+-0) = -inf, log(+inf) = +inf, log(1) = +0, a negative argument gives NaN.
float log(float x);

// 1 / sqrt(x). rsqrt(+-0) = +inf, rsqrt(+inf) = +0, a negative argument gives NaN.
float rsqrt(float x);

// 1 / x, correctly rounded. reciprocal(+-0) = +-inf, reciprocal(+-inf) = +-0.
float reciprocal(float x);

// 1 / (1 + exp(-x)), without overflow: exp(x) / (1 + exp(x)) for negative x. sigmoid(-inf) = +0, sigmoid(+inf) = 1.
float sigmoid(float x);

// x * sigmoid(x). silu(+-0) = +-0, silu(-inf) = -0, silu(+inf) = +inf.
float silu(float x);

}  // namespace dvp::numerics
