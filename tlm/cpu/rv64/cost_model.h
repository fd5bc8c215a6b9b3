// What an instruction costs, by what kind of work it is.
//
// A price is in 1/256 of a clock cycle, so that a core that issues two or three instructions per cycle can be stated.
// It is a long-run average: no pipeline, cache or branch predictor is modelled, hence a program's time depends on the
// instructions it executes alone. What a register access costs beyond its load or store is what the bus returns.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace dvp::cpu::rv64 {

inline constexpr std::uint32_t units_per_cycle = 256;

enum class work : std::uint8_t {
  alu,       // integer arithmetic, shifts, comparisons, lui, auipc
  multiply,  // mul, mulh, mulhsu, mulhu, mulw
  divide,    // div, rem and their variants
  load,      // integer and floating point
  store,
  branch,          // conditional, mispredictions averaged in
  jump,            // jal, jalr
  float_add,       // fadd, fsub
  float_multiply,  // fmul and the fused ones
  float_divide,    // fdiv, fsqrt
  float_move,      // sign injection, min, max, comparison, conversion, class, moves between register files
  atomic,          // lr, sc, amo
  csr,             // Zicsr instructions, mret, wfi, ecall, ebreak
  fence,           // fence, fence.i
};
inline constexpr std::size_t work_kinds = 14;

// "alu", "multiply", ...: the key of a kind in configurations.
const char* name_of(work kind);

struct cost_model {
  // Units per instruction, by kind; each 1 to most_units.
  std::array<std::uint32_t, work_kinds> price{256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256, 256};
  // Average wait for memory, in units, beside the price: of a load (and an atomic), of a store.
  std::uint32_t load_stall = 0;
  std::uint32_t store_stall = 0;
  // Entering a trap handler, and going on after wfi, in units; 1 to most_units.
  std::uint32_t trap_entry = 256;
  std::uint32_t wake = 256;

  static constexpr std::uint32_t most_units = 1U << 20;

  std::uint32_t& operator[](work kind) { return price[static_cast<std::size_t>(kind)]; }
  // Units of one instruction of this kind, stalls included.
  std::uint32_t units(work kind) const;
  // What is wrong with it, a sentence naming the key; empty when nothing is.
  std::string fault() const;
};

}  // namespace dvp::cpu::rv64
