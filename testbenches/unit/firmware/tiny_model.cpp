#include "testbenches/unit/firmware/tiny_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>
#include <numeric>

#include "tlm/numerics/bf16.h"
#include "tlm/numerics/fp16.h"

namespace dvp::testbench {
namespace {

constexpr double norm_epsilon = 1e-5;
constexpr double rope_base = 10000;
constexpr std::size_t alignment = 64;
constexpr std::uint32_t group = 32;

std::span<const std::byte> bytes_of(const auto& values) {
  return std::as_bytes(std::span(values));
}

// [n][out] = x [n][in] * w [out][in] + bias
table multiply(const table& x, const table& w, const table* bias = nullptr) {
  table d{x.rows, w.rows, std::vector<double>(std::size_t{x.rows} * w.rows)};
  for (std::uint32_t r = 0; r < x.rows; ++r) {
    for (std::uint32_t o = 0; o < w.rows; ++o) {
      double sum = bias != nullptr ? bias->at(0, o) : 0;
      for (std::uint32_t i = 0; i < x.columns; ++i) {
        sum += x.at(r, i) * w.at(o, i);
      }
      d.at(r, o) = sum;
    }
  }
  return d;
}

void add_to(table& x, const table& y) {
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    x.values[i] += y.values[i];
  }
}

table normalise(const table& x, const table& weight) {
  table d = x;
  for (std::uint32_t r = 0; r < x.rows; ++r) {
    double squares = 0;
    for (std::uint32_t c = 0; c < x.columns; ++c) {
      squares += x.at(r, c) * x.at(r, c);
    }
    const double factor = 1 / std::sqrt(squares / x.columns + norm_epsilon);
    for (std::uint32_t c = 0; c < x.columns; ++c) {
      d.at(r, c) = x.at(r, c) * factor * weight.at(0, c);
    }
  }
  return d;
}

void softmax(std::vector<double>& row) {
  const double largest = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (double& v : row) {
    v = std::exp(v - largest);
    sum += v;
  }
  for (double& v : row) {
    v /= sum;
  }
}

// Appends codes and their scale; the values become what these stand for.
void quantise(std::span<double> values, std::vector<std::int8_t>& codes, std::vector<std::uint16_t>& scales) {
  double largest = 0;
  for (const double v : values) {
    largest = std::max(largest, std::abs(v));
  }
  scales.push_back(numerics::to_fp16(static_cast<float>(largest / 127)));
  const double step = numerics::from_fp16(scales.back());
  for (double& v : values) {
    codes.push_back(static_cast<std::int8_t>(std::clamp(std::round(v / step), -127.0, 127.0)));
    v = step * codes.back();
  }
}

double angle(std::uint32_t position, std::uint32_t pair, std::uint32_t head_length) {
  return position * std::pow(rope_base, -2.0 * pair / head_length);
}

void rotate(table& x, std::span<const std::uint32_t> rows, std::uint32_t head_length, bool halves) {
  for (std::uint32_t r = 0; r < x.rows; ++r) {
    for (std::uint32_t h = 0; h < x.columns; h += head_length) {
      for (std::uint32_t p = 0; p < head_length / 2; ++p) {
        double& a = x.at(r, h + (halves ? p : 2 * p));
        double& b = x.at(r, h + (halves ? p + head_length / 2 : 2 * p + 1));
        const double turn = angle(rows[r], p, head_length);
        const double rotated = a * std::cos(turn) - b * std::sin(turn);
        b = a * std::sin(turn) + b * std::cos(turn);
        a = rotated;
      }
    }
  }
}

}  // namespace

// Box and Muller over a 64-bit linear congruential generator (Knuth's MMIX constants).
double tiny_model::gaussian() {
  const auto uniform = [&] {
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    return (static_cast<double>(random_ >> 11) + 0.5) * 0x1p-53;
  };
  const double radius = std::sqrt(-2 * std::log(uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

void tiny_model::add_entry(gen::tensor_entry entry, std::span<const std::byte> data,
                           std::span<const std::byte> scales) {
  const auto append = [&](std::span<const std::byte> bytes) {
    data_.resize((data_.size() + alignment - 1) / alignment * alignment);
    const std::uint64_t offset = data_.size();
    data_.insert(data_.end(), bytes.begin(), bytes.end());
    return offset;
  };
  entry.data_offset = append(data);
  entry.scale_offset = scales.empty() ? 0 : append(scales);
  entries_.push_back(entry);
}

table tiny_model::add_matrix(gen::tensor_kind kind, std::uint32_t layer, std::uint32_t rows, std::uint32_t columns,
                             double scale) {
  table t{rows, columns, std::vector<double>(std::size_t{rows} * columns)};
  for (double& v : t.values) {
    v = gaussian() * scale;
  }
  gen::tensor_entry entry{.kind = kind, .layer = layer, .rows = rows, .columns = columns};
  if (!options_.quantised) {
    std::vector<std::uint16_t> elements;
    for (double& v : t.values) {
      elements.push_back(numerics::to_bf16(static_cast<float>(v)));
      v = numerics::from_bf16(elements.back());
    }
    entry.format = gen::tensor_format::bf16;
    entry.row_bytes = columns * 2;
    add_entry(entry, bytes_of(elements), {});
    return t;
  }
  std::vector<std::int8_t> codes;
  std::vector<std::uint16_t> scales;
  for (std::size_t first = 0; first < t.values.size(); first += group) {
    quantise(std::span(t.values).subspan(first, group), codes, scales);
  }
  entry.format = gen::tensor_format::q8_group32;
  entry.row_bytes = columns;
  entry.scale_row_bytes = columns / group * 2;
  add_entry(entry, bytes_of(codes), bytes_of(scales));
  return t;
}

table tiny_model::add_vector(gen::tensor_kind kind, std::uint32_t layer, std::uint32_t columns, double mean,
                             double spread) {
  table t{1, columns, std::vector<double>(columns)};
  std::vector<float> elements;
  for (double& v : t.values) {
    elements.push_back(static_cast<float>(mean + spread * gaussian()));
    v = elements.back();
  }
  add_entry({.kind = kind,
             .format = gen::tensor_format::fp32,
             .layer = layer,
             .rows = 1,
             .columns = columns,
             .row_bytes = columns * 4},
            bytes_of(elements), {});
  return t;
}

// Narrow codes of midpoint views stand for numbers on the grid of the whole ones: all three precisions have its scales.
void tiny_model::add_channels(std::uint32_t layer, const layer_tables& w) {
  using kind = gen::tensor_kind;
  const std::uint32_t width = options_.width, channels = options_.ffn_width;
  std::vector<std::int8_t> codes;
  std::vector<std::uint16_t> scales;
  std::vector<float> importance;
  for (std::uint32_t j = 0; j < channels; ++j) {
    std::vector<std::uint16_t> slots;
    for (const table* t : {&w.gate, &w.up}) {
      for (std::uint32_t i = 0; i < width; i += group) {
        const auto from = t->values.begin() + std::size_t{j} * width + i;
        std::vector<double> values(from, from + group);
        quantise(values, codes, slots);
      }
    }
    std::vector<double> column(width);
    for (std::uint32_t i = 0; i < width; ++i) {
      column[i] = w.down.at(i, j);
    }
    quantise(column, codes, slots);
    double square = 0;
    for (std::size_t i = codes.size() - width; i < codes.size(); ++i) {
      square += codes[i] * codes[i];
    }
    importance.push_back(static_cast<float>(std::sqrt(square)));
    slots.resize((slots.size() + gen::scale_slot_unit - 1) / gen::scale_slot_unit * gen::scale_slot_unit);
    for (int precision = 0; precision < 3; ++precision) {
      scales.insert(scales.end(), slots.begin(), slots.end());
    }
  }
  add_entry({.kind = kind::ffn_channels,
             .format = gen::tensor_format::q8_channels,
             .layer = layer,
             .rows = channels,
             .columns = 3 * width,
             .row_bytes = 3 * width,
             .scale_row_bytes = static_cast<std::uint32_t>(2 * scales.size() / channels)},
            bytes_of(codes), bytes_of(scales));
  add_entry({.kind = kind::ffn_importance,
             .format = gen::tensor_format::fp32,
             .layer = layer,
             .rows = 1,
             .columns = channels,
             .row_bytes = channels * 4},
            bytes_of(importance), {});
  const std::array<std::uint32_t, 2> views = {4, 2};
  add_entry({.kind = kind::ffn_views,
             .format = gen::tensor_format::words,
             .layer = layer,
             .rows = 1,
             .columns = 2,
             .row_bytes = 8},
            bytes_of(views), {});
  const std::uint32_t rank = options_.correction_rank;
  if (rank != 0) {
    add_elements(kind::correction_q4_inputs, layer, 2 * rank, width);
    add_elements(kind::correction_q4_channels, layer, channels, 3 * rank);
    add_elements(kind::correction_q4_outputs, layer, width, rank);
    add_elements(kind::correction_q2_inputs, layer, 2 * rank, width);
    add_elements(kind::correction_q2_channels, layer, channels, 3 * rank);
    add_elements(kind::correction_q2_outputs, layer, width, rank);
  }
}

void tiny_model::add_elements(gen::tensor_kind kind, std::uint32_t layer, std::uint32_t rows, std::uint32_t columns) {
  const std::vector<std::uint16_t> zeros(std::size_t{rows} * columns);
  add_entry({.kind = kind,
             .format = gen::tensor_format::bf16,
             .layer = layer,
             .rows = rows,
             .columns = columns,
             .row_bytes = columns * 2},
            bytes_of(zeros), {});
}

tiny_model::tiny_model(const tiny_options& o) : options_(o), random_(o.seed) {
  using kind = gen::tensor_kind;
  const double scale = 1 / std::sqrt(static_cast<double>(o.width));
  const std::uint32_t queries = o.heads * o.head_length;
  const std::uint32_t kv = o.kv_heads * o.head_length;
  embedding_ = add_matrix(kind::embedding, 0, o.vocabulary, o.width, o.tied ? 0.3 : 0.7);
  for (std::uint32_t l = 0; l < o.layers; ++l) {
    layer_tables w;
    w.attn_norm = add_vector(kind::attn_norm, l, o.width, 1, 0.1);
    w.q = add_matrix(kind::attn_q, l, queries, o.width, 1.5 * scale);
    w.k = add_matrix(kind::attn_k, l, kv, o.width, 1.5 * scale);
    w.v = add_matrix(kind::attn_v, l, kv, o.width, scale);
    if (o.qkv_bias) {
      w.q_bias = add_vector(kind::attn_q_bias, l, queries, 0, 0.3);
      w.k_bias = add_vector(kind::attn_k_bias, l, kv, 0, 0.3);
      w.v_bias = add_vector(kind::attn_v_bias, l, kv, 0, 0.3);
    }
    w.output = add_matrix(kind::attn_output, l, o.width, queries, scale);
    w.ffn_norm = add_vector(kind::ffn_norm, l, o.width, 1, 0.1);
    w.gate = add_matrix(kind::ffn_gate, l, o.ffn_width, o.width, scale);
    w.up = add_matrix(kind::ffn_up, l, o.ffn_width, o.width, scale);
    w.down = add_matrix(kind::ffn_down, l, o.width, o.ffn_width, 0.7 * scale);
    if (o.channels) {
      add_channels(l, w);
    }
    layers_.push_back(std::move(w));
  }
  output_norm_ = add_vector(kind::output_norm, 0, o.width, 1, 0.1);
  head_ = o.tied ? embedding_ : add_matrix(kind::output, 0, o.vocabulary, o.width, 3 * scale);

  std::vector<float> rope;
  for (std::uint32_t position = 0; position < o.context; ++position) {
    for (std::uint32_t half = 0; half < 2; ++half) {
      for (std::uint32_t p = 0; p < o.head_length / 2; ++p) {
        const double turn = angle(position, p, o.head_length);
        rope.push_back(static_cast<float>(half == 0 ? std::cos(turn) : std::sin(turn)));
      }
    }
  }
  add_entry({.kind = kind::rope_table,
             .format = gen::tensor_format::fp32,
             .rows = o.context,
             .columns = o.head_length,
             .row_bytes = o.head_length * 4},
            bytes_of(rope), {});

  const std::size_t head_bytes =
      (sizeof(gen::image_header) + entries_.size() * sizeof(gen::tensor_entry) + alignment - 1) / alignment * alignment;
  image_.resize(head_bytes + data_.size());
  for (gen::tensor_entry& e : entries_) {
    e.data_offset += head_bytes;
    e.scale_offset += e.scale_row_bytes != 0 ? head_bytes : 0;
  }
  gen::image_header h;
  h.magic = gen::image_magic;
  h.version = static_cast<std::uint16_t>(gen::image_version);
  h.arch = o.block_causal ? gen::architecture::qwen2 : gen::architecture::llada;
  h.total_bytes = image_.size();
  h.flags = (o.shift_logits ? gen::image_flag::shift_logits : 0) | (o.rope_halves ? gen::image_flag::rope_halves : 0) |
            (o.tied ? gen::image_flag::tied_head : 0) | (o.qkv_bias ? gen::image_flag::qkv_bias : 0) |
            (o.block_causal ? gen::image_flag::block_causal : 0);
  h.tensor_count = static_cast<std::uint32_t>(entries_.size());
  h.vocabulary = o.vocabulary;
  h.width = o.width;
  h.layers = o.layers;
  h.heads = o.heads;
  h.kv_heads = o.kv_heads;
  h.head_length = o.head_length;
  h.ffn_width = o.ffn_width;
  h.context = o.context;
  h.norm_epsilon = static_cast<float>(norm_epsilon);
  h.rope_base = static_cast<float>(rope_base);
  h.mask_token = mask_token();
  h.end_token = end_token();
  h.pad_token = gen::no_special_token;
  h.block_length = 32;
  h.sub_block_length = 8;
  std::memcpy(image_.data(), &h, sizeof h);
  std::memcpy(image_.data() + sizeof h, entries_.data(), entries_.size() * sizeof(gen::tensor_entry));
  std::memcpy(image_.data() + head_bytes, data_.data(), data_.size());
}

reference_forward tiny_model::forward(std::span<const std::uint32_t> tokens, std::uint32_t block) const {
  reference_forward result = empty_forward(static_cast<std::uint32_t>(tokens.size()));
  forward_rows(tokens, 0, block, result);
  return result;
}

reference_forward tiny_model::empty_forward(std::uint32_t positions) const {
  const auto zeros = [&](std::uint32_t columns) {
    return table{positions, columns, std::vector<double>(std::size_t{positions} * columns)};
  };
  const std::uint32_t kv_width = options_.kv_heads * options_.head_length;
  return {std::vector<table>(options_.layers, zeros(kv_width)), std::vector<table>(options_.layers, zeros(kv_width)),
          zeros(options_.vocabulary)};
}

void tiny_model::forward_rows(std::span<const std::uint32_t> tokens, std::uint32_t first, std::uint32_t block,
                              reference_forward& state) const {
  std::vector<std::uint32_t> rows(tokens.size());
  std::iota(rows.begin(), rows.end(), first);
  forward_scattered(tokens, rows, block, state);
}

void tiny_model::forward_scattered(std::span<const std::uint32_t> tokens, std::span<const std::uint32_t> rows,
                                   std::uint32_t block, reference_forward& state) const {
  const tiny_options& o = options_;
  const std::uint32_t n = static_cast<std::uint32_t>(tokens.size());
  const std::uint32_t positions = state.probabilities.rows;
  table x{n, o.width, std::vector<double>(std::size_t{n} * o.width)};
  for (std::uint32_t r = 0; r < n; ++r) {
    for (std::uint32_t c = 0; c < o.width; ++c) {
      x.at(r, c) = embedding_.at(tokens[r], c);
    }
  }
  for (std::uint32_t layer = 0; layer < o.layers; ++layer) {
    const layer_tables& w = layers_[layer];
    const table h = normalise(x, w.attn_norm);
    table q = multiply(h, w.q, o.qkv_bias ? &w.q_bias : nullptr);
    table new_k = multiply(h, w.k, o.qkv_bias ? &w.k_bias : nullptr);
    const table new_v = multiply(h, w.v, o.qkv_bias ? &w.v_bias : nullptr);
    rotate(q, rows, o.head_length, o.rope_halves);
    rotate(new_k, rows, o.head_length, o.rope_halves);
    table& k = state.keys[layer];
    table& v = state.values[layer];
    for (std::uint32_t r = 0; r < n; ++r) {
      std::copy_n(&new_k.values[std::size_t{r} * k.columns], k.columns, &k.at(rows[r], 0));
      std::copy_n(&new_v.values[std::size_t{r} * v.columns], v.columns, &v.at(rows[r], 0));
    }
    table mixed{n, q.columns, std::vector<double>(q.values.size())};
    for (std::uint32_t r = 0; r < n; ++r) {
      const std::uint32_t visible = block == 0 ? positions : std::min(positions, (rows[r] / block + 1) * block);
      for (std::uint32_t head = 0; head < o.heads; ++head) {
        const std::uint32_t at = head * o.head_length;
        const std::uint32_t kv_at = head / (o.heads / o.kv_heads) * o.head_length;
        std::vector<double> weights(visible);
        for (std::uint32_t j = 0; j < visible; ++j) {
          for (std::uint32_t e = 0; e < o.head_length; ++e) {
            weights[j] += q.at(r, at + e) * k.at(j, kv_at + e);
          }
          weights[j] /= std::sqrt(static_cast<double>(o.head_length));
        }
        softmax(weights);
        for (std::uint32_t j = 0; j < visible; ++j) {
          for (std::uint32_t e = 0; e < o.head_length; ++e) {
            mixed.at(r, at + e) += weights[j] * v.at(j, kv_at + e);
          }
        }
      }
    }
    add_to(x, multiply(mixed, w.output));
    const table f = normalise(x, w.ffn_norm);
    table gate = multiply(f, w.gate);
    const table up = multiply(f, w.up);
    for (std::size_t i = 0; i < gate.values.size(); ++i) {
      gate.values[i] = gate.values[i] / (1 + std::exp(-gate.values[i])) * up.values[i];
    }
    add_to(x, multiply(gate, w.down));
  }
  const table logits = multiply(normalise(x, output_norm_), head_);
  for (std::uint32_t r = 0; r < n; ++r) {
    std::vector<double> row(&logits.values[std::size_t{r} * o.vocabulary],
                            &logits.values[std::size_t{r} * o.vocabulary] + o.vocabulary);
    row.resize(mask_token());  // the last token
    softmax(row);
    std::copy(row.begin(), row.end(), &state.probabilities.at(rows[r], 0));
  }
}

}  // namespace dvp::testbench
