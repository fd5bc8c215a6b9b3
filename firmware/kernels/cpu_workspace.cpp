#include "firmware/kernels/cpu_workspace.h"

#include <algorithm>

#include "firmware/hal/hal.h"
#include "firmware/kernels/cpu_product.h"

namespace dvp::kernels {
namespace {

constexpr std::uint64_t alignment = 64;

// Lays parts one behind the other; without memory it only counts.
class carver {
 public:
  explicit carver(std::byte* memory) : memory_(memory) {}

  template <class T>
  void take(T*& part, std::uint64_t count) {
    part = memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + used_);
    used_ += (count * sizeof(T) + alignment - 1) / alignment * alignment;
  }
  std::uint64_t used() const { return used_; }

 private:
  std::byte* memory_;
  std::uint64_t used_ = 0;
};

std::uint64_t lay_out(const config& model, const cpu_workspace& space, std::byte* memory, cpu_buffers& b) {
  const std::uint64_t rows = space.rows;
  const std::uint64_t keys = space.keys;
  const std::uint64_t tile = std::min(space.rows, cpu_tile_rows);
  const std::uint64_t columns = cpu_panel_rows;
  const std::uint64_t slots = std::max(space.kept_layers, 1u);
  const std::uint64_t widest = std::max({model.width, model.query_width(), model.ffn_width});
  const bool overlaid = space.kept_layers != 0;
  carver parts(memory);
  parts.take(b.positions, rows);
  parts.take(b.residual, rows * model.width);
  parts.take(b.keys, slots * rows * model.kv_width());
  parts.take(b.values, slots * rows * model.kv_width());
  parts.take(b.row, std::max<std::uint64_t>({model.width, model.query_width(), keys}));
  parts.take(b.normed, tile * model.width);
  parts.take(b.queries, tile * model.query_width());
  parts.take(b.mixed, tile * model.query_width());
  parts.take(b.activations, tile * model.ffn_width);
  parts.take(b.projected, tile * std::max(model.query_width(), model.kv_width()));
  parts.take(b.chains, std::uint64_t{product_groups} * product_vectors * columns);
  parts.take(b.scales, 2 * product_vectors * (widest / weight_group));
  parts.take(b.sums, 2 * std::max(product_vectors, model.head_length) * columns);
  parts.take(b.scores, keys * columns);
  parts.take(b.score_row, keys);
  parts.take(b.probabilities, keys * columns);
  parts.take(b.seen_keys, overlaid ? keys * model.head_length : 0);
  parts.take(b.seen_values, overlaid ? keys * model.head_length : 0);
  parts.take(b.logits, product_vectors);
  parts.take(b.samples, tile);
  return parts.used();
}

}  // namespace

std::uint64_t cpu_workspace::bytes(const config& model) const {
  cpu_buffers counted;
  return lay_out(model, *this, nullptr, counted);
}

cpu_buffers buffers_of(const config& model, const cpu_workspace& space) {
  cpu_buffers parts;
  (void)lay_out(model, space, static_cast<std::byte*>(hal::memory(space.address, space.bytes(model))), parts);
  return parts;
}

}  // namespace dvp::kernels
