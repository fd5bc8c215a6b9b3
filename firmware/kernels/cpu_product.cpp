#include "firmware/kernels/cpu_product.h"

#include "firmware/hal/hal.h"
#include "tlm/numerics/accumulate.h"
#include "tlm/numerics/chain_products.h"
#include "tlm/numerics/fp16.h"

namespace dvp::kernels {
namespace {

const std::byte* rows_at(std::uint64_t address, std::uint32_t first, std::uint32_t rows, std::uint64_t stride,
                         std::uint64_t row_bytes) {
  return static_cast<const std::byte*>(hal::memory(address + first * stride, (rows - 1) * stride + row_bytes));
}

}  // namespace

std::uint64_t element_bytes(const tensor& t) {
  switch (t.format) {
    case gen::tensor_format::fp32:
    case gen::tensor_format::words:
      return std::uint64_t{4} * t.columns;
    case gen::tensor_format::bf16:
      return std::uint64_t{2} * t.columns;
    case gen::tensor_format::q8_group32:
    case gen::tensor_format::q8_channels:
      break;
  }
  return t.columns;
}

std::uint64_t scale_bytes(const tensor& t) {
  return t.format == gen::tensor_format::q8_group32 ? std::uint64_t{2} * (t.columns / weight_group) : 0;
}

const std::byte* elements_at(const tensor& t, std::uint32_t first, std::uint32_t rows) {
  return rows_at(t.data, first, rows, t.row_bytes, element_bytes(t));
}

const std::byte* scales_at(const tensor& t, std::uint32_t first, std::uint32_t rows) {
  return rows_at(t.scales, first, rows, t.scale_row_bytes, scale_bytes(t));
}

weight_chunk::weight_chunk(const tensor& weight, std::uint32_t first, float* scales)
    : coded_(weight.format == gen::tensor_format::q8_group32),
      first_(first),
      count_(std::min(product_vectors, weight.rows - first)),
      reduction_(weight.columns),
      row_bytes_(weight.row_bytes),
      scales_(scales) {
  data_ = elements_at(weight, first, count_);
  if (!coded_) {
    return;
  }
  // As scale_accumulate takes them: one table [count][product_groups] behind the other, the last one narrower.
  const std::uint32_t groups = reduction_ / weight_group;
  const std::byte* rows = scales_at(weight, first, count_);
  for (std::uint32_t g = 0; g < groups; g += product_groups) {
    const std::uint32_t some = std::min(product_groups, groups - g);
    for (std::uint32_t v = 0; v < count_; ++v) {
      const auto* row = reinterpret_cast<const std::uint16_t*>(rows + std::uint64_t{v} * weight.scale_row_bytes) + g;
      scales = std::transform(row, row + some, scales, numerics::from_fp16);
    }
  }
}

void weight_chunk::multiply(const std::uint16_t* x, std::uint32_t columns, float* chains, float* sums) const {
  hal::feed_watchdog();
  numerics::chain_operands product{.format = coded_ ? numerics::stream_format::q8 : numerics::stream_format::bf16,
                                   .columns = columns,
                                   .vectors = count_,
                                   .reduction = reduction_,
                                   .group = reduction_,
                                   .stationary = x,
                                   .stream = data_,
                                   .stream_stride = coded_ ? row_bytes_ : row_bytes_ / 2,
                                   .out = sums};
  if (!coded_) {
    numerics::chain_products(product);
    return;
  }
  std::fill_n(sums, std::uint64_t{count_} * columns, 0.0f);
  const std::uint32_t groups = reduction_ / weight_group;
  product.group = weight_group;
  product.out = chains;
  for (std::uint32_t g = 0; g < groups; g += product_groups) {
    const std::uint32_t some = std::min(product_groups, groups - g);
    product.reduction = some * weight_group;
    product.stationary = x + std::uint64_t{g} * weight_group * columns;
    product.stream = data_ + std::uint64_t{g} * weight_group;
    numerics::chain_products(product);
    numerics::scale_accumulate(chains, scales_ + std::uint64_t{g} * count_, some, count_, columns, sums);
  }
}

}  // namespace dvp::kernels
