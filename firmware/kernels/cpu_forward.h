// One forward of the network computed by the CPU itself, with the NPU's arithmetic: the same rows, tokens, keys and
// cache give the same bits as forward.h, sample records and keys and values alike. (A bf16 embedding must be finite, as
// there.)
//
// Two uses. Engine: cpu_forward() takes the place of forward(), contiguous rows, keys and values into the cache. Late
// revision: compute_rows() works on rows at scattered positions over a cache that it only reads; their keys and values
// stay in the workspace until store_rows() puts some of them into some cache.
//
// Where the machine has no data (hal.h), nothing is computed or stored, the cost is the same, and the records become
// what the machine says; those that compute_rows() is given hold what is there now.
//
// Cost told to hal::spend, per operator and layer, for every tile of cpu_tile_rows rows (tiles stream the weights
// anew). A product's rows, in attention those of all heads that share keys, count up to the next multiple of
// cpu_block_rows: one row takes as long as a block of them.
//   product over weights   rows * outputs * inputs as mac beside the codes, purpose weights; of q8 also
//                          rows * outputs * groups as mac beside the scales: a group's scale is one more of them
//   scores, values         rows * heads * keys * head_length as mac beside the layer's keys or values, purpose
//                          prefix_kv; with kept layers also one copy per byte of them: the rows of the pass are laid
//                          over the cache's
//   row functions          one element per element they write, sampling one per logit, beside their parameters
//   keys, values stored    one copy per byte, beside the cache written, purpose step_kv: values lie feature by feature,
//                          so every feature's lines of kv_cache::line_bytes count whole
// Activations are taken to stay in the CPU's caches. The address told is the first one touched; rows of several heads
// count as if they lay one behind the other. The watch-dog is fed once per panel of a product.
#pragma once

#include <cstdint>
#include <span>

#include "firmware/kernels/cpu_workspace.h"
#include "firmware/kernels/forward.h"

namespace dvp::kernels {

struct cpu_rows {
  std::span<const std::uint32_t> positions;  // ascending, each below keys; 1 or more
  std::span<const std::uint32_t> tokens;     // as many; nothing is read from run_state::tokens
  std::uint32_t keys = 0;                    // every row sees positions 0 to keys - 1
  std::uint32_t layers = 0;                  // layers [0, layers) are computed; all of the model when rows have logits
  std::uint32_t logits_first = 0;            // first row with logits, by its place in positions
  std::uint32_t logits_rows = 0;             // 0: only keys and values are wanted
  sampling_rule rule;                        // noise goes by the row's own position
};

// Computes rows over `cache`: positions of rows see one another's new keys and values, and those of all other positions
// below keys as the cache holds them. Leaves one record per row with logits in `records`, and the rows' new keys and
// values of the layers computed, at most space.kept_layers, in the workspace. Writes nothing else. In the last layer
// computed only rows with logits go on after their keys and values. The workspace serves one pass at a time, of at most
// space.rows rows and space.keys keys.
void compute_rows(const config& model, const weights& w, const kv_cache& cache, const cpu_workspace& space,
                  const cpu_rows& rows, std::span<gen::sample_record> records);

// Puts new keys and values of the last compute_rows(), layers [first_layer, first_layer + layers), into a cache: those
// of rows.positions[i] for every i in `chosen`. rows: as it was then.
void store_rows(const config& model, const cpu_workspace& space, const cpu_rows& rows,
                std::span<const std::uint32_t> chosen, std::uint32_t first_layer, std::uint32_t layers,
                const kv_cache& to);

// forward() by the CPU: the contract of forward.h, with state.engine as workspace. Uses tokens, cache, results and
// engine of `state` and nothing else of it.
void cpu_forward(const config& model, const weights& w, run_state& state, const forward_pass& pass);

}  // namespace dvp::kernels
