// The compressed prefix cache on the functional machine: whole forwards over it, bit for bit what the definitions give,
// written out here element by element, and free of races.
//
// The model's feed-forward networks give 0, so that the residual rows are the embeddings plus what attention adds.
#include "firmware/kernels/compressed_attention.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "dvp_gen/system.h"
#include "firmware/dllm/subspace.h"
#include "firmware/kernels/forward.h"
#include "gtest/gtest.h"
#include "testbenches/unit/firmware/functional_machine.h"
#include "tlm/numerics/bf16.h"
#include "tlm/numerics/fp16.h"
#include "tlm/numerics/rows.h"
#include "tlm/numerics/special.h"

namespace dvp {
namespace {

using gen::precision;
using gen::purpose;
using kernels::kv_half;
using kernels::kv_segment;
using numerics::from_bf16;
using numerics::from_fp16;
using numerics::to_bf16;
using testbench::functional_machine;
using testbench::functional_options;

constexpr std::uint32_t group = 32;
constexpr float epsilon = 1e-5f;
constexpr std::uint32_t vocabulary = 40;

struct shape {
  const char* name = "";
  std::uint32_t width = 64;
  std::uint32_t layers = 2;
  std::uint32_t heads = 4;
  std::uint32_t kv_heads = 2;
  std::uint32_t head_length = 16;
  std::uint32_t rows = 16;  // in work, and so per block
  std::uint32_t blocks = 6;
  std::uint32_t rank = 2;
  std::uint32_t plain_blocks = 2;  // before the first basis
  std::uint32_t basis_blocks = 0;  // per further basis, up to the most there can be; 0: one for all
  bool halves = true;
  bool bias = false;
  bool fitted = false;  // bases of the entries' leading directions, else random
  functional_options machine{};

  std::uint32_t kv_width() const { return kv_heads * head_length; }
  std::uint32_t query_width() const { return heads * head_length; }
  std::uint32_t capacity() const { return (rows * blocks + 31) / 32 * 32; }
  std::uint32_t basis_of(std::uint32_t entry) const {
    if (rank == 0 || entry / rows < plain_blocks) {
      return 0;
    }
    return basis_blocks == 0 ? 1 : std::min(kernels::most_bases, 1 + (entry / rows - plain_blocks) / basis_blocks);
  }
};

class dice {
 public:
  explicit dice(std::uint32_t seed) : random_(seed) {}
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() >> 4) % n; }
  float uniform(float low, float high) { return low + (high - low) * static_cast<float>(below(1u << 16)) / 65536.0f; }
  // Roughly normal.
  float spread(float size) { return size * (uniform(-1, 1) + uniform(-1, 1) + uniform(-1, 1)); }
  std::vector<std::uint16_t> bf16s(std::size_t count, float size) {
    std::vector<std::uint16_t> values(count);
    std::generate(values.begin(), values.end(), [&] { return to_bf16(spread(size)); });
    return values;
  }

 private:
  std::minstd_rand random_;
};

using bf16_row = std::vector<std::uint16_t>;

// start + w[0] x[0] + w[1] x[1] + ..., one rounding each; strides in elements.
float chain(float start, const std::uint16_t* w, std::size_t w_stride, const std::uint16_t* x, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) {
    start = start + from_bf16(w[k * w_stride]) * from_bf16(x[k]);
  }
  return start;
}

// --- The model ------------------------------------------------------------------------------------------------------

struct layer_data {
  std::vector<float> norm;  // [width]
  bf16_row q, k, v;         // [channels][width]
  bf16_row output;          // [width][query_width]
  std::vector<float> q_bias, k_bias, v_bias;
};

struct model_data {
  std::vector<std::int8_t> codes;     // [vocabulary][width]
  std::vector<std::uint16_t> scales;  // [vocabulary][width / group]
  std::vector<float> rotary;          // [capacity][head_length]
  std::vector<layer_data> layers;
};

model_data random_model(const shape& s, dice& random) {
  model_data m;
  for (std::uint32_t i = 0; i < vocabulary * s.width; ++i) {
    m.codes.push_back(static_cast<std::int8_t>(static_cast<int>(random.below(255)) - 127));
  }
  for (std::uint32_t i = 0; i < vocabulary * s.width / group; ++i) {
    m.scales.push_back(numerics::to_fp16(random.uniform(0.005f, 0.02f)));
  }
  for (std::uint32_t position = 0; position < s.capacity(); ++position) {
    for (const bool sine : {false, true}) {
      for (std::uint32_t p = 0; p < s.head_length / 2; ++p) {
        const double angle = position * std::pow(10000.0, -2.0 * p / s.head_length);
        m.rotary.push_back(static_cast<float>(sine ? std::sin(angle) : std::cos(angle)));
      }
    }
  }
  const float size = 1 / std::sqrt(static_cast<float>(s.width));
  const auto biases = [&](std::uint32_t count) {
    std::vector<float> values(count);
    std::generate(values.begin(), values.end(), [&] { return s.bias ? random.spread(0.5f) : 0.0f; });
    return values;
  };
  for (std::uint32_t layer = 0; layer < s.layers; ++layer) {
    layer_data d;
    d.norm.resize(s.width);
    std::generate(d.norm.begin(), d.norm.end(), [&] { return random.uniform(0.8f, 1.2f); });
    d.q = random.bf16s(std::size_t{s.query_width()} * s.width, 2 * size);
    d.k = random.bf16s(std::size_t{s.kv_width()} * s.width, 2 * size);
    d.v = random.bf16s(std::size_t{s.kv_width()} * s.width, size);
    d.output = random.bf16s(std::size_t{s.width} * s.query_width(), size);
    d.q_bias = biases(s.query_width());
    d.k_bias = biases(s.kv_width());
    d.v_bias = biases(s.kv_width());
    m.layers.push_back(std::move(d));
  }
  return m;
}

// --- The definition -------------------------------------------------------------------------------------------------

// One entry of one head of a layer's keys or values.
struct stored_row {
  std::vector<float> exact;          // the projection
  std::vector<std::uint16_t> terms;  // coefficients
  std::uint16_t scale = 0;
  std::vector<std::int8_t> codes;
};

struct reading {
  std::vector<std::uint32_t> list;
  std::vector<kv_segment> segments;
};

float code_value(std::int8_t q, precision tier) {
  switch (tier) {
    case precision::q4:
      return static_cast<float>(std::floor(q / 16.0)) * 16 + 8;
    case precision::q2:
      return static_cast<float>(std::floor(q / 64.0)) * 64 + 32;
    default:
      return q;
  }
}

class reference {
 public:
  reference(const shape& s, const model_data& m)
      : shape_(s), model_(m), store_(std::size_t{2} * s.layers * s.kv_heads * s.capacity()) {}

  stored_row& at(std::uint32_t layer, kv_half half, std::uint32_t kv_head, std::uint32_t entry) {
    return store_[((std::size_t{layer} * 2 + static_cast<std::uint32_t>(half)) * shape_.kv_heads + kv_head) *
                      shape_.capacity() +
                  entry];
  }
  // [rank][head_length]
  bf16_row& basis(std::uint32_t number, std::uint32_t layer, kv_half half, std::uint32_t kv_head) {
    const std::size_t index =
        ((std::size_t{number} * shape_.layers + layer) * 2 + static_cast<std::uint32_t>(half)) * shape_.kv_heads +
        kv_head;
    bases_.resize(std::max(bases_.size(), index + 1));
    return bases_[index];
  }

  // Residual rows behind all layers. Of the last layer, rows from logits_first on attend, logits_rows of them.
  // maxima: per layer [entries], over the rows that attend.
  struct result {
    std::vector<float> residual;
    std::vector<std::vector<float>> maxima;
  };
  result forward(const std::vector<std::uint32_t>& tokens, std::uint32_t first, const std::vector<reading>& readings,
                 bool encode, std::uint32_t logits_first, std::uint32_t logits_rows) {
    result r;
    r.residual = embed(tokens, first);
    for (std::uint32_t layer = 0; layer < shape_.layers; ++layer) {
      const bf16_row normed = normalise(model_.layers[layer].norm, r.residual);
      block_rows block;
      block.keys = project(model_.layers[layer].k, model_.layers[layer].k_bias, normed, shape_.kv_width());
      block.values = project(model_.layers[layer].v, model_.layers[layer].v_bias, normed, shape_.kv_width());
      const bool last = layer + 1 == shape_.layers;
      std::vector<float> maxima(first, -INFINITY);
      for (std::uint32_t t = 0; t < shape_.rows; ++t) {
        if (!last || (t >= logits_first && t < logits_first + logits_rows)) {
          attend(layer, t, first, normed, block, readings[layer], r.residual, maxima);
        }
      }
      r.maxima.push_back(maxima);
      for (std::uint32_t t = 0; encode && t < shape_.rows; ++t) {
        for (std::uint32_t h = 0; h < shape_.kv_heads; ++h) {
          keep(layer, kv_half::keys, h, first + t, block.keys.data() + t * shape_.kv_width());
          keep(layer, kv_half::values, h, first + t, block.values.data() + t * shape_.kv_width());
        }
      }
    }
    return r;
  }

  // Of the entries, in double precision: sum of x x^T over those added with a Gram.
  std::vector<double> gram(std::uint32_t layer, kv_half half, std::uint32_t kv_head, std::uint32_t entries) {
    const std::uint32_t n = shape_.head_length;
    std::vector<double> sum(std::size_t{n} * n);
    for (std::uint32_t e = 0; e < entries; ++e) {
      const stored_row& row = at(layer, half, kv_head, e);
      for (std::uint32_t i = 0; i < n; ++i) {
        for (std::uint32_t j = 0; j < n; ++j) {
          sum[i * n + j] += double{from_bf16(to_bf16(row.exact[i]))} * double{from_bf16(to_bf16(row.exact[j]))};
        }
      }
    }
    return sum;
  }

  // What attention of the one layer adds to the residual rows, over keys and values as they were projected, in double
  // precision from the layer's normalised rows on.
  std::vector<double> exact(const std::vector<std::uint32_t>& tokens, std::uint32_t first) {
    const layer_data& w = model_.layers[0];
    const std::uint32_t n = shape_.head_length;
    const bf16_row normed = normalise(w.norm, embed(tokens, first));
    const auto q = project(w.q, w.q_bias, normed, shape_.query_width());
    const auto k = project(w.k, w.k_bias, normed, shape_.kv_width());
    const auto v = project(w.v, w.v_bias, normed, shape_.kv_width());
    std::vector<double> added(std::size_t{shape_.rows} * shape_.width);
    for (std::uint32_t t = 0; t < shape_.rows; ++t) {
      std::vector<double> mixed;
      for (std::uint32_t h = 0; h < shape_.heads; ++h) {
        const std::uint32_t kv_head = h / (shape_.heads / shape_.kv_heads);
        const auto query = turned(q.data() + (t * shape_.heads + h) * n, first + t);
        std::vector<double> weights;
        double sum = 0;
        for (std::uint32_t e = 0; e < first + shape_.rows; ++e) {
          const float* row = e < first ? at(0, kv_half::keys, kv_head, e).exact.data()
                                       : k.data() + ((e - first) * shape_.kv_heads + kv_head) * n;
          const auto key = turned(row, e);
          double score = 0;
          for (std::uint32_t i = 0; i < n; ++i) score += query[i] * key[i];
          weights.push_back(std::exp(score / std::sqrt(static_cast<double>(n))));
          sum += weights.back();
        }
        for (std::uint32_t i = 0; i < n; ++i) {
          double value = 0;
          for (std::uint32_t e = 0; e < first + shape_.rows; ++e) {
            const float* row = e < first ? at(0, kv_half::values, kv_head, e).exact.data()
                                         : v.data() + ((e - first) * shape_.kv_heads + kv_head) * n;
            value += weights[e] / sum * double{row[i]};
          }
          mixed.push_back(value);
        }
      }
      for (std::uint32_t o = 0; o < shape_.width; ++o) {
        for (std::uint32_t i = 0; i < shape_.query_width(); ++i) {
          added[t * shape_.width + o] += mixed[i] * double{from_bf16(w.output[o * shape_.query_width() + i])};
        }
      }
    }
    return added;
  }

  std::vector<float> embed(const std::vector<std::uint32_t>& tokens, std::uint32_t first) const {
    std::vector<float> rows;
    for (std::uint32_t t = 0; t < shape_.rows; ++t) {
      for (std::uint32_t c = 0; c < shape_.width; ++c) {
        const std::size_t i = std::size_t{tokens[first + t]} * shape_.width + c;
        rows.push_back(from_fp16(model_.scales[i / group]) * static_cast<float>(model_.codes[i]));
      }
    }
    return rows;
  }

 private:
  struct block_rows {
    std::vector<float> keys;  // [rows][kv_width], before rotation
    std::vector<float> values;
  };

  bf16_row normalise(const std::vector<float>& norm, const std::vector<float>& residual) const {
    bf16_row x(residual.size());
    for (std::size_t first = 0; first < residual.size(); first += shape_.width) {
      float squares = 0;
      for (std::uint32_t c = 0; c < shape_.width; ++c) squares = squares + residual[first + c] * residual[first + c];
      const float factor = numerics::rsqrt(squares / static_cast<float>(shape_.width) + epsilon);
      for (std::uint32_t c = 0; c < shape_.width; ++c) x[first + c] = to_bf16((residual[first + c] * factor) * norm[c]);
    }
    return x;
  }

  std::vector<float> project(const bf16_row& w, const std::vector<float>& bias, const bf16_row& normed,
                             std::uint32_t channels) const {
    std::vector<float> out;
    for (std::uint32_t t = 0; t < shape_.rows; ++t) {
      for (std::uint32_t c = 0; c < channels; ++c) {
        const float sum =
            chain(0, w.data() + std::size_t{c} * shape_.width, 1, normed.data() + t * shape_.width, shape_.width);
        out.push_back(shape_.bias ? sum + bias[c] : sum);
      }
    }
    return out;
  }

  std::pair<std::uint32_t, std::uint32_t> pair(std::uint32_t p) const {
    return shape_.halves ? std::pair{p, p + shape_.head_length / 2} : std::pair{2 * p, 2 * p + 1};
  }

  bf16_row rotate(const float* x, std::uint32_t position) const {
    bf16_row d(shape_.head_length);
    const float* cosines = model_.rotary.data() + std::size_t{position} * shape_.head_length;
    const float* sines = cosines + shape_.head_length / 2;
    for (std::uint32_t p = 0; p < shape_.head_length / 2; ++p) {
      const auto [a, b] = pair(p);
      d[a] = to_bf16((x[a] * cosines[p]) - (x[b] * sines[p]));
      d[b] = to_bf16((x[a] * sines[p]) + (x[b] * cosines[p]));
    }
    return d;
  }

  std::vector<double> turned(const float* x, std::uint32_t position) const {
    std::vector<double> d(shape_.head_length);
    for (std::uint32_t p = 0; p < shape_.head_length / 2; ++p) {
      const double angle = position * std::pow(10000.0, -2.0 * p / shape_.head_length);
      const auto [a, b] = pair(p);
      d[a] = x[a] * std::cos(angle) - x[b] * std::sin(angle);
      d[b] = x[a] * std::sin(angle) + x[b] * std::cos(angle);
    }
    return d;
  }

  // Rotated key of an entry as a tier reads it.
  bf16_row key(std::uint32_t layer, std::uint32_t kv_head, std::uint32_t entry, const kv_segment& segment) {
    const stored_row& row = at(layer, kv_half::keys, kv_head, entry);
    std::vector<float> x(shape_.head_length);
    for (std::uint32_t i = 0; i < shape_.head_length; ++i) {
      float sum = 0;
      for (std::uint32_t k = 0; segment.basis != 0 && k < shape_.rank; ++k) {
        const bf16_row& u = basis(segment.basis, layer, kv_half::keys, kv_head);
        sum = sum + from_bf16(row.terms[k]) * from_bf16(u[k * shape_.head_length + i]);
      }
      if (segment.tier != precision::q0) {
        sum = sum + from_fp16(row.scale) * code_value(row.codes[i], segment.tier);
      }
      x[i] = from_bf16(to_bf16(sum));
    }
    return rotate(x.data(), entry);
  }

  // One row of the block: all heads, and the output projection.
  void attend(std::uint32_t layer, std::uint32_t t, std::uint32_t first, const bf16_row& normed,
              const block_rows& block, const reading& how, std::vector<float>& residual, std::vector<float>& maxima) {
    const layer_data& w = model_.layers[layer];
    const std::uint32_t n = shape_.head_length;
    bf16_row mixed;
    for (std::uint32_t h = 0; h < shape_.heads; ++h) {
      const std::uint32_t kv_head = h / (shape_.heads / shape_.kv_heads);
      std::vector<float> projected;
      for (std::uint32_t i = 0; i < n; ++i) {
        const std::size_t c = std::size_t{h} * n + i;
        const float sum = chain(0, w.q.data() + c * shape_.width, 1, normed.data() + t * shape_.width, shape_.width);
        projected.push_back(shape_.bias ? sum + w.q_bias[c] : sum);
      }
      const bf16_row query = rotate(projected.data(), first + t);
      std::vector<float> scores;
      std::uint32_t column = 0;
      for (const kv_segment& segment : how.segments) {
        for (std::uint32_t i = 0; i < segment.count; ++i, ++column) {
          scores.push_back(chain(0, key(layer, kv_head, how.list[column], segment).data(), 1, query.data(), n));
          maxima[column] = std::max(maxima[column], scores.back());
        }
      }
      for (std::uint32_t r = 0; r < shape_.rows; ++r) {
        const float* row = block.keys.data() + (r * shape_.kv_heads + kv_head) * n;
        scores.push_back(chain(0, rotate(row, first + r).data(), 1, query.data(), n));
      }
      bf16_row p(scores.size());
      numerics::softmax_row(scores.data(), numerics::rsqrt(static_cast<float>(n)), p.data(),
                            static_cast<std::uint32_t>(p.size()));
      const auto head = mix(layer, kv_head, first, block, how, p);
      mixed.insert(mixed.end(), head.begin(), head.end());
    }
    for (std::uint32_t o = 0; o < shape_.width; ++o) {
      float& r = residual[t * shape_.width + o];
      r = r + chain(0, w.output.data() + std::size_t{o} * shape_.query_width(), 1, mixed.data(), mixed.size());
    }
  }

  bf16_row mix(std::uint32_t layer, std::uint32_t kv_head, std::uint32_t first, const block_rows& block,
               const reading& how, const bf16_row& p) {
    const std::uint32_t n = shape_.head_length;
    std::vector<float> out(n);
    for (std::uint32_t number = 1; shape_.rank != 0 && number <= kernels::most_bases; ++number) {
      std::vector<float> sums(shape_.rank);
      bool used = false;
      std::uint32_t column = 0;
      for (const kv_segment& segment : how.segments) {
        for (std::uint32_t i = 0; i < segment.count; ++i, ++column) {
          if (segment.basis != number) continue;
          used = true;
          for (std::uint32_t k = 0; k < shape_.rank; ++k) {
            const stored_row& row = at(layer, kv_half::values, kv_head, how.list[column]);
            sums[k] = sums[k] + from_bf16(row.terms[k]) * from_bf16(p[column]);
          }
        }
      }
      for (std::uint32_t i = 0; used && i < n; ++i) {
        for (std::uint32_t k = 0; k < shape_.rank; ++k) {
          const std::uint16_t u = basis(number, layer, kv_half::values, kv_head)[k * n + i];
          out[i] = out[i] + from_bf16(u) * from_bf16(to_bf16(sums[k]));
        }
      }
    }
    std::uint32_t column = 0;
    for (const kv_segment& segment : how.segments) {
      for (std::uint32_t c = 0; c < segment.count; ++c, ++column) {
        if (segment.tier == precision::q0) continue;
        const stored_row& row = at(layer, kv_half::values, kv_head, how.list[column]);
        const float scaled = from_bf16(to_bf16(from_bf16(p[column]) * from_fp16(row.scale)));
        for (std::uint32_t i = 0; i < n; ++i) out[i] = out[i] + code_value(row.codes[i], segment.tier) * scaled;
      }
    }
    for (std::uint32_t r = 0; r < shape_.rows; ++r) {
      for (std::uint32_t i = 0; i < n; ++i) {
        const float value = from_bf16(to_bf16(block.values[(r * shape_.kv_heads + kv_head) * n + i]));
        out[i] = out[i] + value * from_bf16(p[first + r]);
      }
    }
    bf16_row rounded(n);
    std::transform(out.begin(), out.end(), rounded.begin(), to_bf16);
    return rounded;
  }

  // A row becomes an entry. row: all KV heads.
  void keep(std::uint32_t layer, kv_half half, std::uint32_t kv_head, std::uint32_t entry, const float* row) {
    const std::uint32_t n = shape_.head_length;
    stored_row& d = at(layer, half, kv_head, entry);
    d = {.exact = {row + kv_head * n, row + (kv_head + 1) * n}, .terms = {}, .codes = {}};
    std::vector<float> x = d.exact;
    if (const std::uint32_t number = shape_.basis_of(entry); number != 0) {
      const bf16_row& u = basis(number, layer, half, kv_head);
      bf16_row rounded(n);
      std::transform(x.begin(), x.end(), rounded.begin(), to_bf16);
      for (std::uint32_t k = 0; k < shape_.rank; ++k) {
        d.terms.push_back(to_bf16(chain(0, u.data() + k * n, 1, rounded.data(), n)));
      }
      for (std::uint32_t i = 0; i < n; ++i) x[i] = x[i] - chain(0, u.data() + i, n, d.terms.data(), shape_.rank);
    }
    float largest = 0;
    for (const float each : x) largest = std::max(largest, std::abs(each));
    d.scale = numerics::to_fp16(largest / 127);
    const float scale = from_fp16(d.scale);
    for (const float each : x) {
      d.codes.push_back(scale == 0 ? std::int8_t{0}
                                   : static_cast<std::int8_t>(std::nearbyint(std::clamp(each / scale, -127.f, 127.f))));
    }
  }

  const shape& shape_;
  const model_data& model_;
  std::vector<stored_row> store_;
  std::vector<bf16_row> bases_;
};

// --- The device -----------------------------------------------------------------------------------------------------

class device {
 public:
  device(const shape& s, const model_data& m, const std::vector<std::uint32_t>& tokens)
      : shape_(s), machine_(s.machine), weights_(std::make_unique<kernels::weights>()) {
    constexpr std::uint32_t sources[] = {gen::system::npu_interrupt};
    controller_.start(gen::system::plic_base, sources);
    EXPECT_EQ(npu_.probe(gen::system::npu_base), drivers::npu_code::ok);
    const std::uint64_t ring = take(std::uint64_t{ring_entries} * gen::descriptor_bytes);
    const std::uint64_t records = take(std::uint64_t{ring_entries} * sizeof(gen::completion_record));
    EXPECT_EQ(npu_.start(ring, records, ring_entries, 1000), drivers::npu_code::ok);
    model_ = {.vocabulary = vocabulary,
              .width = s.width,
              .layers = s.layers,
              .heads = s.heads,
              .kv_heads = s.kv_heads,
              .head_length = s.head_length,
              .ffn_width = group,
              .context = s.capacity(),
              .norm_epsilon = epsilon,
              .rope_halves = s.halves,
              .qkv_bias = s.bias,
              .block_causal = true};
    state_.limits = npu_.limits();
    state_.stream.start(npu_, ring_entries);
    EXPECT_TRUE(kernels::plan_scratchpad(model_, state_.limits,
                                         {.tile_rows = s.rows,
                                          .most_keys = s.rows * s.blocks,
                                          .granule_bytes = state_.stream.granule_bytes(),
                                          .store_entries = s.capacity(),
                                          .store_rank = s.rank},
                                         state_.plan));
    put_weights(m);
    state_.cache.capacity = s.capacity();
    state_.cache.address = take(state_.cache.bytes(model_));
    state_.tokens = put(tokens);
    state_.residual = take(std::uint64_t{4} * s.rows * s.width);
    state_.results = take(std::uint64_t{s.rows} * sizeof(gen::sample_record));
    state_.compressed = &cache_;
    cache_.store = {.capacity = s.capacity(), .rank = s.rank};
    cache_.store.address = take(cache_.store.bytes(model_));
  }

  ~device() {
    for (const std::string& hazard : machine_.hazards()) {
      ADD_FAILURE() << hazard;
    }
  }

  kernels::compressed_cache& cache() { return cache_; }
  kernels::run_state& state() { return state_; }
  functional_machine& machine() { return machine_; }
  const kernels::config& model() const { return model_; }

  void read_by(std::uint32_t layer, const reading& how, bool whole) {
    kernels::kv_reading& r = cache_.reading[layer];
    r = {.segments = {}, .count = static_cast<std::uint32_t>(how.segments.size()), .whole = whole};
    std::copy(how.segments.begin(), how.segments.end(), r.segments.begin());
    std::memcpy(bytes(cache_.store.list(model_, layer), how.list.size() * 4), how.list.data(), how.list.size() * 4);
  }

  // Both layouts.
  void put_basis(std::uint32_t number, std::uint32_t layer, kv_half half, std::uint32_t kv_head, const bf16_row& u) {
    auto* rows = at<std::uint16_t>(cache_.store.basis(model_, layer, number, half, kv_head));
    for (std::uint32_t k = 0; k < shape_.rank; ++k) {
      for (std::uint32_t i = 0; i < shape_.head_length; ++i) {
        rows[k * shape_.head_length + i] = u[k * shape_.head_length + i];
        rows[(shape_.head_length + i) * shape_.rank + k] = u[k * shape_.head_length + i];
      }
    }
  }

  // Residual rows behind the forward.
  drivers::npu_code run(const kernels::forward_pass& pass, std::vector<float>& residual) {
    const drivers::npu_code code = kernels::forward(model_, *weights_, state_, pass);
    if (code != drivers::npu_code::ok) {
      return code;
    }
    const kernels::row_span span{.first = pass.first,
                                 .rows = shape_.rows,
                                 .residual = {state_.plan.residual.address, shape_.width * 4},
                                 .normed = {},
                                 .rope = {}};
    kernels::store_residual(model_, state_, span, 0);
    state_.stream.drain();
    const auto* first = at<float>(state_.residual);
    residual.assign(first, first + shape_.rows * shape_.width);
    return state_.stream.status();
  }

  template <class T>
  T* at(std::uint64_t address) {
    return machine_.at<T>(address);
  }
  std::byte* bytes(std::uint64_t address, std::uint64_t count) {
    return static_cast<std::byte*>(machine_.memory(address, count));
  }
  // Codes, terms, bases and Gram matrices: everything that reading must leave alone.
  std::vector<std::byte> masters() {
    const std::uint64_t count = cache_.store.list(model_, 0) - cache_.store.address;
    const std::byte* first = bytes(cache_.store.address, count);
    return {first, first + count};
  }

 private:
  static constexpr std::uint32_t ring_entries = 256;

  std::uint64_t take(std::uint64_t count) {
    const std::uint64_t address = next_;
    next_ += (count + 63) / 64 * 64;
    return address;
  }
  template <class T>
  std::uint64_t put(const std::vector<T>& values) {
    const std::uint64_t address = take(values.size() * sizeof(T));
    std::memcpy(bytes(address, values.size() * sizeof(T)), values.data(), values.size() * sizeof(T));
    return address;
  }
  kernels::tensor rows(const bf16_row& values, std::uint32_t columns) {
    return {.data = put(values),
            .rows = static_cast<std::uint32_t>(values.size()) / columns,
            .columns = columns,
            .row_bytes = columns * 2,
            .format = gen::tensor_format::bf16};
  }
  kernels::tensor vector(const std::vector<float>& values) {
    const auto columns = static_cast<std::uint32_t>(values.size());
    return {.data = put(values), .rows = 1, .columns = columns, .row_bytes = columns * 4};
  }
  void put_weights(const model_data& m) {
    kernels::weights& w = *weights_;
    w.embedding = {.data = put(m.codes),
                   .scales = put(m.scales),
                   .rows = vocabulary,
                   .columns = shape_.width,
                   .row_bytes = shape_.width,
                   .scale_row_bytes = shape_.width / group * 2,
                   .format = gen::tensor_format::q8_group32};
    w.output = w.embedding;
    w.output_norm = vector(m.layers[0].norm);
    w.rope_table = {.data = put(m.rotary),
                    .rows = shape_.capacity(),
                    .columns = shape_.head_length,
                    .row_bytes = shape_.head_length * 4};
    for (std::uint32_t layer = 0; layer < shape_.layers; ++layer) {
      const layer_data& d = m.layers[layer];
      const bf16_row zeros(std::size_t{group} * shape_.width);
      w.layers[layer] = {.attn_norm = vector(d.norm),
                         .attn_q = rows(d.q, shape_.width),
                         .attn_k = rows(d.k, shape_.width),
                         .attn_v = rows(d.v, shape_.width),
                         .attn_q_bias = vector(d.q_bias),
                         .attn_k_bias = vector(d.k_bias),
                         .attn_v_bias = vector(d.v_bias),
                         .attn_output = rows(d.output, shape_.query_width()),
                         .ffn_norm = vector(d.norm),
                         .ffn_gate = rows(zeros, shape_.width),
                         .ffn_up = rows(zeros, shape_.width),
                         .ffn_down = rows(zeros, group)};
    }
  }

  shape shape_;
  functional_machine machine_;
  drivers::interrupts controller_;
  drivers::npu npu_{{controller_, gen::system::npu_interrupt}};
  std::unique_ptr<kernels::weights> weights_;
  kernels::config model_;
  kernels::run_state state_;
  kernels::compressed_cache cache_;
  std::uint64_t next_ = gen::system::dram_base;
};

// --- A run ----------------------------------------------------------------------------------------------------------

void expect_same_bits(const std::vector<float>& found, const std::vector<float>& expected, const char* what) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(found[i]), std::bit_cast<std::uint32_t>(expected[i]))
        << what << ", element " << i << ": " << found[i] << ", expected " << expected[i];
  }
}

// Entries grouped by (plain, then tier, then basis), ascending inside.
template <class Tier>
reading read_tiers(const shape& s, std::uint32_t entries, Tier tier_of) {
  constexpr precision tiers[] = {precision::q8, precision::q4, precision::q2, precision::q0};
  std::vector<std::uint32_t> tier(entries);
  for (std::uint32_t e = 0; e < entries; ++e) tier[e] = s.basis_of(e) != 0 ? 1 + tier_of(e) : 0;
  reading r;
  for (std::uint32_t t = 0; t <= 4; ++t) {
    for (std::uint32_t basis = 0; basis <= kernels::most_bases; ++basis) {
      kv_segment segment{.tier = t == 0 ? precision::q8 : tiers[t - 1], .basis = basis};
      for (std::uint32_t e = 0; e < entries; ++e) {
        if (tier[e] == t && s.basis_of(e) == basis) {
          r.list.push_back(e);
          ++segment.count;
        }
      }
      if (segment.count != 0) r.segments.push_back(segment);
    }
  }
  return r;
}

reading read_whole(const shape& s, std::uint32_t entries) {
  return read_tiers(s, entries, [](std::uint32_t) { return 0u; });
}

class run {
 public:
  run(const shape& s, std::uint32_t seed)
      : shape_(s),
        random_(seed),
        model_(random_model(s, random_)),
        reference_(s, model_),
        tokens_(random_tokens()),
        device_(s, model_, tokens_) {}

  dice& random() { return random_; }
  device& machine() { return device_; }
  reference& definition() { return reference_; }
  const std::vector<std::uint32_t>& tokens() const { return tokens_; }
  std::uint32_t entries() const { return entries_; }

  // A forward over the block behind the entries, read as `readings` say; against the definition.
  void denoise(const std::vector<reading>& readings, bool whole, bool rank, std::vector<float>* found = nullptr) {
    const std::uint32_t logits_first = random_.below(shape_.rows);
    const std::uint32_t logits_rows = 1 + random_.below(shape_.rows - logits_first);
    set(readings, whole);
    const auto before = device_.masters();
    std::vector<float> residual;
    ASSERT_EQ(device_.run(pass(logits_first, logits_rows, rank), residual), drivers::npu_code::ok);
    const auto expected = reference_.forward(tokens_, entries_, readings, false, logits_first, logits_rows);
    expect_same_bits(residual, expected.residual, "residual rows");
    for (std::uint32_t layer = 0; rank && layer < shape_.layers; ++layer) {
      const auto* first = device_.at<float>(device_.cache().store.maxima(device_.model(), layer));
      expect_same_bits({first, first + entries_}, expected.maxima[layer], "maxima");
    }
    EXPECT_TRUE(device_.masters() == before) << "reading changed the store";
    if (found != nullptr) *found = residual;
  }

  // The block becomes entries.
  void fill(bool gram) {
    make_bases(shape_.basis_of(entries_));
    device_.cache().basis = shape_.basis_of(entries_);
    const std::vector<reading> readings(shape_.layers, read_whole(shape_, entries_));
    set(readings, true);
    const auto before = device_.masters();
    kernels::forward_pass p = pass(shape_.rows - 1, entries_ % 2 == 0 ? 1 : 0, false);
    p.encode = true;
    p.gram = gram;
    std::vector<float> residual;
    ASSERT_EQ(device_.run(p, residual), drivers::npu_code::ok);
    const auto expected = reference_.forward(tokens_, entries_, readings, true, shape_.rows - 1, p.logits_rows);
    expect_same_bits(residual, expected.residual, "residual rows");
    expect_stored(before, gram);
    entries_ += shape_.rows;
  }

 private:
  std::vector<std::uint32_t> random_tokens() {
    std::vector<std::uint32_t> tokens(shape_.rows * shape_.blocks);
    std::generate(tokens.begin(), tokens.end(), [&] { return random_.below(vocabulary); });
    return tokens;
  }

  kernels::forward_pass pass(std::uint32_t logits_first, std::uint32_t logits_rows, bool rank) const {
    kernels::forward_pass p;
    p.first = entries_;
    p.rows = shape_.rows;
    p.keys = entries_ + shape_.rows;
    p.logits_first = entries_ + logits_first;
    p.logits_rows = logits_rows;
    p.rank = rank;
    return p;
  }

  void set(const std::vector<reading>& readings, bool whole) {
    device_.cache().entries = entries_;
    for (std::uint32_t layer = 0; layer < shape_.layers; ++layer) device_.read_by(layer, readings[layer], whole);
  }

  void make_bases(std::uint32_t number) {
    if (number <= bases_) return;
    bases_ = number;
    for (std::uint32_t layer = 0; layer < shape_.layers; ++layer) {
      for (const kv_half half : {kv_half::keys, kv_half::values}) {
        for (std::uint32_t h = 0; h < shape_.kv_heads; ++h) {
          bf16_row u = shape_.fitted ? leading(layer, half, h)
                                     : random_.bf16s(std::size_t{shape_.rank} * shape_.head_length,
                                                     1 / std::sqrt(static_cast<float>(shape_.head_length)));
          device_.put_basis(number, layer, half, h, u);
          reference_.basis(number, layer, half, h) = std::move(u);
        }
      }
    }
  }

  // Basis of the entries so far.
  bf16_row leading(std::uint32_t layer, kv_half half, std::uint32_t kv_head) {
    const std::uint32_t n = shape_.head_length;
    const auto sums = reference_.gram(layer, half, kv_head, entries_);
    const std::vector<float> gram(sums.begin(), sums.end());
    std::vector<double> scratch(dllm::subspace_scratch(n, shape_.rank));
    bf16_row u(std::size_t{shape_.rank} * n);
    bf16_row transposed(u.size());
    dllm::leading_subspace(gram, n, shape_.rank, 8, scratch, u, transposed);
    return u;
  }

  // The block's entries are what the definition says; nothing else changed but Gram matrices, where asked for.
  void expect_stored(std::vector<std::byte> before, bool gram) {
    const kernels::kv_store& store = device_.cache().store;
    const kernels::config& m = device_.model();
    const auto copy = [&](std::uint64_t address, std::uint64_t count) {
      std::memcpy(before.data() + (address - store.address), device_.bytes(address, count), count);
    };
    for (std::uint32_t layer = 0; layer < shape_.layers; ++layer) {
      for (const kv_half half : {kv_half::keys, kv_half::values}) {
        for (std::uint32_t h = 0; h < shape_.kv_heads; ++h) {
          for (std::uint32_t e = entries_; e < entries_ + shape_.rows; ++e) {
            const stored_row& row = reference_.at(layer, half, h, e);
            const auto* codes = device_.at<std::int8_t>(store.codes(m, layer, half, e)) + h * shape_.head_length;
            ASSERT_TRUE(std::equal(row.codes.begin(), row.codes.end(), codes)) << "codes of entry " << e;
            const auto* terms = device_.at<std::uint16_t>(store.terms(m, layer, e) + store.head_term_bytes(m, half, h));
            ASSERT_TRUE(std::equal(row.terms.begin(), row.terms.end(), terms)) << "coefficients of entry " << e;
            ASSERT_EQ(terms[shape_.rank], row.scale) << "scale of entry " << e;
          }
          if (gram) {
            expect_gram(layer, half, h);
            copy(store.gram(m, layer, half, h), store.gram_bytes(m));
          }
        }
        copy(store.codes(m, layer, half, entries_), std::uint64_t{shape_.rows} * shape_.kv_width());
      }
      copy(store.terms(m, layer, entries_), std::uint64_t{shape_.rows} * store.term_row_bytes(m));
    }
    EXPECT_TRUE(device_.masters() == before) << "encoding changed something else";
  }

  void expect_gram(std::uint32_t layer, kv_half half, std::uint32_t kv_head) {
    const std::uint32_t n = shape_.head_length;
    const auto expected = reference_.gram(layer, half, kv_head, entries_ + shape_.rows);
    const auto* found = device_.at<float>(device_.cache().store.gram(device_.model(), layer, half, kv_head));
    for (std::uint32_t i = 0; i < n; ++i) {
      for (std::uint32_t j = 0; j < n; ++j) {
        // Every one of the additions rounds a sum that the diagonal bounds.
        const double bound = std::sqrt(expected[i * n + i] * expected[j * n + j]) * (entries_ + shape_.rows) * 6e-8;
        ASSERT_NEAR(double{found[i * n + j]}, expected[i * n + j], bound + 1e-12) << i << ", " << j;
      }
    }
  }

  shape shape_;
  dice random_;
  model_data model_;
  reference reference_;
  std::vector<std::uint32_t> tokens_;
  device device_;
  std::uint32_t entries_ = 0;
  std::uint32_t bases_ = 0;
};

const shape shapes[] = {
    {.name = "grouped_heads"},
    {.name = "neighbours_bias", .rows = 13, .halves = false, .bias = true},
    {.name = "rank_8_most_bases", .head_length = 32, .rows = 4, .blocks = 11, .rank = 8, .basis_blocks = 1},
    {.name = "rank_1_no_plain", .layers = 1, .kv_heads = 4, .rank = 1, .plain_blocks = 0},
    {.name = "q8_only", .kv_heads = 1, .blocks = 4, .rank = 0},
    {.name = "head_of_20", .layers = 1, .heads = 3, .kv_heads = 1, .head_length = 20, .rows = 9, .rank = 3},
    {.name = "one_row", .layers = 1, .rows = 1, .blocks = 40, .rank = 2, .plain_blocks = 5, .basis_blocks = 5},
    {.name = "split_units",
     .layers = 1,
     .heads = 8,
     .kv_heads = 1,
     .rows = 32,
     .blocks = 7,
     .machine = {.scratchpad_bytes = 160u << 10, .scratchpad_banks = 4, .accumulator_vectors = 24}},
    {.name = "small_machine",
     .rows = 8,
     .blocks = 9,
     .basis_blocks = 3,
     .machine = {.scratchpad_bytes = 112u << 10, .scratchpad_banks = 4, .accumulator_vectors = 24}},
    {.name = "probabilities_beyond_staging",
     .heads = 8,
     .kv_heads = 1,
     .head_length = 8,
     .rows = 32,
     .blocks = 12,
     .plain_blocks = 1,
     .machine = {.scratchpad_bytes = 4u << 20}},
    {.name = "q8_beyond_staging",
     .heads = 8,
     .kv_heads = 1,
     .head_length = 8,
     .rows = 32,
     .blocks = 11,
     .rank = 0,
     .machine = {.scratchpad_bytes = 4u << 20}},
    {.name = "long_prefix", .layers = 1, .rows = 32, .blocks = 42, .plain_blocks = 4, .basis_blocks = 9},
    {.name = "tiny_fdllm2", .width = 128, .layers = 1, .head_length = 32, .rows = 32, .blocks = 6, .bias = true},
};

class compressed_attention : public ::testing::TestWithParam<shape> {};

// Blocks are read, ranked, read by random maps and stored, from an empty store to a full one.
TEST_P(compressed_attention, equals_its_definition) {
  const shape& s = GetParam();
  constexpr std::uint32_t seed = 901;
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  run r(s, seed);
  const std::uint32_t step = s.blocks > 20 ? 7 : 1;
  for (std::uint32_t block = 0; block < s.blocks; ++block) {
    SCOPED_TRACE(::testing::Message() << r.entries() << " entries");
    if (block % step == step - 1 || block == 0) {
      r.denoise(std::vector<reading>(s.layers, read_whole(s, r.entries())), true, true);
      // Each layer has a map of its own; sometimes a tier is not in use, or it is the only one.
      std::vector<reading> maps;
      for (std::uint32_t layer = 0; layer < s.layers; ++layer) {
        const std::uint32_t missing = r.random().below(6);
        const std::uint32_t only = r.random().below(10);
        maps.push_back(read_tiers(s, r.entries(), [&](std::uint32_t) {
          const std::uint32_t tier = only < 4 ? only : r.random().below(4);
          return tier == missing ? (tier + 1) % 4 : tier;
        }));
      }
      r.denoise(maps, false, r.random().below(2) == 0);
    }
    if (::testing::Test::HasFatalFailure()) return;
    r.fill(block < s.plain_blocks + 1);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST_P(compressed_attention, a_map_all_q8_is_the_whole_reading) {
  const shape& s = GetParam();
  run r(s, 902);
  while (r.entries() + s.rows < s.rows * s.blocks) {
    r.fill(false);
    if (::testing::Test::HasFatalFailure()) return;
  }
  const std::vector<reading> readings(s.layers, read_whole(s, r.entries()));
  kernels::forward_pass pass;
  pass.first = r.entries();
  pass.rows = s.rows;
  pass.keys = r.entries() + s.rows;
  pass.logits_first = r.entries();
  pass.logits_rows = s.rows;
  r.machine().cache().entries = r.entries();
  std::vector<float> found[2];
  for (const bool whole : {false, true}) {
    for (std::uint32_t layer = 0; layer < s.layers; ++layer) r.machine().read_by(layer, readings[layer], whole);
    ASSERT_EQ(r.machine().run(pass, found[whole ? 1 : 0]), drivers::npu_code::ok);
  }
  expect_same_bits(found[0], found[1], "residual rows");
}

INSTANTIATE_TEST_SUITE_P(all, compressed_attention, ::testing::ValuesIn(shapes),
                         [](const auto& each) { return std::string(each.param.name); });

// What a forward moves: of the residuals what the tiers say, nothing for q0; lists, terms and bases whole.
TEST(compressed_cache, moves_what_the_tiers_say) {
  const shape s{.name = "", .rows = 16, .blocks = 6};
  run r(s, 903);
  functional_machine& machine = r.machine().machine();
  const kernels::kv_store& store = r.machine().cache().store;
  constexpr precision tiers[] = {precision::q8, precision::q4, precision::q2};
  const auto moved = [&] {
    std::vector<std::uint64_t> all;
    for (const precision tier : tiers) all.push_back(machine.moved(purpose::prefix_kv, tier));
    all.push_back(machine.moved(purpose::kv_metadata, precision::raw));
    return all;
  };
  r.denoise(std::vector<reading>(s.layers), true, true);
  EXPECT_EQ(moved(), std::vector<std::uint64_t>(4)) << "there is nothing to read yet";
  while (r.entries() < 5 * s.rows) r.fill(false);
  for (std::uint32_t chosen = 0; chosen < 5; ++chosen) {
    const auto map = read_tiers(s, r.entries(), [&](std::uint32_t e) { return chosen == 4 ? e % 4 : chosen; });
    const std::vector<reading> readings(s.layers, map);
    const auto before = moved();
    const std::uint64_t descriptors = machine.descriptors();
    r.denoise(readings, false, false);
    const auto after = moved();
    for (std::uint32_t t = 0; t < 3; ++t) {
      std::uint64_t entries = 0;
      for (const kv_segment& segment : map.segments) entries += segment.tier == tiers[t] ? segment.count : 0;
      EXPECT_EQ(after[t] - before[t], s.layers * 2 * entries * s.kv_width() >> t) << "tiers " << chosen << ", " << t;
    }
    const std::uint64_t per_layer = r.entries() * (4 + store.term_row_bytes(r.machine().model())) +
                                    std::uint64_t{2} * s.kv_heads * store.basis_bytes(r.machine().model());
    EXPECT_EQ(after[3] - before[3], s.layers * per_layer);
    if (chosen == 4) {
      std::printf("%u entries, 4 tiers: %.0f descriptors per layer\n", r.entries(),
                  static_cast<double>(machine.descriptors() - descriptors) / s.layers);
    }
  }
}

// The fewer bits, the larger the error; at 8 bits next to none.
TEST(compressed_cache, error_against_exact_attention) {
  const shape s{
      .name = "", .width = 128, .layers = 1, .head_length = 32, .rows = 32, .blocks = 8, .bias = true, .fitted = true};
  run r(s, 904);
  while (r.entries() < 7 * s.rows) r.fill(false);
  ASSERT_FALSE(::testing::Test::HasFatalFailure());
  const auto exact = r.definition().exact(r.tokens(), r.entries());
  const auto before = r.definition().embed(r.tokens(), r.entries());
  const struct {
    const char* name;
    std::uint32_t shares[4];  // of 20 entries
  } cases[] = {{"all q8", {20, 0, 0, 0}}, {"half q8, half q4", {10, 10, 0, 0}},
               {"all q4", {0, 20, 0, 0}}, {"mixed", {5, 7, 5, 3}},
               {"all q2", {0, 0, 20, 0}}, {"all q0", {0, 0, 0, 20}}};
  std::vector<double> errors;
  for (const auto& c : cases) {
    const auto map = read_tiers(s, r.entries(), [&](std::uint32_t e) {
      std::uint32_t place = e * 7 % 20;
      std::uint32_t tier = 0;
      while (place >= c.shares[tier]) place -= c.shares[tier++];
      return tier;
    });
    kernels::forward_pass pass;
    pass.first = r.entries();
    pass.rows = s.rows;
    pass.keys = r.entries() + s.rows;
    pass.logits_first = r.entries();
    pass.logits_rows = s.rows;
    r.machine().cache().entries = r.entries();
    r.machine().read_by(0, map, false);
    std::vector<float> found;
    ASSERT_EQ(r.machine().run(pass, found), drivers::npu_code::ok);
    double wrong = 0;
    double all = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      const double added = double{found[i]} - double{before[i]};
      wrong += (added - exact[i]) * (added - exact[i]);
      all += exact[i] * exact[i];
    }
    errors.push_back(std::sqrt(wrong / all));
    std::printf("%-18s error of the attention's output %.4f\n", c.name, errors.back());
  }
  EXPECT_LT(errors[0], 0.02);
  EXPECT_LT(errors[0], errors[1]);
  EXPECT_LT(errors[1], errors[2]);
  EXPECT_LT(errors[2], errors[4]);
  EXPECT_LT(errors[4], errors[5]);
}

}  // namespace
}  // namespace dvp
