// How fast the array seats run on this host: Verilated RTL and C++ model, every element busy.
//
// Counters: clock_hz is simulated array cycles per CPU second, updates_per_s multiply-accumulates per CPU second.
#include <benchmark/benchmark.h>

#include <memory>
#include <random>
#include <vector>

#include "dvp_gen/arrays.h"
#include "tlm/array/array_config.h"
#include "tlm/array/model_array.h"
#include "tlm/cosim/rtl_array.h"

namespace dvp::bench {
namespace {

enum class kind { rtl, model };

void array_seat(benchmark::State& state, const char* config, kind which, numerics::stream_format format) {
  const gen::array_config& array = *gen::find_array(config);
  std::unique_ptr<array::array_seat> seat;
  if (which == kind::rtl) {
    seat = std::make_unique<cosim::rtl_array>(config);
  } else {
    seat = std::make_unique<array::model_array>(array::shape_of(array));
  }

  numerics::chain_operands operands;
  operands.format = format;
  operands.columns = array.columns;
  operands.vectors = array.accumulator_vectors;
  operands.reduction = 4 * array.rows;
  operands.group = 2 * array.rows;
  std::mt19937 random(1);
  // Bf16 values of ordinary size: exponents around 1.
  const auto ordinary = [&] { return static_cast<std::uint16_t>((random() & 0x81ffU) | 0x3e00U); };
  std::vector<std::uint16_t> stationary(std::size_t{operands.reduction} * operands.columns);
  std::vector<std::uint16_t> stream(std::size_t{operands.vectors} * operands.reduction);
  std::vector<float> out(std::size_t{operands.chains()} * operands.vectors * operands.columns);
  for (auto& value : stationary) value = ordinary();
  for (auto& value : stream) value = ordinary();
  operands.stationary = stationary.data();
  operands.stream = stream.data();
  operands.stream_stride = operands.reduction;
  operands.out = out.data();

  std::uint64_t cycles = 0;
  for (auto _ : state) {
    cycles += seat->run({operands, 0});
    benchmark::DoNotOptimize(out.data());
  }
  const double macs =
      static_cast<double>(state.iterations()) * operands.vectors * operands.reduction * operands.columns;
  state.counters["clock_hz"] = benchmark::Counter(static_cast<double>(cycles), benchmark::Counter::kIsRate);
  state.counters["updates_per_s"] = benchmark::Counter(macs, benchmark::Counter::kIsRate);
}

using numerics::stream_format;
BENCHMARK_CAPTURE(array_seat, rtl_edge_8x8_q8, "edge_8x8", kind::rtl, stream_format::q8);
BENCHMARK_CAPTURE(array_seat, rtl_ref_16x16_q8, "ref_16x16", kind::rtl, stream_format::q8);
BENCHMARK_CAPTURE(array_seat, rtl_ref_16x16_bf16, "ref_16x16", kind::rtl, stream_format::bf16);
BENCHMARK_CAPTURE(array_seat, rtl_ref_16x16_q4, "ref_16x16", kind::rtl, stream_format::q4);
BENCHMARK_CAPTURE(array_seat, rtl_ref_16x16_q2, "ref_16x16", kind::rtl, stream_format::q2);
BENCHMARK_CAPTURE(array_seat, rtl_block_32x32_q8, "block_32x32", kind::rtl, stream_format::q8);
BENCHMARK_CAPTURE(array_seat, rtl_block_32x32_q2, "block_32x32", kind::rtl, stream_format::q2);
BENCHMARK_CAPTURE(array_seat, model_ref_16x16_q8, "ref_16x16", kind::model, stream_format::q8);
BENCHMARK_CAPTURE(array_seat, model_ref_16x16_bf16, "ref_16x16", kind::model, stream_format::bf16);
BENCHMARK_CAPTURE(array_seat, model_ref_16x16_q4, "ref_16x16", kind::model, stream_format::q4);

}  // namespace
}  // namespace dvp::bench

BENCHMARK_MAIN();
