#include "tlm/npu/execute_compressed.h"

#include <algorithm>
#include <cstdint>

#include "tlm/npu/operands.h"
#include "tlm/npu/scratchpad_access.h"
#include "tlm/numerics/bf16.h"
#include "tlm/numerics/compressed_rows.h"
#include "tlm/numerics/fp16.h"
#include "tlm/numerics/rows.h"

namespace dvp::npu {

void compressed_executor::run(const gen::rebuild_descriptor& d, std::span<std::byte> scratchpad) {
  const auto with = [&](std::uint8_t mode) { return (d.header.function & mode) != 0; };
  const std::uint32_t n = d.columns;
  const std::uint32_t rank = rank_of(d);
  const bool residual = d.header.tag_precision != gen::precision::q0;
  const std::uint16_t* basis = rank != 0 ? row_at<std::uint16_t>(scratchpad, d.basis) : nullptr;
  const std::uint32_t* list = row_at<std::uint32_t>(scratchpad, d.list);
  codes_.resize(n);
  numbers_.resize(n);
  for (std::uint32_t r = 0; r < d.rows; ++r) {
    auto* out = row_at<std::uint16_t>(scratchpad, d.d, d.d_stride, r);
    if (list[r] >= limit_of(d)) {
      std::fill_n(out, n, std::uint16_t{0});
      continue;
    }
    const auto* terms = row_at<std::uint16_t>(scratchpad, d.terms, d.terms_stride, list[r]);
    if (residual) {
      const std::uint64_t first = d.codes + std::uint64_t{r} * d.codes_stride;
      numerics::expand_codes(scratchpad.subspan(first), code_bits(d.header.tag_precision),
                             with(gen::rebuild_mode::half_step), codes_.data(), n);
    }
    numerics::low_rank_row(terms, basis, rank, numerics::from_fp16(terms[rank]), residual ? codes_.data() : nullptr,
                           numbers_.data(), n);
    numerics::to_bf16_row(numbers_.data(), out, n);
    if (with(gen::rebuild_mode::rotate)) {
      std::transform(out, out + n, numbers_.begin(), numerics::from_bf16);
      const auto* cosines = row_at<float>(scratchpad, d.rope, n * 4, list[r]);
      numerics::rope_row(numbers_.data(), cosines, cosines + n / 2, with(gen::rebuild_mode::halves), n, out, n);
    }
  }
}

void compressed_executor::run(const gen::update_descriptor& d, std::span<std::byte> scratchpad) {
  const numerics::channel_update mode{.add_state = (d.header.function & gen::update_mode::add_state) != 0,
                                      .fresh = (d.header.function & gen::update_mode::fresh) != 0};
  const std::uint32_t n = d.columns;
  const std::uint32_t* list = d.list != gen::no_list ? row_at<std::uint32_t>(scratchpad, d.list) : nullptr;
  for (std::uint32_t r = 0; r < d.rows; ++r) {
    auto* out = row_at<std::uint16_t>(scratchpad, d.d, d.d_stride, r);
    const std::uint32_t channel = list != nullptr ? list[r] : r;
    if (channel >= d.state_rows) {
      std::fill_n(out, n, std::uint16_t{0});
      continue;
    }
    auto* state = row_at<std::uint16_t>(scratchpad, d.state, n * 4, channel);
    const std::uint16_t scale = *row_at<std::uint16_t>(scratchpad, d.scales, d.scale_stride, r);
    numerics::update_row(mode, row_at<float>(scratchpad, d.gate, d.sums_stride, r),
                         row_at<float>(scratchpad, d.up, d.sums_stride, r), state, state + n,
                         numerics::from_fp16(scale), out, n);
  }
}

}  // namespace dvp::npu
