// Reader of GGUF files, version 2 and 3, little-endian (ggml's docs/gguf.md).
//
// Nothing in a file is trusted. Opening walks the header, all metadata and the tensor table and checks every length
// against the bytes that are there before using it, so that whatever passes can be read without further checks.
// Memory use is proportional to the number of keys and tensors the file really holds; values stay in the file.
// Every fault is a load_error.
//
//   magic, version, counts | metadata: key, type, value ... | tensor table ... | padding | tensor data
//
// Refused besides truncation and nonsense lengths: version 1, big-endian files, duplicate keys or tensor names,
// alignments that are not a power of two, tensors that overlap, are misaligned or end behind the file, tensors of more
// than four dimensions or with a dimension of zero, arrays nested deeper than 4, booleans other than 0 and 1.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tlm/loader/file_map.h"
#include "tlm/loader/ggml_type.h"
#include "tlm/loader/load_error.h"

namespace dvp::loader {

// Types of metadata values, as the file numbers them.
enum class value_type : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };
const char* name_of(value_type type);
bool is_integer(value_type type);

// A checked metadata value; its bytes are those of the file.
struct gguf_value {
  value_type type = value_type::u8;
  value_type element = value_type::u8;  // of an array
  std::uint64_t count = 1;              // elements of an array, else 1
  std::span<const std::byte> bytes;     // scalar: the number; string: its characters; array: the encoded elements

  // Elements of an array in order, the value itself when it is none. Takes 32 bytes of memory per element.
  std::vector<gguf_value> elements() const;
  // The number of an integer or boolean; a u64 above the i64 range is given as the largest i64.
  std::int64_t integer() const;
  double number() const;
  std::string_view text() const;
};

struct gguf_entry {
  std::string_view key;
  gguf_value value;
};

struct gguf_tensor {
  std::string_view name;
  const ggml_type_info* type = nullptr;  // never null
  std::uint32_t dimensions = 1;
  std::array<std::uint64_t, 4> shape{1, 1, 1, 1};  // innermost (contiguous) first, 1 beyond dimensions
  std::uint64_t offset = 0;                        // byte, from the start of the file
  std::span<const std::byte> data;                 // empty when only the header was asked for

  std::uint64_t columns() const { return shape[0]; }
  std::uint64_t rows() const { return shape[1] * shape[2] * shape[3]; }
  std::uint64_t data_bytes() const { return rows() * row_bytes(); }
  std::uint64_t row_bytes() const { return columns() / type->block_elements * type->block_bytes; }
  std::string shape_text() const;  // "128 x 64", innermost first as in the file
};

// What of a file has to be there: all of it, or everything before the tensors' data, whose spans are then empty.
enum class gguf_part { whole, header };

class gguf_file {
 public:
  // Maps and checks the file at path. Messages call it by that path.
  static gguf_file open(const std::string& path, gguf_part part = gguf_part::whole);
  // Checks a file that is in memory, which must outlive the object. Messages call it name.
  gguf_file(std::string name, std::span<const std::byte> bytes, gguf_part part = gguf_part::whole);

  gguf_file(gguf_file&&) noexcept = default;
  gguf_file& operator=(gguf_file&&) noexcept = default;

  const std::string& name() const { return name_; }
  std::uint32_t version() const { return version_; }
  std::uint64_t file_bytes() const { return bytes_.size(); }
  std::span<const std::byte> bytes() const { return bytes_; }            // all of the file
  const std::vector<gguf_entry>& metadata() const { return metadata_; }  // in file order
  const std::vector<gguf_tensor>& tensors() const { return tensors_; }   // in file order
  const gguf_value* find(std::string_view key) const;                    // null when absent
  const gguf_tensor* find_tensor(std::string_view name) const;           // null when absent

  // Typed look-ups: nothing when the key is absent, load_error when it has another kind of value. Any integer type of
  // the file will do for an integer, either float type for a float.
  std::optional<std::uint64_t> unsigned_of(std::string_view key) const;
  std::optional<double> float_of(std::string_view key) const;
  std::optional<bool> bool_of(std::string_view key) const;
  std::optional<std::string_view> string_of(std::string_view key) const;
  std::optional<std::vector<std::string_view>> strings_of(std::string_view key) const;
  std::optional<std::vector<std::int64_t>> integers_of(std::string_view key) const;

  // The error for a tensor or key of this file.
  load_error tensor_error(std::string_view tensor, std::string_view problem, std::string_view remedy = {}) const;
  load_error key_error(std::string_view key, std::string_view problem, std::string_view remedy = {}) const;

 private:
  void parse();
  void index_metadata();
  void place_tensors(std::uint64_t table_end);

  std::string name_;
  gguf_part part_;
  std::optional<file_map> map_;
  std::span<const std::byte> bytes_;
  std::uint32_t version_ = 0;
  std::vector<gguf_entry> metadata_;
  std::vector<gguf_tensor> tensors_;
  std::vector<std::uint32_t> keys_by_name_;     // indices into metadata_
  std::vector<std::uint32_t> tensors_by_name_;  // indices into tensors_
};

}  // namespace dvp::loader
