#include "tlm/cpu/debug/target_description.h"

#include "tlm/cpu/debug/csr_names.h"
#include "tlm/cpu/debug/hex.h"

namespace dvp::cpu::debug {

namespace {

constexpr std::uint32_t integer_registers = 32;
constexpr std::uint32_t float_registers = 32;
constexpr std::uint32_t last_float_csr = 3;  // fflags, frm, fcsr

constexpr const char* integer_names[integer_registers] = {
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "fp", "s1", "a0",  "a1",  "a2", "a3", "a4", "a5",
    "a6",   "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
constexpr const char* float_names[float_registers] = {
    "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fs0", "fs1", "fa0",  "fa1",  "fa2", "fa3", "fa4",  "fa5",
    "fa6", "fa7", "fs2", "fs3", "fs4", "fs5", "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11"};

void add_register(std::string& xml, const std::string& name, std::uint32_t number, const char* type) {
  xml += "    <reg name=\"" + name + "\" bitsize=\"64\" type=\"" + type + "\" regnum=\"" + std::to_string(number) +
         "\"/>\n";
}

const char* integer_type(std::uint32_t number) {
  if (number == 1) return "code_ptr";
  return (number >= 2 && number <= 4) || number == 8 ? "data_ptr" : "int";
}

// Those of the range that exist.
void add_csrs(std::string& xml, target& machine, std::uint32_t first, std::uint32_t end) {
  for (std::uint32_t n = first; n < end; ++n) {
    if (machine.read_register(0, first_csr + n)) add_register(xml, csr_name(n), first_csr + n, "int");
  }
}

std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<std::uint8_t>(c) < ' ' ? ' ' : c;
    }
  }
  return out;
}

}  // namespace

std::string target_xml(target& machine) {
  std::string xml =
      "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n<target version=\"1.0\">\n"
      "  <architecture>riscv:rv64</architecture>\n  <feature name=\"org.gnu.gdb.riscv.cpu\">\n";
  for (std::uint32_t n = 0; n < integer_registers; ++n) add_register(xml, integer_names[n], n, integer_type(n));
  add_register(xml, "pc", pc_number, "code_ptr");
  xml += "  </feature>\n";
  const bool floats = machine.read_register(0, first_float).has_value();
  if (floats) {
    xml += "  <feature name=\"org.gnu.gdb.riscv.fpu\">\n";
    for (std::uint32_t n = 0; n < float_registers; ++n) {
      add_register(xml, float_names[n], first_float + n, "ieee_double");
    }
    add_csrs(xml, machine, 1, last_float_csr + 1);
    xml += "  </feature>\n";
  }
  xml += "  <feature name=\"org.gnu.gdb.riscv.csr\">\n";
  add_csrs(xml, machine, floats ? last_float_csr + 1 : 1, csr_numbers);
  return xml + "  </feature>\n</target>\n";
}

std::string threads_xml(target& machine) {
  std::string xml = "<?xml version=\"1.0\"?>\n<threads>\n";
  for (std::uint32_t hart = 0; hart < machine.harts(); ++hart) {
    xml += "  <thread id=\"" + hex_number(hart + 1) + "\" core=\"" + std::to_string(hart) + "\" name=\"hart " +
           std::to_string(hart) + "\">" + xml_text(machine.describe(hart)) + "</thread>\n";
  }
  return xml + "</threads>\n";
}

std::string memory_map_xml(std::span<const memory_range> memory) {
  std::string xml =
      "<?xml version=\"1.0\"?>\n<!DOCTYPE memory-map PUBLIC \"+//IDN gnu.org//DTD GDB Memory Map V1.0//EN\" "
      "\"http://sourceware.org/gdb/gdb-memory-map.dtd\">\n<memory-map>\n";
  for (const memory_range& range : memory) {
    xml += std::string("  <memory type=\"") + (range.writable ? "ram" : "rom") + "\" start=\"0x" +
           hex_number(range.address) + "\" length=\"0x" + hex_number(range.bytes) + "\"/>\n";
  }
  return xml + "</memory-map>\n";
}

}  // namespace dvp::cpu::debug
