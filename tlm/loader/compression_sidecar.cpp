#include "tlm/loader/compression_sidecar.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string_view>
#include <unordered_set>

#include "dvp_gen/converter_regs.h"
#include "dvp_gen/numbers.h"
#include "tlm/loader/key_reader.h"
#include "tlm/loader/sha256.h"
#include "tlm/numerics/bf16.h"
#include "tlm/numerics/fp16.h"
#include "tlm/numerics/view_table.h"

namespace dvp::loader {
namespace {

using gen::tensor_format;
using gen::tensor_kind;

constexpr std::uint32_t file_version = 1;
constexpr const char* remedy = "make it again with scripts/calibrate";

template <typename T>
T element(std::span<const std::byte> data, std::uint64_t i) {
  T value;
  std::memcpy(&value, data.data() + i * sizeof(T), sizeof(T));
  return value;
}

std::string key_name(std::string_view name) {
  return "dvp.compression." + std::string(name);
}

std::string text_key(const gguf_file& file, std::string_view name) {
  const std::string key = key_name(name);
  const auto value = file.string_of(key);
  if (!value) throw file.key_error(key, "is missing", remedy);
  return std::string(*value);
}

std::uint64_t integer_key(const gguf_file& file, std::string_view name, std::uint64_t least, std::uint64_t most) {
  const std::string key = key_name(name);
  const auto value = file.unsigned_of(key);
  if (!value) throw file.key_error(key, "is missing", remedy);
  if (*value < least || *value > most) {
    throw file.key_error(key, "is " + grouped(*value) + ", " + grouped(least) + " to " + grouped(most) + " is expected",
                         remedy);
  }
  return *value;
}

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

// An array of so many finite floats that are 0 or more.
std::vector<float> amounts_key(const gguf_file& file, std::string_view name, std::uint64_t count) {
  const std::string key = key_name(name);
  const gguf_value* value = file.find(key);
  if (value == nullptr) throw file.key_error(key, "is missing", remedy);
  if (value->type != value_type::array || value->element != value_type::f32 || value->count != count) {
    throw file.key_error(key, "is not an array of " + grouped(count) + " f32", remedy);
  }
  std::vector<float> numbers;
  for (const gguf_value& item : value->elements()) {
    const double number = item.number();
    if (!std::isfinite(number) || number < 0) {
      throw file.key_error(key,
                           "has element " + std::to_string(numbers.size()) + " of " + short_number(number) +
                               ", a finite number of 0 or more is expected",
                           remedy);
    }
    numbers.push_back(static_cast<float>(number));
  }
  return numbers;
}

void require_shares(const gguf_file& file, std::string_view name, std::span<const float> shares) {
  double total = 0;
  for (const float share : shares) total += share;
  if (total > 1 + share_rounding) {
    throw file.key_error(key_name(name), "has shares that add up to " + short_number(total) + ", more than 1", remedy);
  }
}

void read_provenance(const gguf_file& file, compression_sidecar& s) {
  const auto name = file.string_of("general.architecture");
  if (!name || *name != sidecar_architecture) {
    throw load_error(file.name(), "",
                     (name ? "architecture " + printable(*name) : std::string("a file without architecture")) +
                         " is no compression sidecar (" + sidecar_architecture + ")",
                     "give a file that scripts/calibrate wrote");
  }
  integer_key(file, "version", file_version, file_version);
  s.model_sha256 = text_key(file, "model_sha256");
  const bool digits = std::all_of(s.model_sha256.begin(), s.model_sha256.end(),
                                  [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  if (s.model_sha256.size() != 64 || !digits) {
    throw file.key_error(key_name("model_sha256"),
                         "is " + printable(s.model_sha256) + ", 64 lower-case hexadecimal digits are expected", remedy);
  }
  s.model = text_key(file, "model");
  s.data = text_key(file, "data");
  s.tool = text_key(file, "tool");
  s.seed = integer_key(file, "seed", 0, std::numeric_limits<std::uint64_t>::max());
}

void read_numbers(const gguf_file& file, compression_sidecar& s) {
  constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
  constexpr std::uint32_t group = gen::numbers::weight_group;
  s.group = static_cast<std::uint32_t>(integer_key(file, "group", group, group));
  s.correction_rank = static_cast<std::uint32_t>(integer_key(file, "correction_rank", 0, most_correction_rank));
  s.basis_tokens = static_cast<std::uint32_t>(integer_key(file, "basis_tokens", 1, most));
  const auto shares = amounts_key(file, "shares", s.shares.size());
  std::copy(shares.begin(), shares.end(), s.shares.begin());
  require_shares(file, "shares", s.shares);
  const auto table = amounts_key(file, "settings", 3 * touch_settings);
  for (std::size_t i = 0; i < touch_settings; ++i) {
    s.settings[i] = {table[3 * i], table[3 * i + 1], table[3 * i + 2]};
    require_shares(file, "settings", std::span(table).subspan(3 * i + 1, 2));
  }
}

// Takes tensors out of the file, checked, and remembers which it took.
class tensor_taker {
 public:
  explicit tensor_taker(compression_sidecar& target) : sidecar_(target), file_(*target.file) {}

  // type: ggml's name for it.
  const gguf_tensor& find(const std::string& name, std::string_view type) {
    const gguf_tensor* tensor = file_.find_tensor(name);
    if (tensor == nullptr) throw file_.tensor_error(name, "is missing", remedy);
    if (tensor->type->name != type) {
      throw file_.tensor_error(
          name, "is " + std::string(tensor->type->name) + ", " + std::string(type) + " is expected", remedy);
    }
    used_.insert(tensor);
    return *tensor;
  }

  const gguf_tensor& find(const std::string& name, std::string_view type, std::uint64_t rows, std::uint64_t columns) {
    const gguf_tensor& tensor = find(name, type);
    if (tensor.shape != std::array<std::uint64_t, 4>{columns, rows, 1, 1}) {
      throw file_.tensor_error(name,
                               "has shape " + tensor.shape_text() + ", " + std::to_string(columns) +
                                   (rows == 1 ? "" : " x " + std::to_string(rows)) + " is expected",
                               remedy);
    }
    return tensor;
  }

  void require_finite(const gguf_tensor& tensor, bool least_zero = false) const {
    const std::uint64_t elements = tensor.rows() * tensor.columns();
    for (std::uint64_t i = 0; i < elements; ++i) {
      const float value = number(tensor, i);
      if (std::isfinite(value) && (!least_zero || value >= 0)) continue;
      throw file_.tensor_error(tensor.name,
                               "has element " + grouped(i) + " of " + short_number(value) + ", a finite " +
                                   (least_zero ? "number of 0 or more" : "number") + " is expected",
                               remedy);
    }
  }

  void refuse_unused() const {
    for (const gguf_tensor& tensor : file_.tensors()) {
      if (used_.contains(&tensor)) continue;
      throw file_.tensor_error(tensor.name,
                               "is no part of a sidecar of " + std::to_string(sidecar_.layers) +
                                   " layers and correction rank " + std::to_string(sidecar_.correction_rank),
                               remedy);
    }
  }

  static float number(const gguf_tensor& tensor, std::uint64_t i) {
    if (tensor.type->type == ggml_type::f32) return element<float>(tensor.data, i);
    const auto half = element<std::uint16_t>(tensor.data, i);
    return tensor.type->type == ggml_type::f16 ? numerics::from_fp16(half) : numerics::from_bf16(half);
  }

 private:
  compression_sidecar& sidecar_;
  const gguf_file& file_;
  std::unordered_set<const gguf_tensor*> used_;
};

std::string layer_tensor(std::uint32_t layer, const std::string& name) {
  return "blk." + std::to_string(layer) + "." + name;
}

// The shape that all layers have: that of the first one's channels.
void read_shape(tensor_taker& take, compression_sidecar& s) {
  const gguf_file& file = *s.file;
  while (file.find_tensor(layer_tensor(s.layers, "ffn_channels.codes")) != nullptr) ++s.layers;
  const gguf_tensor& codes = take.find("blk.0.ffn_channels.codes", "I8");
  const gguf_tensor& scales = take.find("blk.0.ffn_channels.scales", "F16");
  const auto misshapen = [&](const gguf_tensor& tensor, const std::string& expected) {
    return file.tensor_error(tensor.name, "has shape " + tensor.shape_text() + ", " + expected + " is expected",
                             remedy);
  };
  constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
  if (codes.columns() % (3 * std::uint64_t{s.group}) != 0 || codes.columns() > most || codes.rows() > most) {
    throw misshapen(codes, "three times the width, a multiple of " + std::to_string(s.group) + ", x channels");
  }
  s.width = static_cast<std::uint32_t>(codes.columns() / 3);
  s.ffn_width = static_cast<std::uint32_t>(codes.rows());
  const std::uint64_t used = 2 * (s.width / s.group) + 1, unit = 3 * gen::scale_slot_unit;
  if (scales.columns() % unit != 0 || scales.columns() < 3 * used || scales.columns() > most) {
    throw misshapen(scales, "a multiple of " + std::to_string(unit) + " with room for 3 x " + std::to_string(used) +
                                " scales, x channels");
  }
  s.scale_slots = static_cast<std::uint32_t>(scales.columns() / 3);
}

// Slots behind the scales are 0: they are read with them.
void require_empty_slots(const gguf_tensor& scales, const compression_sidecar& s) {
  const std::uint32_t used = 2 * (s.width / s.group) + 1;
  for (std::uint64_t precision = 0; precision < 3 * std::uint64_t{s.ffn_width}; ++precision) {
    for (std::uint32_t slot = used; slot < s.scale_slots; ++slot) {
      const std::uint64_t at = precision * s.scale_slots + slot;
      if (element<std::uint16_t>(scales.data, at) == 0) continue;
      throw s.file->tensor_error(scales.name, "has element " + grouped(at) + ", which no scale uses, not 0", remedy);
    }
  }
}

void require_view(const gguf_tensor& views, std::uint32_t index, std::uint8_t precision, const compression_sidecar& s) {
  namespace field = gen::converter::view::descriptor;
  const auto word = element<std::uint32_t>(views.data, index);
  numerics::view v;
  v.precision = static_cast<std::uint8_t>(field::precision.get(word));
  v.mode = static_cast<numerics::view_mode>(field::mode.get(word));
  v.shift = static_cast<std::uint8_t>(field::shift.get(word));
  v.clip = static_cast<std::uint8_t>(field::clip.get(word));
  v.threshold = static_cast<std::uint8_t>(field::threshold.get(word));
  std::uint32_t known = 0;
  for (const auto& f : {field::precision, field::mode, field::shift, field::clip, field::threshold}) {
    known = f.set(known, f.get(word));
  }
  if (known == word && v.precision == precision && numerics::view_table::takes(v)) return;
  char text[11];
  std::snprintf(text, sizeof text, "0x%08x", word);
  throw s.file->tensor_error(
      views.name, "has element " + std::to_string(index) + " of " + text + ", no view of q" + std::to_string(precision),
      remedy);
}

void take_correction(tensor_taker& take, std::uint32_t layer, const std::string& name, std::array<tensor_kind, 3> kinds,
                     compression_sidecar& s) {
  const std::uint32_t k = s.correction_rank;
  const auto add = [&](tensor_kind kind, const char* part, std::uint32_t rows, std::uint32_t columns) {
    const gguf_tensor& tensor = take.find(layer_tensor(layer, name + part), "BF16", rows, columns);
    take.require_finite(tensor);
    s.tensors.push_back({kind, tensor_format::bf16, layer, rows, columns, tensor.data, {}});
  };
  add(kinds[0], ".inputs", 2 * k, s.width);
  add(kinds[1], ".channels", s.ffn_width, 3 * k);
  add(kinds[2], ".outputs", s.width, k);
}

void take_layer(tensor_taker& take, std::uint32_t layer, compression_sidecar& s) {
  const auto name = [&](const char* of) { return layer_tensor(layer, of); };
  const gguf_tensor& codes = take.find(name("ffn_channels.codes"), "I8", s.ffn_width, std::uint64_t{3} * s.width);
  const gguf_tensor& scales =
      take.find(name("ffn_channels.scales"), "F16", s.ffn_width, std::uint64_t{3} * s.scale_slots);
  take.require_finite(scales);
  require_empty_slots(scales, s);
  s.tensors.push_back({tensor_kind::ffn_channels, tensor_format::q8_channels, layer, s.ffn_width, 3 * s.width,
                       codes.data, scales.data});
  const gguf_tensor& importance = take.find(name("ffn_importance"), "F32", 1, s.ffn_width);
  take.require_finite(importance, true);
  s.tensors.push_back({tensor_kind::ffn_importance, tensor_format::fp32, layer, 1, s.ffn_width, importance.data, {}});
  const gguf_tensor& views = take.find(name("ffn_views"), "I32", 1, 2);
  require_view(views, 0, 4, s);
  require_view(views, 1, 2, s);
  s.tensors.push_back({tensor_kind::ffn_views, tensor_format::words, layer, 1, 2, views.data, {}});
  if (s.correction_rank == 0) return;
  take_correction(
      take, layer, "correction_q4",
      {tensor_kind::correction_q4_inputs, tensor_kind::correction_q4_channels, tensor_kind::correction_q4_outputs}, s);
  take_correction(
      take, layer, "correction_q2",
      {tensor_kind::correction_q2_inputs, tensor_kind::correction_q2_channels, tensor_kind::correction_q2_outputs}, s);
}

}  // namespace

compression_sidecar read_sidecar(const gguf_file& file) {
  compression_sidecar s;
  s.file = &file;
  read_provenance(file, s);
  read_numbers(file, s);
  tensor_taker take(s);
  read_shape(take, s);
  for (std::uint32_t layer = 0; layer < s.layers; ++layer) take_layer(take, layer, s);
  take.refuse_unused();
  return s;
}

void require_made_for(const compression_sidecar& s, const model& source) {
  const std::string& name = source.file->name();
  const std::string digest = sha256(source.file->bytes());
  if (digest != s.model_sha256) {
    throw load_error(s.file->name(), "",
                     "was made for a model file " + printable(s.model) + " of SHA-256 " + s.model_sha256 + " and " +
                         name + " has " + digest,
                     "use that model, or make a sidecar for this one with scripts/calibrate");
  }
  const model_config& c = source.config;
  if (s.layers == c.layers && s.width == c.width && s.ffn_width == c.ffn_width) return;
  throw load_error(s.file->name(), "",
                   "holds " + grouped(s.layers) + " layers of " + grouped(s.ffn_width) + " channels and width " +
                       grouped(s.width) + " and " + name + " has " + grouped(c.layers) + " of " + grouped(c.ffn_width) +
                       " and " + grouped(c.width),
                   remedy);
}

}  // namespace dvp::loader
