// What compressed decoding needs beside a model, in a file of its own: a GGUF file that scripts/calibrate writes.
//
//   general.architecture  "dvp-compression"
//   dvp.compression.version u32 1, model_sha256, model, data, tool string, seed, group, correction_rank, basis_tokens
//   integer, shares f32[3], settings f32[21]
//   blk.N.  ffn_channels.codes I8 [ffn][3 width], ffn_channels.scales F16 [ffn][3 slots], ffn_importance F32 [ffn],
//           ffn_views I32 [2]; unless correction_rank k is 0: correction_q4.inputs BF16 [2 k][width],
//           correction_q4.channels BF16 [ffn][3 k], correction_q4.outputs BF16 [width][k], and correction_q2 alike
//
// (rows first here; what each holds is said at tensor_kind in gen/spec/formats/image.json.) Everything is checked:
// presence, types, shapes, finite values, ranges, and that there is no tensor besides. Whose sidecar it is, is checked
// apart: that needs the model.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dvp_gen/image.h"
#include "tlm/loader/gguf.h"
#include "tlm/loader/model.h"

namespace dvp::loader {

inline constexpr const char* sidecar_architecture = "dvp-compression";
inline constexpr std::size_t touch_settings = 7;

// How many channels a step of DAT-FFN touches and at which precision; fields of compression_record.
struct touch_setting {
  float gain = 0;  // 0 or more
  float q8 = 0;    // shares of what is touched: 0 to 1, together at most 1
  float q4 = 0;
};

// A tensor in the form the model image has it.
struct sidecar_tensor {
  gen::tensor_kind kind = gen::tensor_kind::ffn_channels;
  gen::tensor_format format = gen::tensor_format::q8_channels;
  std::uint32_t layer = 0;
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::span<const std::byte> data;
  std::span<const std::byte> scales;  // q8_channels alone
};

struct compression_sidecar {
  const gguf_file* file = nullptr;
  // Where it comes from.
  std::string model_sha256;  // of the model's file, 64 lower-case hexadecimal digits
  std::string model;         // its name
  std::string data;          // what it was calibrated with
  std::string tool;
  std::uint64_t seed = 0;
  // Shape, as the tensors have it.
  std::uint32_t layers = 0;
  std::uint32_t width = 0;
  std::uint32_t ffn_width = 0;
  std::uint32_t group = 0;        // reduction elements that share a scale
  std::uint32_t scale_slots = 0;  // of a channel and precision
  std::uint32_t correction_rank = 0;
  // What it recommends: shares of the prefix at q8, q4, q2, positions of the first basis, settings from conservative to
  // aggressive.
  std::array<float, 3> shares{};
  std::uint32_t basis_tokens = 0;
  std::array<touch_setting, touch_settings> settings{};
  std::vector<sidecar_tensor> tensors;  // layer by layer
};

inline constexpr std::uint32_t most_correction_rank = 64;
// Shares are sums of decimal fractions: this much more than 1 is still 1.
inline constexpr double share_rounding = 1e-6;

// Throws load_error. The file must outlive the sidecar.
compression_sidecar read_sidecar(const gguf_file& file);

// Throws load_error unless it was made from this very file; the shapes are then the model's.
void require_made_for(const compression_sidecar& sidecar, const model& source);

}  // namespace dvp::loader
