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

std::size_t element_bytes(numerics::stream_format format) {
  return format == numerics::stream_format::q8 ? 1 : 2;
}

// The first `length` elements of the differing chain, its vector alone, all columns.
numerics::chain_operands beginning(const numerics::chain_operands& operands, const difference& found,
                                   std::uint32_t length, float* out) {
  const std::size_t first = std::size_t{found.chain} * operands.group;
  const std::size_t element = found.vector * operands.stream_stride + first;
  numerics::chain_operands part = operands;
  part.vectors = 1;
  part.reduction = part.group = length;
  part.stationary = operands.stationary + first * operands.columns;
  part.stream = static_cast<const std::uint8_t*>(operands.stream) + element * element_bytes(operands.format);
  const bool preset = found.chain == 0 && operands.preset != nullptr;
  part.preset = preset ? operands.preset + std::size_t{found.vector} * operands.columns : nullptr;
  part.out = out;
  return part;
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
  const auto differ = [&](std::uint32_t length) {
    first(beginning(operands, found, length, first_out.data()));
    second(beginning(operands, found, length, second_out.data()));
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
  const bool q8 = operands.format == numerics::stream_format::q8;
  std::ofstream file(path);
  file << headline << '\n';
  const bool preset = found.chain == 0 && operands.preset != nullptr;
  const std::size_t preset_index = std::size_t{found.vector} * operands.columns + found.column;
  file << "start " << formatted(preset ? operands.preset[preset_index] : 0.0f) << '\n';
  file << "index fold row stationary " << (q8 ? "q8" : "bf16") << '\n';
  for (std::uint32_t k = 0; k < operands.group; ++k) {
    const std::size_t index = std::size_t{found.chain} * operands.group + k;
    const std::size_t streamed = found.vector * operands.stream_stride + index;
    file << index << ' ' << k / shape.rows << ' ' << k % shape.rows << ' '
         << formatted_bf16(operands.stationary[index * operands.columns + found.column]) << ' ';
    if (q8) {
      file << static_cast<int>(static_cast<const std::int8_t*>(operands.stream)[streamed]) << '\n';
    } else {
      file << formatted_bf16(static_cast<const std::uint16_t*>(operands.stream)[streamed]) << '\n';
    }
  }
  file.flush();
  if (!file) throw std::runtime_error(headline + "; the inputs could not be written to " + path);
}

}  // namespace dvp::cosim
