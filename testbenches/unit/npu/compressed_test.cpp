// Descriptors of compressed caches and anchored networks against the definitions of gen/spec/formats/descriptor.json,
// written out as loops over bytes: strides, lists with entries out of range, packed codes. Shapes are random; bytes no
// operand owns must stay as they were.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "testbenches/unit/npu/descriptors.h"
#include "testbenches/unit/npu/pad.h"
#include "tlm/npu/execute_compressed.h"
#include "tlm/npu/execute_vector.h"
#include "tlm/numerics/special.h"

namespace dvp::npu {
namespace {

using namespace test;
using f = gen::vector_function;

constexpr gen::precision codes_of[] = {gen::precision::q8, gen::precision::q4, gen::precision::q2};
constexpr std::uint32_t at_s0 = 0x100, at_s1 = 0x5004, at_d = 0xa002, at_e = 0xf000;

std::uint32_t bits_of(gen::precision precision) {
  return precision == gen::precision::q8 ? 8 : precision == gen::precision::q4 ? 4 : 2;
}
std::uint32_t packed_row(gen::precision precision, std::uint32_t n) {
  return (n * bits_of(precision) + 7) / 8;
}

// Code i of the packed codes at `address`.
int code_at(pad& memory, std::uint32_t address, std::uint32_t i, gen::precision precision) {
  const std::uint32_t bits = bits_of(precision);
  const int byte = memory.get<std::uint8_t>(address + i * bits / 8);
  const int code = byte >> i * bits % 8 & ((1 << bits) - 1);
  return code >= 1 << (bits - 1) ? code - (1 << bits) : code;
}

class compressed : public testing::Test {
 protected:
  static constexpr std::uint32_t seed = 1618;
  static constexpr int rounds = 60;

  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
  std::uint32_t one_to(std::uint32_t n) { return 1 + below(n); }
  // Of a row of so many bytes, with a gap of whole elements now and then.
  std::uint32_t stride(std::uint32_t bytes, std::uint32_t element) { return bytes + element * below(4); }

  // Some entries of `limit` in any order, and some that are not there.
  void put_list(pad& memory, std::uint32_t address, std::uint32_t count, std::uint32_t limit) {
    for (std::uint32_t r = 0; r < count; ++r) {
      const std::uint32_t beyond[] = {limit, limit + 1, 0x8000'0000, 0xffff'ffff};
      memory.put<std::uint32_t>(address + 4 * r, below(6) == 0 ? beyond[below(4)] : below(limit));
    }
  }

  // Checks, runs, and hands both memories over.
  template <typename Compare>
  void run(const gen::vector_descriptor& d, pad memory, Compare compare) {
    ASSERT_NO_FATAL_FAILURE(expect_valid(descriptor_view(d)));
    pad before = memory;
    execute_vector(d, memory.bytes());
    compare(before, memory);
    expect_rest_untouched(before, memory, descriptor_view(d));
  }
  template <typename Descriptor, typename Compare>
  void run_compressed(const Descriptor& d, pad memory, Compare compare) {
    ASSERT_NO_FATAL_FAILURE(expect_valid(descriptor_view(d)));
    pad before = memory;
    executor_.run(d, memory.bytes());
    compare(before, memory);
    expect_rest_untouched(before, memory, descriptor_view(d));
  }

  std::mt19937 random_{seed};
  compressed_executor executor_;
};

// Row r of an operand.
std::uint32_t row(std::uint32_t address, std::uint32_t stride, std::uint32_t r) {
  return address + r * stride;
}

TEST_F(compressed, encode) {
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
    const std::uint32_t rows = one_to(9), n = one_to(70);
    gen::vector_descriptor d =
        vector(f::encode, rows, n, {at_s0, stride(4 * n, 4)}, {at_s1, stride(4 * n, 4)}, {at_d + 1, stride(n, 1)});
    d.scalar_int = below(2);
    d.e = at_e + 2;
    d.e_stride = stride(2, 2);
    pad memory;
    if (round % 4 == 0) {
      for (std::uint32_t i = 0; i < n; ++i)
        memory.put<float>(at_s0 + 4 * i, d.scalar_int == 0 ? 0.0F : memory.get<float>(at_s1 + 4 * i));
    }
    run(d, memory, [&](pad& before, pad& after) {
      for (std::uint32_t r = 0; r < rows; ++r) {
        float largest = 0;
        const auto residual = [&](std::uint32_t i) {
          const float x = before.get<float>(row(d.s0, d.s0_stride, r) + 4 * i);
          return d.scalar_int == 1 ? x - before.get<float>(row(d.s1, d.s1_stride, r) + 4 * i) : x;
        };
        for (std::uint32_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(residual(i)));
        const auto stored = after.get<std::uint16_t>(row(d.e, d.e_stride, r));
        const float scale = largest == 0 ? 0 : from_half(stored);
        ASSERT_NEAR(scale, largest / 127, largest / 127 * 0x1p-11F);
        for (std::uint32_t i = 0; i < n; ++i) {
          const float steps = largest == 0 ? 0 : std::clamp(std::nearbyintf(residual(i) / scale), -127.0F, 127.0F);
          ASSERT_EQ(after.get<std::int8_t>(row(d.d, d.d_stride, r) + i), steps) << r << ' ' << i;
        }
      }
    });
  }
}

TEST_F(compressed, difference) {
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
    const std::uint32_t rows = one_to(9), n = one_to(70);
    gen::vector_descriptor d =
        vector(f::difference, rows, n, {at_s0, stride(2 * n, 2)}, {at_s1, stride(2 * n, 2)}, {at_d, stride(2 * n, 2)});
    d.e = at_e;
    if (round % 3 == 0) {  // in place
      d.d = d.s1;
      d.d_stride = d.s1_stride;
    }
    pad memory;
    memory.fill_bf16(0, scratchpad_bytes / 2);
    run(d, memory, [&](pad& before, pad& after) {
      float moved = 0, anchored = 0;
      double exact_moved = 0, exact_anchored = 0;
      for (std::uint32_t r = 0; r < rows; ++r) {
        float row_moved = 0, row_anchored = 0;
        for (std::uint32_t i = 0; i < n; ++i) {
          const float anchor = from_half_up(before.get<std::uint16_t>(row(d.s1, d.s1_stride, r) + 2 * i));
          const float x = from_half_up(before.get<std::uint16_t>(row(d.s0, d.s0_stride, r) + 2 * i)) - anchor;
          ASSERT_EQ(after.get<std::uint16_t>(row(d.d, d.d_stride, r) + 2 * i), nearest_bf16(x)) << r << ' ' << i;
          row_moved = row_moved + x * x;
          row_anchored = row_anchored + anchor * anchor;
          exact_moved += double{x} * x;
          exact_anchored += double{anchor} * anchor;
        }
        moved = moved + row_moved;
        anchored = anchored + row_anchored;
      }
      ASSERT_EQ(after.get<float>(d.e), moved);
      ASSERT_EQ(after.get<float>(d.e + 4), anchored);
      ASSERT_NEAR(moved, exact_moved, exact_moved * 1e-4);
      ASSERT_NEAR(anchored, exact_anchored, exact_anchored * 1e-4);
    });
  }
}

TEST_F(compressed, column_max) {
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
    const std::uint32_t rows = one_to(9), n = one_to(70);
    gen::vector_descriptor d = vector(f::column_max, rows, n, {at_s0, stride(4 * n, 4)}, {}, {at_d + 2, 0});
    const bool accumulate = round % 2 != 0;
    if (accumulate) d.header.flags = gen::descriptor_flag::accumulate;
    pad memory;
    memory.put(at_s0 + 4 * below(n), std::numeric_limits<float>::quiet_NaN());
    run(d, memory, [&](pad& before, pad& after) {
      for (std::uint32_t i = 0; i < n; ++i) {
        float largest = accumulate ? before.get<float>(d.d + 4 * i) : -std::numeric_limits<float>::infinity();
        for (std::uint32_t r = 0; r < rows; ++r) {
          const float x = before.get<float>(row(d.s0, d.s0_stride, r) + 4 * i);
          if (x > largest) largest = x;
        }
        ASSERT_EQ(after.get<float>(d.d + 4 * i), largest) << i;
      }
    });
  }
}

TEST_F(compressed, scale_columns) {
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
    const std::uint32_t rows = one_to(9), n = one_to(70);
    gen::vector_descriptor d =
        vector(f::scale_columns, rows, n, {at_s0, stride(2 * n, 2)}, {at_s1, 0}, {at_d, stride(2 * n, 2)});
    if (round % 3 == 0) {
      d.d = d.s0;
      d.d_stride = d.s0_stride;
    }
    pad memory;
    memory.fill_bf16(0, at_s1 / 2);
    memory.fill_halves(at_s1, n);
    run(d, memory, [&](pad& before, pad& after) {
      for (std::uint32_t r = 0; r < rows; ++r) {
        for (std::uint32_t i = 0; i < n; ++i) {
          const float x = from_half_up(before.get<std::uint16_t>(row(d.s0, d.s0_stride, r) + 2 * i));
          const float scale = from_half(before.get<std::uint16_t>(d.s1 + 2 * i));
          ASSERT_EQ(after.get<std::uint16_t>(row(d.d, d.d_stride, r) + 2 * i), nearest_bf16(x * scale));
        }
      }
    });
  }
}

TEST_F(compressed, gather_transpose) {
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
    const std::uint32_t rows = one_to(40), n = one_to(9);
    gen::vector_descriptor d =
        vector(f::gather_transpose, rows, n, {at_s0, stride(2 * n, 2)}, {at_s1, 0}, {at_d, stride(2 * rows, 2)});
    d.scalar_int = one_to(50);
    pad memory;
    put_list(memory, d.s1, rows, d.scalar_int);
    run(d, memory, [&](pad& before, pad& after) {
      for (std::uint32_t r = 0; r < rows; ++r) {
        const auto entry = before.get<std::uint32_t>(d.s1 + 4 * r);
        for (std::uint32_t c = 0; c < n; ++c) {
          const std::uint16_t expected = entry < d.scalar_int
                                             ? before.get<std::uint16_t>(row(d.s0, d.s0_stride, entry) + 2 * c)
                                             : std::uint16_t{0};
          ASSERT_EQ(after.get<std::uint16_t>(row(d.d, d.d_stride, c) + 2 * r), expected) << r << ' ' << c;
        }
      }
    });
  }
}

TEST_F(compressed, transpose_codes) {
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
    const std::uint32_t rows = one_to(40), n = one_to(40);
    const gen::precision precision = codes_of[round % 3];
    gen::vector_descriptor d = vector(f::transpose_codes, rows, n, {at_s0 + 1, stride(packed_row(precision, n), 1)}, {},
                                      {at_d + 1, stride(packed_row(precision, rows), 1)});
    d.header.tag_precision = precision;
    run(d, pad(), [&](pad& before, pad& after) {
      const std::uint32_t whole = packed_row(precision, rows) * 8 / bits_of(precision);
      for (std::uint32_t c = 0; c < n; ++c) {
        for (std::uint32_t r = 0; r < whole; ++r) {
          const int expected = r < rows ? code_at(before, row(d.s0, d.s0_stride, r), c, precision) : 0;
          ASSERT_EQ(code_at(after, row(d.d, d.d_stride, c), r, precision), expected) << r << ' ' << c;
        }
      }
    });
  }
}

TEST_F(compressed, row_abs_sum) {
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
    const std::uint32_t rows = one_to(20), n = one_to(70);
    const gen::vector_descriptor d =
        vector(f::row_abs_sum, rows, n, {at_s0, stride(2 * n, 2)}, {}, {at_d + 2, stride(4, 4)});
    pad memory;
    memory.fill_bf16(0, at_s1 / 2);
    run(d, memory, [&](pad& before, pad& after) {
      for (std::uint32_t r = 0; r < rows; ++r) {
        float sum = 0;
        for (std::uint32_t i = 0; i < n; ++i)
          sum = sum + std::abs(from_half_up(before.get<std::uint16_t>(row(d.s0, d.s0_stride, r) + 2 * i)));
        ASSERT_EQ(after.get<float>(row(d.d, d.d_stride, r)), sum) << r;
      }
    });
  }
}

gen::rebuild_descriptor rebuild(std::uint32_t rows, std::uint32_t columns, std::uint32_t rank, std::uint32_t limit) {
  gen::rebuild_descriptor d;
  d.header.op = gen::opcode::rebuild;
  d.header.tag_precision = gen::precision::q8;
  d.rows = rows;
  d.columns = columns;
  d.rank_limit = rank | limit << 8;
  d.codes = 0x101;
  d.codes_stride = columns;
  d.terms = 0x2002;
  d.terms_stride = 2 * (rank + 1);
  d.basis = 0x4002;
  d.rope = 0x6004;
  d.list = 0xc004;
  d.d = 0xe002;
  d.d_stride = 2 * columns;
  return d;
}

TEST_F(compressed, rebuild) {
  namespace mode = gen::rebuild_mode;
  constexpr gen::precision tags[] = {gen::precision::q8, gen::precision::q4, gen::precision::q2, gen::precision::q0};
  for (int round = 0; round < 4 * rounds; ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
    const std::uint32_t n = 2 * one_to(20), rank = below(4) == 0 ? below(17) : below(3), limit = one_to(60);
    gen::rebuild_descriptor d = rebuild(one_to(30), n, rank, limit);
    d.header.tag_precision = tags[round % 4];
    d.header.function = static_cast<std::uint8_t>(below(8));
    const bool coded = d.header.tag_precision != gen::precision::q0;
    if (coded) d.codes_stride = stride(packed_row(d.header.tag_precision, n), 1);
    d.terms_stride = stride(2 * (rank + 1), 2);
    d.d_stride = stride(2 * n, 2);
    pad memory;
    for (std::uint32_t e = 0; e < limit; ++e) {
      memory.fill_bf16(row(d.terms, d.terms_stride, e), rank);
      memory.fill_halves(row(d.terms, d.terms_stride, e) + 2 * rank, 1);
    }
    memory.fill_bf16(d.basis, rank * n);
    put_list(memory, d.list, d.rows, limit);
    run_compressed(d, memory, [&](pad& before, pad& after) {
      for (std::uint32_t r = 0; r < d.rows; ++r) {
        const auto entry = before.get<std::uint32_t>(d.list + 4 * r);
        const auto out = [&](std::uint32_t i) { return after.get<std::uint16_t>(row(d.d, d.d_stride, r) + 2 * i); };
        if (entry >= limit) {
          for (std::uint32_t i = 0; i < n; ++i) ASSERT_EQ(out(i), 0) << r << ' ' << i;
          continue;
        }
        const std::uint32_t terms = row(d.terms, d.terms_stride, entry);
        std::vector<float> x(n);
        for (std::uint32_t i = 0; i < n; ++i) {
          for (std::uint32_t k = 0; k < rank; ++k) {
            x[i] = x[i] + from_half_up(before.get<std::uint16_t>(terms + 2 * k)) *
                              from_half_up(before.get<std::uint16_t>(d.basis + 2 * (k * n + i)));
          }
          if (coded) {
            int code = code_at(before, row(d.codes, d.codes_stride, r), i, d.header.tag_precision);
            const bool half = (d.header.function & mode::half_step) != 0;
            if (half && d.header.tag_precision == gen::precision::q4) code = 16 * code + 8;
            if (half && d.header.tag_precision == gen::precision::q2) code = 64 * code + 32;
            x[i] = x[i] + from_half(before.get<std::uint16_t>(terms + 2 * rank)) * static_cast<float>(code);
          }
          x[i] = from_half_up(nearest_bf16(x[i]));
        }
        const bool halves = (d.header.function & mode::halves) != 0;
        std::vector<float> turned(x);
        for (std::uint32_t p = 0; (d.header.function & mode::rotate) != 0 && p < n / 2; ++p) {
          const std::uint32_t i = halves ? p : 2 * p, j = halves ? p + n / 2 : 2 * p + 1;
          const auto cosine = before.get<float>(d.rope + 4 * (entry * n + p));
          const auto sine = before.get<float>(d.rope + 4 * (entry * n + n / 2 + p));
          turned[i] = from_half_up(nearest_bf16(x[i] * cosine - x[j] * sine));
          turned[j] = from_half_up(nearest_bf16(x[i] * sine + x[j] * cosine));
        }
        for (std::uint32_t i = 0; i < n; ++i) ASSERT_EQ(from_half_up(out(i)), turned[i]) << r << ' ' << i;
      }
    });
  }
}

// An encoded row comes back within half a step of its scale, whatever the basis: what the cache relies on.
TEST_F(compressed, a_rebuilt_row_is_near_the_encoded_one) {
  constexpr std::uint32_t n = 32, rank = 2, entries = 16;
  pad memory;
  gen::rebuild_descriptor back = rebuild(entries, n, rank, entries);
  memory.fill_bf16(back.basis, rank * n);
  gen::vector_descriptor forth = vector(f::encode, entries, n, {0x8000, 4 * n}, {0x9000, 4 * n}, {back.codes, n});
  forth.scalar_int = 1;
  forth.e = back.terms + 2 * rank;
  forth.e_stride = back.terms_stride;
  for (std::uint32_t e = 0; e < entries; ++e) {
    memory.put<std::uint32_t>(back.list + 4 * e, e);
    memory.fill_bf16(row(back.terms, back.terms_stride, e), rank);
    for (std::uint32_t i = 0; i < n; ++i) {
      float base = 0;
      for (std::uint32_t k = 0; k < rank; ++k) {
        base = base + from_half_up(memory.get<std::uint16_t>(row(back.terms, back.terms_stride, e) + 2 * k)) *
                          from_half_up(memory.get<std::uint16_t>(back.basis + 2 * (k * n + i)));
      }
      memory.put<float>(forth.s1 + 4 * (e * n + i), base);
    }
  }
  execute_vector(forth, memory.bytes());
  executor_.run(back, memory.bytes());
  for (std::uint32_t e = 0; e < entries; ++e) {
    const float scale = from_half(memory.get<std::uint16_t>(row(forth.e, forth.e_stride, e)));
    for (std::uint32_t i = 0; i < n; ++i) {
      const auto x = memory.get<float>(forth.s0 + 4 * (e * n + i));
      const float again = from_half_up(memory.get<std::uint16_t>(row(back.d, back.d_stride, e) + 2 * i));
      ASSERT_NEAR(again, x, scale * 0.51 + std::abs(x) * 0x1p-8) << e << ' ' << i;
    }
  }
}

TEST_F(compressed, update) {
  namespace mode = gen::update_mode;
  for (int round = 0; round < 4 * rounds; ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
    const std::uint32_t n = one_to(33);
    gen::update_descriptor d;
    d.header.op = gen::opcode::update;
    d.header.function = static_cast<std::uint8_t>(round % 4);
    d.rows = one_to(20);
    d.columns = n;
    d.gate = 0x104;
    d.up = 0x1804;
    d.sums_stride = stride(4 * n, 4);
    d.state = 0x4002;
    d.state_rows = one_to(40);
    d.list = below(3) == 0 ? gen::no_list : 0xa004;
    d.scales = 0xb002;
    d.scale_stride = stride(2, 2);
    d.d = 0xc002;
    d.d_stride = stride(2 * n, 2);
    pad memory;
    memory.fill_bf16(d.state, d.state_rows * 2 * n);
    memory.fill_halves(d.scales, 0x100);
    // Every channel at most once.
    std::vector<std::uint32_t> channels(d.state_rows + 3);
    std::iota(channels.begin(), channels.end(), 0U);
    std::ranges::shuffle(channels, random_);
    channels.resize(std::max<std::size_t>(channels.size(), d.rows), 0xffff'ffff);
    for (std::uint32_t r = 0; r < d.rows; ++r) {
      if (d.list != gen::no_list)
        memory.put<std::uint32_t>(d.list + 4 * r, channels[r]);
      else
        channels[r] = r;
    }
    run_compressed(d, memory, [&](pad& before, pad& after) {
      std::vector<bool> touched(d.state_rows, false);
      for (std::uint32_t r = 0; r < d.rows; ++r) {
        const std::uint32_t channel = channels[r];
        const auto out = [&](std::uint32_t c) { return after.get<std::uint16_t>(row(d.d, d.d_stride, r) + 2 * c); };
        if (channel >= d.state_rows) {
          for (std::uint32_t c = 0; c < n; ++c) ASSERT_EQ(out(c), 0);
          continue;
        }
        touched[channel] = true;
        const std::uint32_t state = d.state + channel * 4 * n;
        const auto state_of = [&](pad& m, std::uint32_t c) {
          return from_half_up(m.get<std::uint16_t>(state + 2 * c));
        };
        const float scale = from_half(before.get<std::uint16_t>(row(d.scales, d.scale_stride, r)));
        for (std::uint32_t c = 0; c < n; ++c) {
          float g = before.get<float>(row(d.gate, d.sums_stride, r) + 4 * c);
          float u = before.get<float>(row(d.up, d.sums_stride, r) + 4 * c);
          const float old_g = state_of(before, c), old_u = state_of(before, n + c);
          if ((d.header.function & mode::add_state) != 0) {
            g = old_g + g;
            u = old_u + u;
          }
          g = from_half_up(nearest_bf16(g));
          u = from_half_up(nearest_bf16(u));
          ASSERT_EQ(state_of(after, c), g) << r << ' ' << c;
          ASSERT_EQ(state_of(after, n + c), u) << r << ' ' << c;
          const float s = from_half_up(nearest_bf16(numerics::silu(g) * u));
          const bool fresh = (d.header.function & mode::fresh) != 0;
          const float old_s = fresh ? 0 : from_half_up(nearest_bf16(numerics::silu(old_g) * old_u));
          ASSERT_EQ(from_half_up(out(c)), from_half_up(nearest_bf16((s - old_s) * scale))) << r << ' ' << c;
        }
      }
      for (std::uint32_t channel = 0; channel < d.state_rows; ++channel) {
        const std::size_t state = d.state + channel * 4 * n;
        const auto kept = std::ranges::equal(before.bytes().subspan(state, 4 * n), after.bytes().subspan(state, 4 * n));
        ASSERT_TRUE(touched[channel] || kept) << "channel " << channel << " is not in the list";
      }
    });
  }
}

}  // namespace
}  // namespace dvp::npu
