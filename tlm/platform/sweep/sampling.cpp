#include "tlm/platform/sweep/sampling.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>

#include "tlm/platform/files.h"

namespace dvp::platform::sweep {

namespace {

// More points than this are a slip of the pen; --yes does not help.
constexpr std::uint64_t most_points = 1'000'000;
// Draws for each point of `random` before its constraints count as impossible.
constexpr std::uint64_t most_draws = 1000;

// The standard's distributions differ between libraries; the engine's numbers do not.
class draws {
 public:
  explicit draws(std::uint64_t seed) : engine_(seed) {}
  // In [0, 1), a multiple of 2^-53.
  double share() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(share() * static_cast<double>(n)); }

 private:
  std::mt19937_64 engine_;
};

bool meets(const assignment& point, const sweep_spec& spec) {
  return std::all_of(spec.constraints.begin(), spec.constraints.end(),
                     [&](const constraint& c) { return c.holds(point); });
}

// Of all combinations; stops counting above the most there can be.
std::uint64_t grid_size(const sweep_spec& spec) {
  std::uint64_t size = 1;
  for (const auto& p : spec.parameters) {
    if (size > most_points) break;
    size *= p.values.size();
  }
  return size;
}

std::vector<assignment> grid(const sweep_spec& spec) {
  std::vector<assignment> points;
  const std::uint64_t size = grid_size(spec);
  for (std::uint64_t number = 0; number < size; ++number) {
    std::uint64_t rest = number, block = size;
    assignment point = assignment::object();
    for (const auto& p : spec.parameters) {
      block /= p.values.size();
      point[p.name] = p.values[rest / block];
      rest %= block;
    }
    if (meets(point, spec)) points.push_back(std::move(point));
  }
  return points;
}

std::vector<assignment> random(const sweep_spec& spec) {
  std::vector<assignment> points;
  draws draw(spec.seed);
  for (std::uint64_t tries = 0; points.size() < spec.count && tries < spec.count * most_draws; ++tries) {
    assignment point = assignment::object();
    for (const auto& p : spec.parameters) point[p.name] = value_at(p, draw.share());
    if (meets(point, spec)) points.push_back(std::move(point));
  }
  return points;
}

// McKay, Beckman and Conover 1979: one place in each part of every axis, axes paired by random permutations.
std::vector<assignment> latin_hypercube(const sweep_spec& spec) {
  const std::size_t n = spec.count;
  draws draw(spec.seed);
  std::vector<assignment> all(n, assignment::object());
  for (const auto& p : spec.parameters) {
    std::vector<std::size_t> parts(n);
    std::iota(parts.begin(), parts.end(), std::size_t{0});
    for (std::size_t i = n; i > 1; --i) std::swap(parts[i - 1], parts[draw.below(i)]);
    for (std::size_t i = 0; i < n; ++i) {
      const double place = (static_cast<double>(parts[i]) + draw.share()) / static_cast<double>(n);
      all[i][p.name] = value_at(p, place);
    }
  }
  std::vector<assignment> points;
  std::copy_if(all.begin(), all.end(), std::back_inserter(points), [&](const auto& p) { return meets(p, spec); });
  return points;
}

std::vector<assignment> listed(const sweep_spec& spec) {
  std::vector<assignment> points;
  std::copy_if(spec.listed.begin(), spec.listed.end(), std::back_inserter(points),
               [&](const auto& p) { return meets(p, spec); });
  return points;
}

std::uint64_t asked_for(const sweep_spec& spec) {
  if (spec.how == method::grid) return grid_size(spec);
  return spec.how == method::list ? spec.listed.size() : spec.count;
}

std::vector<assignment> choose(const sweep_spec& spec) {
  switch (spec.how) {
    case method::grid:
      return grid(spec);
    case method::list:
      return listed(spec);
    case method::random:
      return random(spec);
    case method::latin_hypercube:
      return latin_hypercube(spec);
  }
  return {};
}

}  // namespace

std::vector<assignment> choose_points(const sweep_spec& spec, const std::string& file, bool accept) {
  if (asked_for(spec) > most_points) {
    throw usage_error(file + ": asks for more than " + std::to_string(most_points) +
                      " points, more than a sweep can have; take fewer values, or method random");
  }
  std::vector<assignment> points;
  try {
    points = choose(spec);
  } catch (const std::invalid_argument& error) {
    throw usage_error(file + ": constraints: " + error.what());
  }
  if (points.empty()) throw usage_error(file + ": constraints: no point meets them; loosen one");
  if (spec.how == method::random && points.size() < spec.count) {
    throw usage_error(file + ": constraints: so few points meet them that " + std::to_string(spec.count) +
                      " cannot be drawn; loosen one, or take method grid");
  }
  if (points.size() > spec.limit && !accept) {
    throw usage_error(file + ": has " + std::to_string(points.size()) + " points and the limit is " +
                      std::to_string(spec.limit) + "; set limit in the file, or add --yes");
  }
  return points;
}

}  // namespace dvp::platform::sweep
