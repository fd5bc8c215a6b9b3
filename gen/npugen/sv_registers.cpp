// <block>_regs.sv: storage and access rules of a block's registers; the block's own behaviour meets it at ports.
#include <algorithm>
#include <bit>
#include <iterator>

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

class bank_module {
 public:
  explicit bank_module(const block& item)
      : item_(item),
        entries_(bank_entries(item)),
        address_bits_(static_cast<std::uint32_t>(std::bit_width(item.window_bytes - 1))) {}

  std::string text() {
    contract();
    ports();
    selects();
    for (const bank_entry& entry : entries_) {
      storage(entry);
    }
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
          "Fields: _i of a hardware register is sampled in the cycle of the read. _o is the stored value; it changes "
          "with the clock edge that ends the access. _set_i sets bits of a w1c field and wins over a clear in the same "
          "cycle; _clear_i clears bits of a w1s field and loses against a set in the same cycle.",
          "Strobes: <register>_write_o is high for one cycle after a write, when _o shows the new value. "
          "<register>_read_o is high in the cycle of a read of a hardware register, so that the block can latch what "
          "belongs to the value read.",
          "Register arrays: element i has the i-th slice of every port, element 0 in the least significant bits. Reset "
          "is synchronous and active low; every field takes its reset value."}) {
      out_.comment(text);
    }
    out_.line("module ", item_.name, "_regs (").indent(2);
  }

  void port(const char* direction, std::uint32_t bits, const std::string& name) {
    ports_.push_back(std::string(direction) + " " + signal(bits, name));
  }

  void ports() {
    port("input ", 1, "clk_i");
    port("input ", 1, "rst_ni");
    port("input ", 1, "valid_i");
    port("input ", 1, "write_i");
    port("input ", address_bits_, "address_i");
    port("input ", 32, "wdata_i");
    port("output", 32, "rdata_o");
    port("output", 1, "error_o");
    for (const bank_entry& entry : entries_) {
      register_ports(entry);
    }
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      out_.line(ports_[i], i + 1 < ports_.size() ? "," : "");
    }
    out_.outdent(2).line(");").indent(2);
  }

  void register_ports(const bank_entry& entry) {
    const auto count = static_cast<std::uint32_t>(entry.offsets.size());
    for (const register_field& field : entry.info->fields) {
      const std::string name = entry.name + "_" + field.name;
      if (entry.info->hardware) {
        port("input ", count * field.width, name + "_i");
      } else if (stored(field)) {
        port("output", count * field.width, name + "_o");
      }
      if (field.access == access_mode::w1c) {
        port("input ", count * field.width, name + "_set_i");
      } else if (field.access == access_mode::w1s) {
        port("input ", count * field.width, name + "_clear_i");
      }
    }
    if (entry.info->hardware) {
      port("output", count, entry.name + "_read_o");
    } else if (writable(entry)) {
      port("output", count, entry.name + "_write_o");
    }
  }

  // One line per register, or per register and element: whether it is written or, with hardware, read.
  void selects() {
    for (const bank_entry& entry : entries_) {
      if (!entry.info->hardware && !writable(entry)) {
        continue;
      }
      const std::string name = entry.name + (entry.info->hardware ? "_read_o" : "_write");
      const std::string direction = entry.info->hardware ? "!write_i" : "write_i";
      out_.line();
      if (!entry.info->hardware) {
        out_.line(signal(static_cast<std::uint32_t>(entry.offsets.size()), name), ";");
      }
      for (std::size_t i = 0; i < entry.offsets.size(); ++i) {
        out_.line("assign ", name, slice(entry, i, 1), " = valid_i && ", direction,
                  " && address_i == ", sv_literal(address_bits_, entry.offsets[i]), ";");
      }
    }
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
      if (field.access != access_mode::wo) {
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
  std::vector<std::string> ports_;
  text_file out_;
};

}  // namespace

rendered_file sv_block_registers(const block& item) {
  return {"sv/" + item.name + "_regs.sv", bank_module(item).text()};
}

}  // namespace dvp::npugen
