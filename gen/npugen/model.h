// What a specification means: typed objects that satisfy every rule of validate.h. Renderers read only these.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dvp::npugen {

enum class access_mode { ro, rw, wo, w1c, w1s };

struct enum_value {
  std::string name;
  std::uint32_t value = 0;
  std::string doc;
};

struct enumeration {
  std::string name;
  std::uint32_t bits = 32;  // width of the underlying type: 8, 16 or 32
  bool flags = false;       // the values are single bits that a word adds up
  std::string doc;
  std::vector<enum_value> values;
};

struct register_field {
  std::string name;
  std::uint32_t lsb = 0;
  std::uint32_t width = 1;
  access_mode access = access_mode::ro;
  std::string enum_name;  // empty: a plain number
  std::string unit;       // empty: none
  std::string doc;

  std::uint32_t mask() const { return (width >= 32 ? 0xffff'ffffU : (1U << width) - 1U) << lsb; }
};

struct block_register {
  std::string name;
  std::uint32_t offset = 0;  // bytes, from the block or from the array element
  std::uint32_t reset = 0;
  access_mode access = access_mode::ro;
  bool hardware = false;  // the block supplies the value whenever it is read
  bool pair = false;      // low half of a 64-bit value; the next register is the high half
  std::string doc;
  std::vector<register_field> fields;

  std::uint32_t mask_of(access_mode mode) const {
    std::uint32_t mask = 0;
    for (const register_field& field : fields) {
      mask |= field.access == mode ? field.mask() : 0;
    }
    return mask;
  }
};

struct register_array {
  std::string name;
  std::uint32_t count = 0;
  std::uint32_t offset = 0;
  std::uint32_t stride = 0;
  std::string doc;
  std::vector<block_register> registers;
};

// Names in `compatible` that give a device a part in the harts' interrupts.
inline constexpr std::string_view core_timer = "riscv,clint0";
inline constexpr std::string_view interrupt_controller = "riscv,plic0";

struct block {
  std::string file;  // relative path of the specification file, as in every object below
  std::string name;
  std::string title;
  std::string doc;
  std::uint32_t window_bytes = 0;
  std::vector<std::string> compatible;  // names in device trees, most special first
  std::vector<enumeration> enums;
  std::vector<block_register> registers;
  std::vector<register_array> arrays;

  bool is(std::string_view kind) const { return std::ranges::find(compatible, kind) != compatible.end(); }
};

struct constant {
  std::string name;
  std::uint32_t value = 0;
  std::string doc;
};

enum class field_kind { integer, floating, enumeration, record };

struct record_field {
  std::string name;
  field_kind kind = field_kind::integer;
  std::string type;          // as the specification names it
  std::uint32_t offset = 0;  // bytes from the start of the record
  std::uint32_t element_bytes = 0;
  std::uint32_t count = 0;  // 0: one value; else an array of that many
  std::string unit;
  std::string doc;
};

struct record {
  std::string name;
  std::uint32_t bytes = 0;
  std::uint32_t alignment = 1;
  std::string doc;
  std::vector<record_field> fields;
};

struct record_file {
  std::string file;
  std::string name;
  std::string doc;
  std::vector<constant> constants;
  std::vector<enumeration> enums;
  std::vector<record> records;
};

struct float_format {
  std::string name;
  std::uint32_t bits = 0, exponent_bits = 0, mantissa_bits = 0, bias = 0, canonical_nan = 0;
  std::string doc;
};

struct integer_format {
  std::string name;
  std::uint32_t bits = 0;
  bool is_signed = false;
  std::string doc;
};

struct number_formats {
  std::string file;
  std::string doc;
  std::vector<float_format> floats;
  std::vector<integer_format> integers;
  std::vector<constant> constants;
};

struct device {
  std::string name;
  std::string block;
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  std::uint32_t interrupt = 0;  // 0: none
  std::uint32_t clock_hz = 0;   // 0: none
  std::string doc;
};

enum class memory_kind { rom, sram, dram };

struct memory {
  std::string name;
  memory_kind kind = memory_kind::dram;
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  std::string doc;
};

struct system_map {
  std::string file;
  std::string name;
  std::string title;
  std::string doc;
  std::uint32_t address_bits = 0;
  std::uint32_t most_harts = 0;
  std::string isa;  // as device trees write it
  std::uint32_t timebase_hz = 0;
  std::uint32_t interrupt_sources = 0;  // of the interrupt controller, the highest number; 0: there is none
  std::vector<device> devices;
  std::vector<memory> memories;
};

struct array_config {
  std::string file;
  std::string name;
  std::string doc;
  std::uint32_t rows = 0, columns = 0, lane_bits = 0, adder_stages = 0, accumulator_bits = 0, accumulator_vectors = 0;
  bool packing = false;
  bool double_buffered = false;
  bool output_buffer = false;  // back_pressure is "buffered"

  // Vectors whose sums the array keeps apart in one beat.
  std::uint32_t slots() const { return packing ? 4 : 1; }
};

// Part of a DRAM's description. The models read the text itself: what depends on density, bank mode and burst length is
// worked out when a memory is configured.
struct dram_file {
  std::string file;
  std::string name;
  std::string doc;
  std::string text;  // the JSON, checked
};

struct specification {
  std::vector<block> blocks;
  std::vector<record_file> record_files;
  number_formats numbers;
  system_map system;
  std::vector<array_config> arrays;
  std::vector<dram_file> dram_standards;
  std::vector<dram_file> dram_speeds;

  // The relative paths of all files that registers and packages come from, sorted: all but those of dram.
  std::vector<std::string> sources() const;
};

}  // namespace dvp::npugen
