#include "tlm/cpu/trace/expand_compressed.h"

#include <initializer_list>
#include <utility>

namespace dvp::cpu::trace {

namespace {

constexpr std::uint32_t op_load = 0x03, op_load_fp = 0x07, op_imm = 0x13, op_imm_32 = 0x1b, op_store = 0x23,
                        op_store_fp = 0x27, op = 0x33, op_lui = 0x37, op_32 = 0x3b, op_branch = 0x63, op_jalr = 0x67,
                        op_jal = 0x6f, ebreak = 0x0010'0073;
constexpr std::uint32_t ra = 1, sp = 2;

struct half {
  std::uint32_t bits;

  // Bits high..low.
  std::uint32_t field(unsigned high, unsigned low) const { return bits >> low & ((1U << (high - low + 1)) - 1); }
  // Single bits gathered from the first position of each pair to its second.
  std::uint32_t gather(std::initializer_list<std::pair<unsigned, unsigned>> moves) const {
    std::uint32_t out = 0;
    for (const auto& [from, to] : moves) out |= (bits >> from & 1) << to;
    return out;
  }
  std::uint32_t rd() const { return field(11, 7); }
  std::uint32_t rs2() const { return field(6, 2); }
  std::uint32_t rd_short() const { return 8 + field(4, 2); }
  std::uint32_t rs1_short() const { return 8 + field(9, 7); }

  // The immediate of most instructions: six bits, signed or not.
  std::uint32_t unsigned_6() const { return field(12, 12) << 5 | field(6, 2); }
  std::uint32_t signed_6() const { return sign(unsigned_6(), 5); }
  std::uint32_t word_offset() const { return field(5, 5) << 6 | field(12, 10) << 3 | field(6, 6) << 2; }
  std::uint32_t double_offset() const { return field(6, 5) << 6 | field(12, 10) << 3; }

  static std::uint32_t sign(std::uint32_t value, unsigned top) { return (value ^ (1U << top)) - (1U << top); }
};

std::uint32_t i_type(std::uint32_t opcode, std::uint32_t funct3, std::uint32_t rd, std::uint32_t rs1,
                     std::uint32_t immediate) {
  return immediate << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode;
}
std::uint32_t r_type(std::uint32_t opcode, std::uint32_t funct3, std::uint32_t funct7, std::uint32_t rd,
                     std::uint32_t rs1, std::uint32_t rs2) {
  return funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode;
}
std::uint32_t s_type(std::uint32_t opcode, std::uint32_t funct3, std::uint32_t rs1, std::uint32_t rs2,
                     std::uint32_t immediate) {
  return (immediate >> 5 & 0x7f) << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | (immediate & 0x1f) << 7 | opcode;
}
std::uint32_t b_type(std::uint32_t funct3, std::uint32_t rs1, std::uint32_t offset) {
  return (offset >> 12 & 1) << 31 | (offset >> 5 & 0x3f) << 25 | rs1 << 15 | funct3 << 12 | (offset >> 1 & 0xf) << 8 |
         (offset >> 11 & 1) << 7 | op_branch;
}
std::uint32_t j_type(std::uint32_t rd, std::uint32_t offset) {
  return (offset >> 20 & 1) << 31 | (offset >> 1 & 0x3ff) << 21 | (offset >> 11 & 1) << 20 |
         (offset >> 12 & 0xff) << 12 | rd << 7 | op_jal;
}

constexpr std::uint32_t word = 2, double_word = 3;  // funct3 of loads and stores

std::uint32_t quadrant_0(const half& h, std::uint32_t funct3) {
  switch (funct3) {
    case 0: {
      const std::uint32_t immediate =
          h.field(10, 7) << 6 | h.field(12, 11) << 4 | h.field(5, 5) << 3 | h.field(6, 6) << 2;
      return immediate == 0 ? 0 : i_type(op_imm, 0, h.rd_short(), sp, immediate);
    }
    case 1:
      return i_type(op_load_fp, double_word, h.rd_short(), h.rs1_short(), h.double_offset());
    case 2:
      return i_type(op_load, word, h.rd_short(), h.rs1_short(), h.word_offset());
    case 3:
      return i_type(op_load, double_word, h.rd_short(), h.rs1_short(), h.double_offset());
    case 5:
      return s_type(op_store_fp, double_word, h.rs1_short(), h.rd_short(), h.double_offset());
    case 6:
      return s_type(op_store, word, h.rs1_short(), h.rd_short(), h.word_offset());
    case 7:
      return s_type(op_store, double_word, h.rs1_short(), h.rd_short(), h.double_offset());
    default:
      return 0;
  }
}

std::uint32_t arithmetic(const half& h) {
  const std::uint32_t rd = h.rs1_short();
  switch (h.field(11, 10)) {
    case 0:
      return h.unsigned_6() == 0 ? 0 : i_type(op_imm, 5, rd, rd, h.unsigned_6());
    case 1:
      return h.unsigned_6() == 0 ? 0 : i_type(op_imm, 5, rd, rd, 0x400 | h.unsigned_6());
    case 2:
      return i_type(op_imm, 7, rd, rd, h.signed_6());
    default:
      break;
  }
  constexpr std::uint32_t functions[] = {0, 4, 6, 7};  // sub, xor, or, and; subw, addw
  const std::uint32_t which = h.field(6, 5);
  const std::uint32_t negative = which == 0 ? 0x20 : 0;
  if (h.field(12, 12) == 0) return r_type(op, functions[which], negative, rd, rd, h.rd_short());
  return which > 1 ? 0 : r_type(op_32, 0, negative, rd, rd, h.rd_short());
}

std::uint32_t quadrant_1(const half& h, std::uint32_t funct3) {
  const std::uint32_t rd = h.rd();
  const std::uint32_t branch = h.gather({{12, 8}, {11, 4}, {10, 3}, {6, 7}, {5, 6}, {4, 2}, {3, 1}, {2, 5}});
  switch (funct3) {
    case 0:
      if (rd == 0) return h.unsigned_6() == 0 ? i_type(op_imm, 0, 0, 0, 0) : 0;
      return i_type(op_imm, 0, rd, rd, h.signed_6());
    case 1:
      return rd == 0 ? 0 : i_type(op_imm_32, 0, rd, rd, h.signed_6());
    case 2:
      return rd == 0 ? 0 : i_type(op_imm, 0, rd, 0, h.signed_6());
    case 3:
      if (h.unsigned_6() == 0 || rd == 0) return 0;
      if (rd == sp) {
        const std::uint32_t immediate = h.gather({{12, 9}, {6, 4}, {5, 6}, {4, 8}, {3, 7}, {2, 5}});
        return i_type(op_imm, 0, sp, sp, half::sign(immediate, 9));
      }
      return h.signed_6() << 12 | rd << 7 | op_lui;
    case 4:
      return arithmetic(h);
    case 5: {
      const std::uint32_t offset =
          h.gather({{12, 11}, {11, 4}, {10, 9}, {9, 8}, {8, 10}, {7, 6}, {6, 7}, {5, 3}, {4, 2}, {3, 1}, {2, 5}});
      return j_type(0, half::sign(offset, 11));
    }
    default:
      return b_type(funct3 == 6 ? 0 : 1, h.rs1_short(), half::sign(branch, 8));
  }
}

std::uint32_t jump_move_add(const half& h) {
  const std::uint32_t rd = h.rd();
  const std::uint32_t rs2 = h.rs2();
  if (h.field(12, 12) == 0) {
    if (rs2 == 0) return rd == 0 ? 0 : i_type(op_jalr, 0, 0, rd, 0);
    return rd == 0 ? 0 : r_type(op, 0, 0, rd, 0, rs2);
  }
  if (rs2 == 0) return rd == 0 ? ebreak : i_type(op_jalr, 0, ra, rd, 0);
  return rd == 0 ? 0 : r_type(op, 0, 0, rd, rd, rs2);
}

std::uint32_t quadrant_2(const half& h, std::uint32_t funct3) {
  const std::uint32_t rd = h.rd();
  const std::uint32_t load_word = h.field(3, 2) << 6 | h.field(12, 12) << 5 | h.field(6, 4) << 2;
  const std::uint32_t load_double = h.field(4, 2) << 6 | h.field(12, 12) << 5 | h.field(6, 5) << 3;
  const std::uint32_t store_word = h.field(8, 7) << 6 | h.field(12, 9) << 2;
  const std::uint32_t store_double = h.field(9, 7) << 6 | h.field(12, 10) << 3;
  switch (funct3) {
    case 0:
      return rd == 0 || h.unsigned_6() == 0 ? 0 : i_type(op_imm, 1, rd, rd, h.unsigned_6());
    case 1:
      return i_type(op_load_fp, double_word, rd, sp, load_double);
    case 2:
      return rd == 0 ? 0 : i_type(op_load, word, rd, sp, load_word);
    case 3:
      return rd == 0 ? 0 : i_type(op_load, double_word, rd, sp, load_double);
    case 4:
      return jump_move_add(h);
    case 5:
      return s_type(op_store_fp, double_word, sp, h.rs2(), store_double);
    case 6:
      return s_type(op_store, word, sp, h.rs2(), store_word);
    default:
      return s_type(op_store, double_word, sp, h.rs2(), store_double);
  }
}

}  // namespace

std::uint32_t expand_compressed(std::uint16_t bits) {
  const half h{bits};
  const std::uint32_t funct3 = h.field(15, 13);
  switch (h.field(1, 0)) {
    case 0:
      return quadrant_0(h, funct3);
    case 1:
      return quadrant_1(h, funct3);
    case 2:
      return quadrant_2(h, funct3);
    default:
      return 0;
  }
}

}  // namespace dvp::cpu::trace
