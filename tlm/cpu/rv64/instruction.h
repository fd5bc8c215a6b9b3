// What the seat must know of an instruction beside its execution: length, price class, flow, memory access.
//
// RV64IMAFDC with Zicsr and Zifencei, from the RISC-V Instruction Set Manual, volume I, 20191213, chapter 24. Encodings
// that are none of these decode as work::alu without access; the instruction-set simulator refuses them.
#pragma once

#include <cstdint>

#include "tlm/cpu/rv64/cost_model.h"
#include "tlm/cpu/rv64/observer.h"

namespace dvp::cpu::rv64 {

enum class access : std::uint8_t { none, load, store, float_load, float_store, load_reserved, store_conditional, amo };

constexpr bool is_atomic(access kind) {
  return kind == access::load_reserved || kind == access::store_conditional || kind == access::amo;
}
// An amo reads, too.
constexpr bool writes_memory(access kind) {
  return kind == access::store || kind == access::float_store || kind == access::store_conditional ||
         kind == access::amo;
}

constexpr bool accesses_float(access kind) {
  return kind == access::float_load || kind == access::float_store;
}

// What the simulator must not execute by itself.
enum class special : std::uint8_t {
  none,
  csr,
  ecall,
  ebreak,
  mret,
  wfi,
  fence_i,
  illegal,        // of the system opcode, and reserved compressed ones that Unicorn 2.0.1 executes
  amo_extreme,    // amomin.w, amomax.w, amominu.w, amomaxu.w: Unicorn 2.0.1 extends one operand only
  float_extreme,  // fmin, fmax: Unicorn 2.0.1 gives NaN, not the other operand, for a signaling NaN
};

struct instruction {
  std::uint32_t bits = 0;  // of a compressed one the low half
  std::uint8_t bytes = 4;  // 2 or 4
  work kind = work::alu;
  flow control = flow::straight;
  special handling = special::none;

  // Memory: effective address is x[base] + offset.
  access memory = access::none;
  std::uint8_t size = 0;       // bytes accessed: 1, 2, 4, 8
  bool sign_extended = false;  // of an integer load
  std::uint8_t base = 0;
  std::int32_t offset = 0;
  std::uint8_t data = 0;  // register loaded or stored, integer or floating point as `memory` says
};

// The length of the instruction that starts with this half word.
constexpr std::uint8_t instruction_bytes(std::uint32_t bits) {
  return (bits & 3U) == 3U ? 4 : 2;
}

instruction decode(std::uint32_t bits);

}  // namespace dvp::cpu::rv64
