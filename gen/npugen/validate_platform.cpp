// Number formats, array configurations and the system map.
#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "gen/npugen/text.h"
#include "gen/npugen/validate.h"

namespace dvp::npugen {
namespace {

constexpr std::uint32_t smallest_array = 2;
constexpr std::uint32_t largest_array = 128;
constexpr std::uint32_t most_adder_stages = 3;
constexpr std::uint32_t fp32_bits = 32;
constexpr std::uint32_t most_accumulator_vectors = 0xffff;  // npu.accumulator.vectors has 16 bits

std::uint32_t array_side(const node& file, const char* key) {
  const std::uint32_t value = file.word(key);
  if (!std::has_single_bit(value) || value < smallest_array || value > largest_array) {
    file.child(key).fail(
        std::to_string(value) + " is not a size the array can have",
        "use a power of two from " + std::to_string(smallest_array) + " to " + std::to_string(largest_array));
  }
  return value;
}

float_format validate_float(const node& item, name_scope& names) {
  float_format format{names.add(item),
                      item.word("bits"),
                      item.word("exponent_bits"),
                      item.word("mantissa_bits"),
                      item.word("bias"),
                      item.word("canonical_nan"),
                      item.text("doc")};
  if (1 + format.exponent_bits + format.mantissa_bits != format.bits) {
    item.child("bits").fail("sign, " + std::to_string(format.exponent_bits) + " exponent and " +
                                std::to_string(format.mantissa_bits) + " mantissa bits are not " +
                                std::to_string(format.bits) + " bits",
                            "correct one of the three");
  }
  const std::uint32_t exponent_mask = ((1U << format.exponent_bits) - 1U) << format.mantissa_bits;
  const std::uint32_t mantissa_mask = (1U << format.mantissa_bits) - 1U;
  const bool fits = format.bits == 32 || (format.canonical_nan >> format.bits) == 0;
  if (!fits || (format.canonical_nan & exponent_mask) != exponent_mask || (format.canonical_nan & mantissa_mask) == 0) {
    item.child("canonical_nan")
        .fail(hex(format.canonical_nan) + " is not a NaN of this format",
              "set all exponent bits and at least one mantissa bit");
  }
  return format;
}

struct address_range {
  std::string name;
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
};

// The address ranges seen so far.
class address_map {
 public:
  explicit address_map(std::uint32_t address_bits) : address_bits_(address_bits) {}

  void place(const node& item, const address_range& range) {
    const std::uint64_t space = address_bits_ == 64 ? UINT64_MAX : (std::uint64_t{1} << address_bits_);
    if (range.base >= space || range.bytes > space - range.base) {
      item.child("base").fail("'" + range.name + "' at " + hex(range.base) + " with " + hex(range.bytes) +
                                  " bytes does not fit in " + std::to_string(address_bits_) + " address bits",
                              "move it or raise address_bits");
    }
    for (const address_range& other : ranges_) {
      if (range.base < other.base + other.bytes && other.base < range.base + range.bytes) {
        item.child("base").fail(
            "'" + range.name + "' at " + hex(range.base) + " overlaps '" + other.name + "' at " + hex(other.base),
            "move one of them");
      }
    }
    ranges_.push_back(range);
  }

 private:
  std::uint32_t address_bits_;
  std::vector<address_range> ranges_;
};

const block& block_of(const node& item, const std::vector<block>& blocks) {
  std::vector<std::string> known;
  for (const block& candidate : blocks) {
    known.push_back(candidate.name);
    if (candidate.name == item.text("block")) {
      return candidate;
    }
  }
  item.child("block").fail("there is no block '" + item.text("block") + "'", choose_from(item.text("block"), known));
}

device validate_device(const node& item, const std::vector<block>& blocks) {
  device result{item.text("name"), item.text("block"), item.number("base"), block_of(item, blocks).window_bytes, 0, 0,
                item.text("doc")};
  if (result.base % result.bytes != 0) {
    item.child("base").fail(hex(result.base) + " is not a multiple of the block's window, " + hex(result.bytes),
                            "align the device to its window");
  }
  result.interrupt = item.has("interrupt") ? item.word("interrupt") : 0;
  result.clock_hz = item.has("clock_hz") ? item.word("clock_hz") : 0;
  return result;
}

// How many elements the block has of an array that the harts' timer or interrupt controller must have.
std::uint32_t elements(const node& item, const block& owner, const char* array_name) {
  for (const register_array& array : owner.arrays) {
    if (array.name == array_name) {
      return array.count;
    }
  }
  item.child("block").fail("the block '" + owner.name + "' has no register array '" + array_name + "'",
                           "add it, or take " + owner.compatible.back() + " out of compatible");
}

// The devices that take part in the harts' interrupts: one of each kind at most, and enough of what each hart needs.
void check_interrupt_devices(const node& file, const std::vector<block>& blocks, system_map& result) {
  for (const auto& [kind, array] : {std::pair{core_timer, "msip"}, std::pair{interrupt_controller, "context"}}) {
    bool found = false;
    for (const node& item : file.items("devices")) {
      const block& owner = block_of(item, blocks);
      if (!owner.is(kind)) {
        continue;
      }
      if (std::exchange(found, true)) {
        item.child("block").fail("there is a device compatible with " + std::string(kind) + " already",
                                 "keep one of the two");
      }
      if (elements(item, owner, array) < result.most_harts) {
        file.child("most_harts")
            .fail("'" + item.text("name") + "' serves " + std::to_string(elements(item, owner, array)) + " harts only",
                  "use fewer, or enlarge the register array '" + std::string(array) + "'");
      }
      if (kind == interrupt_controller) {
        result.interrupt_sources = elements(item, owner, "source") - 1;
      }
    }
  }
  for (const node& item : file.items("devices")) {
    if (item.has("interrupt") && item.word("interrupt") > result.interrupt_sources) {
      item.child("interrupt")
          .fail("the interrupt controller has " + std::to_string(result.interrupt_sources) + " sources",
                result.interrupt_sources == 0 ? "add a device compatible with " + std::string(interrupt_controller)
                                              : "use 1 to " + std::to_string(result.interrupt_sources));
    }
  }
}

memory_kind kind_of(const node& item) {
  const std::string kind = item.text("kind");
  return kind == "rom" ? memory_kind::rom : kind == "sram" ? memory_kind::sram : memory_kind::dram;
}

}  // namespace

number_formats validate_numbers(const node& file) {
  number_formats result;
  result.file = file.source().relative;
  result.doc = file.text("doc");
  name_scope names({"float_format", "integer_format", "std"});
  for (const node& item : file.items("floats")) {
    result.floats.push_back(validate_float(item, names));
  }
  for (const node& item : file.items("integers")) {
    result.integers.push_back({names.add(item), item.word("bits"), item.flag("signed"), item.text("doc")});
  }
  result.constants = validate_constants(file, names);
  return result;
}

array_config validate_array(const node& file) {
  array_config result;
  result.file = file.source().relative;
  result.name = file.text("name");
  result.doc = file.text("doc");
  result.rows = array_side(file, "rows");
  result.columns = array_side(file, "columns");
  result.lane_bits = file.word("lane_bits");
  if (result.lane_bits != 8 && result.lane_bits != 16) {
    file.child("lane_bits").fail(std::to_string(result.lane_bits) + " is not a lane width", "use 8 or 16");
  }
  result.packing = file.flag("packing");
  result.adder_stages = file.word("adder_stages");
  if (result.adder_stages == 0 || result.adder_stages > most_adder_stages) {
    file.child("adder_stages")
        .fail("an addition cannot take " + std::to_string(result.adder_stages) + " cycles",
              "use 1 to " + std::to_string(most_adder_stages));
  }
  result.double_buffered = file.flag("double_buffered");
  result.accumulator_bits = file.word("accumulator_bits");
  if (result.accumulator_bits != fp32_bits) {
    file.child("accumulator_bits")
        .fail("sums of " + std::to_string(result.accumulator_bits) + " bits would not have the bits of the models",
              "use 32: partial sums are fp32");
  }
  result.output_buffer = file.text("back_pressure") == "buffered";
  result.accumulator_vectors = file.word("accumulator_vectors");
  if (result.accumulator_vectors == 0 || result.accumulator_vectors > most_accumulator_vectors) {
    file.child("accumulator_vectors")
        .fail(std::to_string(result.accumulator_vectors) + " vectors cannot be stored",
              "use 1 to " + std::to_string(most_accumulator_vectors));
  }
  if (result.accumulator_vectors < result.slots()) {
    file.child("accumulator_vectors")
        .fail("a packed beat holds " + std::to_string(result.slots()) + " vectors and the accumulator only " +
                  std::to_string(result.accumulator_vectors),
              "use " + std::to_string(result.slots()) + " or more, or switch packing off");
  }
  return result;
}

system_map validate_system(const node& file, const std::vector<block>& blocks) {
  system_map result;
  result.file = file.source().relative;
  result.name = file.text("name");
  result.title = file.text("title");
  result.doc = file.text("doc");
  result.address_bits = file.word("address_bits");
  result.most_harts = file.word("most_harts");
  result.isa = file.text("isa");
  result.timebase_hz = file.word("timebase_hz");
  address_map map(result.address_bits);
  name_scope names;
  std::map<std::uint32_t, std::string> interrupts;
  for (const node& item : file.items("devices")) {
    names.add(item);
    const device entry = validate_device(item, blocks);
    map.place(item, {entry.name, entry.base, entry.bytes});
    if (entry.interrupt != 0) {
      const auto [owner, inserted] = interrupts.emplace(entry.interrupt, entry.name);
      if (!inserted) {
        item.child("interrupt")
            .fail("interrupt " + std::to_string(entry.interrupt) + " belongs to '" + owner->second + "' already",
                  "give each device its own number");
      }
    }
    result.devices.push_back(entry);
  }
  check_interrupt_devices(file, blocks, result);
  for (const node& item : file.items("memories")) {
    const memory entry{names.add(item), kind_of(item), item.number("base"), item.number("bytes"), item.text("doc")};
    if (entry.bytes == 0) {
      item.child("bytes").fail("the memory is empty", "give it at least one byte");
    }
    map.place(item, {entry.name, entry.base, entry.bytes});
    result.memories.push_back(entry);
  }
  return result;
}

}  // namespace dvp::npugen
