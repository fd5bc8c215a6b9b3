#include "tlm/loader/model_image.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "dvp_gen/numbers.h"
#include "tlm/loader/tensor_rows.h"
#include "tlm/numerics/bf16.h"
#include "tlm/numerics/rotary.h"

namespace dvp::loader {
namespace {

using gen::tensor_entry;
using gen::tensor_format;
using gen::tensor_kind;

constexpr std::uint64_t data_alignment = 64;
constexpr std::uint64_t rounding_chunk = 1024;  // values converted at a time, a multiple of every block

std::uint64_t aligned(std::uint64_t offset) {
  return (offset + data_alignment - 1) / data_alignment * data_alignment;
}

std::uint32_t element_bytes(tensor_format format) {
  switch (format) {
    case tensor_format::fp32:
    case tensor_format::words:
      return 4;
    case tensor_format::bf16:
      return 2;
    case tensor_format::q8_group32:
    case tensor_format::q8_channels:
      return 1;
  }
  return 1;
}

std::uint64_t data_bytes(const tensor_entry& entry) {
  return std::uint64_t{entry.rows} * entry.row_bytes;
}
std::uint64_t scale_bytes(const tensor_entry& entry) {
  return std::uint64_t{entry.rows} * entry.scale_row_bytes;
}

std::uint64_t end_of(const tensor_entry& entry) {
  return entry.scale_row_bytes != 0 ? entry.scale_offset + scale_bytes(entry) : entry.data_offset + data_bytes(entry);
}

tensor_format format_for(const model_tensor& tensor) {
  if (is_vector(tensor.kind)) {
    return tensor_format::fp32;
  }
  return is_grouped(tensor.source->type->type) ? tensor_format::q8_group32 : tensor_format::bf16;
}

// Bytes of the scales of a row; 0 without.
std::uint32_t scale_row_bytes(const tensor_entry& entry, const compression_sidecar* sidecar) {
  switch (entry.format) {
    case tensor_format::q8_group32:
      return entry.columns / gen::numbers::weight_group * 2;
    case tensor_format::q8_channels:
      return 3 * sidecar->scale_slots * 2;
    default:
      return 0;
  }
}

// Gives the entry its row lengths and its place at or behind `end`; returns the new end.
std::uint64_t place(tensor_entry& entry, std::uint64_t end, const model& source, const compression_sidecar* sidecar) {
  const std::uint64_t row_bytes = std::uint64_t{entry.columns} * element_bytes(entry.format);
  if (row_bytes > std::numeric_limits<std::uint32_t>::max()) {
    throw load_error(source.file->name(), std::string("tensor ") + gen::name_of(entry.kind),
                     "has rows of " + grouped(row_bytes) + " bytes, more than the model image can describe");
  }
  entry.row_bytes = static_cast<std::uint32_t>(row_bytes);
  entry.data_offset = aligned(end);
  end = entry.data_offset + data_bytes(entry);
  entry.scale_row_bytes = scale_row_bytes(entry, sidecar);
  if (entry.scale_row_bytes != 0) {
    entry.scale_offset = aligned(end);
    end = entry.scale_offset + scale_bytes(entry);
  }
  return end;
}

gen::image_header describe(const model_config& c, std::uint32_t context) {
  gen::image_header header;
  header.magic = gen::image_magic;
  header.version = static_cast<std::uint16_t>(gen::image_version);
  header.arch = c.architecture;
  header.flags = (c.shift_logits ? gen::image_flag::shift_logits : 0) |
                 (c.rope_halves() ? gen::image_flag::rope_halves : 0) | (c.tied_head ? gen::image_flag::tied_head : 0) |
                 (c.qkv_bias() ? gen::image_flag::qkv_bias : 0) |
                 (c.block_causal() ? gen::image_flag::block_causal : 0);
  header.vocabulary = c.vocabulary;
  header.width = c.width;
  header.layers = c.layers;
  header.heads = c.heads;
  header.kv_heads = c.kv_heads;
  header.head_length = c.head_length;
  header.ffn_width = c.ffn_width;
  header.context = context;
  header.norm_epsilon = c.norm_epsilon;
  header.rope_base = c.rope_base;
  header.mask_token = c.mask_token;
  header.end_token = c.end_token;
  header.pad_token = c.pad_token;
  header.block_length = c.decode.block_length;
  header.sub_block_length = c.decode.sub_block_length;
  return header;
}

void write_rotary_table(const gen::image_header& header, std::byte* destination) {
  const std::uint32_t pairs = header.head_length / 2;
  std::vector<float> row(header.head_length);
  for (std::uint32_t position = 0; position < header.context; ++position) {
    for (std::uint32_t pair = 0; pair < pairs; ++pair) {
      const auto turn = numerics::rotary(position, pair, header.head_length, header.rope_base);
      row[pair] = turn.cosine;
      row[pairs + pair] = turn.sine;
    }
    const std::size_t bytes = row.size() * sizeof(float);
    std::memcpy(destination + position * bytes, row.data(), bytes);
  }
}

void write_plain(const gguf_tensor& tensor, tensor_format format, std::byte* destination) {
  const std::uint64_t elements = tensor.rows() * tensor.columns();
  float values[rounding_chunk];
  std::uint16_t rounded[rounding_chunk];
  for (std::uint64_t first = 0; first < elements; first += rounding_chunk) {
    const std::uint64_t count = std::min(rounding_chunk, elements - first);
    values_of(tensor, first, count, values);
    if (format == tensor_format::fp32) {
      std::memcpy(destination + first * 4, values, count * 4);
      continue;
    }
    std::transform(values, values + count, rounded, numerics::to_bf16);
    std::memcpy(destination + first * 2, rounded, count * 2);
  }
}

// "3 tensors of type F32 were rounded to bf16: token_embd.weight, blk.0.attn_q.weight, ..."
void note_rounded(const model& source, const char* type, std::vector<std::string>& notes) {
  constexpr std::size_t most_named = 3;
  std::string names;
  std::size_t count = 0;
  for (const model_tensor& tensor : source.tensors) {
    if (!is_vector(tensor.kind) && tensor.source->type->name == std::string_view(type)) {
      if (count < most_named) {
        names += (count == 0 ? "" : ", ") + printable(tensor.source->name);
      }
      ++count;
    }
  }
  if (count != 0) {
    notes.push_back(grouped(count) + (count == 1 ? " tensor" : " tensors") + " of type " + type +
                    (count == 1 ? " was" : " were") + " rounded to bf16: " + names +
                    (count > most_named ? ", ..." : ""));
  }
}

}  // namespace

image_layout plan_image(const model& source, const image_options& options) {
  if (options.context_limit < 1 || options.context_limit > longest_context) {
    throw load_error(source.file->name(), "",
                     "context limit " + grouped(options.context_limit) + " is not in 1 to " + grouped(longest_context));
  }
  image_layout layout;
  layout.sidecar = options.sidecar;
  layout.header = describe(source.config, std::min(source.config.context, options.context_limit));
  for (const model_tensor& tensor : source.tensors) {
    tensor_entry entry;
    entry.kind = tensor.kind;
    entry.format = format_for(tensor);
    entry.layer = tensor.layer;
    entry.rows = tensor.rows;
    entry.columns = tensor.columns;
    layout.entries.push_back(entry);
  }
  if (options.sidecar != nullptr) {
    for (const sidecar_tensor& tensor : options.sidecar->tensors) {
      tensor_entry entry;
      entry.kind = tensor.kind;
      entry.format = tensor.format;
      entry.layer = tensor.layer;
      entry.rows = tensor.rows;
      entry.columns = tensor.columns;
      layout.entries.push_back(entry);
    }
  }
  tensor_entry rotary;
  rotary.kind = tensor_kind::rope_table;
  rotary.format = tensor_format::fp32;
  rotary.rows = layout.header.context;
  rotary.columns = layout.header.head_length;
  layout.entries.push_back(rotary);

  layout.header.tensor_count = static_cast<std::uint32_t>(layout.entries.size());
  std::uint64_t end = sizeof(gen::image_header) + layout.entries.size() * sizeof(tensor_entry);
  for (tensor_entry& entry : layout.entries) {
    end = place(entry, end, source, options.sidecar);
  }
  layout.header.total_bytes = aligned(end);
  return layout;
}

image_report write_image(const model& source, const image_layout& layout, std::span<std::byte> destination) {
  const std::uint64_t total = layout.header.total_bytes;
  if (destination.size() < total) {
    throw load_error(
        source.file->name(), "",
        "the model image takes " + grouped(total) + " bytes but there is room for " + grouped(destination.size()),
        "use a smaller model, a shorter context or more memory");
  }
  image_report report{.image_bytes = total, .parameters = 0, .notes = {}};
  std::byte* image = destination.data();
  std::memcpy(image, &layout.header, sizeof layout.header);
  std::memcpy(image + sizeof layout.header, layout.entries.data(), layout.entries.size() * sizeof(tensor_entry));
  std::uint64_t end = sizeof layout.header + layout.entries.size() * sizeof(tensor_entry);
  const auto begin_at = [&](std::uint64_t offset, std::uint64_t bytes) {
    std::memset(image + end, 0, offset - end);
    end = offset + bytes;
    return image + offset;
  };

  for (std::size_t i = 0; i < layout.entries.size(); ++i) {
    const tensor_entry& entry = layout.entries[i];
    std::byte* data = begin_at(entry.data_offset, data_bytes(entry));
    if (entry.kind == tensor_kind::rope_table) {
      write_rotary_table(layout.header, data);
      continue;
    }
    if (i >= source.tensors.size()) {
      const sidecar_tensor& tensor = layout.sidecar->tensors[i - source.tensors.size()];
      std::memcpy(data, tensor.data.data(), tensor.data.size());
      if (!tensor.scales.empty()) {
        std::memcpy(begin_at(entry.scale_offset, scale_bytes(entry)), tensor.scales.data(), tensor.scales.size());
      }
      end = end_of(entry);
      continue;
    }
    const gguf_tensor& tensor = *source.tensors[i].source;
    report.parameters += tensor.rows() * tensor.columns();
    if (tensor.data.empty()) {
      end = end_of(entry);
      continue;
    }
    if (entry.format == tensor_format::q8_group32) {
      split_groups(tensor, data, begin_at(entry.scale_offset, scale_bytes(entry)));
    } else {
      write_plain(tensor, entry.format, data);
    }
  }
  begin_at(total, 0);

  for (const char* type : {"F32", "F16", "Q4_1"}) {
    note_rounded(source, type, report.notes);
  }
  if (layout.header.context < source.config.context) {
    report.notes.push_back("the context was cut from " + grouped(source.config.context) + " to " +
                           grouped(layout.header.context) + " positions");
  }
  return report;
}

}  // namespace dvp::loader
