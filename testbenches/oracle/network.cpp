#include "testbenches/oracle/network.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "testbenches/oracle/vector_clones.h"

namespace dvp::oracle {

namespace {

std::vector<double> rms_norm(const std::vector<double>& x, const std::vector<double>& gain, double epsilon) {
  const std::size_t width = gain.size();
  std::vector<double> result(x.size());
  for (std::size_t begin = 0; begin < x.size(); begin += width) {
    double squares = 0;
    for (std::size_t i = 0; i < width; ++i) squares += x[begin + i] * x[begin + i];
    const double scale = 1 / std::sqrt(squares / static_cast<double>(width) + epsilon);
    for (std::size_t i = 0; i < width; ++i) result[begin + i] = x[begin + i] * scale * gain[i];
  }
  return result;
}

void add_rows(std::vector<double>& x, const std::vector<double>& row) {
  for (std::size_t i = 0; i < x.size() && !row.empty(); ++i) x[i] += row[i % row.size()];
}

void add(std::vector<double>& x, const std::vector<double>& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
}

// Rotates every head of x [rows][heads * head_length], row r standing at position first + r.
void rotate(std::vector<double>& x, std::size_t heads, std::size_t first, const network_shape& shape) {
  const std::size_t half = shape.head_length / 2;
  const std::size_t rows = x.size() / (heads * shape.head_length);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t p = 0; p < half; ++p) {
      const double power = -2.0 * static_cast<double>(p) / static_cast<double>(shape.head_length);
      const double angle = static_cast<double>(first + r) * std::pow(shape.rope_base, power);
      const double c = std::cos(angle);
      const double s = std::sin(angle);
      for (std::size_t h = 0; h < heads; ++h) {
        double* head = x.data() + (r * heads + h) * shape.head_length;
        double& a = shape.rope_halves ? head[p] : head[2 * p];
        double& b = shape.rope_halves ? head[p + half] : head[2 * p + 1];
        const double turned = a * c - b * s;
        b = a * s + b * c;
        a = turned;
      }
    }
  }
}

// One query of one head over all `visible` positions; scores [visible] is scratch, mixed [head_length] the result.
ORACLE_VECTOR_CLONES
void mix(const double* query, std::size_t head_length, const double* keys, std::size_t key_stride, const double* values,
         std::size_t value_stride, std::size_t visible, double* scores, double* mixed) {
  std::fill_n(scores, visible, 0.0);
  for (std::size_t d = 0; d < head_length; ++d) {
    for (std::size_t j = 0; j < visible; ++j) scores[j] += query[d] * keys[d * key_stride + j];
  }
  const double scale = 1 / std::sqrt(static_cast<double>(head_length));
  const double maximum = *std::max_element(scores, scores + visible);
  double sum = 0;
  for (std::size_t j = 0; j < visible; ++j) {
    scores[j] = std::exp((scores[j] - maximum) * scale);
    sum += scores[j];
  }
  std::fill_n(mixed, head_length, 0.0);
  for (std::size_t j = 0; j < visible; ++j) {
    for (std::size_t d = 0; d < head_length; ++d) mixed[d] += scores[j] * values[j * value_stride + d];
  }
  for (std::size_t d = 0; d < head_length; ++d) mixed[d] /= sum;
}

matrix matrix_of(const gguf_file& file, const std::string& name, std::size_t rows, std::size_t columns) {
  matrix m = file.tensor(name);
  if (m.rows != rows || m.columns != columns) {
    throw std::runtime_error("tensor " + name + " has " + std::to_string(m.rows) + " rows of " +
                             std::to_string(m.columns) + "; the model's other sizes ask for " + std::to_string(rows) +
                             " rows of " + std::to_string(columns));
  }
  return m;
}

std::vector<double> vector_of(const gguf_file& file, const std::string& name, std::size_t length) {
  return matrix_of(file, name, 1, length).values;
}

std::vector<double> optional_vector(const gguf_file& file, const std::string& name, std::size_t length) {
  return file.has_tensor(name) ? vector_of(file, name, length) : std::vector<double>();
}

weight_matrix weights_of(const gguf_file& file, const std::string& name, std::size_t outputs, std::size_t inputs) {
  return weight_matrix(matrix_of(file, name, outputs, inputs));
}

}  // namespace

key_values::key_values(const network_shape& shape, std::size_t layers, std::size_t positions) : positions_(positions) {
  const std::size_t elements = shape.kv_heads * shape.head_length * positions;
  layers_.assign(layers, {std::vector<double>(elements), std::vector<double>(elements)});
}

network network::read(const gguf_file& file) {
  const std::string arch = file.text("general.architecture");
  if (arch != "llada" && arch != "qwen2") {
    throw std::runtime_error("architecture " + arch + "; this decoder knows llada and qwen2");
  }
  network n;
  n.embedding = file.tensor("token_embd.weight");
  n.shape.vocabulary = n.embedding.rows;
  n.shape.width = file.integer(arch + ".embedding_length");
  n.shape.heads = file.integer(arch + ".attention.head_count");
  n.shape.kv_heads = file.integer(arch + ".attention.head_count_kv");
  const std::size_t width = n.shape.width;
  if (width != n.embedding.columns) throw std::runtime_error("the embedding's rows are not of the model's width");
  if (n.shape.heads == 0 || width % (2 * n.shape.heads) != 0 || n.shape.kv_heads == 0 ||
      n.shape.heads % n.shape.kv_heads != 0) {
    throw std::runtime_error("the width does not split into heads of even length, or the heads into groups");
  }
  n.shape.head_length = width / n.shape.heads;
  const std::size_t kv_width = n.shape.kv_heads * n.shape.head_length;
  n.shape.norm_epsilon = file.real(arch + ".attention.layer_norm_rms_epsilon");
  n.shape.rope_base = file.real(arch + ".rope.freq_base");
  n.shape.rope_halves = arch == "qwen2";
  for (std::uint64_t l = 0; l < file.integer(arch + ".block_count"); ++l) {
    const std::string at = "blk." + std::to_string(l) + ".";
    const std::size_t inner = file.tensor(at + "ffn_gate.weight").rows;
    n.layers.push_back({.attn_norm = vector_of(file, at + "attn_norm.weight", width),
                        .q = weights_of(file, at + "attn_q.weight", width, width),
                        .k = weights_of(file, at + "attn_k.weight", kv_width, width),
                        .v = weights_of(file, at + "attn_v.weight", kv_width, width),
                        .output = weights_of(file, at + "attn_output.weight", width, width),
                        .q_bias = optional_vector(file, at + "attn_q.bias", width),
                        .k_bias = optional_vector(file, at + "attn_k.bias", kv_width),
                        .v_bias = optional_vector(file, at + "attn_v.bias", kv_width),
                        .ffn_norm = vector_of(file, at + "ffn_norm.weight", width),
                        .gate = weights_of(file, at + "ffn_gate.weight", inner, width),
                        .up = weights_of(file, at + "ffn_up.weight", inner, width),
                        .down = weights_of(file, at + "ffn_down.weight", width, inner)});
  }
  n.output_norm = vector_of(file, "output_norm.weight", width);
  n.head = file.has_tensor("output.weight") ? weights_of(file, "output.weight", n.shape.vocabulary, width)
                                            : weight_matrix(n.embedding);
  return n;
}

std::vector<double> network::attend(const layer_weights& weights, const std::vector<double>& h, std::size_t first,
                                    std::size_t seen, key_values::layer& past, std::size_t positions) const {
  const std::size_t rows = h.size() / shape.width;
  const std::size_t length = shape.head_length;
  const std::size_t kv_width = shape.kv_heads * length;
  std::vector<double> q = weights.q.multiply(h);
  std::vector<double> k = weights.k.multiply(h);
  std::vector<double> v = weights.v.multiply(h);
  add_rows(q, weights.q_bias);
  add_rows(k, weights.k_bias);
  add_rows(v, weights.v_bias);
  rotate(q, shape.heads, first, shape);
  rotate(k, shape.kv_heads, first, shape);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < kv_width; ++i) {
      past.keys[i * positions + first + r] = k[r * kv_width + i];
      past.values[(first + r) * kv_width + i] = v[r * kv_width + i];
    }
  }
  const std::size_t visible = std::max(seen, first + rows);
  std::vector<double> scores(visible);
  std::vector<double> mixed(q.size());
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t query = 0; query < shape.heads; ++query) {
      const std::size_t at = (r * shape.heads + query) * length;
      const std::size_t kv = query / (shape.heads / shape.kv_heads) * length;
      mix(q.data() + at, length, past.keys.data() + kv * positions, positions, past.values.data() + kv, kv_width,
          visible, scores.data(), mixed.data() + at);
    }
  }
  return weights.output.multiply(mixed);
}

std::vector<double> network::forward(std::span<const token> tokens, std::size_t first, std::size_t logits_from,
                                     key_values& past, std::size_t seen) const {
  if (std::max(seen, first + tokens.size()) > past.positions_)
    throw std::runtime_error("the sequence outgrows its key cache");
  std::vector<double> x;
  for (const token t : tokens) {
    if (t >= shape.vocabulary) throw std::runtime_error("token " + std::to_string(t) + " is not in the vocabulary");
    const auto row = embedding.values.begin() + static_cast<std::ptrdiff_t>(t * shape.width);
    x.insert(x.end(), row, row + static_cast<std::ptrdiff_t>(shape.width));
  }
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const layer_weights& weights = layers[l];
    add(x, attend(weights, rms_norm(x, weights.attn_norm, shape.norm_epsilon), first, seen, past.layers_[l],
                  past.positions_));
    const std::vector<double> h = rms_norm(x, weights.ffn_norm, shape.norm_epsilon);
    std::vector<double> gate = weights.gate.multiply(h);
    const std::vector<double> up = weights.up.multiply(h);
    for (std::size_t i = 0; i < gate.size(); ++i) gate[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
    add(x, weights.down.multiply(gate));
  }
  x.erase(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(logits_from * shape.width));
  return head.multiply(rms_norm(x, output_norm, shape.norm_epsilon));
}

}  // namespace dvp::oracle
