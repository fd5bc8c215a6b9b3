#include "tlm/npu/execute_gemm.h"

#include <algorithm>

#include "tlm/npu/operands.h"
#include "tlm/npu/scratchpad_access.h"
#include "tlm/numerics/accumulate.h"
#include "tlm/numerics/fp16.h"

namespace dvp::npu {
namespace {

template <typename T>
void grow(std::vector<T>& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(size);
}

// d[k][c] = s[c][k]: rows of `s` are `s_stride` bytes apart. Blocks of k keep the written lines in the first cache.
void transpose_in(std::span<const std::byte> scratchpad, std::uint32_t s, std::uint32_t s_stride, std::uint32_t columns,
                  std::uint32_t reduction, std::uint16_t* d) {
  constexpr std::uint32_t block = 256;
  for (std::uint32_t k0 = 0; k0 < reduction; k0 += block) {
    const std::uint32_t k1 = std::min(reduction, k0 + block);
    for (std::uint32_t c = 0; c < columns; ++c) {
      const std::uint16_t* source = row_at<std::uint16_t>(scratchpad, s, s_stride, c);
      for (std::uint32_t k = k0; k < k1; ++k) d[std::size_t{k} * columns + c] = source[k];
    }
  }
}

// d[k][c] = s[k][c]: rows of `s` are `s_stride` bytes apart.
void copy_in(std::span<const std::byte> scratchpad, std::uint32_t s, std::uint32_t s_stride, std::uint32_t columns,
             std::uint32_t reduction, std::uint16_t* d) {
  for (std::uint32_t k = 0; k < reduction; ++k) {
    std::copy_n(row_at<std::uint16_t>(scratchpad, s, s_stride, k), columns, d + std::size_t{k} * columns);
  }
}

// One column tile of out, [tokens][vectors] or transposed in the scratchpad, dense [vectors][columns] beside it.
struct out_tile {
  std::span<std::byte> scratchpad;
  std::uint32_t address;
  std::uint32_t stride;
  std::uint32_t vectors;
  std::uint32_t columns;
  bool transposed;

  void read(float* dense) const {
    for (std::uint32_t v = 0; transposed && v < vectors; ++v) {
      std::copy_n(row_at<float>(scratchpad, address, stride, v), columns, dense + std::size_t{v} * columns);
    }
    if (transposed) return;
    for (std::uint32_t c = 0; c < columns; ++c) {
      const float* row = row_at<float>(scratchpad, address, stride, c);
      for (std::uint32_t v = 0; v < vectors; ++v) dense[std::size_t{v} * columns + c] = row[v];
    }
  }
  void write(const float* dense) const {
    for (std::uint32_t v = 0; transposed && v < vectors; ++v) {
      std::copy_n(dense + std::size_t{v} * columns, columns, row_at<float>(scratchpad, address, stride, v));
    }
    if (transposed) return;
    for (std::uint32_t c = 0; c < columns; ++c) {
      float* row = row_at<float>(scratchpad, address, stride, c);
      for (std::uint32_t v = 0; v < vectors; ++v) row[v] = dense[std::size_t{v} * columns + c];
    }
  }
};

numerics::stream_format format_of(gen::precision precision) {
  switch (precision) {
    case gen::precision::q8:
      return numerics::stream_format::q8;
    case gen::precision::q4:
      return numerics::stream_format::q4;
    case gen::precision::q2:
      return numerics::stream_format::q2;
    default:
      return numerics::stream_format::bf16;
  }
}

}  // namespace

void gemm_executor::widen_scales(const gen::gemm_descriptor& d, std::span<const std::byte> scratchpad) {
  const std::uint32_t groups = d.reduction / d.group;
  grow(scales_, std::size_t{d.vectors} * groups);
  for (std::uint32_t v = 0; v < d.vectors; ++v) {
    const std::uint16_t* source = row_at<std::uint16_t>(scratchpad, d.scales, d.scale_stride, v);
    std::transform(source, source + groups, &scales_[std::size_t{v} * groups], numerics::from_fp16);
  }
}

std::uint64_t gemm_executor::run(const gen::gemm_descriptor& d, std::span<std::byte> scratchpad) {
  const auto with = [&](std::uint8_t mode) { return (d.header.function & mode) != 0; };
  const bool coded = d.header.tag_precision != gen::precision::bf16;
  const bool scaled = coded && !with(gen::gemm_mode::unscaled);
  const bool transposed_x = with(gen::gemm_mode::transposed_x);
  const bool transposed_out = with(gen::gemm_mode::transposed_out);
  const bool accumulate = (d.header.flags & gen::descriptor_flag::accumulate) != 0;
  const std::uint32_t groups = d.reduction / d.group;
  const std::uint32_t widest = std::min(columns_, d.tokens);
  grow(stationary_, std::size_t{d.reduction} * widest);
  grow(chains_, std::size_t{groups} * d.vectors * widest);
  grow(sums_, std::size_t{d.vectors} * widest);
  if (scaled) widen_scales(d, scratchpad);

  array::array_job job;
  job.operands.format = format_of(d.header.tag_precision);
  job.operands.half_step = with(gen::gemm_mode::half_step);
  job.operands.vectors = d.vectors;
  job.operands.reduction = d.reduction;
  job.operands.group = d.group;
  job.operands.stationary = stationary_.data();
  job.operands.stream = scratchpad.data() + d.w;
  // A stride that no second vector uses may be anything, an odd one with bf16 included.
  job.operands.stream_stride = coded ? std::size_t{d.w_stride} * 8 / code_bits(d.header.tag_precision) : d.w_stride / 2;
  job.operands.preset = !scaled && accumulate ? sums_.data() : nullptr;
  job.operands.out = chains_.data();

  std::uint64_t cycles = 0;
  for (std::uint32_t token = 0; token < d.tokens; token += columns_) {
    const std::uint32_t columns = std::min(columns_, d.tokens - token);
    const std::size_t out_offset = transposed_out ? std::size_t{token} * 4 : std::size_t{token} * d.out_stride;
    const out_tile out{scratchpad.subspan(out_offset), d.out, d.out_stride, d.vectors, columns, transposed_out};
    if (transposed_x) {
      copy_in(scratchpad.subspan(std::size_t{token} * 2), d.x, d.x_stride, columns, d.reduction, stationary_.data());
    } else {
      transpose_in(scratchpad.subspan(std::size_t{token} * d.x_stride), d.x, d.x_stride, columns, d.reduction,
                   stationary_.data());
    }
    if (accumulate) out.read(sums_.data());
    job.operands.columns = columns;
    job.id = jobs_++;
    cycles += seat_.run(job);
    if (scaled) {
      if (!accumulate) std::fill_n(sums_.begin(), std::size_t{d.vectors} * columns, 0.0F);
      numerics::scale_accumulate(chains_.data(), scales_.data(), groups, d.vectors, columns, sums_.data());
      out.write(sums_.data());
    } else {
      out.write(chains_.data());
    }
  }
  return cycles;
}

std::uint64_t gemm_executor::time_only(const gen::gemm_descriptor& d, array::array_shape shape) {
  const std::uint64_t beats = array::fold_beats(shape, format_of(d.header.tag_precision), d.vectors);
  const std::uint64_t tiles = (d.tokens + columns_ - 1) / columns_;
  jobs_ += tiles;
  return tiles * array::job_cycles(shape, beats, d.reduction, d.group);
}

}  // namespace dvp::npu
