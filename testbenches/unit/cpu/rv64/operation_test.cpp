// Floating point and atomic operations against the host's, on random operands with the special ones in between.
#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "testbenches/unit/cpu/rv64/flat_machine.h"

namespace dvp::cpu::rv64 {
namespace {

constexpr std::uint64_t box = 0xffffffff'00000000;
constexpr std::size_t row_words = 7;
constexpr std::size_t rows = 2000;
constexpr std::uint64_t seed = 20'261'129;

struct row {
  std::uint64_t a, b, c;
  std::uint64_t f, x, flags, memory;
};

// Runs one operation over the operands, on a machine that is used again and again.
class operator_bench {
 public:
  std::vector<row> run(std::uint32_t operation, unsigned rounding, const std::vector<row>& operands) {
    put32(machine_.image["operation"], operation);
    put64(machine_.image["rows"], operands.size());
    put64(machine_.image["rounding"], rounding);
    std::memcpy(at(machine_.image["table"]), operands.data(), operands.size() * sizeof(row));
    machine_.hart.forget_code();
    machine_.hart.set_pc(first_ ? test::program::base : machine_.image["again"]);
    if (!first_) machine_.hart.wake(machine_.hart.now());
    first_ = false;
    machine_.finished = false;
    machine_.run_to_end();
    std::vector<row> results(operands.size());
    std::memcpy(results.data(), at(machine_.image["table"]), results.size() * sizeof(row));
    return results;
  }

 private:
  std::uint8_t* at(std::uint64_t address) { return machine_.ram.data() + (address - test::program::base); }
  void put32(std::uint64_t address, std::uint32_t value) { std::memcpy(at(address), &value, sizeof value); }
  void put64(std::uint64_t address, std::uint64_t value) { std::memcpy(at(address), &value, sizeof value); }

  test::flat_machine machine_{"operations"};
  bool first_ = true;
};
static_assert(sizeof(row) == row_words * 8);

constexpr std::uint32_t r_type(std::uint32_t funct7, std::uint32_t rs2, std::uint32_t rs1, std::uint32_t funct3,
                               std::uint32_t rd, std::uint32_t opcode) {
  return funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode;
}

constexpr std::uint32_t dynamic = 7, op_fp = 0x53;

template <typename T>
using bits_of = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

// Operands: random bits, random magnitudes near one, and the values at the edges.
template <typename T>
std::vector<row> operands(std::mt19937_64& random) {
  using bits = bits_of<T>;
  constexpr int mantissa = sizeof(T) == 4 ? 23 : 52;
  const bits one = std::bit_cast<bits>(T{1});
  const bits infinity = std::bit_cast<bits>(std::numeric_limits<T>::infinity());
  const std::vector<bits> edges{0,
                                1,
                                bits{1} << (mantissa - 1),
                                (bits{1} << mantissa) - 1,
                                bits{1} << mantissa,
                                one,
                                one + 1,
                                infinity - 1,
                                infinity,
                                infinity + 1,
                                infinity + (bits{1} << (mantissa - 1)),
                                infinity + (bits{1} << (mantissa - 1)) + 5};
  const auto operand = [&]() -> std::uint64_t {
    bits value = static_cast<bits>(random());
    const auto kind = random() % 8;
    if (kind == 0) {
      value = edges[random() % edges.size()] | (value & ~(~bits{0} >> 1));
    } else if (kind < 6) {
      const bits exponent = (one >> mantissa) + static_cast<bits>(random() % 80) - 40;
      value = (value & ~(infinity)) | exponent << mantissa;
    }
    return sizeof(T) == 4 ? box | value : value;
  };
  std::vector<row> made(rows);
  for (row& r : made) r = {operand(), operand(), operand(), 0, 0, 0, 0};
  return made;
}

template <typename T>
T value_of(std::uint64_t raw) {
  return std::bit_cast<T>(static_cast<bits_of<T>>(raw));
}

template <typename T>
std::uint64_t canonical(T value) {
  if (std::isnan(value)) return sizeof(T) == 4 ? 0x7fc00000 : 0x7ff80000'00000000;
  return std::bit_cast<bits_of<T>>(value);
}

std::uint64_t host_flags() {
  const int raised = std::fetestexcept(FE_ALL_EXCEPT);
  return (raised & FE_INEXACT ? 1U : 0) | (raised & FE_UNDERFLOW ? 2U : 0) | (raised & FE_OVERFLOW ? 4U : 0) |
         (raised & FE_DIVBYZERO ? 8U : 0) | (raised & FE_INVALID ? 16U : 0);
}

struct rounding {
  unsigned frm;
  int host;
};
constexpr rounding roundings[] = {{0, FE_TONEAREST}, {1, FE_TOWARDZERO}, {2, FE_DOWNWARD}, {3, FE_UPWARD}};

// The indirect call keeps the compiler from moving arithmetic across the change of the rounding mode.
template <typename T>
void check_arithmetic(operator_bench& bench, std::mt19937_64& random) {
  constexpr std::uint32_t format = sizeof(T) == 4 ? 0 : 1;
  struct operation {
    const char* name;
    std::uint32_t bits;
    std::function<T(T, T, T)> host;
  };
  const auto fp = [&](std::uint32_t funct5, std::uint32_t rs2) {
    return r_type(funct5 << 2 | format, rs2, 1, dynamic, 0, op_fp);
  };
  const auto fused = [&](std::uint32_t opcode) { return r_type(3U << 2 | format, 2, 1, dynamic, 0, opcode); };
  const std::vector<operation> operations{{"fadd", fp(0, 2), [](T a, T b, T) { return a + b; }},
                                          {"fsub", fp(1, 2), [](T a, T b, T) { return a - b; }},
                                          {"fmul", fp(2, 2), [](T a, T b, T) { return a * b; }},
                                          {"fdiv", fp(3, 2), [](T a, T b, T) { return a / b; }},
                                          {"fsqrt", fp(11, 0), [](T a, T, T) { return std::sqrt(a); }},
                                          {"fmadd", fused(0x43), [](T a, T b, T c) { return std::fma(a, b, c); }},
                                          {"fnmsub", fused(0x4b), [](T a, T b, T c) { return std::fma(-a, b, c); }}};
  for (const operation& op : operations) {
    for (const rounding& mode : roundings) {
      const std::vector<row> in = operands<T>(random);
      const std::vector<row> out = bench.run(op.bits, mode.frm, in);
      std::fesetround(mode.host);
      for (std::size_t i = 0; i < in.size(); ++i) {
        const T a = value_of<T>(in[i].a), b = value_of<T>(in[i].b), c = value_of<T>(in[i].c);
        std::feclearexcept(FE_ALL_EXCEPT);
        const volatile T expected = op.host(a, b, c);
        const std::uint64_t flags = host_flags();
        // inf * 0 + quiet NaN: invalid by RISC-V, not by the host's library.
        const bool product_undefined = (std::isinf(a) && b == 0) || (a == 0 && std::isinf(b));
        const bool fused_nan = op.bits != fp(0, 2) && (op.bits & 0x7f) != op_fp && product_undefined;
        const auto got = static_cast<bits_of<T>>(out[i].f);
        ASSERT_EQ(got, canonical<T>(expected)) << op.name << " rounding " << mode.frm << " row " << i << std::hex << ' '
                                               << in[i].a << ' ' << in[i].b << ' ' << in[i].c;
        ASSERT_EQ(out[i].flags, fused_nan ? 16U : flags)
            << op.name << " rounding " << mode.frm << " row " << i << std::hex << ' ' << in[i].a << ' ' << in[i].b
            << ' ' << in[i].c;
      }
      std::fesetround(FE_TONEAREST);
    }
  }
}

TEST(operation, float_arithmetic_is_the_hosts_bit_for_bit) {
  std::mt19937_64 random(seed);
  operator_bench bench;
  check_arithmetic<float>(bench, random);
  check_arithmetic<double>(bench, random);
}

TEST(operation, conversions_saturate) {
  std::mt19937_64 random(seed + 1);
  operator_bench bench;
  const std::vector<row> in = operands<double>(random);
  // fcvt.w.d, fcvt.lu.d to x6, rounding toward zero.
  const std::vector<row> words = bench.run(r_type(0x61, 0, 1, 1, 6, op_fp), 0, in);
  const std::vector<row> longs = bench.run(r_type(0x61, 3, 1, 1, 6, op_fp), 0, in);
  const std::vector<row> singles = bench.run(r_type(0x20, 1, 1, dynamic, 0, op_fp), 0, in);  // fcvt.s.d
  for (std::size_t i = 0; i < in.size(); ++i) {
    const auto a = value_of<double>(in[i].a);
    const double cut = std::trunc(a);
    const std::int64_t word = std::isnan(a) || cut > 2147483647.0 ? 2147483647
                              : cut < -2147483648.0               ? -2147483648LL
                                                                  : static_cast<std::int64_t>(cut);
    ASSERT_EQ(words[i].x, static_cast<std::uint64_t>(word)) << std::hex << in[i].a;
    const std::uint64_t wide = std::isnan(a) || cut >= 18446744073709551616.0 ? ~0ULL
                               : cut <= 0                                     ? 0
                                                                              : static_cast<std::uint64_t>(cut);
    ASSERT_EQ(longs[i].x, wide) << std::hex << in[i].a;
    ASSERT_EQ(static_cast<std::uint32_t>(singles[i].f), canonical<float>(static_cast<float>(a))) << std::hex << in[i].a;
  }
}

// The other operand of a NaN, the canonical NaN for two, -0 below +0; invalid for signaling ones (F 2.2, section 11.6).
template <typename T>
void check_extremes(operator_bench& bench, std::mt19937_64& random) {
  constexpr std::uint32_t format = sizeof(T) == 4 ? 0 : 1;
  constexpr int quiet_bit = sizeof(T) == 4 ? 22 : 51;
  for (const std::uint32_t greatest : {0U, 1U}) {
    const std::vector<row> in = operands<T>(random);
    const std::vector<row> out = bench.run(r_type(5U << 2 | format, 2, 1, greatest, 0, op_fp), 0, in);
    for (std::size_t i = 0; i < in.size(); ++i) {
      const T a = value_of<T>(in[i].a), b = value_of<T>(in[i].b);
      const auto signaling = [](T v, std::uint64_t raw) { return std::isnan(v) && ((raw >> quiet_bit) & 1U) == 0; };
      const bool a_first = a < b || (a == b && std::signbit(a));
      const T expected = std::isnan(a) ? b : std::isnan(b) ? a : a_first != (greatest != 0) ? a : b;
      ASSERT_EQ(static_cast<bits_of<T>>(out[i].f), canonical<T>(expected)) << std::hex << in[i].a << ' ' << in[i].b;
      ASSERT_EQ(out[i].flags, signaling(a, in[i].a) || signaling(b, in[i].b) ? 16U : 0U)
          << std::hex << in[i].a << ' ' << in[i].b;
    }
  }
}

TEST(operation, extremes_know_signaling_nans) {
  std::mt19937_64 random(seed + 2);
  operator_bench bench;
  check_extremes<float>(bench, random);
  check_extremes<double>(bench, random);
}

TEST(operation, loaded_and_moved_singles_are_boxed) {
  std::mt19937_64 random(seed + 3);
  operator_bench bench;
  const std::vector<row> in = operands<float>(random);
  const std::uint32_t flw = 0x000f2007;  // flw f0, 0(t5)
  const std::uint32_t fmv = r_type(0x78, 0, 16, 0, 0, op_fp);
  for (const std::uint32_t operation : {flw, fmv}) {
    for (const row& r : bench.run(operation, 0, in)) ASSERT_EQ(r.f >> 32, 0xffffffffU) << std::hex << operation;
  }
}

TEST(operation, atomics_leave_what_they_say) {
  std::mt19937_64 random(seed + 4);
  operator_bench bench;
  using word_function = std::function<std::uint64_t(std::uint64_t, std::uint64_t, bool)>;
  const auto less = [](std::uint64_t a, std::uint64_t b, bool wide) {
    return wide ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b)
                : static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b);
  };
  const auto below = [](std::uint64_t a, std::uint64_t b, bool wide) {
    return wide ? a < b : static_cast<std::uint32_t>(a) < static_cast<std::uint32_t>(b);
  };
  struct operation {
    const char* name;
    std::uint32_t funct5;
    word_function host;  // of memory and operand
  };
  const std::vector<operation> operations{
      {"amoadd", 0, [](auto m, auto v, bool) { return m + v; }},
      {"amoswap", 1, [](auto, auto v, bool) { return v; }},
      {"amoxor", 4, [](auto m, auto v, bool) { return m ^ v; }},
      {"amoor", 8, [](auto m, auto v, bool) { return m | v; }},
      {"amoand", 12, [](auto m, auto v, bool) { return m & v; }},
      {"amomin", 16, [&](auto m, auto v, bool wide) { return less(m, v, wide) ? m : v; }},
      {"amomax", 20, [&](auto m, auto v, bool wide) { return less(m, v, wide) ? v : m; }},
      {"amominu", 24, [&](auto m, auto v, bool wide) { return below(m, v, wide) ? m : v; }},
      {"amomaxu", 28, [&](auto m, auto v, bool wide) { return below(m, v, wide) ? v : m; }}};
  std::vector<row> in(rows);
  for (row& r : in) r = {random() >> (random() % 64), random() >> (random() % 64), 0, 0, 0, 0, 0};
  for (std::size_t i = 0; i < in.size(); i += 3) in[i].a = ~in[i].a;
  for (std::size_t i = 0; i < in.size(); i += 5) in[i].b = ~in[i].b;
  for (const operation& op : operations) {
    for (const bool wide : {false, true}) {
      // op x6, x17, (t5)
      const std::vector<row> out = bench.run(r_type(op.funct5 << 2, 17, 30, wide ? 3 : 2, 6, 0x2f), 0, in);
      for (std::size_t i = 0; i < in.size(); ++i) {
        const std::uint64_t memory = in[i].a;
        const std::uint64_t fresh = op.host(memory, in[i].b, wide);
        const std::uint64_t old =
            wide ? memory : static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(memory)});
        ASSERT_EQ(out[i].x, old) << op.name << (wide ? ".d" : ".w") << std::hex << ' ' << memory << ' ' << in[i].b;
        ASSERT_EQ(out[i].memory, wide ? fresh : (memory & ~0xffffffffULL) | (fresh & 0xffffffffULL))
            << op.name << (wide ? ".d" : ".w") << std::hex << ' ' << memory << ' ' << in[i].b;
      }
    }
  }
}

}  // namespace
}  // namespace dvp::cpu::rv64
