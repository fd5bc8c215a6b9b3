// What a random job gives the array: tiles (folds of one bank's worth of stationary values) and the beats through them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "testbenches/rtl/host_arithmetic.h"
#include "tlm/array/array_timing.h"

namespace dvp::regress {

using test::random_words;

// A format of a streamed vector, with or without half step, as one number.
enum class stream_kind : std::uint8_t { bf16, q8, q4, q4_half, q2, q2_half, q0 };
inline constexpr std::uint32_t beat_kinds = 6;  // those that take beats
inline constexpr const char* kind_names[] = {"bf16", "q8", "q4", "q4_half", "q2", "q2_half", "q0"};

numerics::stream_format format_of(stream_kind kind);
constexpr bool half_step_of(stream_kind kind) {
  return kind == stream_kind::q4_half || kind == stream_kind::q2_half;
}

struct tile_vector {
  stream_kind kind = stream_kind::q8;
  std::vector<std::uint16_t> elements;  // [R]: bf16 bits, or a code in the low bits
  std::vector<std::uint32_t> starts;    // [C]: the sums it begins with
  bool ready = true;                    // starts are known
};

struct tile_beat {
  stream_kind kind = stream_kind::q8;
  std::vector<std::uint32_t> vectors;  // indices into the tile's
};

struct tile {
  std::uint64_t id = 0;
  bool bank = false;
  bool chained = false;               // starts are the sums of the tile before
  std::uint32_t fold = 0;             // in its chain
  std::vector<bool> active;           // [R]
  std::vector<std::uint16_t> values;  // [R][C]
  std::vector<tile_vector> vectors;
  std::vector<tile_beat> beats;
  std::shared_ptr<tile> next;  // the next fold of the chain
  // Progress.
  std::vector<std::uint32_t> load_order;
  std::uint32_t loaded = 0;     // rows
  bool tight = false;           // streams as soon as its first row is there; rows then follow as early as allowed
  std::uint32_t sent = 0;       // beats accepted
  std::uint64_t first_use = 0;  // move of the first beat
  std::uint64_t bank_left = 0;  // move of the last beat that used the bank before
};

// The number an element stands for, by the words of rtl/array/systolic_array.sv.
float element_value(stream_kind kind, std::uint16_t element);

// One chain of folds over the same vectors; ids and banks count on from `first_id`.
std::vector<std::shared_ptr<tile>> random_chain(array::array_shape shape, std::uint64_t first_id, random_words& random);

}  // namespace dvp::regress
