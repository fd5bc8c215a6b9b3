// Text of instructions: some by hand from the ISA manual, very many against GNU objdump where it is installed.
#include "tlm/cpu/trace/disassembly.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <random>
#include <regex>
#include <set>

#include "testbenches/lib/scratch_file.h"

namespace dvp::cpu::trace {
namespace {

TEST(disassembly, by_hand) {
  const core::symbol_table symbols({{0x1000, 0x100, "main", true}});
  const auto text = [&](std::uint32_t bits) { return disassemble(bits, 0x1010, symbols); };
  EXPECT_EQ(text(0xff01'0113), "addi sp,sp,-16");
  EXPECT_EQ(text(0x1141), "addi sp,sp,-16");  // c.addi
  EXPECT_EQ(text(0xff1f'f06f), "j main");     // 0x1010 - 16
  EXPECT_EQ(text(0x0000'8067), "ret");
  EXPECT_EQ(text(0x8082), "ret");
  EXPECT_EQ(text(0x0010'0073), "ebreak");
  EXPECT_EQ(text(0x3420'22f3), "csrr t0,mcause");
  EXPECT_EQ(text(0x0ff0'000f), "fence");
  EXPECT_EQ(text(0x0310'000f), "fence rw,w");
  EXPECT_EQ(text(0x00b5'252f), "amoadd.w a0,a1,(a0)");
  EXPECT_EQ(text(0x06b5'252f), "amoadd.w.aqrl a0,a1,(a0)");
  EXPECT_EQ(text(0xc205'1553), "fcvt.w.d a0,fa0,rtz");
  EXPECT_EQ(text(0x0000'0000), "unimp");
  EXPECT_EQ(text(0xffff'ffff), ".4byte 0xffffffff");
  EXPECT_EQ(text(0x9c41), ".2byte 0x9c41");
}

// objdump 2.40 drops the "i" of add, and, csrw ... with an immediate; later ones do not.
std::string with_immediate_names(std::string text) {
  static const std::set<std::string> names = {"add",  "addw", "and",  "or",   "xor",  "sll",   "srl",   "sra",  "sllw",
                                              "srlw", "sraw", "csrw", "csrs", "csrc", "csrrw", "csrrs", "csrrc"};
  static const std::regex form("(\\S+) (.*,)?(-?[0-9][0-9a-fx]*)");
  std::smatch part;
  if (!std::regex_match(text, part, form) || !names.contains(part[1])) return text;
  std::string name = part[1];
  name.insert(name.ends_with("w") && !name.starts_with("csr") ? name.size() - 1 : name.size(), "i");
  return name + " " + part[2].str() + part[3].str();
}

// What we leave to objdump: hints, the short forms of floating-point and counter CSRs, fences of virtual memory.
bool left_out(const std::string& theirs, const std::string& ours) {
  static const std::regex special(
      "(c\\.|fs?csr|f[rs]rm|f[rs]flags|frcsr|rd(cycle|time|instret)|[shi]+fence|sinval"
      "|hlv|hsv|[ud]ret|cbo|prefetch).*");
  static const std::regex unnamed_csr(".*\\bcsr[0-9]+\\b.*");
  static const std::regex unknown(".*unknown.*");
  return std::regex_match(theirs, special) || std::regex_match(ours, unnamed_csr) || std::regex_match(theirs, unknown);
}

std::string same_spelling(std::string text) {
  text.erase(std::min(text.size(), text.find_first_of("#<")));  // comments
  text.erase(text.find_last_not_of(' ') + 1);
  text = with_immediate_names(text);
  static const std::regex moved("addi (\\w+),(\\w+),0");
  return std::regex_replace(text, moved, "mv $1,$2");
}

// Compares every instruction of the file; returns how many were compared.
std::size_t compare_with_objdump(const std::vector<std::uint8_t>& code) {
  const test::scratch_file file("code.bin");
  std::ofstream(file.path(), std::ios::binary)
      .write(reinterpret_cast<const char*>(code.data()), static_cast<std::streamsize>(code.size()));
  const std::string command =
      "riscv64-unknown-elf-objdump -D -z -b binary -m riscv:rv64 -EL '" + file.path() + "' 2>/dev/null";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  const core::symbol_table none;
  char line[512];
  std::size_t compared = 0;
  int different = 0;
  while (std::fgets(line, sizeof line, pipe.get()) != nullptr && different < 20) {
    // "  address:\tbits\ttext"
    unsigned long long address = 0;
    unsigned bits = 0;
    int text_at = 0;
    if (std::sscanf(line, " %llx: %x %n", &address, &bits, &text_at) != 2 || text_at == 0) continue;
    std::string theirs = line + text_at;
    while (!theirs.empty() && std::isspace(static_cast<unsigned char>(theirs.back())) != 0) theirs.pop_back();
    std::replace(theirs.begin(), theirs.end(), '\t', ' ');
    const std::string ours = disassemble(bits, address, none);
    if (ours == theirs) {
      ++compared;
      continue;
    }
    theirs = same_spelling(theirs);
    if (left_out(theirs, ours)) continue;
    ++compared;
    if (same_spelling(ours) == theirs) continue;
    ADD_FAILURE() << std::hex << "0x" << bits << " at 0x" << address << ": " << ours << ", objdump: " << theirs;
    ++different;
  }
  return compared;
}

bool have_objdump() {
  return std::system("riscv64-unknown-elf-objdump --version >/dev/null 2>&1") == 0;
}

TEST(disassembly, every_compressed_instruction) {
  if (!have_objdump()) GTEST_SKIP() << "riscv64-unknown-elf-objdump is not installed";
  std::vector<std::uint8_t> code;
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    if ((bits & 3) == 3 || bits == 0x6101) continue;  // addi16sp of 0 is reserved; objdump shows it
    code.push_back(static_cast<std::uint8_t>(bits));
    code.push_back(static_cast<std::uint8_t>(bits >> 8));
  }
  EXPECT_GT(compare_with_objdump(code), 48'000U);
}

// Opcodes, functions and registers are picked so that most words are instructions and short forms are met.
TEST(disassembly, random_instructions) {
  if (!have_objdump()) GTEST_SKIP() << "riscv64-unknown-elf-objdump is not installed";
  constexpr unsigned seed = 1848;
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  constexpr std::array<std::uint32_t, 20> opcodes = {0x03, 0x07, 0x0f, 0x13, 0x17, 0x1b, 0x23, 0x27, 0x2f, 0x33,
                                                     0x37, 0x3b, 0x43, 0x47, 0x4b, 0x4f, 0x53, 0x53, 0x63, 0x67};
  constexpr std::array<std::uint32_t, 26> functions = {0x00, 0x01, 0x04, 0x05, 0x08, 0x09, 0x0c, 0x0d, 0x10,
                                                       0x11, 0x14, 0x15, 0x20, 0x21, 0x2c, 0x2d, 0x50, 0x51,
                                                       0x60, 0x61, 0x68, 0x69, 0x70, 0x71, 0x78, 0x79};
  const auto reg = [&] { return static_cast<std::uint32_t>(random() % 3 == 0 ? random() % 3 : random() % 32); };
  std::vector<std::uint8_t> code;
  for (int i = 0; i < 60'000; ++i) {
    const auto pick = random() % 22;
    const std::uint32_t opcode = pick < opcodes.size() ? opcodes[pick] : pick == 20 ? 0x6f : 0x73;
    const auto function = static_cast<std::uint32_t>(random() % 4 == 0 ? random() % 128 : functions[random() % 26]);
    std::uint32_t bits = function << 25 | reg() << 20 | reg() << 15 | static_cast<std::uint32_t>(random() % 8) << 12 |
                         reg() << 7 | opcode;
    if (random() % 10 == 0) bits = (bits & ~(0x1fU << 20)) | (bits >> 15 & 0x1f) << 20;  // equal sources
    std::array<std::uint8_t, 4> bytes{};
    std::memcpy(bytes.data(), &bits, 4);
    code.insert(code.end(), bytes.begin(), bytes.end());
  }
  EXPECT_GT(compare_with_objdump(code), 50'000U);
}

}  // namespace
}  // namespace dvp::cpu::trace
