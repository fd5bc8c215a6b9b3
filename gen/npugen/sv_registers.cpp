// <block>_regs.sv: storage and access rules of a block's registers; the block's own behaviour meets it at ports.
// <block>_axi_lite.sv: the same behind an AXI4-Lite port.
#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>
#include <vector>

#include "gen/npugen/sv_parts.h"
#include "gen/npugen/text.h"

namespace dvp::npugen {
namespace {

// One register of the block, or one register of an array with its elements.
struct bank_entry {
  const block_register* info;
  std::string name;                    // "queue_tail"
  std::vector<std::uint32_t> offsets;  // one per element
};

std::vector<bank_entry> bank_entries(const block& item) {
  std::vector<bank_entry> entries;
  for (const block_register& single : item.registers) {
    entries.push_back({&single, single.name, {single.offset}});
  }
  for (const register_array& array : item.arrays) {
    for (const block_register& element : array.registers) {
      bank_entry entry{&element, array.name + "_" + element.name, {}};
      for (std::uint32_t i = 0; i < array.count; ++i) {
        entry.offsets.push_back(array.offset + i * array.stride + element.offset);
      }
      entries.push_back(entry);
    }
  }
  return entries;
}

bool writable(const bank_entry& entry) {
  return entry.info->access != access_mode::ro;
}

bool stored(const register_field& field) {
  return field.access != access_mode::ro;
}

bool shown(const register_field& field) {
  return field.access != access_mode::wo;
}

// The bits of element `i` in a signal of `width` bits per element, as a part select; empty where it is all of it.
std::string slice(const bank_entry& entry, std::size_t i, std::uint32_t width) {
  if (entry.offsets.size() == 1) {
    return "";
  }
  const std::string low = std::to_string(i * width);
  return width == 1 ? "[" + low + "]" : "[" + std::to_string((i + 1) * width - 1) + ":" + low + "]";
}

std::string wdata_slice(const register_field& field) {
  return field.width == 1
             ? "wdata_i[" + std::to_string(field.lsb) + "]"
             : "wdata_i[" + std::to_string(field.lsb + field.width - 1) + ":" + std::to_string(field.lsb) + "]";
}

std::string signal(std::uint32_t bits, const std::string& name) {
  const std::string range = sv_range(bits);
  return "logic " + range + (range.empty() ? "" : " ") + name;
}

std::uint32_t address_bits(const block& item) {
  return static_cast<std::uint32_t>(std::bit_width(item.window_bytes - 1));
}

struct bank_port {
  const char* direction;
  std::uint32_t bits;
  std::string name;
};

// The ports at which the block's own behaviour meets its registers.
std::vector<bank_port> hardware_ports(const std::vector<bank_entry>& entries) {
  std::vector<bank_port> ports;
  for (const bank_entry& entry : entries) {
    const auto count = static_cast<std::uint32_t>(entry.offsets.size());
    for (const register_field& field : entry.info->fields) {
      const std::string name = entry.name + "_" + field.name;
      if (entry.info->hardware && shown(field)) {
        ports.push_back({"input ", count * field.width, name + "_i"});
      }
      if (stored(field)) {
        ports.push_back({"output", count * field.width, name + "_o"});
      }
      if (field.access == access_mode::w1c) {
        ports.push_back({"input ", count * field.width, name + "_set_i"});
      } else if (field.access == access_mode::w1s) {
        ports.push_back({"input ", count * field.width, name + "_clear_i"});
      }
    }
    if (entry.info->hardware) {
      ports.push_back({"output", count, entry.name + "_read_o"});
    }
    if (writable(entry)) {
      ports.push_back({"output", count, entry.name + "_write_o"});
    }
  }
  return ports;
}

// The port list of a module whose first line is written; leaves the body indented.
void declare(text_file& out, const std::vector<bank_port>& ports) {
  for (const bank_port& port : ports) {
    out.line(port.direction, " ", signal(port.bits, port.name), &port == &ports.back() ? "" : ",");
  }
  out.outdent(2).line(");").indent(2);
}

class bank_module {
 public:
  explicit bank_module(const block& item)
      : item_(item), entries_(bank_entries(item)), address_bits_(address_bits(item)) {}

  std::string text() {
    contract();
    ports();
    selects();
    for (const bank_entry& entry : entries_) {
      storage(entry);
    }
    unused_data();
    response();
    out_.outdent(2).line().line("endmodule");
    return out_.text();
  }

 private:
  void contract() {
    banner(out_, {item_.file});
    out_.line("//").comment(item_.title + ". " + item_.doc).line("//");
    for (const char* text :
         {"Access port: an access takes place in each cycle with valid_i high; there is no back-pressure. address_i is "
          "a byte offset into the window. rdata_o and error_o belong to the access of the cycle before; rdata_o is 0 "
          "after a write, an error or no access.",
          "Error: no register at address_i (a misaligned address included), a write to a read-only register, a read of "
          "a write-only register. Such an access changes nothing.",
          "Fields: _i of a hardware register is sampled in the cycle of the read. _o is the stored value, in a "
          "hardware register the one last written; it changes with the clock edge that ends the access. _set_i sets "
          "bits of a w1c field and wins over a clear in the same cycle; _clear_i clears bits of a w1s field and loses "
          "against a set in the same cycle.",
          "Strobes: <register>_write_o is high for one cycle after a write, when _o shows the new value. "
          "<register>_read_o is high in the cycle of a read of a hardware register, so that the block can latch what "
          "belongs to the value read.",
          "Two registers that are a pair in the specification are two words here. Register arrays: element i has the "
          "i-th slice of every port, element 0 in the least significant bits. Reset is synchronous and active low; "
          "every field takes its reset value."}) {
      out_.comment(text);
    }
    out_.line("module ", item_.name, "_regs (").indent(2);
  }

  void ports() {
    std::vector<bank_port> ports{{"input ", 1, "clk_i"},
                                 {"input ", 1, "rst_ni"},
                                 {"input ", 1, "valid_i"},
                                 {"input ", 1, "write_i"},
                                 {"input ", address_bits_, "address_i"},
                                 {"input ", 32, "wdata_i"},
                                 {"output", 32, "rdata_o"},
                                 {"output", 1, "error_o"}};
    for (const bank_port& hardware : hardware_ports(entries_)) {
      ports.push_back(hardware);
    }
    declare(out_, ports);
  }

  // One line per register, or per register and element: whether it is written or, with hardware, read.
  void selects() {
    for (const bank_entry& entry : entries_) {
      if (entry.info->hardware) {
        out_.line();
        select(entry, entry.name + "_read_o", "!write_i");
      }
      if (writable(entry)) {
        out_.line().line(signal(static_cast<std::uint32_t>(entry.offsets.size()), entry.name + "_write"), ";");
        select(entry, entry.name + "_write", "write_i");
      }
    }
  }

  void select(const bank_entry& entry, const std::string& name, const char* direction) {
    for (std::size_t i = 0; i < entry.offsets.size(); ++i) {
      out_.line("assign ", name, slice(entry, i, 1), " = valid_i && ", direction,
                " && address_i == ", sv_literal(address_bits_, entry.offsets[i]), ";");
    }
  }

  // Lint wants to hear of written bits that no field of the block takes.
  void unused_data() {
    std::uint32_t taken = 0;
    for (const bank_entry& entry : entries_) {
      for (const register_field& field : entry.info->fields) {
        taken |= stored(field) ? field.mask() : 0;
      }
    }
    if (~taken == 0) {
      return;
    }
    std::string bits;
    for (std::uint32_t bit = 0; bit < 32; ++bit) {
      const std::uint32_t first = bit;
      while (bit < 32 && (taken >> bit & 1) == 0) {
        ++bit;
      }
      if (bit != first) {
        bits += ", wdata_i[" + std::to_string(bit - 1) + ":" + std::to_string(first) + "]";
      }
    }
    out_.line().comment("No register takes these bits.").line("logic unused_wdata;");
    out_.line("assign unused_wdata = &{1'b0", bits, "};");
  }

  void storage(const bank_entry& entry) {
    if (!writable(entry)) {
      return;
    }
    out_.line().comment(entry.name + ": " + entry.info->doc);
    out_.line("always_ff @(posedge clk_i) begin").indent(2).line("if (!rst_ni) begin").indent(2);
    const auto count = static_cast<std::uint32_t>(entry.offsets.size());
    out_.line(entry.name, "_write_o <= ", sv_literal(count, 0), ";");
    for (const register_field& field : entry.info->fields) {
      if (stored(field)) {
        const std::uint32_t reset = (entry.info->reset & field.mask()) >> field.lsb;
        const std::string value = sv_literal(field.width, reset);
        out_.line(entry.name, "_", field.name,
                  "_o <= ", count == 1 ? value : "{" + std::to_string(count) + "{" + value + "}}", ";");
      }
    }
    out_.outdent(2).line("end else begin").indent(2).line(entry.name, "_write_o <= ", entry.name, "_write;");
    for (const register_field& field : entry.info->fields) {
      for (std::size_t i = 0; stored(field) && i < entry.offsets.size(); ++i) {
        next_value(entry, field, i);
      }
    }
    out_.outdent(2).line("end").outdent(2).line("end");
  }

  void next_value(const bank_entry& entry, const register_field& field, std::size_t i) {
    const std::string bits = slice(entry, i, field.width);
    const std::string name = entry.name + "_" + field.name;
    const std::string value = name + "_o" + bits;
    const std::string write = entry.name + "_write" + slice(entry, i, 1);
    const std::string ones = "({" + std::to_string(field.width) + "{" + write + "}} & " + wdata_slice(field) + ")";
    if (field.access == access_mode::w1c) {
      out_.line(value, " <= (", value, " & ~", ones, ") | ", name, "_set_i", bits, ";");
    } else if (field.access == access_mode::w1s) {
      out_.line(value, " <= (", value, " & ~", name, "_clear_i", bits, ") | ", ones, ";");
    } else {
      out_.line("if (", write, ") ", value, " <= ", wdata_slice(field), ";");
    }
  }

  // What a read of element i shows: the fields from the most significant down, gaps filled with zeros.
  std::string read_value(const bank_entry& entry, std::size_t i) const {
    std::vector<const register_field*> fields;
    for (const register_field& field : entry.info->fields) {
      if (shown(field)) {
        fields.push_back(&field);
      }
    }
    std::sort(fields.begin(), fields.end(), [](auto* a, auto* b) { return a->lsb > b->lsb; });
    std::string parts;
    std::uint32_t above = 32;
    const auto append = [&parts](const std::string& part) { parts += (parts.empty() ? "" : ", ") + part; };
    for (const register_field* field : fields) {
      if (field->lsb + field->width < above) {
        append(sv_literal(above - field->lsb - field->width, 0));
      }
      const std::string name = entry.name + "_" + field->name;
      if (!entry.info->hardware && !stored(*field)) {
        append(sv_literal(field->width, (entry.info->reset & field->mask()) >> field->lsb));
      } else {
        append(name + (entry.info->hardware ? "_i" : "_o") + slice(entry, i, field->width));
      }
      above = field->lsb;
    }
    if (above > 0) {
      append(sv_literal(above, 0));
    }
    return "{" + parts + "}";
  }

  // The case items stand in a clocked process: Icarus 11 has no part selects in the sensitivity of always_comb.
  void response() {
    out_.line().line("always_ff @(posedge clk_i) begin").indent(2).line("if (!rst_ni) begin");
    out_.line("  rdata_o <= 32'h0;").line("  error_o <= 1'b0;").line("end else begin").indent(2);
    out_.line("rdata_o <= 32'h0;").line("error_o <= 1'b0;").line("if (valid_i) begin").indent(2);
    out_.line("case (address_i)").indent(2);
    for (const bank_entry& entry : entries_) {
      for (std::size_t i = 0; i < entry.offsets.size(); ++i) {
        response_of(entry, i);
      }
    }
    out_.line("default: error_o <= 1'b1;").outdent(2).line("endcase");
    for (int level = 0; level < 3; ++level) {
      out_.outdent(2).line("end");
    }
  }

  void response_of(const bank_entry& entry, std::size_t i) {
    const std::string label = sv_literal(address_bits_, entry.offsets[i]) + ":";
    if (entry.info->access == access_mode::wo) {
      out_.line(label, " error_o <= !write_i;");
    } else if (writable(entry)) {
      out_.line(label, " if (!write_i) rdata_o <= ", read_value(entry, i), ";");
    } else {
      out_.line(label, " begin").line("  if (write_i) error_o <= 1'b1;");
      out_.line("  else rdata_o <= ", read_value(entry, i), ";").line("end");
    }
  }

  const block& item_;
  std::vector<bank_entry> entries_;
  std::uint32_t address_bits_;
  text_file out_;
};

constexpr std::uint32_t axi_data_bits = 32;

// The bus ports of rtl/common/axi_lite_port.sv. Lint compares the two.
std::vector<bank_port> axi_lite_ports(std::uint32_t address_bits) {
  return {{"input ", 1, "awvalid_i"},
          {"output", 1, "awready_o"},
          {"input ", address_bits, "awaddr_i"},
          {"input ", 1, "wvalid_i"},
          {"output", 1, "wready_o"},
          {"input ", axi_data_bits, "wdata_i"},
          {"input ", axi_data_bits / 8, "wstrb_i"},
          {"output", 1, "bvalid_o"},
          {"input ", 1, "bready_i"},
          {"output", 2, "bresp_o"},
          {"input ", 1, "arvalid_i"},
          {"output", 1, "arready_o"},
          {"input ", address_bits, "araddr_i"},
          {"output", 1, "rvalid_o"},
          {"input ", 1, "rready_i"},
          {"output", axi_data_bits, "rdata_o"},
          {"output", 2, "rresp_o"}};
}

using connection = std::pair<std::string, std::string>;  // port, signal

void instance(text_file& out, const std::string& head, const std::vector<connection>& connections) {
  out.line().line(head, " (").indent(2);
  for (const connection& item : connections) {
    out.line(".", item.first, "(", item.second, ")", &item == &connections.back() ? "" : ",");
  }
  out.outdent(2).line(");");
}

}  // namespace

rendered_file sv_block_registers(const block& item) {
  return {"sv/" + item.name + "_regs.sv", bank_module(item).text()};
}

rendered_file sv_block_axi_lite(const block& item) {
  const std::uint32_t bits = address_bits(item);
  const std::vector<bank_port> clocking{{"input ", 1, "clk_i"}, {"input ", 1, "rst_ni"}};
  const std::vector<bank_port> bus = axi_lite_ports(bits);
  const std::vector<bank_port> hardware = hardware_ports(bank_entries(item));
  std::vector<bank_port> ports = clocking;
  ports.insert(ports.end(), bus.begin(), bus.end());
  ports.insert(ports.end(), hardware.begin(), hardware.end());

  text_file out;
  banner(out, {item.file});
  out.line("//").comment(item.title + ", registers behind an AXI4-Lite port.").line("//");
  out.comment("axi_lite_port in front of " + item.name +
              "_regs: bus side, responses and timing are described there, registers and hardware ports in " +
              item.name + "_regs. Addresses are byte offsets into the window.");
  out.line("module ", item.name, "_axi_lite (").indent(2);
  declare(out, ports);
  out.line().line(signal(1, "request_valid"), ";").line(signal(1, "request_write"), ";");
  out.line(signal(bits, "request_address"), ";").line(signal(axi_data_bits, "request_wdata"), ";");
  out.line(signal(axi_data_bits, "response_rdata"), ";").line(signal(1, "response_error"), ";");

  std::vector<connection> port_side, register_side;
  const auto same = [](std::vector<connection>& side, const std::vector<bank_port>& names) {
    for (const bank_port& port : names) {
      side.emplace_back(port.name, port.name);
    }
  };
  same(port_side, clocking);
  same(port_side, bus);
  for (const char* name : {"request_valid", "request_write", "request_address", "request_wdata"}) {
    port_side.emplace_back(std::string(name) + "_o", name);
  }
  for (const char* name : {"response_rdata", "response_error"}) {
    port_side.emplace_back(std::string(name) + "_i", name);
  }
  instance(out, "axi_lite_port #(.AddressBits(" + std::to_string(bits) + ")) u_port", port_side);

  same(register_side, clocking);
  register_side.insert(register_side.end(), {{"valid_i", "request_valid"},
                                             {"write_i", "request_write"},
                                             {"address_i", "request_address"},
                                             {"wdata_i", "request_wdata"},
                                             {"rdata_o", "response_rdata"},
                                             {"error_o", "response_error"}});
  same(register_side, hardware);
  instance(out, item.name + "_regs u_regs", register_side);
  out.outdent(2).line().line("endmodule");
  return {"sv/" + item.name + "_axi_lite.sv", out.text()};
}

}  // namespace dvp::npugen
