#include "testbenches/oracle/gguf_file.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace dvp::oracle {

namespace {

enum value_type : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };
enum tensor_type : std::uint32_t { tensor_f32 = 0, tensor_f16 = 1, tensor_q8_0 = 8, tensor_bf16 = 30 };

constexpr std::size_t q8_group = 32;
constexpr std::size_t q8_bytes = 2 + q8_group;

double half(std::uint16_t code) {
  const int exponent = (code >> 10) & 31;
  const int fraction = code & 1023;
  const double sign = code & 0x8000 ? -1 : 1;
  if (exponent == 31) return fraction ? std::nan("") : sign * HUGE_VAL;
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}

template <typename T>
T load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

std::size_t bytes_of(std::uint32_t type, std::size_t elements, const std::string& name) {
  switch (type) {
    case tensor_f32:
      return 4 * elements;
    case tensor_f16:
    case tensor_bf16:
      return 2 * elements;
    case tensor_q8_0:
      return elements / q8_group * q8_bytes;
    default:
      throw std::runtime_error("tensor " + name + " has type " + std::to_string(type) +
                               "; this decoder reads F32, F16, BF16 and Q8_0");
  }
}

}  // namespace

class gguf_file::cursor {
 public:
  explicit cursor(const std::vector<char>& bytes) : bytes_(bytes) {}

  template <typename T>
  T take() {
    T value;
    std::memcpy(&value, skip(sizeof value), sizeof value);
    return value;
  }
  std::string take_text() {
    const auto length = take<std::uint64_t>();
    return std::string(skip(length), length);
  }
  std::size_t position() const { return position_; }

 private:
  const char* skip(std::uint64_t count) {
    if (count > bytes_.size() - position_) throw std::runtime_error("the GGUF file ends too early");
    position_ += count;
    return bytes_.data() + position_ - count;
  }

  const std::vector<char>& bytes_;
  std::size_t position_ = 0;
};

gguf_file::value gguf_file::read_value(cursor& at, std::uint32_t type) {
  switch (type) {
    case u8:
      return std::uint64_t{at.take<std::uint8_t>()};
    case i8:
      return std::int64_t{at.take<std::int8_t>()};
    case u16:
      return std::uint64_t{at.take<std::uint16_t>()};
    case i16:
      return std::int64_t{at.take<std::int16_t>()};
    case u32:
      return std::uint64_t{at.take<std::uint32_t>()};
    case i32:
      return std::int64_t{at.take<std::int32_t>()};
    case f32:
      return static_cast<double>(at.take<float>());
    case boolean:
      return at.take<std::uint8_t>() != 0;
    case string:
      return at.take_text();
    case u64:
      return at.take<std::uint64_t>();
    case i64:
      return at.take<std::int64_t>();
    case f64:
      return at.take<double>();
    case array: {
      const auto element = at.take<std::uint32_t>();
      const auto count = at.take<std::uint64_t>();
      if (element == array) throw std::runtime_error("the GGUF file has an array of arrays, which no model needs");
      std::vector<std::string> texts;
      for (std::uint64_t i = 0; i < count; ++i) {
        value item = read_value(at, element);
        if (element == string) texts.push_back(std::get<std::string>(std::move(item)));
      }
      if (element == string) return texts;
      return other_array{};
    }
    default:
      throw std::runtime_error("unknown GGUF metadata type " + std::to_string(type));
  }
}

gguf_file::gguf_file(std::vector<char> bytes) : bytes_(std::move(bytes)) {
  cursor at(bytes_);
  if (at.take<std::uint32_t>() != 0x4655'4747) throw std::runtime_error("not a GGUF file");
  if (const auto version = at.take<std::uint32_t>(); version != 3) {
    throw std::runtime_error("GGUF version " + std::to_string(version) + "; this decoder reads version 3");
  }
  const auto tensor_count = at.take<std::uint64_t>();
  const auto metadata_count = at.take<std::uint64_t>();
  for (std::uint64_t i = 0; i < metadata_count; ++i) {
    std::string key = at.take_text();
    const auto type = at.take<std::uint32_t>();
    metadata_.emplace(std::move(key), read_value(at, type));
  }
  for (std::uint64_t i = 0; i < tensor_count; ++i) {
    const std::string name = at.take_text();
    const auto dimensions = at.take<std::uint32_t>();
    tensor_place place{.rows = 1, .columns = 1};
    for (std::uint32_t d = 0; d < dimensions; ++d) {
      const auto extent = at.take<std::uint64_t>();
      // No type takes less than a byte per element.
      if (extent == 0 || extent > bytes_.size() / (place.rows * place.columns)) {
        throw std::runtime_error("tensor " + name + " is empty or has more elements than the file has bytes");
      }
      (d == 0 ? place.columns : place.rows) *= extent;
    }
    place.type = at.take<std::uint32_t>();
    if (place.type == tensor_q8_0 && place.columns % q8_group != 0) {
      throw std::runtime_error("tensor " + name + " is Q8_0 but its rows are not whole groups of 32");
    }
    place.offset = at.take<std::uint64_t>();
    tensors_.emplace(name, place);
  }
  const std::size_t alignment = has("general.alignment") ? integer("general.alignment") : 32;
  if (alignment == 0 || alignment > bytes_.size()) {
    throw std::runtime_error("GGUF key general.alignment is 0 or larger than the file");
  }
  const std::size_t data = (at.position() + alignment - 1) / alignment * alignment;
  for (auto& [name, place] : tensors_) {
    const std::size_t needed = bytes_of(place.type, place.rows * place.columns, name);
    if (data > bytes_.size() || place.offset > bytes_.size() - data || needed > bytes_.size() - data - place.offset) {
      throw std::runtime_error("tensor " + name + " lies beyond the end of the file");
    }
    place.offset += data;
  }
}

gguf_file gguf_file::read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path.string() + ": cannot be opened");
  return gguf_file(std::vector<char>(std::istreambuf_iterator<char>(file), {}));
}

const gguf_file::value& gguf_file::find(const std::string& key) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) throw std::runtime_error("the GGUF file has no key " + key);
  return found->second;
}

std::uint64_t gguf_file::integer(const std::string& key) const {
  const value& v = find(key);
  if (const auto* number = std::get_if<std::uint64_t>(&v)) return *number;
  if (const auto* number = std::get_if<std::int64_t>(&v); number != nullptr && *number >= 0) return *number;
  throw std::runtime_error("GGUF key " + key + " is not a natural number");
}

double gguf_file::real(const std::string& key) const {
  if (const auto* number = std::get_if<double>(&find(key))) return *number;
  throw std::runtime_error("GGUF key " + key + " is not a floating-point number");
}

bool gguf_file::flag(const std::string& key) const {
  if (const auto* truth = std::get_if<bool>(&find(key))) return *truth;
  throw std::runtime_error("GGUF key " + key + " is not a truth value");
}

std::string gguf_file::text(const std::string& key) const {
  if (const auto* text = std::get_if<std::string>(&find(key))) return *text;
  throw std::runtime_error("GGUF key " + key + " is not a string");
}

std::vector<std::string> gguf_file::texts(const std::string& key) const {
  if (const auto* texts = std::get_if<std::vector<std::string>>(&find(key))) return *texts;
  throw std::runtime_error("GGUF key " + key + " is not a list of strings");
}

matrix gguf_file::tensor(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) throw std::runtime_error("the GGUF file has no tensor " + name);
  const tensor_place& place = found->second;
  matrix result{place.rows, place.columns, std::vector<double>(place.rows * place.columns)};
  const char* data = bytes_.data() + place.offset;
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    double& element = result.values[i];
    switch (place.type) {
      case tensor_f32:
        element = static_cast<double>(load<float>(data + 4 * i));
        break;
      case tensor_f16:
        element = half(load<std::uint16_t>(data + 2 * i));
        break;
      case tensor_bf16: {
        const std::uint32_t wide = std::uint32_t{load<std::uint16_t>(data + 2 * i)} << 16;
        float narrow;
        std::memcpy(&narrow, &wide, sizeof narrow);
        element = static_cast<double>(narrow);
        break;
      }
      default: {
        const char* group = data + i / q8_group * q8_bytes;
        element = half(load<std::uint16_t>(group)) * load<std::int8_t>(group + 2 + i % q8_group);
      }
    }
  }
  return result;
}

}  // namespace dvp::oracle
