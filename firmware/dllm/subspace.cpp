#include "firmware/dllm/subspace.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "firmware/dllm/random.h"
#include "tlm/numerics/bf16.h"
#include "tlm/numerics/special.h"

namespace dvp::dllm {
namespace {

using vector = std::span<double>;

// Of the squares: what is left of a vector below this is rounding.
constexpr double nothing_left = 1e-24;

double dot(vector a, vector b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

double magnitude(double x) {
  return x < 0 ? -x : x;
}

void scale(vector v, double factor) {
  for (double& x : v) {
    x *= factor;
  }
}

// Largest magnitude 1, or all 0.
void bring_into_range(vector v) {
  double most = 0;
  for (const double x : v) {
    most = std::max(most, magnitude(x));
  }
  scale(v, most > std::numeric_limits<double>::min() ? 1 / most : 0);
}

// Unit length; 0 when nothing is left of a vector whose square was `before`.
void normalise(vector v, double before) {
  const double square = dot(v, v);
  if (!(square > nothing_left * before)) {
    scale(v, 0);
    return;
  }
  bring_into_range(v);
  scale(v, static_cast<double>(numerics::rsqrt(static_cast<float>(dot(v, v)))));
}

// Four neighbours of a row, which stay in registers.
struct four {
  static constexpr std::uint32_t count = 4;

  static four from(std::span<const float> row, std::uint32_t first) {
    return {static_cast<double>(row[first]), static_cast<double>(row[first + 1]), static_cast<double>(row[first + 2]),
            static_cast<double>(row[first + 3])};
  }
  void add(double factor, const four& x) {
    a += factor * x.a;
    b += factor * x.b;
    c += factor * x.c;
    d += factor * x.d;
  }
  void store(vector row, std::uint32_t first) const {
    row[first] = a;
    row[first + 1] = b;
    row[first + 2] = c;
    row[first + 3] = d;
  }

  double a = 0;
  double b = 0;
  double c = 0;
  double d = 0;
};

// The same of one.
struct single {
  static constexpr std::uint32_t count = 1;

  static single from(std::span<const float> row, std::uint32_t first) { return {static_cast<double>(row[first])}; }
  void add(double factor, const single& x) { a += factor * x.a; }
  void store(vector row, std::uint32_t first) const { row[first] = a; }

  double a = 0;
};

// Columns [first, first + columns::count) of the products of two vectors, which may be the same, with the matrix; sums
// in ascending order of its rows.
template <class columns>
void multiply(std::span<const float> gram, const std::array<vector, 2>& from, const std::array<vector, 2>& to,
              std::uint32_t first) {
  columns sum0, sum1;
  const std::size_t length = from[0].size();
  for (std::size_t i = 0; i < length; ++i) {
    const columns row = columns::from(gram.subspan(i * length, length), first);
    sum0.add(from[0][i], row);
    sum1.add(from[1][i], row);
  }
  sum0.store(to[0], first);
  sum1.store(to[1], first);
}

class iteration {
 public:
  iteration(std::uint32_t length, std::uint32_t rank, std::span<double> scratch)
      : length_(length), rank_(rank), now_(scratch.first(rank * length)), next_(scratch.last(rank * length)) {}

  // Directions that no matrix is likely to be blind to.
  void start() {
    random_generator random(0);
    for (double& x : now_) {
      x = static_cast<double>(static_cast<std::int64_t>(random.next())) * 0x1p-63;
    }
    make_orthonormal();
  }

  void step(std::span<const float> gram) {
    for (std::uint32_t k = 0; k < rank_; k += 2) {
      const std::uint32_t other = std::min(k + 1, rank_ - 1);
      const std::array<vector, 2> from = {row(k), row(other)};
      const std::array<vector, 2> to = {next_.subspan(k * length_, length_), next_.subspan(other * length_, length_)};
      std::uint32_t column = 0;
      for (; column + four::count <= length_; column += four::count) {
        multiply<four>(gram, from, to, column);
      }
      for (; column < length_; ++column) {
        multiply<single>(gram, from, to, column);
      }
    }
    std::swap(now_, next_);
    make_orthonormal();
  }

  vector row(std::uint32_t k) { return now_.subspan(k * length_, length_); }

 private:
  // Gram and Schmidt, each vector twice.
  void make_orthonormal() {
    for (std::uint32_t k = 0; k < rank_; ++k) {
      const vector v = row(k);
      bring_into_range(v);
      const double before = dot(v, v);
      for (std::uint32_t round = 0; round < 2; ++round) {
        for (std::uint32_t earlier = 0; earlier < k; ++earlier) {
          const double along = dot(v, row(earlier));
          for (std::uint32_t i = 0; i < length_; ++i) {
            v[i] -= along * row(earlier)[i];
          }
        }
      }
      normalise(v, before);
    }
  }

  std::uint32_t length_;
  std::uint32_t rank_;
  vector now_;  // [rank][length]
  vector next_;
};

bool finite(std::span<const float> numbers) {
  constexpr float most = std::numeric_limits<float>::max();
  return std::all_of(numbers.begin(), numbers.end(), [](float x) { return x >= -most && x <= most; });
}

}  // namespace

void leading_subspace(std::span<const float> gram, std::uint32_t length, std::uint32_t rank, std::uint32_t iterations,
                      std::span<double> scratch, std::span<std::uint16_t> basis, std::span<std::uint16_t> transposed) {
  std::fill(basis.begin(), basis.end(), std::uint16_t{0});
  std::fill(transposed.begin(), transposed.end(), std::uint16_t{0});
  if (!finite(gram)) {
    return;
  }
  iteration vectors(length, rank, scratch);
  vectors.start();
  for (std::uint32_t i = 0; i < iterations; ++i) {
    vectors.step(gram);
  }
  for (std::uint32_t k = 0; k < rank; ++k) {
    for (std::uint32_t i = 0; i < length; ++i) {
      const std::uint16_t code = numerics::to_bf16(static_cast<float>(vectors.row(k)[i]));
      basis[k * length + i] = code;
      transposed[i * rank + k] = code;
    }
  }
}

}  // namespace dvp::dllm
