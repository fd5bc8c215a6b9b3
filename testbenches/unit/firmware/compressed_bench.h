// A bench whose request asks for compression.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dvp_gen/compression.h"
#include "testbenches/unit/firmware/bench.h"

namespace dvp::testbench {

// Everything on, with numbers that suit blocks of 32; a technique is chosen by kv and ffn.
inline gen::compression_record compression_of(gen::kv_format kv, gen::ffn_mode ffn) {
  gen::compression_record r;
  r.version = gen::compression_version;
  r.kv = kv;
  r.ffn = ffn;
  r.basis_tokens = 32;
  r.rank = 2;
  r.basis_iterations = 8;
  r.share_q8 = 0.25f;
  r.share_q4 = 0.25f;
  r.share_q2 = 0.25f;
  r.touch_gain = 1;
  r.touch_q8 = 0.5f;
  r.touch_q4 = 0.25f;
  r.smoothing = 0.5f;
  r.drift_gain = 1;
  return r;
}

class compressed_bench : public bench {
 public:
  compressed_bench(tiny_model& model, const functional_options& options, std::span<const std::uint32_t> prompt,
                   const gen::compression_record& asked)
      : bench(model, options, prompt) {
    request().compression_address = request().progress_address + 4096;
    record() = asked;
    record().statistics_address = request().progress_address + 8192;
    record().statistics_entries = model.options().layers;
  }

  gen::compression_record& record() {
    return *machine().at<gen::compression_record>(request().progress_address + 4096);
  }
  const gen::layer_statistics& statistics(std::uint32_t layer) {
    return *machine().at<gen::layer_statistics>(record().statistics_address + layer * sizeof(gen::layer_statistics));
  }
};

}  // namespace dvp::testbench
