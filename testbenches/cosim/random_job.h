// Jobs with random operands, and their sums by a double loop in the host's arithmetic.
#pragma once

#include <random>
#include <vector>

#include "testbenches/rtl/host_arithmetic.h"
#include "tlm/array/array_seat.h"

namespace dvp::test {

// The format of all vectors of a job; or mixed, every vector drawing its own, q0 included.
struct job_format {
  numerics::stream_format format = numerics::stream_format::q8;
  bool half_step = false;
  bool mixed = false;
};

inline constexpr job_format bf16_job{numerics::stream_format::bf16};
inline constexpr job_format q8_job{numerics::stream_format::q8};
inline constexpr job_format job_formats[] = {bf16_job,
                                             q8_job,
                                             {numerics::stream_format::q4},
                                             {numerics::stream_format::q4, true},
                                             {numerics::stream_format::q2},
                                             {numerics::stream_format::q2, true},
                                             {numerics::stream_format::q0},
                                             {numerics::stream_format::q0, false, true}};

struct job_shape {
  std::uint32_t columns = 1, vectors = 1, group = 1, chains = 1;
  job_format format = q8_job;
  bool preset = false;
};

// Owns the operands of one job.
class random_job {
 public:
  random_job(const job_shape& shape, std::uint64_t id, random_words& random)
      : stride_(std::size_t{shape.group} * shape.chains + random() % 3),
        stationary_(std::size_t{shape.group} * shape.chains * shape.columns),
        each_(shape.vectors),
        preset_(std::size_t{shape.vectors} * shape.columns),
        out_(std::size_t{shape.chains} * shape.vectors * shape.columns) {
    const auto bf16 = [&random] {
      if (random() % 200 == 0) return bf16_corners[random() % std::size(bf16_corners)];
      return static_cast<std::uint16_t>((random() & 0x807fu) | (118 + random() % 16) << 7);
    };
    stride_ = (stride_ + 3) / 4 * 4;  // every vector begins with a byte, whatever the format
    for (auto& value : stationary_) value = bf16();
    for (auto& value : preset_) value = host_bf16(bf16());
    // Every vector has room for bf16; its elements take what they need, from the front.
    elements_.resize(stride_ * shape.vectors);
    values_.resize(stride_ * shape.vectors);
    const std::uint32_t uniform_bits = numerics::element_bits(shape.format.format);
    for (std::uint32_t v = 0; v < shape.vectors; ++v) {
      const job_format chosen = shape.format.mixed ? job_formats[random() % 7] : shape.format;
      auto* bytes = reinterpret_cast<std::uint8_t*>(elements_.data());
      bytes += shape.format.mixed ? 2 * stride_ * v : stride_ * v * uniform_bits / 8;
      each_[v] = {chosen.format, chosen.half_step, bytes};
      fill(chosen, bytes, &values_[stride_ * v], random, bf16);
    }
    job_.id = id;
    numerics::chain_operands& operands = job_.operands;
    operands.format = shape.format.format;
    operands.half_step = shape.format.half_step;
    operands.columns = shape.columns;
    operands.vectors = shape.vectors;
    operands.group = shape.group;
    operands.reduction = shape.group * shape.chains;
    operands.stationary = stationary_.data();
    operands.stream = elements_.data();
    operands.stream_stride = stride_;
    operands.each = shape.format.mixed ? each_.data() : nullptr;
    operands.preset = shape.preset ? preset_.data() : nullptr;
    operands.out = out_.data();
  }
  random_job(const random_job&) = delete;
  random_job& operator=(const random_job&) = delete;

  const array::array_job& job() const { return job_; }
  std::uint32_t out_bits(std::size_t index) const { return std::bit_cast<std::uint32_t>(out_[index]); }
  const std::vector<numerics::stream_vector>& each() const { return each_; }

  // out[chain][vector][column] by the definition.
  std::uint32_t expected_bits(std::uint32_t chain, std::uint32_t vector, std::uint32_t column) const {
    const numerics::chain_operands& operands = job_.operands;
    float sum = chain == 0 && operands.preset != nullptr ? preset_[vector * operands.columns + column] : 0.0f;
    if (each_[vector].format == numerics::stream_format::q0) return host_bits(sum);
    for (std::size_t k = std::size_t{chain} * operands.group; k < std::size_t{chain + 1} * operands.group; ++k) {
      const float product = values_[vector * stride_ + k] * host_bf16(stationary_[k * operands.columns + column]);
      sum = sum + product;
    }
    return host_bits(sum);
  }

 private:
  // Random elements: packed, and as the numbers they stand for.
  template <class Bf16>
  void fill(const job_format& chosen, std::uint8_t* bytes, float* values, random_words& random, const Bf16& bf16) {
    for (std::size_t k = 0; k < stride_; ++k) {
      const auto code = static_cast<int>(random() & 0xffu) - 128;
      switch (chosen.format) {
        case numerics::stream_format::bf16: {
          const std::uint16_t number = bf16();
          bytes[2 * k] = static_cast<std::uint8_t>(number);
          bytes[2 * k + 1] = static_cast<std::uint8_t>(number >> 8);
          values[k] = host_bf16(number);
          break;
        }
        case numerics::stream_format::q8:
          bytes[k] = static_cast<std::uint8_t>(code);
          values[k] = static_cast<float>(code);
          break;
        case numerics::stream_format::q4: {
          const int narrow = code >> 4;
          bytes[k / 2] = static_cast<std::uint8_t>(k % 2 == 0 ? narrow & 15 : bytes[k / 2] | (narrow & 15) << 4);
          values[k] = static_cast<float>(chosen.half_step ? 16 * narrow + 8 : narrow);
          break;
        }
        case numerics::stream_format::q2: {
          const int narrow = code >> 6;
          const int before = k % 4 == 0 ? 0 : bytes[k / 4];
          bytes[k / 4] = static_cast<std::uint8_t>(before | (narrow & 3) << (k % 4 * 2));
          values[k] = static_cast<float>(chosen.half_step ? 64 * narrow + 32 : narrow);
          break;
        }
        case numerics::stream_format::q0:
          values[k] = 0;
          break;
      }
    }
  }

  std::size_t stride_;  // elements from vector to vector
  std::vector<std::uint16_t> stationary_;
  std::vector<std::uint16_t> elements_;  // packed
  std::vector<numerics::stream_vector> each_;
  std::vector<float> values_;
  std::vector<float> preset_;
  std::vector<float> out_;
  array::array_job job_;
};

}  // namespace dvp::test
