#include <bit>
#include <charconv>

#include "gen/npugen/text.h"
#include "gen/npugen/validate.h"

namespace dvp::npugen {
namespace {

constexpr std::uint32_t register_bytes = 4;
constexpr std::uint32_t pair_bytes = 2 * register_bytes;

// Names that the generated code puts beside those of the specification.
const std::vector<std::string> names_beside_registers{"access",    "all_registers", "bank", "bank_tables",
                                                      "bit_field", "block_info",    "dvp",  "field_info",
                                                      "name_of",   "register_info", "std",  "window_bytes"};
const std::vector<std::string> names_beside_elements{"bit_field", "count", "dvp", "offset", "std", "stride"};
const std::vector<std::string> names_beside_fields{"at", "bit_field", "dvp", "offset", "reset", "std"};

access_mode access_of(const node& item) {
  const std::string text = item.text("access");
  return text == "ro"    ? access_mode::ro
         : text == "rw"  ? access_mode::rw
         : text == "wo"  ? access_mode::wo
         : text == "w1c" ? access_mode::w1c
                         : access_mode::w1s;
}

void take_bits(const node& item, register_field& field) {
  const std::string bits = item.text("bits");
  const std::size_t colon = bits.find(':');
  std::uint32_t high = 0;
  std::from_chars(bits.data(), bits.data() + colon, high);
  std::from_chars(bits.data() + colon + 1, bits.data() + bits.size(), field.lsb);
  if (high > 31) {
    item.child("bits").fail("'" + bits + "' is outside the 32 bits of a register", "use bits 31:0");
  }
  if (high < field.lsb) {
    item.child("bits").fail("'" + bits + "' has its low bit first", "write the high bit first");
  }
  field.width = high - field.lsb + 1;
}

void check_enum(const node& item, const register_field& field, const block& owner) {
  std::vector<std::string> known;
  for (const enumeration& values : owner.enums) {
    known.push_back(values.name);
    if (values.name != field.enum_name) {
      continue;
    }
    for (const enum_value& value : values.values) {
      if (field.width < 32 && (value.value >> field.width) != 0) {
        item.child("enum").fail("value " + std::to_string(value.value) + " of '" + values.name + "' does not fit in " +
                                    std::to_string(field.width) + " bits",
                                "widen the field");
      }
    }
    return;
  }
  item.child("enum").fail("there is no enum '" + field.enum_name + "' in this block",
                          known.empty() ? "declare it under enums" : choose_from(field.enum_name, known));
}

register_field validate_field(const node& item, const block_register& parent, const block& owner, name_scope& names) {
  register_field field;
  field.name = names.add(item);
  take_bits(item, field);
  field.access = item.has("access") ? access_of(item) : parent.access;
  if (field.access != parent.access && parent.access != access_mode::rw) {
    item.child("access").fail("the field's access differs from that of its register",
                              "only a register of access rw has fields of another access");
  }
  if (item.has("enum")) {
    field.enum_name = item.text("enum");
    check_enum(item, field, owner);
  }
  field.unit = item.text("unit");
  field.doc = item.text("doc");
  for (const register_field& other : parent.fields) {
    if ((other.mask() & field.mask()) != 0) {
      item.child("bits").fail("'" + item.text("bits") + "' overlaps field '" + other.name + "'", "move one of them");
    }
  }
  return field;
}

void take_reset(const node& item, block_register& result) {
  if (result.hardware) {
    if (result.access != access_mode::ro && result.access != access_mode::rw) {
      item.child("access").fail("a hardware register has a value to read and no bits to clear or set",
                                "write \"ro\" or \"rw\", or drop hardware");
    }
    if ((result.mask_of(access_mode::w1c) | result.mask_of(access_mode::w1s)) != 0) {
      item.child("fields").fail("a field of a hardware register is stored nowhere, so that w1c and w1s mean nothing",
                                "write \"ro\", \"rw\" or \"wo\"");
    }
    if (item.has("reset")) {
      item.child("reset").fail("a hardware register has no stored value to reset", "remove reset");
    }
    return;
  }
  if (!item.has("reset")) {
    item.fail("the register has no reset value", "add reset, or hardware: true if the block supplies the value");
  }
  result.reset = item.word("reset");
  std::uint32_t defined = 0;
  for (const register_field& field : result.fields) {
    defined |= field.mask();
  }
  if ((result.reset & ~defined) != 0) {
    item.child("reset").fail(
        hex(result.reset) + " sets bits that belong to no field (" + hex(result.reset & ~defined) + ")",
        "clear them or define a field");
  }
}

block_register validate_register(const node& item, const block& owner, name_scope& names) {
  block_register result;
  result.name = names.add(item);
  result.offset = item.word("offset");
  if (result.offset % register_bytes != 0) {
    item.child("offset").fail(hex(result.offset) + " is not a multiple of 4", "align the register");
  }
  result.access = access_of(item);
  result.hardware = item.flag("hardware");
  result.pair = item.has("pair");
  result.doc = item.text("doc");
  name_scope field_names(names_beside_fields);
  for (const node& field : item.items("fields")) {
    result.fields.push_back(validate_field(field, result, owner, field_names));
  }
  take_reset(item, result);
  return result;
}

// Which register has which word of the window.
class window_map {
 public:
  explicit window_map(std::uint32_t bytes) : bytes_(bytes) {}

  void place(const node& item, std::uint64_t offset, const std::string& name) {
    if (offset + register_bytes > bytes_) {
      item.child("offset").fail(
          "'" + name + "' at " + hex(offset) + " lies outside the window of " + std::to_string(bytes_) + " bytes",
          "enlarge window_bytes or move the register");
    }
    const auto [owner, inserted] = owners_.emplace(offset, name);
    if (!inserted) {
      item.child("offset").fail("'" + name + "' at " + hex(offset) + " overlaps '" + owner->second + "'",
                                "move one of them");
    }
  }

 private:
  std::uint32_t bytes_;
  std::map<std::uint64_t, std::string> owners_;
};

// `first` is the offset of the block's or element's first byte, `stride` that of the next element (0: there is none).
void check_pairs(const std::vector<node>& items, const std::vector<block_register>& registers, std::uint32_t first,
                 std::uint32_t stride) {
  for (std::size_t i = 0; i < registers.size(); ++i) {
    const block_register& low = registers[i];
    if (!low.pair) {
      continue;
    }
    const node place = items[i].child("pair");
    const std::string name = items[i].text("pair");
    if (i + 1 == registers.size() || registers[i + 1].name != name ||
        registers[i + 1].offset != low.offset + register_bytes) {
      place.fail("'" + name + "' is not the next register, 4 bytes after '" + low.name + "'",
                 "name the high half and put it right after the low half");
    }
    if ((first + low.offset) % pair_bytes != 0 || stride % pair_bytes != 0) {
      place.fail("the pair is not at a multiple of 8 bytes", "align it");
    }
    const block_register& high = registers[i + 1];
    if (high.access != low.access || high.hardware != low.hardware || high.pair) {
      place.fail("'" + name + "' does not behave as '" + low.name + "' does",
                 "give both halves the same access and hardware, and only the low one a pair");
    }
  }
}

register_array validate_array_of_registers(const node& item, const block& owner, window_map& window,
                                           name_scope& names) {
  register_array result{names.add(item),     item.word("count"), item.word("offset"),
                        item.word("stride"), item.text("doc"),   {}};
  for (const char* key : {"offset", "stride"}) {
    if (item.number(key) % register_bytes != 0) {
      item.child(key).fail(hex(item.number(key)) + " is not a multiple of 4", "align the array");
    }
  }
  std::vector<std::string> taken = names_beside_elements;
  taken.push_back(result.name);
  name_scope element_names(taken);
  for (const node& element : item.items("registers")) {
    result.registers.push_back(validate_register(element, owner, element_names));
    const block_register& last = result.registers.back();
    if (std::uint64_t{last.offset} + register_bytes > result.stride) {
      item.child("stride").fail(
          hex(result.stride) + " is too small for register '" + last.name + "' at " + hex(last.offset),
          "enlarge the stride or move the register");
    }
    for (std::uint32_t i = 0; i < result.count; ++i) {
      window.place(element, std::uint64_t{result.offset} + std::uint64_t{i} * result.stride + last.offset,
                   result.name + "[" + std::to_string(i) + "]." + last.name);
    }
  }
  check_pairs(item.items("registers"), result.registers, result.offset, result.stride);
  return result;
}

// The register block in SystemVerilog joins names: register_field for fields, register_read and register_write for the
// strobes. Those must differ as well, and so must the joined names of registers.
void add_joined_names(const node& item, const std::string& prefix, const block_register& result, name_scope& joined) {
  const std::string name = prefix + result.name;
  joined.add_derived(item, name);
  if (result.access != access_mode::ro) {
    joined.add_derived(item, name + "_write");
  }
  if (result.hardware) {
    joined.add_derived(item, name + "_read");
  }
  for (const register_field& field : result.fields) {
    joined.add_derived(item, name + "_" + field.name);
  }
}

}  // namespace

block validate_block(const node& file, name_scope& globals) {
  block result;
  result.file = file.source().relative;
  result.name = globals.add(file);
  result.title = file.text("title");
  result.doc = file.text("doc");
  result.window_bytes = file.word("window_bytes");
  if (!std::has_single_bit(result.window_bytes) || result.window_bytes < register_bytes) {
    file.child("window_bytes")
        .fail(std::to_string(result.window_bytes) + " is not a power of two of 4 or more",
              "use a power of two, such as 4096");
  }
  result.compatible = file.texts("compatible");
  name_scope names(names_beside_registers);
  for (const node& item : file.items("enums")) {
    names.add(item);
    result.enums.push_back(validate_enumeration(item, 32));
  }
  window_map window(result.window_bytes);
  name_scope joined;
  for (const node& item : file.items("registers")) {
    result.registers.push_back(validate_register(item, result, names));
    window.place(item, result.registers.back().offset, result.registers.back().name);
    add_joined_names(item, "", result.registers.back(), joined);
  }
  check_pairs(file.items("registers"), result.registers, 0, 0);
  for (const node& item : file.items("register_arrays")) {
    result.arrays.push_back(validate_array_of_registers(item, result, window, names));
    const register_array& array = result.arrays.back();
    for (std::size_t i = 0; i < array.registers.size(); ++i) {
      add_joined_names(item.items("registers")[i], array.name + "_", array.registers[i], joined);
    }
  }
  return result;
}

}  // namespace dvp::npugen
