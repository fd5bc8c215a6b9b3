#include "firmware/kernels/cpu_layer.h"

#include <algorithm>

#include "tlm/numerics/bf16.h"
#include "tlm/numerics/fp32.h"
#include "tlm/numerics/rows.h"
#include "tlm/numerics/sampling.h"

namespace dvp::kernels {
namespace {

// bf16 to fp32 as the NPU does it, by a product with one: -0 becomes +0.
void widen_row(const std::uint16_t* x, float* d, std::uint32_t n) {
  for (std::uint32_t i = 0; i < n; ++i) {
    d[i] = numerics::add(0.0f, numerics::from_bf16(x[i]));
  }
}

}  // namespace

const float* floats(const tensor& t, std::uint32_t row) {
  return reinterpret_cast<const float*>(elements_at(t, row));
}

void project(const cpu_pass& pass, const tensor& weight, const tensor& bias, const panels& x) {
  for_products(weight, x, pass.parts, [&](std::uint32_t panel, const weight_chunk& chunk, const float* sums) {
    const std::uint32_t columns = x.columns(panel);
    for (std::uint32_t c = 0; c < columns; ++c) {
      float* row = pass.parts.projected + std::uint64_t{panel * cpu_panel_rows + c} * weight.rows + chunk.first();
      for (std::uint32_t v = 0; v < chunk.count(); ++v) {
        row[v] = sums[v * columns + c];
      }
    }
  });
  if (pass.model.qkv_bias) {
    for (std::uint32_t r = 0; r < x.rows; ++r) {
      float* row = pass.parts.projected + std::uint64_t{r} * weight.rows;
      numerics::add_row(row, floats(bias), row, weight.rows);
    }
  }
}

void add_product(const cpu_pass& pass, const tensor& weight, const panels& x, const cpu_tile& tile) {
  for_products(weight, x, pass.parts, [&](std::uint32_t panel, const weight_chunk& chunk, const float* sums) {
    const std::uint32_t columns = x.columns(panel);
    for (std::uint32_t c = 0; c < columns; ++c) {
      float* row = residual_row(pass, tile.first + panel * cpu_panel_rows + c) + chunk.first();
      for (std::uint32_t v = 0; v < chunk.count(); ++v) {
        row[v] = numerics::add(row[v], sums[v * columns + c]);
      }
    }
  });
}

void cpu_embed(const cpu_pass& pass, const cpu_tile& tile) {
  const tensor& table = pass.w.embedding;
  const bool coded = table.format == gen::tensor_format::q8_group32;
  const std::uint32_t width = pass.model.width;
  for (std::uint32_t r = tile.first; r < tile.first + tile.rows; ++r) {
    const std::uint32_t token = pass.rows.tokens[r];
    const std::byte* row = elements_at(table, token);
    if (coded) {
      numerics::dequantise_row(reinterpret_cast<const std::int8_t*>(row),
                               reinterpret_cast<const std::uint16_t*>(scales_at(table, token)), weight_group,
                               residual_row(pass, r), width);
    } else {
      widen_row(reinterpret_cast<const std::uint16_t*>(row), residual_row(pass, r), width);
    }
  }
}

void cpu_normalise(const cpu_pass& pass, const tensor& weight, const cpu_tile& tile) {
  const panels normed = normed_rows(pass, tile);
  for (std::uint32_t r = 0; r < tile.rows; ++r) {
    numerics::rms_norm_row(residual_row(pass, tile.first + r), floats(weight), pass.model.norm_epsilon, pass.parts.row,
                           pass.model.width);
    std::uint16_t* d = normed.at(r, 0);
    for (std::uint32_t k = 0; k < pass.model.width; ++k, d += normed.step(r)) {
      *d = pass.parts.row[k];
    }
  }
}

void cpu_feed_forward(const cpu_pass& pass, std::uint32_t layer, const cpu_tile& tile) {
  const layer_weights& l = pass.w.layers[layer];
  const cpu_buffers& parts = pass.parts;
  const panels normed = normed_rows(pass, tile);
  const panels activations{.elements = parts.activations, .rows = tile.rows, .reduction = pass.model.ffn_width};
  float* more_scales = parts.scales + std::uint64_t{product_vectors} * (pass.model.width / weight_group);
  float* more_sums = parts.sums + product_vectors * cpu_panel_rows;
  for (std::uint32_t first = 0; first < pass.model.ffn_width; first += product_vectors) {
    const weight_chunk gate(l.ffn_gate, first, parts.scales);
    const weight_chunk up(l.ffn_up, first, more_scales);
    for (std::uint32_t panel = 0; panel < normed.count(); ++panel) {
      const std::uint32_t columns = normed.columns(panel);
      gate.multiply(normed.at(panel), columns, parts.chains, parts.sums);
      up.multiply(normed.at(panel), columns, parts.chains, more_sums);
      numerics::silu_multiply_row(parts.sums, more_sums, activations.at(panel) + std::uint64_t{first} * columns,
                                  gate.count() * columns);
    }
  }
  add_product(pass, l.ffn_down, activations, tile);
}

void cpu_sample(const cpu_pass& pass, const cpu_tile& tile, std::span<gen::sample_record> records) {
  const panels normed = normed_rows(pass, tile);
  const sampling_rule& rule = pass.rows.rule;
  std::fill_n(pass.parts.samples, tile.rows, numerics::start());
  for_products(pass.w.output, normed, pass.parts,
               [&](std::uint32_t panel, const weight_chunk& chunk, const float* sums) {
                 const std::uint32_t columns = normed.columns(panel);
                 for (std::uint32_t c = 0; c < columns; ++c) {
                   const std::uint32_t row = panel * cpu_panel_rows + c;
                   for (std::uint32_t v = 0; v < chunk.count(); ++v) {
                     pass.parts.logits[v] = sums[v * columns + c];
                   }
                   numerics::update(pass.parts.samples[row], pass.parts.logits, chunk.count(), chunk.first(),
                                    rule.suppressed_token, rule.temperature, rule.noise_key,
                                    pass.rows.positions[tile.first + row]);
                 }
               });
  for (std::uint32_t r = 0; r < tile.rows; ++r) {
    const numerics::sample chosen = numerics::finish(pass.parts.samples[r]);
    records[r] = {chosen.token, chosen.confidence};
  }
}

}  // namespace dvp::kernels
