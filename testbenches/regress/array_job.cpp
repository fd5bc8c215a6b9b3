#include "testbenches/regress/array_job.h"

#include <algorithm>
#include <cmath>

#include "testbenches/rtl/border_words.h"

namespace dvp::regress {

namespace {

using test::bf16_corners;
using test::code_corners;

// How the bf16 numbers of a tile are spread.
enum class spread { ordinary, wide, corners, small, large, few, smallest, largest };
constexpr std::uint32_t spreads = 8;

std::uint16_t random_bf16(spread how, random_words& random) {
  const std::uint32_t word = random();
  const auto with_exponent = [word](std::uint32_t exponent) {
    return static_cast<std::uint16_t>((word & 0x807fu) | exponent << 7);
  };
  // Half of them with short fractions: their products are often exactly half way, their sums just past the largest.
  const auto sparse = [&random](std::uint16_t value) {
    return random() % 2 == 0 ? value : static_cast<std::uint16_t>(value & 0xffe0u);
  };
  switch (how) {
    case spread::wide:
      return with_exponent(random() % 255);
    case spread::corners: {
      const std::uint16_t corner = bf16_corners[word % std::size(bf16_corners)];
      if ((corner & 0x7f80) != 0x7f80 || random() % 24 == 0) return corner;  // rare, or every sum would be NaN
      return with_exponent(120 + random() % 14);
    }
    case spread::small:
      return sparse(with_exponent(random() % 4 == 0 ? 0 : 56 + random() % 12));  // products around the smallest numbers
    case spread::large:
      return sparse(with_exponent(186 + random() % 9));  // and around the largest
    case spread::smallest:                               // the same, of products with a code
      return sparse(with_exponent(random() % 4 == 0 ? 0 : 1 + random() % 20));
    case spread::largest:
      return sparse(with_exponent(235 + random() % 20));
    case spread::few: {
      constexpr std::uint16_t values[] = {0x3f80, 0xbf80, 0x4000, 0xc000, 0x3f00, 0x0000, 0x8000};
      return values[word % std::size(values)];
    }
    default:
      return with_exponent(118 + random() % 18);
  }
}

// Infinities, NaNs with one bit of fraction, zeros, the smallest subnormals, numbers from 1 to 2: two of them make a
// product of which every bit of the operands can decide what it is.
std::uint16_t special_bf16(random_words& random) {
  const std::uint32_t word = random();
  const std::uint32_t one_bit = 1U << (word >> 8) % 7;
  const std::uint32_t magnitudes[] = {
      0x7f80, 0x7f80, 0x7f80 | one_bit, 0x7f80 | one_bit, one_bit, 0, 0x3f80 | (word >> 16 & 0x7f)};
  return static_cast<std::uint16_t>((word & 0x8000) | magnitudes[word % std::size(magnitudes)]);
}

// Sums for a vector to start from. They aim at a row: sums meet the products of the rows before it and there find a
// number of their own size, or its opposite.
void aim_starts(const tile& in, tile_vector& vector, std::uint32_t columns, random_words& random) {
  const auto rows = static_cast<std::uint32_t>(in.active.size());
  for (std::uint32_t c = 0; c < columns; ++c) {
    const std::uint32_t how = random() % 8;
    if (how == 0) {
      vector.starts[c] = random() % 2 == 0 ? 0 : 0x8000'0000u;
      continue;
    }
    if (how == 1) {
      vector.starts[c] = test::border_word(random);
      continue;
    }
    std::uint32_t aimed = random() % rows;
    if (how < 5) aimed = 0;
    float sum = 0;
    std::uint32_t r = 0;
    for (; r < rows; ++r) {
      if (!in.active[r]) continue;
      sum = sum + element_value(vector.kind, vector.elements[r]) * test::host_bf16(in.values[r * columns + c]);
      if (r >= aimed) break;
    }
    const std::uint32_t bits = test::host_bits(sum);
    if (std::fabs(sum) >= 0x1p125f && std::isfinite(sum) && random() % 2 == 0) {
      // Together one bit past the largest number.
      const double past = 0x1p128 * (1 + std::ldexp(1.0, -1 - static_cast<int>(random() % 23)));
      vector.starts[c] = test::host_bits(std::copysign(static_cast<float>(past - std::fabs(double{sum})), sum));
    } else if (how == 2 || how == 5) {
      // The opposite, or at most two away from it.
      vector.starts[c] = (bits + (random() % 2 == 0 ? 0 : random() % 5 - 2)) ^ 0x8000'0000u;
    } else {
      vector.starts[c] = test::near_word(bits, random);
    }
  }
}

std::vector<bool> random_rows(std::uint32_t rows, random_words& random) {
  std::vector<bool> active(rows, true);
  switch (random() % 6) {
    case 0:  // a partial fold
      for (std::uint32_t r = random() % (rows + 1); r < rows; ++r) active[r] = false;
      break;
    case 1:  // one row alone: its operands are the starts themselves
    case 2:
      active.assign(rows, false);
      active[random() % rows] = true;
      break;
    case 3:
      for (std::uint32_t r = 0; r < rows; ++r) active[r] = random() % 2 == 0;
      break;
    default:
      break;
  }
  return active;
}

// Vectors into beats, mostly as full as they get.
void pack(tile& in, array::array_shape shape, random_words& random) {
  const bool loose = random() % 3 == 0;
  for (std::uint32_t v = 0; v < in.vectors.size(); ++v) {
    const stream_kind kind = in.vectors[v].kind;
    if (kind == stream_kind::q0) continue;
    const bool room = !in.beats.empty() && in.beats.back().kind == kind &&
                      in.beats.back().vectors.size() < array::vectors_per_beat(shape, format_of(kind));
    if (!room || (loose && random() % 3 == 0)) in.beats.push_back({kind, {}});
    in.beats.back().vectors.push_back(v);
  }
}

}  // namespace

numerics::stream_format format_of(stream_kind kind) {
  using numerics::stream_format;
  constexpr stream_format formats[] = {stream_format::bf16, stream_format::q8, stream_format::q4, stream_format::q4,
                                       stream_format::q2,   stream_format::q2, stream_format::q0};
  return formats[static_cast<std::size_t>(kind)];
}

float element_value(stream_kind kind, std::uint16_t element) {
  const int q4 = (element & 15) - ((element & 8) != 0 ? 16 : 0);
  const int q2 = (element & 3) - ((element & 2) != 0 ? 4 : 0);
  switch (kind) {
    case stream_kind::bf16:
      return test::host_bf16(element);
    case stream_kind::q4:
      return static_cast<float>(q4);
    case stream_kind::q4_half:
      return static_cast<float>(16 * q4 + 8);
    case stream_kind::q2:
      return static_cast<float>(q2);
    case stream_kind::q2_half:
      return static_cast<float>(64 * q2 + 32);
    default:
      return static_cast<float>(static_cast<std::int8_t>(element & 0xff));
  }
}

std::vector<std::shared_ptr<tile>> random_chain(array::array_shape shape, std::uint64_t first_id,
                                                random_words& random) {
  const std::uint32_t folds = random() % 3 == 0 ? 2 + random() % 3 : 1;
  const std::uint32_t vectors = random() % 16 == 0 ? 1 : 1 + random() % 24;
  // One format throughout, q0 alone, or another for every vector.
  const std::uint32_t mixing = random() % 8;
  const auto uniform = static_cast<stream_kind>(mixing == 0 ? 6 : random() % beat_kinds);
  const auto how = static_cast<spread>(random() % spreads);
  const auto how_streamed = random() % 2 == 0 ? how : static_cast<spread>(random() % spreads);
  const bool code_borders = random() % 4 == 0;
  // In one row alone, or every sum would be NaN.
  const std::uint32_t special_row = random() % 6 == 0 ? random() % shape.rows : shape.rows;

  std::vector<std::shared_ptr<tile>> chain;
  for (std::uint32_t f = 0; f < folds; ++f) {
    auto made = std::make_shared<tile>();
    made->id = first_id + f;
    made->bank = made->id % shape.banks != 0;
    made->chained = f > 0;
    made->fold = f;
    made->active = f + 1 < folds ? std::vector<bool>(shape.rows, true) : random_rows(shape.rows, random);
    made->values.resize(std::size_t{shape.rows} * shape.columns);
    for (auto& value : made->values) value = random_bf16(how, random);
    for (std::uint32_t c = 0; c < shape.columns && special_row < shape.rows; ++c) {
      made->values[special_row * shape.columns + c] = special_bf16(random);
    }
    made->vectors.resize(vectors);
    for (std::uint32_t v = 0; v < vectors; ++v) {
      tile_vector& vector = made->vectors[v];
      if (f > 0) {
        vector.kind = chain[0]->vectors[v].kind;
      } else if (mixing < 3) {
        vector.kind = uniform;
      } else if (v > 0 && mixing < 6 && random() % 4 != 0) {
        vector.kind = made->vectors[v - 1].kind;  // runs fill beats
      } else {
        vector.kind = static_cast<stream_kind>(random() % 7);
      }
      vector.elements.resize(shape.rows);
      for (auto& element : vector.elements) {
        element = vector.kind == stream_kind::bf16 ? random_bf16(how_streamed, random)
                  : code_borders ? static_cast<std::uint8_t>(code_corners[random() % std::size(code_corners)])
                                 : static_cast<std::uint16_t>(random());
      }
      if (special_row < shape.rows && vector.kind == stream_kind::bf16)
        vector.elements[special_row] = special_bf16(random);
      vector.starts.assign(shape.columns, 0);
      vector.ready = f == 0;
      if (f == 0 && vector.kind != stream_kind::q0) aim_starts(*made, vector, shape.columns, random);
    }
    pack(*made, shape, random);
    made->load_order.resize(shape.rows);
    for (std::uint32_t r = 0; r < shape.rows; ++r) made->load_order[r] = r;
    made->tight = random() % 2 == 0;
    if (!made->tight && random() % 2 == 0) std::shuffle(made->load_order.begin(), made->load_order.end(), random);
    if (f > 0) chain.back()->next = made;
    chain.push_back(std::move(made));
  }
  return chain;
}

}  // namespace dvp::regress
