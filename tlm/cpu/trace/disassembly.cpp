#include "tlm/cpu/trace/disassembly.h"

#include <array>
#include <cstdio>
#include <vector>

#include "tlm/cpu/debug/csr_names.h"
#include "tlm/cpu/trace/expand_compressed.h"

namespace dvp::cpu::trace {

namespace {

// One form of an instruction. Operands, other characters standing for themselves:
//   d s t     integer rd, rs1, rs2        D S T R   floating-point rd, rs1, rs2, rs3
//   i o q     immediates of I-type, of a load, of a store, decimal
//   h z       shift amount, in hexadecimal; immediate of csrrwi and its like
//   u b j     upper immediate, branch target, jump target
//   c f g     CSR, predecessors and successors of a fence
//   m         ",mode" unless the rounding mode is the dynamic one
// A "%" in the name is where the ordering of an atomic goes (.aq, .rl, .aqrl).
struct form {
  const char* name;
  const char* operands;
  std::uint32_t match;
  std::uint32_t mask;
  bool same_sources = false;  // only where rs1 = rs2
};

constexpr std::uint32_t rd_mask = 0x1f << 7, rs1_mask = 0x1f << 15, rs2_mask = 0x1f << 20, i_mask = 0xfffU << 20,
                        funct3_mask = 7 << 12, f3 = 0x707f, f7 = 0xfe00'707f, f6 = 0xfc00'707f, fp = 0xfe00'007f,
                        fp_fixed = 0xfff0'007f, fp_exact = 0xfff0'707f, fused = 0x0600'007f, amo = 0xf800'707f;
constexpr std::uint32_t ra_rd = 1 << 7;

constexpr std::uint32_t op(std::uint32_t opcode, std::uint32_t funct3 = 0, std::uint32_t funct7 = 0,
                           std::uint32_t rs2 = 0) {
  return funct7 << 25 | rs2 << 20 | funct3 << 12 | opcode;
}

// Short forms stand before what they are short for.
constexpr form forms[] = {
    {"unimp", "", 0xc000'1073, 0xffff'ffff},
    {"lui", "d,u", 0x37, 0x7f},
    {"auipc", "d,u", 0x17, 0x7f},
    {"j", "j", 0x6f, 0x7f | rd_mask},
    {"jal", "j", 0x6f | ra_rd, 0x7f | rd_mask},
    {"jal", "d,j", 0x6f, 0x7f},
    {"ret", "", 0x8067, 0xffff'ffff},
    {"jr", "s", 0x67, f3 | rd_mask | i_mask},
    {"jr", "o(s)", 0x67, f3 | rd_mask},
    {"jalr", "s", 0x67 | ra_rd, f3 | rd_mask | i_mask},
    {"jalr", "o(s)", 0x67 | ra_rd, f3 | rd_mask},
    {"jalr", "d,s", 0x67, f3 | i_mask},
    {"jalr", "d,o(s)", 0x67, f3},
    {"beqz", "s,b", op(0x63, 0), f3 | rs2_mask},
    {"beq", "s,t,b", op(0x63, 0), f3},
    {"bnez", "s,b", op(0x63, 1), f3 | rs2_mask},
    {"bne", "s,t,b", op(0x63, 1), f3},
    {"bltz", "s,b", op(0x63, 4), f3 | rs2_mask},
    {"bgtz", "t,b", op(0x63, 4), f3 | rs1_mask},
    {"blt", "s,t,b", op(0x63, 4), f3},
    {"blez", "t,b", op(0x63, 5), f3 | rs1_mask},
    {"bgez", "s,b", op(0x63, 5), f3 | rs2_mask},
    {"bge", "s,t,b", op(0x63, 5), f3},
    {"bltu", "s,t,b", op(0x63, 6), f3},
    {"bgeu", "s,t,b", op(0x63, 7), f3},
    {"lb", "d,o(s)", op(0x03, 0), f3},
    {"lh", "d,o(s)", op(0x03, 1), f3},
    {"lw", "d,o(s)", op(0x03, 2), f3},
    {"ld", "d,o(s)", op(0x03, 3), f3},
    {"lbu", "d,o(s)", op(0x03, 4), f3},
    {"lhu", "d,o(s)", op(0x03, 5), f3},
    {"lwu", "d,o(s)", op(0x03, 6), f3},
    {"sb", "t,q(s)", op(0x23, 0), f3},
    {"sh", "t,q(s)", op(0x23, 1), f3},
    {"sw", "t,q(s)", op(0x23, 2), f3},
    {"sd", "t,q(s)", op(0x23, 3), f3},
    {"nop", "", 0x13, 0xffff'ffff},
    {"li", "d,i", op(0x13, 0), f3 | rs1_mask},
    {"mv", "d,s", op(0x13, 0), f3 | i_mask},
    {"addi", "d,s,i", op(0x13, 0), f3},
    {"slti", "d,s,i", op(0x13, 2), f3},
    {"seqz", "d,s", op(0x13, 3) | 1U << 20, f3 | i_mask},
    {"sltiu", "d,s,i", op(0x13, 3), f3},
    {"not", "d,s", op(0x13, 4) | i_mask, f3 | i_mask},
    {"xori", "d,s,i", op(0x13, 4), f3},
    {"ori", "d,s,i", op(0x13, 6), f3},
    {"zext.b", "d,s", op(0x13, 7) | 255U << 20, f3 | i_mask},
    {"andi", "d,s,i", op(0x13, 7), f3},
    {"slli", "d,s,h", op(0x13, 1), f6},
    {"srli", "d,s,h", op(0x13, 5), f6},
    {"srai", "d,s,h", op(0x13, 5, 0x20), f6},
    {"mv", "d,t", op(0x33, 0), f7 | rs1_mask},
    {"add", "d,s,t", op(0x33, 0), f7},
    {"neg", "d,t", op(0x33, 0, 0x20), f7 | rs1_mask},
    {"sub", "d,s,t", op(0x33, 0, 0x20), f7},
    {"sll", "d,s,t", op(0x33, 1), f7},
    {"sltz", "d,s", op(0x33, 2), f7 | rs2_mask},
    {"sgtz", "d,t", op(0x33, 2), f7 | rs1_mask},
    {"slt", "d,s,t", op(0x33, 2), f7},
    {"snez", "d,t", op(0x33, 3), f7 | rs1_mask},
    {"sltu", "d,s,t", op(0x33, 3), f7},
    {"xor", "d,s,t", op(0x33, 4), f7},
    {"srl", "d,s,t", op(0x33, 5), f7},
    {"sra", "d,s,t", op(0x33, 5, 0x20), f7},
    {"or", "d,s,t", op(0x33, 6), f7},
    {"and", "d,s,t", op(0x33, 7), f7},
    {"mul", "d,s,t", op(0x33, 0, 1), f7},
    {"mulh", "d,s,t", op(0x33, 1, 1), f7},
    {"mulhsu", "d,s,t", op(0x33, 2, 1), f7},
    {"mulhu", "d,s,t", op(0x33, 3, 1), f7},
    {"div", "d,s,t", op(0x33, 4, 1), f7},
    {"divu", "d,s,t", op(0x33, 5, 1), f7},
    {"rem", "d,s,t", op(0x33, 6, 1), f7},
    {"remu", "d,s,t", op(0x33, 7, 1), f7},
    {"sext.w", "d,s", op(0x1b, 0), f3 | i_mask},
    {"addiw", "d,s,i", op(0x1b, 0), f3},
    {"slliw", "d,s,h", op(0x1b, 1), f7},
    {"srliw", "d,s,h", op(0x1b, 5), f7},
    {"sraiw", "d,s,h", op(0x1b, 5, 0x20), f7},
    {"addw", "d,s,t", op(0x3b, 0), f7},
    {"negw", "d,t", op(0x3b, 0, 0x20), f7 | rs1_mask},
    {"subw", "d,s,t", op(0x3b, 0, 0x20), f7},
    {"sllw", "d,s,t", op(0x3b, 1), f7},
    {"srlw", "d,s,t", op(0x3b, 5), f7},
    {"sraw", "d,s,t", op(0x3b, 5, 0x20), f7},
    {"mulw", "d,s,t", op(0x3b, 0, 1), f7},
    {"divw", "d,s,t", op(0x3b, 4, 1), f7},
    {"divuw", "d,s,t", op(0x3b, 5, 1), f7},
    {"remw", "d,s,t", op(0x3b, 6, 1), f7},
    {"remuw", "d,s,t", op(0x3b, 7, 1), f7},
    {"fence", "", 0x0ff0'000f, 0xffff'ffff},
    {"pause", "", 0x0100'000f, 0xffff'ffff},
    {"fence.tso", "", 0x8330'000f, 0xffff'ffff},
    {"fence", "f,g", op(0x0f, 0), 0xf000'707f | rd_mask | rs1_mask},
    {"fence.i", "", op(0x0f, 1), 0xffff'ffff},
    {"ecall", "", 0x0000'0073, 0xffff'ffff},
    {"ebreak", "", 0x0010'0073, 0xffff'ffff},
    {"sret", "", 0x1020'0073, 0xffff'ffff},
    {"mret", "", 0x3020'0073, 0xffff'ffff},
    {"wfi", "", 0x1050'0073, 0xffff'ffff},
    {"csrw", "c,s", op(0x73, 1), f3 | rd_mask},
    {"csrrw", "d,c,s", op(0x73, 1), f3},
    {"csrr", "d,c", op(0x73, 2), f3 | rs1_mask},
    {"csrs", "c,s", op(0x73, 2), f3 | rd_mask},
    {"csrrs", "d,c,s", op(0x73, 2), f3},
    {"csrc", "c,s", op(0x73, 3), f3 | rd_mask},
    {"csrrc", "d,c,s", op(0x73, 3), f3},
    {"csrwi", "c,z", op(0x73, 5), f3 | rd_mask},
    {"csrrwi", "d,c,z", op(0x73, 5), f3},
    {"csrsi", "c,z", op(0x73, 6), f3 | rd_mask},
    {"csrrsi", "d,c,z", op(0x73, 6), f3},
    {"csrci", "c,z", op(0x73, 7), f3 | rd_mask},
    {"csrrci", "d,c,z", op(0x73, 7), f3},
    {"lr.w%", "d,(s)", op(0x2f, 2, 0x08), amo | rs2_mask},
    {"sc.w%", "d,t,(s)", op(0x2f, 2, 0x0c), amo},
    {"amoadd.w%", "d,t,(s)", op(0x2f, 2, 0x00), amo},
    {"amoswap.w%", "d,t,(s)", op(0x2f, 2, 0x04), amo},
    {"amoxor.w%", "d,t,(s)", op(0x2f, 2, 0x10), amo},
    {"amoor.w%", "d,t,(s)", op(0x2f, 2, 0x20), amo},
    {"amoand.w%", "d,t,(s)", op(0x2f, 2, 0x30), amo},
    {"amomin.w%", "d,t,(s)", op(0x2f, 2, 0x40), amo},
    {"amomax.w%", "d,t,(s)", op(0x2f, 2, 0x50), amo},
    {"amominu.w%", "d,t,(s)", op(0x2f, 2, 0x60), amo},
    {"amomaxu.w%", "d,t,(s)", op(0x2f, 2, 0x70), amo},
    {"lr.d%", "d,(s)", op(0x2f, 3, 0x08), amo | rs2_mask},
    {"sc.d%", "d,t,(s)", op(0x2f, 3, 0x0c), amo},
    {"amoadd.d%", "d,t,(s)", op(0x2f, 3, 0x00), amo},
    {"amoswap.d%", "d,t,(s)", op(0x2f, 3, 0x04), amo},
    {"amoxor.d%", "d,t,(s)", op(0x2f, 3, 0x10), amo},
    {"amoor.d%", "d,t,(s)", op(0x2f, 3, 0x20), amo},
    {"amoand.d%", "d,t,(s)", op(0x2f, 3, 0x30), amo},
    {"amomin.d%", "d,t,(s)", op(0x2f, 3, 0x40), amo},
    {"amomax.d%", "d,t,(s)", op(0x2f, 3, 0x50), amo},
    {"amominu.d%", "d,t,(s)", op(0x2f, 3, 0x60), amo},
    {"amomaxu.d%", "d,t,(s)", op(0x2f, 3, 0x70), amo},
    {"flw", "D,o(s)", op(0x07, 2), f3},
    {"fld", "D,o(s)", op(0x07, 3), f3},
    {"fsw", "T,q(s)", op(0x27, 2), f3},
    {"fsd", "T,q(s)", op(0x27, 3), f3},
    {"fmadd.s", "D,S,T,Rm", op(0x43), fused},
    {"fmsub.s", "D,S,T,Rm", op(0x47), fused},
    {"fnmsub.s", "D,S,T,Rm", op(0x4b), fused},
    {"fnmadd.s", "D,S,T,Rm", op(0x4f), fused},
    {"fmadd.d", "D,S,T,Rm", op(0x43, 0, 1), fused},
    {"fmsub.d", "D,S,T,Rm", op(0x47, 0, 1), fused},
    {"fnmsub.d", "D,S,T,Rm", op(0x4b, 0, 1), fused},
    {"fnmadd.d", "D,S,T,Rm", op(0x4f, 0, 1), fused},
    {"fadd.s", "D,S,Tm", op(0x53, 0, 0x00), fp},
    {"fsub.s", "D,S,Tm", op(0x53, 0, 0x04), fp},
    {"fmul.s", "D,S,Tm", op(0x53, 0, 0x08), fp},
    {"fdiv.s", "D,S,Tm", op(0x53, 0, 0x0c), fp},
    {"fsqrt.s", "D,Sm", op(0x53, 0, 0x2c), fp_fixed},
    {"fmv.s", "D,S", op(0x53, 0, 0x10), f7, true},
    {"fsgnj.s", "D,S,T", op(0x53, 0, 0x10), f7},
    {"fneg.s", "D,S", op(0x53, 1, 0x10), f7, true},
    {"fsgnjn.s", "D,S,T", op(0x53, 1, 0x10), f7},
    {"fabs.s", "D,S", op(0x53, 2, 0x10), f7, true},
    {"fsgnjx.s", "D,S,T", op(0x53, 2, 0x10), f7},
    {"fmin.s", "D,S,T", op(0x53, 0, 0x14), f7},
    {"fmax.s", "D,S,T", op(0x53, 1, 0x14), f7},
    {"fle.s", "d,S,T", op(0x53, 0, 0x50), f7},
    {"flt.s", "d,S,T", op(0x53, 1, 0x50), f7},
    {"feq.s", "d,S,T", op(0x53, 2, 0x50), f7},
    {"fcvt.w.s", "d,Sm", op(0x53, 0, 0x60, 0), fp_fixed},
    {"fcvt.wu.s", "d,Sm", op(0x53, 0, 0x60, 1), fp_fixed},
    {"fcvt.l.s", "d,Sm", op(0x53, 0, 0x60, 2), fp_fixed},
    {"fcvt.lu.s", "d,Sm", op(0x53, 0, 0x60, 3), fp_fixed},
    {"fcvt.s.w", "D,sm", op(0x53, 0, 0x68, 0), fp_fixed},
    {"fcvt.s.wu", "D,sm", op(0x53, 0, 0x68, 1), fp_fixed},
    {"fcvt.s.l", "D,sm", op(0x53, 0, 0x68, 2), fp_fixed},
    {"fcvt.s.lu", "D,sm", op(0x53, 0, 0x68, 3), fp_fixed},
    {"fmv.x.w", "d,S", op(0x53, 0, 0x70), fp_exact},
    {"fclass.s", "d,S", op(0x53, 1, 0x70), fp_exact},
    {"fmv.w.x", "D,s", op(0x53, 0, 0x78), fp_exact},
    {"fcvt.s.d", "D,Sm", op(0x53, 0, 0x20, 1), fp_fixed},
    {"fcvt.d.s", "D,S", op(0x53, 0, 0x21, 0), fp_exact},
    {"fadd.d", "D,S,Tm", op(0x53, 0, 0x01), fp},
    {"fsub.d", "D,S,Tm", op(0x53, 0, 0x05), fp},
    {"fmul.d", "D,S,Tm", op(0x53, 0, 0x09), fp},
    {"fdiv.d", "D,S,Tm", op(0x53, 0, 0x0d), fp},
    {"fsqrt.d", "D,Sm", op(0x53, 0, 0x2d), fp_fixed},
    {"fmv.d", "D,S", op(0x53, 0, 0x11), f7, true},
    {"fsgnj.d", "D,S,T", op(0x53, 0, 0x11), f7},
    {"fneg.d", "D,S", op(0x53, 1, 0x11), f7, true},
    {"fsgnjn.d", "D,S,T", op(0x53, 1, 0x11), f7},
    {"fabs.d", "D,S", op(0x53, 2, 0x11), f7, true},
    {"fsgnjx.d", "D,S,T", op(0x53, 2, 0x11), f7},
    {"fmin.d", "D,S,T", op(0x53, 0, 0x15), f7},
    {"fmax.d", "D,S,T", op(0x53, 1, 0x15), f7},
    {"fle.d", "d,S,T", op(0x53, 0, 0x51), f7},
    {"flt.d", "d,S,T", op(0x53, 1, 0x51), f7},
    {"feq.d", "d,S,T", op(0x53, 2, 0x51), f7},
    {"fcvt.w.d", "d,Sm", op(0x53, 0, 0x61, 0), fp_fixed},
    {"fcvt.wu.d", "d,Sm", op(0x53, 0, 0x61, 1), fp_fixed},
    {"fcvt.l.d", "d,Sm", op(0x53, 0, 0x61, 2), fp_fixed},
    {"fcvt.lu.d", "d,Sm", op(0x53, 0, 0x61, 3), fp_fixed},
    {"fcvt.d.w", "D,s", op(0x53, 0, 0x69, 0), fp_exact},
    {"fcvt.d.wu", "D,s", op(0x53, 0, 0x69, 1), fp_exact},
    {"fcvt.d.l", "D,sm", op(0x53, 0, 0x69, 2), fp_fixed},
    {"fcvt.d.lu", "D,sm", op(0x53, 0, 0x69, 3), fp_fixed},
    {"fmv.x.d", "d,S", op(0x53, 0, 0x71), fp_exact},
    {"fclass.d", "d,S", op(0x53, 1, 0x71), fp_exact},
    {"fmv.d.x", "D,s", op(0x53, 0, 0x79), fp_exact},
};

constexpr std::array<const char*, 32> integer_names = {
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0",  "a1",  "a2", "a3", "a4", "a5",
    "a6",   "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
constexpr std::array<const char*, 32> float_names = {
    "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fs0", "fs1", "fa0",  "fa1",  "fa2", "fa3", "fa4",  "fa5",
    "fa6", "fa7", "fs2", "fs3", "fs4", "fs5", "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11"};

std::uint32_t field(std::uint32_t bits, unsigned high, unsigned low) {
  return bits >> low & ((1U << (high - low + 1)) - 1);
}

std::int64_t branch_offset(std::uint32_t bits) {
  const std::uint32_t offset =
      field(bits, 31, 31) << 12 | field(bits, 7, 7) << 11 | field(bits, 30, 25) << 5 | field(bits, 11, 8) << 1;
  return static_cast<std::int64_t>(offset ^ 0x1000U) - 0x1000;
}

std::int64_t jump_offset(std::uint32_t bits) {
  const std::uint32_t offset =
      field(bits, 31, 31) << 20 | field(bits, 19, 12) << 12 | field(bits, 20, 20) << 11 | field(bits, 30, 21) << 1;
  return static_cast<std::int64_t>(offset ^ 0x10'0000U) - 0x10'0000;
}

std::int32_t store_offset(std::uint32_t bits) {
  return static_cast<std::int32_t>(bits) >> 25 << 5 | static_cast<std::int32_t>(field(bits, 11, 7));
}

std::string hexadecimal(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string fence_set(std::uint32_t bits) {
  std::string out;
  for (unsigned i = 0; i < 4; ++i) {
    if ((bits >> (3 - i) & 1) != 0) out += "iorw"[i];
  }
  return out.empty() ? "unknown" : out;
}

std::string operand(char what, std::uint32_t bits, std::uint64_t pc, const core::symbol_table& symbols) {
  constexpr std::array<const char*, 8> modes = {",rne", ",rtz", ",rdn", ",rup", ",rmm", ",unknown", ",unknown", ""};
  switch (what) {
    case 'd':
      return integer_names[field(bits, 11, 7)];
    case 's':
      return integer_names[field(bits, 19, 15)];
    case 't':
      return integer_names[field(bits, 24, 20)];
    case 'D':
      return float_names[field(bits, 11, 7)];
    case 'S':
      return float_names[field(bits, 19, 15)];
    case 'T':
      return float_names[field(bits, 24, 20)];
    case 'R':
      return float_names[field(bits, 31, 27)];
    case 'i':
    case 'o':
      return std::to_string(static_cast<std::int32_t>(bits) >> 20);
    case 'q':
      return std::to_string(store_offset(bits));
    case 'h':
      return hexadecimal(field(bits, 25, 20));
    case 'z':
      return std::to_string(field(bits, 19, 15));
    case 'u':
      return hexadecimal(field(bits, 31, 12));
    case 'b':
      return symbols.locate(pc + static_cast<std::uint64_t>(branch_offset(bits)));
    case 'j':
      return symbols.locate(pc + static_cast<std::uint64_t>(jump_offset(bits)));
    case 'c':
      return debug::csr_name(field(bits, 31, 20));
    case 'f':
      return fence_set(field(bits, 27, 24));
    case 'g':
      return fence_set(field(bits, 23, 20));
    case 'm':
      return modes[field(bits, 14, 12)];
    default:
      return {what};
  }
}

std::string mnemonic(const char* name, std::uint32_t bits) {
  constexpr std::array<const char*, 4> orders = {"", ".rl", ".aq", ".aqrl"};
  std::string out = name;
  if (out.back() == '%') out.replace(out.size() - 1, 1, orders[field(bits, 26, 25)]);
  return out;
}

const form* find(std::uint32_t bits) {
  // By bits 6..2, in the order of the table.
  static const auto by_opcode = [] {
    std::array<std::vector<const form*>, 32> table;
    for (const form& f : forms) table[field(f.match, 6, 2)].push_back(&f);
    return table;
  }();
  for (const form* f : by_opcode[field(bits, 6, 2)]) {
    if ((bits & f->mask) == f->match && (!f->same_sources || field(bits, 19, 15) == field(bits, 24, 20))) return f;
  }
  return nullptr;
}

}  // namespace

std::string disassemble(std::uint32_t bits, std::uint64_t pc, const core::symbol_table& symbols) {
  const bool compressed = (bits & 3) != 3;
  const auto half = static_cast<std::uint16_t>(bits);
  if (compressed && half == 0) return "unimp";
  const std::uint32_t whole = compressed ? expand_compressed(half) : bits;
  const form* f = whole == 0 ? nullptr : find(whole);
  if (f == nullptr) return compressed ? ".2byte " + hexadecimal(half) : ".4byte " + hexadecimal(bits);
  std::string text = mnemonic(f->name, whole);
  if (*f->operands != '\0') text += ' ';
  for (const char* p = f->operands; *p != '\0'; ++p) text += operand(*p, whole, pc, symbols);
  return text;
}

}  // namespace dvp::cpu::trace
