// Jobs with random operands, and their sums by a double loop in the host's arithmetic.
#pragma once

#include <random>
#include <vector>

#include "testbenches/rtl/host_arithmetic.h"
#include "tlm/array/array_seat.h"

namespace dvp::test {

struct job_shape {
  std::uint32_t columns = 1, vectors = 1, group = 1, chains = 1;
  bool q8 = true, preset = false;
};

// Owns the operands of one job.
class random_job {
 public:
  random_job(const job_shape& shape, std::uint64_t id, random_words& random)
      : stride_(std::size_t{shape.group} * shape.chains + random() % 3),
        stationary_(std::size_t{shape.group} * shape.chains * shape.columns),
        codes_(stride_ * shape.vectors),
        values_(stride_ * shape.vectors),
        preset_(std::size_t{shape.vectors} * shape.columns),
        out_(std::size_t{shape.chains} * shape.vectors * shape.columns) {
    const auto bf16 = [&random] {
      if (random() % 200 == 0) return bf16_corners[random() % std::size(bf16_corners)];
      return static_cast<std::uint16_t>((random() & 0x807fu) | (118 + random() % 16) << 7);
    };
    for (auto& value : stationary_) value = bf16();
    for (auto& value : values_) value = bf16();
    for (auto& code : codes_) code = static_cast<std::int8_t>(random());
    for (auto& value : preset_) value = host_bf16(bf16());
    job_.id = id;
    numerics::chain_operands& operands = job_.operands;
    operands.format = shape.q8 ? numerics::stream_format::q8 : numerics::stream_format::bf16;
    operands.columns = shape.columns;
    operands.vectors = shape.vectors;
    operands.group = shape.group;
    operands.reduction = shape.group * shape.chains;
    operands.stationary = stationary_.data();
    operands.stream = shape.q8 ? static_cast<const void*>(codes_.data()) : values_.data();
    operands.stream_stride = stride_;
    operands.preset = shape.preset ? preset_.data() : nullptr;
    operands.out = out_.data();
  }
  random_job(const random_job&) = delete;
  random_job& operator=(const random_job&) = delete;

  const array::array_job& job() const { return job_; }
  std::uint32_t out_bits(std::size_t index) const { return std::bit_cast<std::uint32_t>(out_[index]); }

  // out[chain][vector][column] by the definition.
  std::uint32_t expected_bits(std::uint32_t chain, std::uint32_t vector, std::uint32_t column) const {
    const numerics::chain_operands& operands = job_.operands;
    float sum = chain == 0 && operands.preset != nullptr ? preset_[vector * operands.columns + column] : 0.0f;
    for (std::size_t k = std::size_t{chain} * operands.group; k < std::size_t{chain + 1} * operands.group; ++k) {
      const bool q8 = operands.format == numerics::stream_format::q8;
      const float element =
          q8 ? static_cast<float>(codes_[vector * stride_ + k]) : host_bf16(values_[vector * stride_ + k]);
      const float product = element * host_bf16(stationary_[k * operands.columns + column]);
      sum = sum + product;
    }
    return host_bits(sum);
  }

 private:
  std::size_t stride_;
  std::vector<std::uint16_t> stationary_;
  std::vector<std::int8_t> codes_;
  std::vector<std::uint16_t> values_;
  std::vector<float> preset_;
  std::vector<float> out_;
  array::array_job job_;
};

}  // namespace dvp::test
