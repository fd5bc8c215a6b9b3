#include "tlm/cpu/rv64/instruction.h"

namespace dvp::cpu::rv64 {

namespace {

constexpr std::uint32_t field(std::uint32_t bits, unsigned high, unsigned low) {
  return (bits >> low) & ((1U << (high - low + 1)) - 1U);
}

constexpr std::int32_t sign_extend(std::uint32_t value, unsigned width) {
  const std::uint32_t sign = 1U << (width - 1);
  return static_cast<std::int32_t>((value ^ sign) - sign);
}

constexpr bool links(std::uint32_t reg) {
  return reg == 1 || reg == 5;
}

constexpr flow jump_flow(std::uint32_t rd) {
  return links(rd) ? flow::call : flow::jump;
}

constexpr flow indirect_flow(std::uint32_t rd, std::uint32_t rs1) {
  return links(rd) ? flow::call : links(rs1) ? flow::ret : flow::jump;
}

void set_load(instruction& to, bool floating, std::uint8_t size, bool sign_extended) {
  to.kind = work::load;
  to.memory = floating ? access::float_load : access::load;
  to.size = size;
  to.sign_extended = sign_extended && !floating;
}

void set_store(instruction& to, bool floating, std::uint8_t size) {
  to.kind = work::store;
  to.memory = floating ? access::float_store : access::store;
  to.size = size;
}

void set_operands(instruction& to, std::uint32_t base, std::uint32_t data, std::int32_t offset) {
  to.base = static_cast<std::uint8_t>(base);
  to.data = static_cast<std::uint8_t>(data);
  to.offset = offset;
}

// Quadrants 0 and 2 share the columns of their tables: funct3 selects width and register file.
void decode_compressed_access(instruction& to, std::uint32_t b) {
  const bool stack = (b & 3U) == 2;
  const std::uint32_t funct3 = field(b, 15, 13);
  const bool floating = (funct3 & 3U) == 1;
  const bool word = (funct3 & 3U) == 2;
  const auto size = static_cast<std::uint8_t>(word ? 4 : 8);
  std::uint32_t offset = 0;
  std::uint32_t base = 2;
  std::uint32_t data = 0;
  const bool store = funct3 >= 4;
  if (!stack) {
    base = 8 + field(b, 9, 7);
    data = 8 + field(b, 4, 2);
    offset = word ? field(b, 12, 10) << 3 | field(b, 6, 6) << 2 | field(b, 5, 5) << 6
                  : field(b, 12, 10) << 3 | field(b, 6, 5) << 6;
  } else if (store) {
    data = field(b, 6, 2);
    offset = word ? field(b, 12, 9) << 2 | field(b, 8, 7) << 6 : field(b, 12, 10) << 3 | field(b, 9, 7) << 6;
  } else {
    data = field(b, 11, 7);
    offset = word ? field(b, 12, 12) << 5 | field(b, 6, 4) << 2 | field(b, 3, 2) << 6
                  : field(b, 12, 12) << 5 | field(b, 6, 5) << 3 | field(b, 4, 2) << 6;
    if (data == 0 && !floating) return;  // reserved
  }
  if (store) {
    set_store(to, floating, size);
  } else {
    set_load(to, floating, size, true);
  }
  set_operands(to, base, data, static_cast<std::int32_t>(offset));
}

void decode_compressed_register_jump(instruction& to, std::uint32_t b) {
  const std::uint32_t rs1 = field(b, 11, 7);
  if (field(b, 6, 2) != 0) return;  // c.mv, c.add
  const bool link = field(b, 12, 12) != 0;
  if (rs1 != 0) {
    to.kind = work::jump;
    to.control = indirect_flow(link ? 1 : 0, rs1);
  } else if (link) {
    to.kind = work::csr;
    to.handling = special::ebreak;
  }
}

instruction decode_compressed(std::uint32_t b) {
  instruction to;
  to.bits = b & 0xffffU;
  to.bytes = 2;
  const std::uint32_t quadrant = b & 3U;
  const std::uint32_t funct3 = field(b, 15, 13);
  const bool reserved_quadrant_0 = quadrant == 0 && funct3 == 4;
  const bool reserved_arithmetic = quadrant == 1 && field(b, 15, 10) == 0x27 && field(b, 6, 6) != 0;
  if (reserved_quadrant_0 || reserved_arithmetic) {
    to.handling = special::illegal;
  } else if (quadrant == 1) {
    if (funct3 == 5) {
      to.kind = work::jump;
      to.control = flow::jump;
    } else if (funct3 >= 6) {
      to.kind = work::branch;
      to.control = flow::branch;
    }
  } else if (quadrant == 2 && funct3 == 4) {
    decode_compressed_register_jump(to, b);
  } else if ((funct3 & 3U) != 0) {
    decode_compressed_access(to, b);
  }
  return to;
}

void decode_system(instruction& to) {
  to.kind = work::csr;
  const std::uint32_t funct3 = field(to.bits, 14, 12);
  const std::uint32_t csr = to.bits >> 20;
  if ((funct3 & 3U) != 0) {
    // fflags, frm and fcsr belong to the simulator's floating point.
    to.handling = csr >= 1 && csr <= 3 ? special::none : special::csr;
    return;
  }
  switch (to.bits) {
    case 0x00000073:
      to.handling = special::ecall;
      break;
    case 0x00100073:
      to.handling = special::ebreak;
      break;
    case 0x10500073:
      to.handling = special::wfi;
      break;
    case 0x30200073:
      to.handling = special::mret;
      to.control = flow::trap_return;
      break;
    default:
      to.handling = special::illegal;
  }
}

void decode_atomic(instruction& to) {
  const std::uint32_t funct3 = field(to.bits, 14, 12);
  if (funct3 != 2 && funct3 != 3) return;
  to.kind = work::atomic;
  to.size = funct3 == 2 ? 4 : 8;
  to.sign_extended = true;
  const std::uint32_t operation = to.bits >> 27;
  to.memory = operation == 2 ? access::load_reserved : operation == 3 ? access::store_conditional : access::amo;
  set_operands(to, field(to.bits, 19, 15), field(to.bits, 11, 7), 0);
  if (to.size == 4 && operation >= 0x10) to.handling = special::amo_extreme;
}

work kind_of_float(std::uint32_t bits) {
  switch (bits >> 27) {
    case 0:
    case 1:
      return work::float_add;
    case 2:
      return work::float_multiply;
    case 3:
    case 11:
      return work::float_divide;
    default:
      return work::float_move;
  }
}

work kind_of_integer(std::uint32_t bits) {
  if (bits >> 25 != 1) return work::alu;
  return field(bits, 14, 12) < 4 ? work::multiply : work::divide;
}

void decode_load(instruction& to, bool floating) {
  const std::uint32_t funct3 = field(to.bits, 14, 12);
  if (floating ? funct3 != 2 && funct3 != 3 : funct3 == 7) return;
  set_load(to, floating, static_cast<std::uint8_t>(1U << (funct3 & 3U)), funct3 < 4);
  set_operands(to, field(to.bits, 19, 15), field(to.bits, 11, 7), sign_extend(to.bits >> 20, 12));
}

void decode_store(instruction& to, bool floating) {
  const std::uint32_t funct3 = field(to.bits, 14, 12);
  if (floating ? funct3 != 2 && funct3 != 3 : funct3 > 3) return;
  set_store(to, floating, static_cast<std::uint8_t>(1U << funct3));
  set_operands(to, field(to.bits, 19, 15), field(to.bits, 24, 20),
               sign_extend(to.bits >> 25 << 5 | field(to.bits, 11, 7), 12));
}

}  // namespace

instruction decode(std::uint32_t bits) {
  if (instruction_bytes(bits) == 2) return decode_compressed(bits);
  instruction to;
  to.bits = bits;
  const std::uint32_t rd = field(bits, 11, 7);
  switch (field(bits, 6, 2)) {
    case 0x00:
      decode_load(to, false);
      break;
    case 0x01:
      decode_load(to, true);
      break;
    case 0x03:
      to.kind = work::fence;
      if (field(bits, 14, 12) == 1) to.handling = special::fence_i;
      break;
    case 0x08:
      decode_store(to, false);
      break;
    case 0x09:
      decode_store(to, true);
      break;
    case 0x0b:
      decode_atomic(to);
      break;
    case 0x0c:
    case 0x0e:
      to.kind = kind_of_integer(bits);
      break;
    case 0x10:
    case 0x11:
    case 0x12:
    case 0x13:
      to.kind = work::float_multiply;
      break;
    case 0x14:
      to.kind = kind_of_float(bits);
      if (bits >> 27 == 5 && field(bits, 26, 25) <= 1 && field(bits, 14, 12) <= 1) to.handling = special::float_extreme;
      break;
    case 0x18:
      to.kind = work::branch;
      to.control = flow::branch;
      break;
    case 0x19:
      to.kind = work::jump;
      to.control = indirect_flow(rd, field(bits, 19, 15));
      break;
    case 0x1b:
      to.kind = work::jump;
      to.control = jump_flow(rd);
      break;
    case 0x1c:
      decode_system(to);
      break;
    default:
      break;
  }
  return to;
}

}  // namespace dvp::cpu::rv64
