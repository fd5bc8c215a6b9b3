#include "tlm/loader/gguf.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>

#include "tlm/loader/gguf_cursor.h"

namespace dvp::loader {

static_assert(std::endian::native == std::endian::little, "numbers are copied out of the file as they are");

namespace {

constexpr std::uint32_t magic = 0x46554747;          // "GGUF"
constexpr std::uint32_t swapped_magic = 0x47475546;  // "FUGG"
constexpr std::uint32_t default_alignment = 32;
constexpr std::uint64_t longest_key = 65535;  // bytes, gguf.md
constexpr std::uint64_t longest_tensor_name = 64;
constexpr std::uint32_t most_dimensions = 4;
// Least bytes of an entry: a name of one character, the fixed fields, and a one-byte value or one dimension.
constexpr std::uint64_t least_entry_bytes = 8 + 1 + 4 + 1;
constexpr std::uint64_t least_tensor_bytes = 8 + 1 + 4 + 8 + 4 + 8;

// Reads magic and version. Big-endian writers leave the magic as it is and swap the numbers.
std::uint32_t read_version(gguf_cursor& cursor) {
  cursor.set_subject("the header");
  const auto found = cursor.number<std::uint32_t>();
  cursor.set_subject("");
  if (found == swapped_magic) {
    cursor.fail("is a big-endian GGUF file", "convert it to little-endian");
  }
  if (found != magic) {
    cursor.fail("does not start with \"GGUF\" and so is not a GGUF file", "convert the model to GGUF");
  }
  cursor.set_subject("the header");
  const auto version = cursor.number<std::uint32_t>();
  cursor.set_subject("");
  if (version != 0 && (version & 0xffff) == 0) {
    cursor.fail("is a big-endian GGUF file", "convert it to little-endian");
  }
  if (version != 2 && version != 3) {
    cursor.fail("is GGUF version " + grouped(version) + ", versions 2 and 3 are supported", "convert the model again");
  }
  return version;
}

// Shape, type and offset of the table entry at the cursor; data is found later.
gguf_tensor read_tensor_entry(gguf_cursor& cursor, std::uint64_t number) {
  cursor.set_subject("tensor number " + grouped(number));
  gguf_tensor tensor;
  tensor.name = cursor.string();
  if (tensor.name.empty() || tensor.name.size() > longest_tensor_name) {
    cursor.fail("has a name of " + grouped(tensor.name.size()) + " bytes, 1 to 64 are allowed", "the file is damaged");
  }
  cursor.set_subject("tensor " + printable(tensor.name));
  tensor.dimensions = cursor.number<std::uint32_t>();
  if (tensor.dimensions < 1 || tensor.dimensions > most_dimensions) {
    cursor.fail("has " + grouped(tensor.dimensions) + " dimensions, 1 to 4 are allowed", "the file is damaged");
  }
  std::uint64_t elements = 1;
  for (std::uint32_t i = 0; i < tensor.dimensions; ++i) {
    const auto extent = cursor.number<std::uint64_t>();
    if (extent == 0) {
      cursor.fail("has a dimension of zero", "the file is damaged");
    }
    // 2^60 values keep every byte count below, at most 8 bytes a value, inside 64 bits.
    if (extent > (std::uint64_t{1} << 60) / elements) {
      cursor.fail("has a shape whose size overflows", "the file is damaged");
    }
    elements *= extent;
    tensor.shape[i] = extent;
  }
  const auto type = cursor.number<std::uint32_t>();
  tensor.type = find_ggml_type(type);
  if (tensor.type == nullptr) {
    cursor.fail("has type number " + grouped(type) + ", which is not a tensor type of ggml", "convert it to Q8_0");
  }
  if (tensor.columns() % tensor.type->block_elements != 0) {
    cursor.fail("is " + std::string(tensor.type->name) + " with rows of " + grouped(tensor.columns()) +
                    " values, which is not a multiple of " + grouped(tensor.type->block_elements),
                "convert it to F16");
  }
  tensor.offset = cursor.number<std::uint64_t>();
  return tensor;
}

template <typename T>
T load(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

// Indices 0 .. names-1 ordered by name, equal names in file order.
template <typename NameOf>
std::vector<std::uint32_t> order_by_name(std::size_t names, NameOf name_of_index) {
  std::vector<std::uint32_t> order(names);
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const std::string_view left = name_of_index(a), right = name_of_index(b);
    return left != right ? left < right : a < b;
  });
  return order;
}

}  // namespace

const char* name_of(value_type type) {
  constexpr const char* names[] = {"u8",      "i8",     "u16",   "i16", "u32", "i32", "f32",
                                   "boolean", "string", "array", "u64", "i64", "f64"};
  return names[static_cast<std::uint32_t>(type)];
}

bool is_integer(value_type type) {
  return type != value_type::f32 && type != value_type::f64 && type != value_type::boolean &&
         type != value_type::string && type != value_type::array;
}

std::vector<gguf_value> gguf_value::elements() const {
  if (type != value_type::array) {
    return {*this};
  }
  std::vector<gguf_value> list;
  list.reserve(count);
  const std::string unused_name;  // the bytes were checked when the file was opened: nothing fails here
  gguf_cursor cursor(unused_name, bytes);
  for (std::uint64_t i = 0; i < count; ++i) {
    list.push_back(cursor.value(element));
  }
  return list;
}

std::int64_t gguf_value::integer() const {
  switch (type) {
    case value_type::u8:
    case value_type::boolean:
      return load<std::uint8_t>(bytes);
    case value_type::i8:
      return load<std::int8_t>(bytes);
    case value_type::u16:
      return load<std::uint16_t>(bytes);
    case value_type::i16:
      return load<std::int16_t>(bytes);
    case value_type::u32:
      return load<std::uint32_t>(bytes);
    case value_type::i32:
      return load<std::int32_t>(bytes);
    case value_type::u64:
      return static_cast<std::int64_t>(
          std::min<std::uint64_t>(load<std::uint64_t>(bytes), std::numeric_limits<std::int64_t>::max()));
    case value_type::i64:
      return load<std::int64_t>(bytes);
    default:
      return 0;
  }
}

double gguf_value::number() const {
  if (type == value_type::f32) {
    return load<float>(bytes);
  }
  return type == value_type::f64 ? load<double>(bytes) : static_cast<double>(integer());
}

std::string_view gguf_value::text() const {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string gguf_tensor::shape_text() const {
  std::string text = std::to_string(shape[0]);
  for (std::uint32_t i = 1; i < dimensions; ++i) {
    text += " x " + std::to_string(shape[i]);
  }
  return text;
}

gguf_file gguf_file::open(const std::string& path, gguf_part part) {
  file_map map(path);
  gguf_file file(path, map.bytes(), part);
  file.map_ = std::move(map);
  return file;
}

gguf_file::gguf_file(std::string name, std::span<const std::byte> bytes, gguf_part part)
    : name_(std::move(name)), part_(part), bytes_(bytes) {
  if (bytes.empty()) {
    throw load_error(name_, "", "is empty", "the download may have failed");
  }
  parse();
}

void gguf_file::parse() {
  gguf_cursor cursor(name_, bytes_);
  version_ = read_version(cursor);
  cursor.set_subject("the header");
  const auto tensor_count = cursor.count("tensors", least_tensor_bytes);
  const auto metadata_count = cursor.count("metadata keys", least_entry_bytes);

  metadata_.reserve(metadata_count);
  for (std::uint64_t i = 0; i < metadata_count; ++i) {
    cursor.set_subject("metadata entry number " + grouped(i));
    const std::string_view key = cursor.string();
    if (key.empty() || key.size() > longest_key) {
      cursor.fail("has a key of " + grouped(key.size()) + " bytes, 1 to 65,535 are allowed", "the file is damaged");
    }
    cursor.set_subject("key " + printable(key));
    const value_type type = cursor.type();
    metadata_.push_back({key, cursor.value(type)});
  }
  index_metadata();

  tensors_.reserve(tensor_count);
  for (std::uint64_t i = 0; i < tensor_count; ++i) {
    tensors_.push_back(read_tensor_entry(cursor, i));
  }
  place_tensors(cursor.position());
}

void gguf_file::index_metadata() {
  const auto key_at = [&](std::uint32_t i) { return metadata_[i].key; };
  keys_by_name_ = order_by_name(metadata_.size(), key_at);
  for (std::size_t i = 1; i < keys_by_name_.size(); ++i) {
    if (key_at(keys_by_name_[i]) == key_at(keys_by_name_[i - 1])) {
      throw key_error(key_at(keys_by_name_[i]), "appears twice", "the file is damaged");
    }
  }
}

// Turns offsets into the data section into spans of the file, and sees that the spans are the tensors' own.
void gguf_file::place_tensors(std::uint64_t table_end) {
  const auto name_at = [&](std::uint32_t i) { return tensors_[i].name; };
  tensors_by_name_ = order_by_name(tensors_.size(), name_at);
  for (std::size_t i = 1; i < tensors_by_name_.size(); ++i) {
    if (name_at(tensors_by_name_[i]) == name_at(tensors_by_name_[i - 1])) {
      throw tensor_error(name_at(tensors_by_name_[i]), "appears twice", "the file is damaged");
    }
  }

  const std::uint64_t alignment = unsigned_of("general.alignment").value_or(default_alignment);
  if (!std::has_single_bit(alignment) || alignment > std::numeric_limits<std::uint32_t>::max()) {
    throw key_error("general.alignment", "is " + grouped(alignment) + ", which is not a power of two",
                    "the file is damaged");
  }
  const std::uint64_t data_start = (table_end + alignment - 1) / alignment * alignment;
  for (gguf_tensor& tensor : tensors_) {
    if (tensor.offset % alignment != 0) {
      throw tensor_error(tensor.name,
                         "starts at data offset " + grouped(tensor.offset) +
                             ", which is not a multiple of the alignment " + grouped(alignment),
                         "the file is damaged");
    }
    const std::uint64_t bytes = tensor.data_bytes();
    if (tensor.offset > (std::uint64_t{1} << 62)) {
      throw tensor_error(tensor.name, "starts at data offset " + grouped(tensor.offset) + ", far behind any file",
                         "the file is damaged");
    }
    tensor.offset += data_start;
    // At most 2^62 + 2^33 + 2^63: the sum does not wrap.
    const std::uint64_t end = tensor.offset + bytes;
    if (part_ == gguf_part::header) continue;
    if (end > bytes_.size()) {
      throw tensor_error(tensor.name, "ends at byte " + grouped(end) + " but the file has " + grouped(bytes_.size()),
                         "the download may be incomplete");
    }
    tensor.data = bytes_.subspan(tensor.offset, bytes);
  }

  std::vector<const gguf_tensor*> by_offset;
  for (const gguf_tensor& tensor : tensors_) {
    by_offset.push_back(&tensor);
  }
  std::sort(by_offset.begin(), by_offset.end(),
            [](const gguf_tensor* a, const gguf_tensor* b) { return a->offset < b->offset; });
  for (std::size_t i = 1; i < by_offset.size(); ++i) {
    const gguf_tensor& before = *by_offset[i - 1];
    if (by_offset[i]->offset < before.offset + before.data_bytes()) {
      throw tensor_error(by_offset[i]->name, "overlaps tensor " + printable(before.name), "the file is damaged");
    }
  }
}

const gguf_value* gguf_file::find(std::string_view key) const {
  const auto place = std::lower_bound(keys_by_name_.begin(), keys_by_name_.end(), key,
                                      [&](std::uint32_t i, std::string_view k) { return metadata_[i].key < k; });
  const bool found = place != keys_by_name_.end() && metadata_[*place].key == key;
  return found ? &metadata_[*place].value : nullptr;
}

const gguf_tensor* gguf_file::find_tensor(std::string_view name) const {
  const auto place = std::lower_bound(tensors_by_name_.begin(), tensors_by_name_.end(), name,
                                      [&](std::uint32_t i, std::string_view n) { return tensors_[i].name < n; });
  const bool found = place != tensors_by_name_.end() && tensors_[*place].name == name;
  return found ? &tensors_[*place] : nullptr;
}

load_error gguf_file::tensor_error(std::string_view tensor, std::string_view problem, std::string_view remedy) const {
  return load_error(name_, "tensor " + printable(tensor), problem, remedy);
}

load_error gguf_file::key_error(std::string_view key, std::string_view problem, std::string_view remedy) const {
  return load_error(name_, "key " + printable(key), problem, remedy);
}

}  // namespace dvp::loader
