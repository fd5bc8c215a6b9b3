// How long the systolic array takes: the one statement of its cycles, shared by the model and checked against the RTL.
//
// A job's reduction is cut into chains of `group` elements and every chain into folds of at most R elements (the last
// fold of a chain may be partial; it costs as much as a full one). Folds run in order of chain, then of reduction
// index. With s(f) the cycle in which the first vector of fold f is accepted, cycle 0 being the one in which the first
// stationary row is loaded:
//
//     load     R cycles per fold, one row of C values per cycle, into the bank the fold before last has left
//     stream   vector v of fold f is accepted in cycle s(f) + v, s(f) = R + f * I
//     result   the C sums of that vector leave together, L = R + C + 1 cycles later: R + C - 1 for the way through the
//              array, one product register, one output register
//     interval I = max(T, L + 1): a chained fold starts from sums that left the array, were written in one cycle and
//              read in the next. 2 I >= T + R + C - 1 leaves room for the hidden load of the next fold but one.
//     job      R + (F - 1) * I + T + L, from the first row loaded to the last result taken, both cycles counted
//
// Columns in use, formats and data do not matter. Back-pressure, if any, comes on top: each stalled cycle adds one.
#pragma once

#include <cstdint>

namespace dvp::array {

struct array_shape {
  std::uint32_t rows = 0;     // R, reduction indices per fold
  std::uint32_t columns = 0;  // C, tokens
};

// Register stages a result passes besides the R + C - 1 of the element grid: product register, output register.
inline constexpr std::uint64_t register_stages = 2;

// L: cycles from the one in which a vector is accepted to the one in which its results are presented.
constexpr std::uint64_t vector_latency(array_shape shape) {
  return std::uint64_t{shape.rows} + shape.columns - 1 + register_stages;
}

// I: cycles from the first vector of a fold to the first vector of the next, for `vectors` (T) per fold.
constexpr std::uint64_t fold_interval(array_shape shape, std::uint32_t vectors) {
  const std::uint64_t turnaround = vector_latency(shape) + 1;
  return vectors > turnaround ? vectors : turnaround;
}

// Folds of one chain of `group` elements.
constexpr std::uint64_t folds_per_chain(array_shape shape, std::uint32_t group) {
  return (std::uint64_t{group} + shape.rows - 1) / shape.rows;
}

// F: folds of a whole job; `group` divides `reduction`, both 1 or more.
constexpr std::uint64_t job_folds(array_shape shape, std::uint32_t reduction, std::uint32_t group) {
  return reduction / group * folds_per_chain(shape, group);
}

// Cycle in which the first vector of fold f is accepted.
constexpr std::uint64_t stream_start(array_shape shape, std::uint32_t vectors, std::uint64_t fold) {
  return shape.rows + fold * fold_interval(shape, vectors);
}

// Cycle in which row 0 of fold f is loaded: the load ends just before the fold's first vector. By then the bank is
// free, the last vector of fold f - 2 being at least one row ahead of the load on its way through the array.
constexpr std::uint64_t load_start(array_shape shape, std::uint32_t vectors, std::uint64_t fold) {
  return fold * fold_interval(shape, vectors);
}

// Cycles of a job from the first stationary row loaded into an idle array to the last result, both included.
constexpr std::uint64_t job_cycles(array_shape shape, std::uint32_t vectors, std::uint32_t reduction,
                                   std::uint32_t group) {
  return stream_start(shape, vectors, job_folds(shape, reduction, group) - 1) + vectors + vector_latency(shape);
}

}  // namespace dvp::array
