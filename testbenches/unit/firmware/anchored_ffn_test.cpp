// The anchored feed-forward network on the functional machine: bit for bit what its definitions give, written out here
// element by element, and free of races.
#include "firmware/kernels/anchored_ffn.h"

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

#include "dvp_gen/converter_regs.h"
#include "dvp_gen/system.h"
#include "firmware/kernels/layer.h"
#include "gtest/gtest.h"
#include "testbenches/unit/firmware/functional_machine.h"
#include "tlm/numerics/bf16.h"
#include "tlm/numerics/converter.h"
#include "tlm/numerics/fp16.h"
#include "tlm/numerics/special.h"

namespace dvp {
namespace {

using gen::precision;
using gen::purpose;
using kernels::channel_counts;
using kernels::ffn_pass;
using numerics::from_bf16;
using numerics::from_fp16;
using numerics::to_bf16;
using testbench::functional_machine;
using testbench::functional_options;

constexpr std::uint32_t group = 32;
constexpr float epsilon = 1e-5f;

struct shape {
  const char* name = "";
  std::uint32_t width = 64;
  std::uint32_t ffn = 160;
  std::uint32_t layers = 2;
  std::uint32_t rows = 32;
  bool fitted_q4 = false;
  bool fitted_q2 = false;
  std::uint32_t correction_tensors = 0;  // vectors the correction tensors hold; 0: there are none
  std::uint32_t correction_rank = 0;     // of these, used
  functional_options machine{};
};

class dice {
 public:
  explicit dice(std::uint32_t seed) : random_(seed) {}
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() >> 4) % n; }
  float uniform(float low, float high) { return low + (high - low) * static_cast<float>(below(1u << 16)) / 65536.0f; }
  // Roughly normal.
  float spread(float size) { return size * (uniform(-1, 1) + uniform(-1, 1) + uniform(-1, 1)); }
  std::vector<std::uint32_t> permutation(std::uint32_t n) {
    std::vector<std::uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0u);
    for (std::uint32_t i = n; i > 1; --i) {
      std::swap(order[i - 1], order[below(i)]);
    }
    return order;
  }

 private:
  std::minstd_rand random_;
};

// Of one precision, bf16; see tensor_kind in dvp_gen/image.h.
struct correction_data {
  std::vector<std::uint16_t> inputs;    // [2 k][width]
  std::vector<std::uint16_t> channels;  // [ffn][3 k]
  std::vector<std::uint16_t> outputs;   // [width][k]
};

// A layer's tensors.
struct channel_data {
  std::uint32_t width = 0;
  std::uint32_t slots = 0;
  std::vector<float> norm;            // [width]
  std::vector<std::int8_t> codes;     // [ffn][3 * width]
  std::vector<std::uint16_t> scales;  // [ffn][3][slots]
  correction_data corrections[2];     // of q4, of q2

  std::size_t row_codes() const { return std::size_t{3} * width; }
  std::size_t row_scales() const { return std::size_t{3} * slots; }
};

numerics::view q4_view(const shape& s) {
  return s.fitted_q4 ? numerics::view{4, numerics::view_mode::fitted, 110, 4, 0}
                     : numerics::view{.precision = 4, .mode = numerics::view_mode::midpoint};
}

numerics::view q2_view(const shape& s) {
  return s.fitted_q2 ? numerics::view{2, numerics::view_mode::fitted, 0, 0, 40}
                     : numerics::view{.precision = 2, .mode = numerics::view_mode::midpoint};
}

channel_data random_channels(const shape& s, dice& random) {
  channel_data d;
  d.width = s.width;
  d.slots = (2 * s.width / group + 1 + 15) / 16 * 16;
  for (std::uint32_t c = 0; c < s.width; ++c) {
    d.norm.push_back(random.uniform(0.8f, 1.2f));
  }
  for (std::size_t i = 0; i < s.ffn * d.row_codes(); ++i) {
    d.codes.push_back(static_cast<std::int8_t>(static_cast<int>(random.below(255)) - 127));
  }
  d.scales.assign(s.ffn * d.row_scales(), 0);
  const float input_scale = 1 / (64 * std::sqrt(static_cast<float>(s.width)));
  const float down_scale = 1 / (64 * std::sqrt(static_cast<float>(s.ffn)));
  for (std::uint32_t j = 0; j < s.ffn; ++j) {
    for (std::uint32_t i = 0; i <= 2 * s.width / group; ++i) {
      const float scale = (i == 2 * s.width / group ? down_scale : input_scale) * random.uniform(0.5f, 1.5f);
      const float steps[] = {1, s.fitted_q4 ? 16.0f : 1.0f, s.fitted_q2 ? 64.0f : 1.0f};
      for (std::uint32_t p = 0; p < 3; ++p) {
        const float fit = p == 0 ? 1 : random.uniform(0.98f, 1.02f);
        d.scales[j * d.row_scales() + p * d.slots + i] = numerics::to_fp16(scale * steps[p] * fit);
      }
    }
  }
  for (correction_data& c : d.corrections) {
    const auto fill = [&](std::vector<std::uint16_t>& values, std::size_t count, float size) {
      for (std::size_t i = 0; i < count; ++i) {
        values.push_back(to_bf16(random.spread(size)));
      }
    };
    fill(c.inputs, std::size_t{2} * s.correction_tensors * s.width, 0.1f);
    fill(c.channels, std::size_t{3} * s.correction_tensors * s.ffn, 0.1f);
    fill(c.outputs, std::size_t{s.correction_tensors} * s.width, 0.1f);
  }
  return d;
}

// The definition of one layer.
class reference_layer {
 public:
  reference_layer(const shape& s, const channel_data& data)
      : shape_(s), data_(data), gate_(s.ffn * s.rows), up_(s.ffn * s.rows), output_(s.rows * s.width) {}

  std::vector<float> activity;  // [ffn], of the last anchor
  float moved = 0;
  float anchored = 0;

  // New residual rows [rows][width].
  std::vector<float> anchor(const std::vector<float>& residual) {
    input_ = normalise(residual);
    activity.clear();
    std::fill(output_.begin(), output_.end(), 0.0f);
    for (std::uint32_t j = 0; j < shape_.ffn; ++j) {
      const auto d = renew(j, input_, true);
      float sum = 0;
      for (const std::uint16_t each : d) {
        sum = sum + std::abs(from_bf16(each));
      }
      activity.push_back(sum);
      add_column(j, precision::q8, d);
    }
    return added(residual);
  }

  std::vector<float> move(const std::vector<float>& residual, const channel_counts& counts,
                          const std::vector<std::uint32_t>& order) {
    const std::vector<std::uint16_t> input = normalise(residual);
    std::vector<std::uint16_t> change(input.size());
    moved = 0;
    anchored = 0;
    for (std::uint32_t r = 0; r < shape_.rows; ++r) {
      float row_moved = 0;
      float row_anchored = 0;
      for (std::uint32_t c = 0; c < shape_.width; ++c) {
        const std::size_t i = std::size_t{r} * shape_.width + c;
        const float before = from_bf16(input_[i]);
        const float difference = from_bf16(input[i]) - before;
        row_moved = row_moved + difference * difference;
        row_anchored = row_anchored + before * before;
        change[i] = to_bf16(difference);
      }
      moved = moved + row_moved;
      anchored = anchored + row_anchored;
    }
    if (moved == 0) {
      return added(residual);
    }
    const bool whole = counts.q8 == shape_.ffn;
    if (whole) {
      std::fill(output_.begin(), output_.end(), 0.0f);
    }
    std::uint32_t next = 0;
    for (; next < counts.q8; ++next) {
      add_column(order[next], precision::q8, renew(order[next], input, whole));
    }
    for (const precision p : {precision::q4, precision::q2}) {
      std::vector<float> corrected(std::size_t{shape_.rows} * shape_.correction_rank);
      const std::uint32_t count = p == precision::q4 ? counts.q4 : counts.q2;
      for (const std::uint32_t end = next + count; next < end; ++next) {
        const auto d = shift(order[next], change, p);
        add_column(order[next], p, d);
        collect(order[next], p, d, corrected);
      }
      if (count != 0) {
        add_corrected(p, corrected);
      }
    }
    input_ = input;
    return added(residual);
  }

  const std::vector<float>& output() const { return output_; }

  // The network itself, in double precision, over these codes at 8 bits.
  std::vector<double> exact(const std::vector<float>& residual) const {
    std::vector<double> y(output_.size());
    for (std::uint32_t t = 0; t < shape_.rows; ++t) {
      const float* x = residual.data() + std::size_t{t} * shape_.width;
      double squares = 0;
      for (std::uint32_t c = 0; c < shape_.width; ++c) {
        squares += double{x[c]} * x[c];
      }
      const double factor = 1 / std::sqrt(squares / shape_.width + epsilon);
      for (std::uint32_t j = 0; j < shape_.ffn; ++j) {
        double sums[2] = {};
        for (std::uint32_t half = 0; half < 2; ++half) {
          for (std::uint32_t c = 0; c < shape_.width; ++c) {
            const double w = value(j, half * shape_.width + c, precision::q8) *
                             double{scale(j, precision::q8, half * (shape_.width / group) + c / group)};
            sums[half] += x[c] * factor * data_.norm[c] * w;
          }
        }
        const double activation = sums[0] / (1 + std::exp(-sums[0])) * sums[1] * double{down_scale(j, precision::q8)};
        for (std::uint32_t o = 0; o < shape_.width; ++o) {
          y[std::size_t{t} * shape_.width + o] += activation * value(j, 2 * shape_.width + o, precision::q8);
        }
      }
    }
    return y;
  }

 private:
  // What the array multiplies for a code.
  float value(std::uint32_t j, std::uint32_t i, precision p) const {
    const std::int8_t q = data_.codes[j * data_.row_codes() + i];
    if (p == precision::q8) {
      return q;
    }
    const bool narrow = p == precision::q2;
    const int t = numerics::convert(narrow ? q2_view(shape_) : q4_view(shape_), q);
    const bool fitted = narrow ? shape_.fitted_q2 : shape_.fitted_q4;
    return static_cast<float>(fitted ? t : narrow ? t * 64 + 32 : t * 16 + 8);
  }
  float scale(std::uint32_t j, precision p, std::uint32_t slot) const {
    const std::uint32_t number = p == precision::q8 ? 0 : p == precision::q4 ? 1 : 2;
    return from_fp16(data_.scales[j * data_.row_scales() + number * data_.slots + slot]);
  }
  float down_scale(std::uint32_t j, precision p) const { return scale(j, p, 2 * (shape_.width / group)); }

  std::vector<std::uint16_t> normalise(const std::vector<float>& residual) const {
    std::vector<std::uint16_t> x(residual.size());
    for (std::uint32_t r = 0; r < shape_.rows; ++r) {
      const float* row = residual.data() + std::size_t{r} * shape_.width;
      float squares = 0;
      for (std::uint32_t c = 0; c < shape_.width; ++c) {
        squares = squares + row[c] * row[c];
      }
      const float factor = numerics::rsqrt(squares / static_cast<float>(shape_.width) + epsilon);
      for (std::uint32_t c = 0; c < shape_.width; ++c) {
        x[std::size_t{r} * shape_.width + c] = to_bf16((row[c] * factor) * data_.norm[c]);
      }
    }
    return x;
  }

  float project(std::uint32_t j, std::uint32_t half, const std::uint16_t* x, precision p) const {
    float sum = 0;
    for (std::uint32_t g = 0; g < shape_.width / group; ++g) {
      float chain = 0;
      for (std::uint32_t k = g * group; k < (g + 1) * group; ++k) {
        chain = chain + value(j, half * shape_.width + k, p) * from_bf16(x[k]);
      }
      sum = sum + scale(j, p, half * (shape_.width / group) + g) * chain;
    }
    return sum;
  }

  // The same and what the corrections add: q4's own, at q2 both.
  float corrected(std::uint32_t j, std::uint32_t half, const std::uint16_t* x, precision p) const {
    float sum = project(j, half, x, p);
    const std::uint32_t k = shape_.correction_tensors;
    for (std::uint32_t c = 0; c < (p == precision::q4 ? 1u : 2u); ++c) {
      const correction_data& factors = data_.corrections[c];
      for (std::uint32_t v = 0; v < shape_.correction_rank; ++v) {
        float projected = 0;
        for (std::uint32_t i = 0; i < shape_.width; ++i) {
          projected =
              projected + from_bf16(factors.inputs[std::size_t{half * k + v} * shape_.width + i]) * from_bf16(x[i]);
        }
        sum = sum + from_bf16(factors.channels[std::size_t{3 * k} * j + half * k + v]) * from_bf16(to_bf16(projected));
      }
    }
    return sum;
  }

  const correction_data& of_down(precision p) const { return data_.corrections[p == precision::q4 ? 0 : 1]; }

  void collect(std::uint32_t j, precision p, const std::vector<std::uint16_t>& d, std::vector<float>& sums) const {
    const std::uint32_t k = shape_.correction_tensors;
    for (std::uint32_t t = 0; t < shape_.rows; ++t) {
      for (std::uint32_t v = 0; v < shape_.correction_rank; ++v) {
        float& sum = sums[std::size_t{t} * shape_.correction_rank + v];
        sum = sum + from_bf16(of_down(p).channels[std::size_t{3 * k} * j + 2 * k + v]) * from_bf16(d[t]);
      }
    }
  }

  void add_corrected(precision p, const std::vector<float>& sums) {
    for (std::uint32_t t = 0; t < shape_.rows; ++t) {
      for (std::uint32_t o = 0; o < shape_.width; ++o) {
        float& y = output_[std::size_t{t} * shape_.width + o];
        for (std::uint32_t v = 0; v < shape_.correction_rank; ++v) {
          y = y + from_bf16(of_down(p).outputs[std::size_t{o} * shape_.correction_tensors + v]) *
                      from_bf16(to_bf16(sums[std::size_t{t} * shape_.correction_rank + v]));
        }
      }
    }
  }

  float activation(std::size_t i) const {
    return from_bf16(to_bf16(numerics::silu(from_bf16(gate_[i])) * from_bf16(up_[i])));
  }

  // Replacement: what the channel adds to the output, over its scale of down.
  std::vector<std::uint16_t> renew(std::uint32_t j, const std::vector<std::uint16_t>& x, bool fresh) {
    std::vector<std::uint16_t> d;
    for (std::uint32_t t = 0; t < shape_.rows; ++t) {
      const std::size_t i = std::size_t{j} * shape_.rows + t;
      const float before = fresh ? 0 : activation(i);
      gate_[i] = to_bf16(project(j, 0, x.data() + std::size_t{t} * shape_.width, precision::q8));
      up_[i] = to_bf16(project(j, 1, x.data() + std::size_t{t} * shape_.width, precision::q8));
      d.push_back(to_bf16((activation(i) - before) * down_scale(j, precision::q8)));
    }
    return d;
  }

  // Delta.
  std::vector<std::uint16_t> shift(std::uint32_t j, const std::vector<std::uint16_t>& change, precision p) {
    std::vector<std::uint16_t> d;
    for (std::uint32_t t = 0; t < shape_.rows; ++t) {
      const std::size_t i = std::size_t{j} * shape_.rows + t;
      const float before = activation(i);
      const std::uint16_t* x = change.data() + std::size_t{t} * shape_.width;
      gate_[i] = to_bf16(corrected(j, 0, x, p) + from_bf16(gate_[i]));
      up_[i] = to_bf16(corrected(j, 1, x, p) + from_bf16(up_[i]));
      d.push_back(to_bf16((activation(i) - before) * down_scale(j, p)));
    }
    return d;
  }

  void add_column(std::uint32_t j, precision p, const std::vector<std::uint16_t>& d) {
    for (std::uint32_t t = 0; t < shape_.rows; ++t) {
      for (std::uint32_t o = 0; o < shape_.width; ++o) {
        float& y = output_[std::size_t{t} * shape_.width + o];
        y = y + value(j, 2 * shape_.width + o, p) * from_bf16(d[t]);
      }
    }
  }

  std::vector<float> added(const std::vector<float>& residual) const {
    std::vector<float> sum(residual.size());
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum[i] = residual[i] + output_[i];
    }
    return sum;
  }

  const shape& shape_;
  const channel_data& data_;
  std::vector<std::uint16_t> input_;      // [rows][width]
  std::vector<std::uint16_t> gate_, up_;  // [ffn][rows]
  std::vector<float> output_;             // [rows][width]
};

// Answers with `counts` and notes what it was told.
class planned_policy final : public kernels::channel_policy {
 public:
  struct question {
    std::uint32_t layer;
    float moved;
    float anchored;
  };
  channel_counts decide(std::uint32_t layer, float moved, float anchored) override {
    asked.push_back({layer, moved, anchored});
    return counts;
  }

  channel_counts counts;
  std::vector<question> asked;
};

std::uint32_t register_value(const numerics::view& v) {
  namespace field = gen::converter::view::descriptor;
  return field::precision.set(0, v.precision) | field::mode.set(0, static_cast<std::uint32_t>(v.mode)) |
         field::shift.set(0, v.shift) | field::clip.set(0, v.clip) | field::threshold.set(0, v.threshold);
}

// The layers' feed-forward networks alone: residual rows of every layer come from DRAM and go back there.
class ffn_bench {
 public:
  ffn_bench(const shape& s, const std::vector<channel_data>& data)
      : shape_(s), machine_(s.machine), weights_(std::make_unique<kernels::weights>()) {
    constexpr std::uint32_t sources[] = {gen::system::npu_interrupt};
    controller_.start(gen::system::plic_base, sources);
    EXPECT_EQ(npu_.probe(gen::system::npu_base), drivers::npu_code::ok);
    const std::uint64_t ring = take(std::uint64_t{ring_entries} * gen::descriptor_bytes);
    const std::uint64_t records = take(std::uint64_t{ring_entries} * sizeof(gen::completion_record));
    EXPECT_EQ(npu_.start(ring, records, ring_entries, 1000), drivers::npu_code::ok);
    model_ = {.width = s.width,
              .layers = s.layers,
              .heads = 1,
              .kv_heads = 1,
              .head_length = group,
              .ffn_width = s.ffn,
              .context = group,
              .norm_epsilon = epsilon};
    state_.limits = npu_.limits();
    state_.stream.start(npu_, ring_entries);
    EXPECT_TRUE(kernels::plan_scratchpad(model_, state_.limits,
                                         {.tile_rows = s.rows,
                                          .most_keys = group,
                                          .granule_bytes = state_.stream.granule_bytes(),
                                          .groups = true,
                                          .anchored = true,
                                          .correction_rank = s.correction_tensors},
                                         state_.plan));
    anchors_.policy = &policy;
    anchors_.correction_rank = s.correction_rank;
    anchors_.order = take(std::uint64_t{4} * (s.layers + 1) * s.ffn);
    std::vector<std::uint32_t> numbers(s.ffn);
    std::iota(numbers.begin(), numbers.end(), 0u);
    order(s.layers, numbers);
    anchors_.activity = take(std::uint64_t{4} * s.layers * s.ffn);
    anchors_.drift = take(std::uint64_t{8} * s.layers);
    state_.anchors = &anchors_;
    state_.residual = take(std::uint64_t{4} * s.layers * s.rows * s.width);
    masters_ = next_;
    for (std::uint32_t layer = 0; layer < s.layers; ++layer) {
      const channel_data& d = data[layer];
      weights_->layers[layer].ffn_norm = {.data = put(d.norm), .rows = 1, .columns = s.width, .row_bytes = s.width * 4};
      anchors_.layers[layer].channels = {.data = put(d.codes),
                                         .scales = put(d.scales),
                                         .rows = s.ffn,
                                         .columns = 3 * s.width,
                                         .row_bytes = 3 * s.width,
                                         .scale_row_bytes = 3 * 2 * d.slots,
                                         .format = gen::tensor_format::q8_channels};
      if (s.correction_tensors != 0) {
        put_corrections(d, anchors_.layers[layer]);
      }
      anchors_.half_step_q4[layer] = !s.fitted_q4;
      anchors_.half_step_q2[layer] = !s.fitted_q2;
      set_view(anchors_.q4_view(layer), q4_view(s));
      set_view(anchors_.q2_view(layer), q2_view(s));
    }
    masters_bytes_ = master_bytes();
  }

  ~ffn_bench() {
    for (const std::string& hazard : machine_.hazards()) {
      ADD_FAILURE() << hazard;
    }
    EXPECT_TRUE(master_bytes() == masters_bytes_) << "a read changed the weights";
  }

  planned_policy policy;

  void order(std::uint32_t layer, const std::vector<std::uint32_t>& channels) {
    std::memcpy(machine_.memory(anchors_.order + std::uint64_t{4} * layer * shape_.ffn, channels.size() * 4),
                channels.data(), channels.size() * 4);
  }

  // Residual rows per layer, in and out.
  drivers::npu_code run(ffn_pass pass, std::vector<std::vector<float>>& residuals) {
    policy.asked.clear();
    const kernels::row_span span{.first = 0,
                                 .rows = shape_.rows,
                                 .residual = {state_.plan.residual.address, shape_.width * 4},
                                 .normed = {state_.plan.normed.address, shape_.width * 2},
                                 .rope = {}};
    for (std::uint32_t layer = 0; layer < shape_.layers; ++layer) {
      std::memcpy(residual(layer), residuals[layer].data(), residuals[layer].size() * sizeof(float));
    }
    for (std::uint32_t layer = 0; layer < shape_.layers; ++layer) {
      kernels::load_residual(model_, state_, span, layer * shape_.rows);
      (pass == ffn_pass::anchor ? kernels::anchor_feed_forward : kernels::move_feed_forward)(model_, *weights_, layer,
                                                                                             state_, span);
      kernels::store_residual(model_, state_, span, layer * shape_.rows);
    }
    state_.stream.drain();
    for (std::uint32_t layer = 0; layer < shape_.layers; ++layer) {
      std::memcpy(residuals[layer].data(), residual(layer), residuals[layer].size() * sizeof(float));
    }
    return state_.stream.status();
  }

  std::vector<float> activity(std::uint32_t layer) {
    const auto* first = machine_.at<float>(anchors_.activity + std::uint64_t{4} * layer * shape_.ffn);
    return {first, first + shape_.ffn};
  }

  std::uint32_t piece() const { return state_.plan.channel_piece(); }
  void restart() { state_.stream.restart(); }
  functional_machine& machine() { return machine_; }

 private:
  static constexpr std::uint32_t ring_entries = 256;

  std::uint64_t take(std::uint64_t bytes) {
    const std::uint64_t address = next_;
    next_ += (bytes + 63) / 64 * 64;
    return address;
  }
  template <class T>
  std::uint64_t put(const std::vector<T>& values) {
    const std::uint64_t address = take(values.size() * sizeof(T));
    std::memcpy(machine_.memory(address, values.size() * sizeof(T)), values.data(), values.size() * sizeof(T));
    return address;
  }
  void put_corrections(const channel_data& d, kernels::channel_weights& w) {
    const auto table = [&](const std::vector<std::uint16_t>& values, std::uint32_t rows) {
      const std::uint32_t columns = static_cast<std::uint32_t>(values.size()) / rows;
      return kernels::tensor{.data = put(values),
                             .rows = rows,
                             .columns = columns,
                             .row_bytes = columns * 2,
                             .format = gen::tensor_format::bf16};
    };
    const std::uint32_t k = shape_.correction_tensors;
    w.correction_q4_inputs = table(d.corrections[0].inputs, 2 * k);
    w.correction_q4_channels = table(d.corrections[0].channels, shape_.ffn);
    w.correction_q4_outputs = table(d.corrections[0].outputs, shape_.width);
    w.correction_q2_inputs = table(d.corrections[1].inputs, 2 * k);
    w.correction_q2_channels = table(d.corrections[1].channels, shape_.ffn);
    w.correction_q2_outputs = table(d.corrections[1].outputs, shape_.width);
  }
  float* residual(std::uint32_t layer) {
    const std::uint64_t bytes = std::uint64_t{4} * shape_.rows * shape_.width;
    return static_cast<float*>(machine_.memory(state_.residual + layer * bytes, bytes));
  }
  void set_view(std::uint32_t number, const numerics::view& v) {
    machine_.write32(gen::system::converter_base + gen::converter::view::descriptor::at(number - 1), register_value(v));
  }
  std::vector<std::byte> master_bytes() {
    const auto* first = static_cast<const std::byte*>(machine_.memory(masters_, next_ - masters_));
    return {first, first + (next_ - masters_)};
  }

  shape shape_;
  functional_machine machine_;
  drivers::interrupts controller_;
  drivers::npu npu_{{controller_, gen::system::npu_interrupt}};
  std::unique_ptr<kernels::weights> weights_;
  kernels::config model_;
  kernels::run_state state_;
  kernels::anchored_ffn anchors_;
  std::uint64_t next_ = gen::system::dram_base;
  std::uint64_t masters_ = 0;
  std::vector<std::byte> masters_bytes_;
};

using rows = std::vector<std::vector<float>>;

rows random_rows(const shape& s, dice& random) {
  rows all(s.layers);
  for (auto& each : all) {
    for (std::uint32_t i = 0; i < s.rows * s.width; ++i) {
      each.push_back(random.spread(1));
    }
  }
  return all;
}

rows moved_by(const rows& from, float size, dice& random) {
  rows all = from;
  for (auto& each : all) {
    for (float& v : each) {
      v += random.spread(size);
    }
  }
  return all;
}

std::vector<channel_data> random_layers(const shape& s, dice& random) {
  std::vector<channel_data> all;
  for (std::uint32_t layer = 0; layer < s.layers; ++layer) {
    all.push_back(random_channels(s, random));
  }
  return all;
}

std::vector<reference_layer> references(const shape& s, const std::vector<channel_data>& data) {
  std::vector<reference_layer> all;
  for (const channel_data& d : data) {
    all.emplace_back(s, d);
  }
  return all;
}

void expect_same_bits(const std::vector<float>& found, const std::vector<float>& expected, const std::string& what) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(found[i]), std::bit_cast<std::uint32_t>(expected[i]))
        << what << ", element " << i << ": " << found[i] << ", expected " << expected[i];
  }
}

double relative_error(const std::vector<float>& found, const std::vector<double>& exact) {
  double wrong = 0;
  double all = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    wrong += (found[i] - exact[i]) * (found[i] - exact[i]);
    all += exact[i] * exact[i];
  }
  return std::sqrt(wrong / all);
}

channel_counts random_counts(std::uint32_t ffn, dice& random) {
  channel_counts c;
  c.q8 = random.below(4) == 0 ? 0 : random.below(ffn / 2 + 1);
  c.q4 = random.below(4) == 0 ? 0 : random.below(ffn - c.q8 + 1);
  c.q2 = random.below(4) == 0 ? 0 : random.below(ffn - c.q8 - c.q4 + 1);
  return c;
}

const shape shapes[] = {
    {.name = "midpoint"},
    {.name = "fitted", .rows = 17, .fitted_q4 = true, .fitted_q2 = true},
    {.name = "odd_sizes", .width = 96, .ffn = 101, .layers = 3, .rows = 5, .fitted_q2 = true},
    {.name = "one_row", .width = 32, .ffn = 33, .layers = 1, .rows = 1, .fitted_q4 = true},
    {.name = "small_machine",
     .width = 64,
     .ffn = 130,
     .rows = 8,
     .machine = {.scratchpad_bytes = 96u << 10, .scratchpad_banks = 4, .accumulator_vectors = 24}},
    {.name = "corrected", .rows = 19, .fitted_q4 = true, .correction_tensors = 8, .correction_rank = 8},
    {.name = "corrected_in_part",
     .width = 96,
     .ffn = 101,
     .rows = 6,
     .fitted_q2 = true,
     .correction_tensors = 5,
     .correction_rank = 3,
     .machine = {.scratchpad_bytes = 128u << 10, .scratchpad_banks = 4, .accumulator_vectors = 24}},
    {.name = "tiny_fdllm2", .width = 128, .ffn = 384, .layers = 6, .rows = 32, .fitted_q4 = true, .fitted_q2 = true},
};

class anchored_ffn : public ::testing::TestWithParam<shape> {};

TEST_P(anchored_ffn, equals_its_definition) {
  const shape& s = GetParam();
  constexpr std::uint32_t seed = 501;
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  dice random(seed);
  const auto data = random_layers(s, random);
  auto reference = references(s, data);
  ffn_bench device(s, data);

  rows input = random_rows(s, random);
  rows found = input;
  ASSERT_EQ(device.run(ffn_pass::anchor, found), drivers::npu_code::ok);
  std::vector<std::vector<std::uint32_t>> orders;
  for (std::uint32_t layer = 0; layer < s.layers; ++layer) {
    const auto expected = reference[layer].anchor(input[layer]);
    expect_same_bits(found[layer], expected, "anchor");
    expect_same_bits(device.activity(layer), reference[layer].activity, "activity");
    EXPECT_LT(relative_error(reference[layer].output(), reference[layer].exact(input[layer])), 0.01);
    orders.push_back(random.permutation(s.ffn));
    device.order(layer, orders[layer]);
  }
  for (std::uint32_t step = 0; step < 6; ++step) {
    device.policy.counts = step == 2 ? channel_counts{.q8 = s.ffn} : random_counts(s.ffn, random);
    SCOPED_TRACE(::testing::Message() << "step " << step << ": " << device.policy.counts.q8 << ", "
                                      << device.policy.counts.q4 << ", " << device.policy.counts.q2);
    input = moved_by(input, 0.1f, random);
    found = input;
    ASSERT_EQ(device.run(ffn_pass::interior, found), drivers::npu_code::ok);
    ASSERT_EQ(device.policy.asked.size(), s.layers);
    for (std::uint32_t layer = 0; layer < s.layers; ++layer) {
      const auto expected = reference[layer].move(input[layer], device.policy.counts, orders[layer]);
      EXPECT_EQ(device.policy.asked[layer].layer, layer);
      EXPECT_EQ(device.policy.asked[layer].moved, reference[layer].moved);
      EXPECT_EQ(device.policy.asked[layer].anchored, reference[layer].anchored);
      expect_same_bits(found[layer], expected, "layer " + std::to_string(layer));
    }
  }
}

// A network whose channels lie in that order, computed anew, is the oracle here, not the definition above.
TEST_P(anchored_ffn, all_replaced_is_a_fresh_product_in_the_same_order) {
  const shape& s = GetParam();
  dice random(502);
  const auto data = random_layers(s, random);
  std::vector<channel_data> ordered = data;
  ffn_bench device(s, data);
  for (std::uint32_t layer = 0; layer < s.layers; ++layer) {
    const auto order = random.permutation(s.ffn);
    device.order(layer, order);
    for (std::uint32_t i = 0; i < s.ffn; ++i) {
      const channel_data& from = data[layer];
      std::copy_n(from.codes.begin() + static_cast<std::ptrdiff_t>(order[i] * from.row_codes()), from.row_codes(),
                  ordered[layer].codes.begin() + static_cast<std::ptrdiff_t>(i * from.row_codes()));
      std::copy_n(from.scales.begin() + static_cast<std::ptrdiff_t>(order[i] * from.row_scales()), from.row_scales(),
                  ordered[layer].scales.begin() + static_cast<std::ptrdiff_t>(i * from.row_scales()));
    }
  }
  rows input = random_rows(s, random);
  ASSERT_EQ(device.run(ffn_pass::anchor, input), drivers::npu_code::ok);
  const rows next = random_rows(s, random);
  rows found = next;
  device.policy.counts = {.q8 = s.ffn};
  ASSERT_EQ(device.run(ffn_pass::interior, found), drivers::npu_code::ok);

  ffn_bench fresh(s, ordered);
  rows expected = next;
  ASSERT_EQ(fresh.run(ffn_pass::anchor, expected), drivers::npu_code::ok);
  for (std::uint32_t layer = 0; layer < s.layers; ++layer) {
    expect_same_bits(found[layer], expected[layer], "layer " + std::to_string(layer));
  }
}

TEST_P(anchored_ffn, all_carried_leaves_the_output) {
  const shape& s = GetParam();
  dice random(503);
  const auto data = random_layers(s, random);
  auto reference = references(s, data);
  ffn_bench device(s, data);
  const rows first = random_rows(s, random);
  rows found = first;
  ASSERT_EQ(device.run(ffn_pass::anchor, found), drivers::npu_code::ok);
  for (std::uint32_t layer = 0; layer < s.layers; ++layer) {
    (void)reference[layer].anchor(first[layer]);
    device.order(layer, random.permutation(s.ffn));
  }
  const std::uint64_t weights = device.machine().moved(purpose::weights, precision::q8);
  for (std::uint32_t step = 0; step < 2; ++step) {
    const rows input = random_rows(s, random);
    found = input;
    ASSERT_EQ(device.run(ffn_pass::interior, found), drivers::npu_code::ok);
    for (std::uint32_t layer = 0; layer < s.layers; ++layer) {
      std::vector<float> expected = input[layer];
      for (std::size_t i = 0; i < expected.size(); ++i) {
        expected[i] = expected[i] + reference[layer].output()[i];
      }
      expect_same_bits(found[layer], expected, "layer " + std::to_string(layer));
      EXPECT_GT(device.policy.asked[layer].moved, 0.0f);
    }
  }
  EXPECT_EQ(device.machine().moved(purpose::weights, precision::q8), weights);
}

// Bytes that interior passes read, by purpose and precision.
TEST_P(anchored_ffn, reads_what_it_touches_and_nothing_else) {
  const shape& s = GetParam();
  dice random(504);
  const auto data = random_layers(s, random);
  ffn_bench device(s, data);
  const functional_machine& m = device.machine();
  rows input = random_rows(s, random);
  rows found = input;
  ASSERT_EQ(device.run(ffn_pass::anchor, found), drivers::npu_code::ok);
  const std::uint64_t row = std::uint64_t{3} * s.width;
  const std::uint64_t scale_row = 2 * data[0].slots;
  std::uint64_t q8 = row * s.ffn * s.layers, q4 = 0, q2 = 0, scales = scale_row * s.ffn * s.layers, lists = 0;
  std::uint64_t corrections = 0;
  const auto expect_traffic = [&] {
    EXPECT_EQ(m.moved(purpose::weights, precision::q8), q8);
    EXPECT_EQ(m.moved(purpose::weights, precision::q4), q4);
    EXPECT_EQ(m.moved(purpose::weights, precision::q2), q2);
    EXPECT_EQ(m.moved(purpose::scales, precision::raw), scales);
    EXPECT_EQ(m.moved(purpose::ffn_state, precision::raw), lists);
    EXPECT_EQ(m.moved(purpose::corrections, precision::bf16), corrections);
  };
  expect_traffic();
  for (std::uint32_t layer = 0; layer < s.layers; ++layer) {
    device.order(layer, random.permutation(s.ffn));
  }

  // Nothing moved: whatever the policy says, nothing is read.
  device.policy.counts = {.q8 = s.ffn / 2, .q4 = 3};
  rows again = input;
  ASSERT_EQ(device.run(ffn_pass::interior, again), drivers::npu_code::ok);
  for (std::uint32_t layer = 0; layer < s.layers; ++layer) {
    EXPECT_EQ(device.policy.asked[layer].moved, 0.0f);
    expect_same_bits(again[layer], found[layer], "layer " + std::to_string(layer));
  }
  expect_traffic();

  for (std::uint32_t step = 0; step < 4; ++step) {
    const channel_counts c = random_counts(s.ffn, random);
    SCOPED_TRACE(::testing::Message() << c.q8 << ", " << c.q4 << ", " << c.q2);
    device.policy.counts = c;
    input = moved_by(input, 0.2f, random);
    found = input;
    ASSERT_EQ(device.run(ffn_pass::interior, found), drivers::npu_code::ok);
    q8 += row * c.q8 * s.layers;
    q4 += row / 2 * c.q4 * s.layers;
    q2 += row / 4 * c.q2 * s.layers;
    scales += scale_row * c.touched() * s.layers;
    lists += std::uint64_t{4} * c.touched() * s.layers;
    if (s.correction_rank != 0 && c.q4 + c.q2 != 0) {
      lists += std::uint64_t{4} * std::min(device.piece(), s.ffn) * s.layers;
      const std::uint64_t factors = std::uint64_t{2} * 3 * s.correction_rank * s.width;
      const std::uint64_t channel = std::uint64_t{2} * 3 * s.correction_tensors;
      corrections += (factors * (c.q2 != 0 ? 2 : 1) + channel * (c.q4 + 2 * c.q2)) * s.layers;
    }
    expect_traffic();
  }
}

INSTANTIATE_TEST_SUITE_P(all, anchored_ffn, ::testing::ValuesIn(shapes),
                         [](const auto& param) { return std::string(param.param.name); });

// How far a step's output is from the network at 8 bits over the same rows, as a share of its length.
double error_after(const reference_layer& layer, const std::vector<float>& input) {
  return relative_error(layer.output(), layer.exact(input));
}

// An input that has nothing to do with the anchor: the bits still follow the definition, and what is recomputed at q8
// is as good as new.
TEST(anchored_ffn_drift, high) {
  const shape s{.width = 64, .ffn = 160, .layers = 1, .fitted_q4 = true, .fitted_q2 = true};
  dice random(505);
  const auto data = random_layers(s, random);
  auto reference = references(s, data);
  ffn_bench device(s, data);
  rows input = random_rows(s, random);
  rows found = input;
  ASSERT_EQ(device.run(ffn_pass::anchor, found), drivers::npu_code::ok);
  (void)reference[0].anchor(input[0]);
  const auto order = random.permutation(s.ffn);
  device.order(0, order);
  const channel_counts steps[] = {{.q4 = 160}, {.q8 = 40, .q4 = 60, .q2 = 60}, {.q2 = 160}, {.q8 = 80}, {.q8 = 160}};
  for (const channel_counts& counts : steps) {
    for (float& v : input[0]) {
      v = -300 * v + random.spread(50);
    }
    device.policy.counts = counts;
    found = input;
    ASSERT_EQ(device.run(ffn_pass::interior, found), drivers::npu_code::ok);
    expect_same_bits(found[0], reference[0].move(input[0], counts, order), "output");
    EXPECT_GT(reference[0].moved, reference[0].anchored);
    const double error = error_after(reference[0], input[0]);
    RecordProperty(
        "error_" + std::to_string(counts.q8) + "_" + std::to_string(counts.q4) + "_" + std::to_string(counts.q2),
        std::to_string(error));
    EXPECT_TRUE(std::isfinite(error));
    if (counts.q8 == s.ffn) {
      EXPECT_LT(error, 0.01);
    }
  }
}

// A step moves the input a little. Every precision's error, and what a channel missed while it was carried: q4 does not
// bring that back, q8 does.
TEST(anchored_ffn_drift, crossing) {
  const shape s{.width = 128, .ffn = 384, .layers = 1, .fitted_q4 = true, .fitted_q2 = true};
  dice random(506);
  const auto data = random_layers(s, random);
  const auto order = random.permutation(s.ffn);
  const rows first = random_rows(s, random);
  std::vector<rows> steps;
  for (std::uint32_t step = 0; step < 4; ++step) {
    steps.push_back(moved_by(step == 0 ? first : steps.back(), 0.05f, random));
  }
  ffn_bench device(s, data);
  const auto last_error = [&](const std::vector<channel_counts>& counts) {
    reference_layer reference(s, data[0]);
    rows found = first;
    EXPECT_EQ(device.run(ffn_pass::anchor, found), drivers::npu_code::ok);
    device.order(0, order);
    (void)reference.anchor(first[0]);
    for (std::size_t step = 0; step < counts.size(); ++step) {
      device.policy.counts = counts[step];
      found = steps[step];
      EXPECT_EQ(device.run(ffn_pass::interior, found), drivers::npu_code::ok);
      expect_same_bits(found[0], reference.move(steps[step][0], counts[step], order), "output");
    }
    return error_after(reference, steps[counts.size() - 1][0]);
  };
  const channel_counts carry{}, q8{.q8 = s.ffn}, q4{.q4 = s.ffn}, q2{.q2 = s.ffn};
  const double carried = last_error({carry});
  const double by_q4 = last_error({q4});
  const double by_q2 = last_error({q2});
  const double three_by_q4 = last_error({q4, q4, q4});
  const double crossing = last_error({carry, carry, q4});
  const double realigned = last_error({carry, carry, q4, q8});
  for (const auto& [name, error] : {std::pair{"carried", carried},
                                    {"q4", by_q4},
                                    {"q2", by_q2},
                                    {"three_q4", three_by_q4},
                                    {"crossing", crossing},
                                    {"realigned", realigned}}) {
    RecordProperty(name, std::to_string(error));
    std::printf("relative error, %s: %.5f\n", name, error);
  }
  EXPECT_LT(by_q4, 0.5 * carried);
  EXPECT_LT(by_q2, carried);
  EXPECT_LT(by_q4, by_q2);
  EXPECT_GT(crossing, three_by_q4);
  EXPECT_LT(realigned, 0.01);
}

TEST(anchored_ffn_faults, more_channels_than_there_are) {
  const shape s{.layers = 1};
  dice random(507);
  const auto data = random_layers(s, random);
  ffn_bench device(s, data);
  rows input = random_rows(s, random);
  ASSERT_EQ(device.run(ffn_pass::anchor, input), drivers::npu_code::ok);
  device.policy.counts = {.q8 = s.ffn, .q4 = 0xffffffffu, .q2 = 1};
  EXPECT_EQ(device.run(ffn_pass::interior, input), drivers::npu_code::bad_argument);
}

// A failure in the middle of a pass: nobody is asked about numbers that were never written, and an anchor pass makes
// everything good again.
TEST(anchored_ffn_faults, failure_in_the_middle) {
  const shape s{};
  dice random(508);
  const auto data = random_layers(s, random);
  ffn_bench device(s, data);
  const rows first = random_rows(s, random);
  rows expected = first;
  ASSERT_EQ(device.run(ffn_pass::anchor, expected), drivers::npu_code::ok);
  for (std::uint32_t layer = 0; layer < s.layers; ++layer) {
    device.order(layer, random.permutation(s.ffn));
  }
  const std::uint64_t before = device.machine().descriptors();
  device.policy.counts = {.q8 = 10, .q4 = 20};
  rows found = moved_by(first, 0.1f, random);
  const rows input = found;
  ASSERT_EQ(device.run(ffn_pass::interior, found), drivers::npu_code::ok);
  const std::uint64_t count = device.machine().descriptors() - before;

  for (std::uint64_t at = 0; at < count; at += 3) {
    std::uint64_t left = at;
    device.machine().tamper = [&](npu::descriptor_view& d) {
      if (left-- == 0) {
        d.bytes[0] = std::byte{0x7f};
      }
    };
    found = input;
    EXPECT_EQ(device.run(ffn_pass::interior, found), drivers::npu_code::stopped) << "descriptor " << at;
    EXPECT_LE(device.policy.asked.size(), s.layers);
    for (const auto& question : device.policy.asked) {
      EXPECT_TRUE(std::isfinite(question.moved) && question.anchored > 0);
    }
    device.machine().tamper = [](npu::descriptor_view&) {};
    device.restart();
    found = first;
    ASSERT_EQ(device.run(ffn_pass::anchor, found), drivers::npu_code::ok);
    for (std::uint32_t layer = 0; layer < s.layers; ++layer) {
      expect_same_bits(found[layer], expected[layer], "layer " + std::to_string(layer));
    }
  }
}

// Descriptors of a layer, the residual's way in and out and the bench's last fence not counted.
TEST(anchored_ffn_plan, prints_its_size) {
  const shape s{.width = 128, .ffn = 384, .layers = 1, .fitted_q4 = true, .fitted_q2 = true};
  dice random(509);
  const auto data = random_layers(s, random);
  ffn_bench device(s, data);
  rows input = random_rows(s, random);
  const auto descriptors = [&](ffn_pass pass, const channel_counts& counts) {
    device.policy.counts = counts;
    const std::uint64_t before = device.machine().descriptors();
    input = moved_by(input, 0.1f, random);
    EXPECT_EQ(device.run(pass, input), drivers::npu_code::ok);
    return static_cast<int>(device.machine().descriptors() - before) - 3;
  };
  const int anchor = descriptors(ffn_pass::anchor, {});
  device.order(0, random.permutation(s.ffn));
  const int mixed = descriptors(ffn_pass::interior, {.q8 = 60, .q4 = 40, .q2 = 30});
  const int carried = descriptors(ffn_pass::interior, {});
  RecordProperty("anchor", anchor);
  RecordProperty("mixed", mixed);
  RecordProperty("carried", carried);
  std::printf("descriptors: anchor %d, three tiers of a piece each %d, nothing touched %d\n", anchor, mixed, carried);
  EXPECT_LE(anchor, 28);
  EXPECT_LE(mixed, 29);
  EXPECT_LE(carried, 7);
}

// What stays from forward to forward is apart from everything else, in both phases of a layer.
TEST(anchored_ffn_plan, anchors_are_apart) {
  const kernels::config model{
      .width = 128, .layers = 6, .heads = 4, .kv_heads = 2, .head_length = 32, .ffn_width = 384, .qkv_bias = true};
  drivers::npu_limits limits{.scratchpad_bytes = 1u << 20, .scratchpad_banks = 16, .accumulator_vectors = 512};
  kernels::plan_request wanted{
      .tile_rows = 32, .most_keys = 192, .granule_bytes = 4096, .groups = true, .anchored = true};
  kernels::scratchpad_plan p;
  ASSERT_TRUE(kernels::plan_scratchpad(model, limits, wanted, p));
  EXPECT_EQ(p.anchored_inputs.bytes, 6u * 32 * 128 * 2);
  EXPECT_EQ(p.anchored_sums.bytes, 6u * 384 * 64 * 2);
  EXPECT_EQ(p.anchored_outputs.bytes, 6u * 32 * 128 * 4);
  std::vector<kernels::region> both = {
      p.anchored_inputs, p.anchored_sums, p.anchored_outputs, p.residual,   p.normed,     p.attn_norm,
      p.ffn_norm,        p.rope,          p.biases,           p.samples,    p.staging[0], p.staging[1],
      p.results[0],      p.results[1],    p.results[2],       p.results[3], p.cached[0],  p.cached[1]};
  const std::vector<kernels::region> phases[] = {
      {p.queries, p.scores[0], p.scores[1]},
      {p.down, p.activations[0], p.activations[1], p.turned[0], p.turned[1], p.turned[2], p.channel_words}};
  for (const auto& phase : phases) {
    auto all = both;
    all.insert(all.end(), phase.begin(), phase.end());
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
    for (std::size_t i = 1; i < all.size(); ++i) {
      EXPECT_GE(all[i].address, all[i - 1].end());
    }
    EXPECT_LE(all.back().end(), limits.scratchpad_bytes);
  }
  RecordProperty("scratchpad_for_anchors_kib",
                 static_cast<int>((p.anchored_inputs.bytes + p.anchored_sums.bytes + p.anchored_outputs.bytes) >> 10));
  // They do not fit, and no smaller tile was asked for.
  limits.scratchpad_bytes = 512u << 10;
  wanted.granule_bytes = 2048;
  EXPECT_FALSE(kernels::plan_scratchpad(model, limits, wanted, p));
  wanted.anchored = false;
  EXPECT_TRUE(kernels::plan_scratchpad(model, limits, wanted, p));
}

}  // namespace
}  // namespace dvp
