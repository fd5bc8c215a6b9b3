#include "tlm/cosim/difference.h"

#include <bit>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "tlm/numerics/bf16.h"

namespace dvp::cosim {

namespace {

std::string formatted(float value) {
  char text[64];
  std::snprintf(text, sizeof text, "%08x (%.9g)", std::bit_cast<std::uint32_t>(value), static_cast<double>(value));
  return text;
}

std::string formatted_bf16(std::uint16_t code) {
  char text[64];
  std::snprintf(text, sizeof text, "%04x (%.9g)", code, static_cast<double>(numerics::from_bf16(code)));
  return text;
}

// The first elements of the differing chain, its vector alone, all columns.
class chain_beginning {
 public:
  chain_beginning(const numerics::chain_operands& operands, const difference& found)
      : operands_(operands), vector_(operands.vector(found.vector)) {
    const std::size_t first = std::size_t{found.chain} * operands.group;
    pack(operands.vector(found.vector), first);
    vector_.elements = bytes_.data();
    operands_.vectors = 1;
    operands_.each = &vector_;
    operands_.stationary = operands.stationary + first * operands.columns;
    const bool preset = found.chain == 0 && operands.preset != nullptr;
    operands_.preset = preset ? operands.preset + std::size_t{found.vector} * operands.columns : nullptr;
  }
  chain_beginning(const chain_beginning&) = delete;
  chain_beginning& operator=(const chain_beginning&) = delete;

  const numerics::chain_operands& operands(std::uint32_t length, float* out) {
    operands_.reduction = operands_.group = length;
    operands_.out = out;
    return operands_;
  }

 private:
  // The chain's elements by themselves: it may begin within a byte of the packed vector.
  void pack(const numerics::stream_vector& whole, std::size_t first) {
    const std::uint32_t bits = numerics::element_bits(whole.format);
    bytes_.assign((std::size_t{operands_.group} * bits + 7) / 8, 0);
    for (std::size_t at = 0; at < std::size_t{operands_.group} * bits; at += bits) {
      const auto element = static_cast<std::uint32_t>(whole.stored(first + at / bits));
      bytes_[at / 8] = static_cast<std::uint8_t>(bytes_[at / 8] | (element & ((1U << bits) - 1)) << at % 8);
      if (bits == 16) bytes_[at / 8 + 1] = static_cast<std::uint8_t>(element >> 8);
    }
  }

  numerics::chain_operands operands_;
  numerics::stream_vector vector_;
  std::vector<std::uint8_t> bytes_;
};

const char* name_of(const numerics::stream_vector& vector) {
  switch (vector.format) {
    case numerics::stream_format::bf16:
      return "bf16";
    case numerics::stream_format::q8:
      return "q8";
    case numerics::stream_format::q4:
      return vector.half_step ? "q4+half" : "q4";
    case numerics::stream_format::q2:
      return vector.half_step ? "q2+half" : "q2";
    case numerics::stream_format::q0:
      break;
  }
  return "q0";
}

}  // namespace

std::optional<difference> first_difference(const numerics::chain_operands& operands, const float* first,
                                           const float* second) {
  const std::size_t values = std::size_t{operands.chains()} * operands.vectors * operands.columns;
  if (std::memcmp(first, second, values * sizeof(float)) == 0) return std::nullopt;
  std::size_t index = 0;
  while (std::bit_cast<std::uint32_t>(first[index]) == std::bit_cast<std::uint32_t>(second[index])) ++index;
  difference found;
  found.column = static_cast<std::uint32_t>(index % operands.columns);
  found.vector = static_cast<std::uint32_t>(index / operands.columns % operands.vectors);
  found.chain = static_cast<std::uint32_t>(index / operands.columns / operands.vectors);
  found.first = first[index];
  found.second = second[index];
  return found;
}

std::optional<std::uint32_t> find_element(const numerics::chain_operands& operands, const difference& found,
                                          const runner& first, const runner& second) {
  std::vector<float> first_out(operands.columns);
  std::vector<float> second_out(operands.columns);
  chain_beginning beginning(operands, found);
  const auto differ = [&](std::uint32_t length) {
    first(beginning.operands(length, first_out.data()));
    second(beginning.operands(length, second_out.data()));
    return std::bit_cast<std::uint32_t>(first_out[found.column]) !=
           std::bit_cast<std::uint32_t>(second_out[found.column]);
  };
  std::uint32_t differing = operands.group;
  if (!differ(differing)) return std::nullopt;
  std::uint32_t equal = 0;
  while (differing - equal > 1) {
    const std::uint32_t middle = equal + (differing - equal) / 2;
    (differ(middle) ? differing : equal) = middle;
  }
  return differing - 1;
}

std::string describe(const array::array_job& job, const difference& found, array::array_shape shape,
                     std::string_view first_name, std::string_view second_name) {
  std::string text = "array seats differ: job " + std::to_string(job.id) + ", chain " + std::to_string(found.chain) +
                     ", vector " + std::to_string(found.vector) + ", column " + std::to_string(found.column);
  if (found.element) {
    text += ", fold " + std::to_string(*found.element / shape.rows) + " of the chain, row " +
            std::to_string(*found.element % shape.rows);
  } else {
    text += ", row unknown (the chain alone gives equal sums)";
  }
  return text + ": " + std::string(first_name) + " " + formatted(found.first) + ", " + std::string(second_name) + " " +
         formatted(found.second);
}

void dump_inputs(const std::string& path, const array::array_job& job, const difference& found,
                 array::array_shape shape, const std::string& headline) {
  const numerics::chain_operands& operands = job.operands;
  const numerics::stream_vector vector = operands.vector(found.vector);
  std::ofstream file(path);
  file << headline << '\n';
  const bool preset = found.chain == 0 && operands.preset != nullptr;
  const std::size_t preset_index = std::size_t{found.vector} * operands.columns + found.column;
  file << "start " << formatted(preset ? operands.preset[preset_index] : 0.0f) << '\n';
  file << "index fold row stationary " << name_of(vector) << '\n';
  for (std::uint32_t k = 0; k < operands.group && vector.format != numerics::stream_format::q0; ++k) {
    const std::size_t index = std::size_t{found.chain} * operands.group + k;
    file << index << ' ' << k / shape.rows << ' ' << k % shape.rows << ' '
         << formatted_bf16(operands.stationary[index * operands.columns + found.column]) << ' ';
    if (vector.format == numerics::stream_format::bf16) {
      file << formatted_bf16(static_cast<std::uint16_t>(vector.stored(index))) << '\n';
    } else {
      file << vector.stored(index) << '\n';
    }
  }
  file.flush();
  if (!file) throw std::runtime_error(headline + "; the inputs could not be written to " + path);
}

}  // namespace dvp::cosim
