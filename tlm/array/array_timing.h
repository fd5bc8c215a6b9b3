// How long the systolic array takes: the one statement of its cycles, shared by the model and checked against the RTL.
//
// A job's reduction is cut into chains of `group` elements and every chain into folds of at most R elements (the last
// fold of a chain may be partial; it costs as much as a full one). Folds run in order of chain, then of reduction
// index. In every fold the vectors pass as B beats, in order:
//
//     format   beats
//     q0       none
//     bf16     one; two with 8-bit lanes
//     q8       one
//     q4, q2   one; with packing up to 2 (q4) or 4 (q2) vectors of equal format and half step that follow one another
//              share a beat, q0 vectors between them not counting
//
// With s(f) the cycle in which the first beat of fold f is accepted, cycle 0 being the one in which the first
// stationary row is loaded, P the stages of an addition:
//
//     stream   beat b of fold f is accepted in cycle s(f) + b, s(f) = s(0) + f * I
//     result   the C sums of each of a beat's vectors leave together, L = R * P + C + 1 cycles after the (last) beat:
//              R * P + C - 1 for the way through the array, one product register, one output register; L is one more
//              with the output buffer
//     two banks    s(0) = R, row r of fold f is loaded in cycle s(f) - R + r, into the bank the fold before last has
//     left
//                  I = max(B, L + 1)
//     one bank     s(0) = 1, row r of fold f is loaded in cycle s(f) - 1 + r * P, just after the last beat of the fold
//                  before has left the row and just before the first beat of the fold gets there
//                  I = max(B + C, L + 1)
//     job      s(0) + (F - 1) * I + B + L, from the first row loaded to the last result taken, both cycles counted;
//              0 when there is no beat
//
// L + 1: a chained fold starts from sums that left the array, were written in one cycle and read in the next. With two
// banks 2 I >= B + R * P + C - P leaves room for the hidden load of the next fold but one. Columns in use and data do
// not matter. Back-pressure, if any, comes on top: each cycle in which the array stands still adds one.
#pragma once

#include <cstdint>

#include "tlm/numerics/chain_products.h"

namespace dvp::array {

// Parameters of rtl/array/systolic_array.sv.
struct array_shape {
  std::uint32_t rows = 0;          // R, reduction indices per fold
  std::uint32_t columns = 0;       // C, tokens
  std::uint32_t lane_bits = 16;    // 8 or 16
  bool packing = false;            // several q4 or q2 vectors in a beat
  std::uint32_t adder_stages = 1;  // P, 1 to 3
  std::uint32_t banks = 2;         // 1 or 2
  bool output_buffer = false;

  // Slots of partial sums.
  constexpr std::uint32_t slots() const { return packing ? 4 : 1; }
};

// Most vectors of a format in one beat; 1 for formats that are not packed.
constexpr std::uint32_t vectors_per_beat(array_shape shape, numerics::stream_format format) {
  if (!shape.packing) return 1;
  if (format == numerics::stream_format::q4) return 2;
  return format == numerics::stream_format::q2 ? 4 : 1;
}

// Beats that one vector takes when it shares none.
constexpr std::uint32_t beats_per_vector(array_shape shape, numerics::stream_format format) {
  if (format == numerics::stream_format::q0) return 0;
  return format == numerics::stream_format::bf16 && shape.lane_bits == 8 ? 2 : 1;
}

// B for `vectors` of one format.
constexpr std::uint64_t fold_beats(array_shape shape, numerics::stream_format format, std::uint32_t vectors) {
  const std::uint32_t together = vectors_per_beat(shape, format);
  return (std::uint64_t{vectors} + together - 1) / together * beats_per_vector(shape, format);
}

// Puts vectors into beats by the rule above, one call per vector in order.
class beat_packer {
 public:
  explicit constexpr beat_packer(array_shape shape) : shape_(shape) {}

  // Whether the vector (not q0) shares the beat of the one before it.
  constexpr bool joins(numerics::stream_format format, bool half_step) {
    const bool same = filled_ > 0 && format == format_ && half_step == half_step_;
    filled_ = same && filled_ < vectors_per_beat(shape_, format) ? filled_ + 1 : 1;
    format_ = format;
    half_step_ = half_step;
    return filled_ > 1;
  }

 private:
  array_shape shape_;
  std::uint32_t filled_ = 0;  // vectors in the open beat
  numerics::stream_format format_ = numerics::stream_format::q0;
  bool half_step_ = false;
};

// B of a job.
inline std::uint64_t fold_beats(array_shape shape, const numerics::chain_operands& operands) {
  if (operands.each == nullptr) return fold_beats(shape, operands.format, operands.vectors);
  beat_packer packer(shape);
  std::uint64_t beats = 0;
  for (std::uint32_t v = 0; v < operands.vectors; ++v) {
    const numerics::stream_vector& vector = operands.each[v];
    if (vector.format == numerics::stream_format::q0) continue;
    if (!packer.joins(vector.format, vector.half_step)) beats += beats_per_vector(shape, vector.format);
  }
  return beats;
}

// Register stages a result passes besides the R * P + C - 1 of the element grid: product register, output register.
inline constexpr std::uint64_t register_stages = 2;

// L: cycles from the one in which a vector's last beat is accepted to the one in which its results are presented.
constexpr std::uint64_t vector_latency(array_shape shape) {
  return std::uint64_t{shape.rows} * shape.adder_stages + shape.columns - 1 + register_stages +
         (shape.output_buffer ? 1 : 0);
}

// I: cycles from the first beat of a fold to the first beat of the next, for B beats per fold.
constexpr std::uint64_t fold_interval(array_shape shape, std::uint64_t beats) {
  const std::uint64_t turnaround = vector_latency(shape) + 1;
  const std::uint64_t bank_in_use = shape.banks == 1 ? beats + shape.columns : beats;
  return bank_in_use > turnaround ? bank_in_use : turnaround;
}

// Folds of one chain of `group` elements.
constexpr std::uint64_t folds_per_chain(array_shape shape, std::uint32_t group) {
  return (std::uint64_t{group} + shape.rows - 1) / shape.rows;
}

// F: folds of a whole job; `group` divides `reduction`, both 1 or more.
constexpr std::uint64_t job_folds(array_shape shape, std::uint32_t reduction, std::uint32_t group) {
  return reduction / group * folds_per_chain(shape, group);
}

// Cycle in which row `row` of fold f is loaded.
constexpr std::uint64_t load_cycle(array_shape shape, std::uint64_t beats, std::uint64_t fold, std::uint32_t row) {
  return fold * fold_interval(shape, beats) + std::uint64_t{row} * (shape.banks == 1 ? shape.adder_stages : 1);
}

// s(f): cycle in which the first beat of fold f is accepted.
constexpr std::uint64_t stream_start(array_shape shape, std::uint64_t beats, std::uint64_t fold) {
  return (shape.banks == 1 ? 1 : shape.rows) + fold * fold_interval(shape, beats);
}

// Cycles of a job from the first stationary row loaded into an idle array to the last result, both included.
constexpr std::uint64_t job_cycles(array_shape shape, std::uint64_t beats, std::uint32_t reduction,
                                   std::uint32_t group) {
  if (beats == 0) return 0;
  return stream_start(shape, beats, job_folds(shape, reduction, group) - 1) + beats + vector_latency(shape);
}

}  // namespace dvp::array
