// Named figures of a run: 64-bit counters and floating-point gauges in one tree.
//
// A path is names joined by dots, "npu.dma.bytes_read"; a path is either a leaf or has children, never both, and a
// leaf is either a counter or a gauge. Breaking that, or an empty name, throws std::invalid_argument naming the path.
// Units live in the last name (_bytes, _ps, _pj). The dump is sorted by name at every level, so it depends on the
// figures alone and not on the order in which models came to count.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>

namespace dvp::core {

class statistics {
 public:
  statistics() = default;
  statistics(const statistics&) = delete;
  statistics& operator=(const statistics&) = delete;

  // Adds n to a counter, which starts at 0.
  void add(std::string_view path, std::uint64_t n);
  void set(std::string_view path, std::uint64_t value);
  void set_gauge(std::string_view path, double value);

  // The figure itself, made on first use as 0, for models that count often. Valid as long as this object.
  std::uint64_t& counter(std::string_view path);
  double& gauge(std::string_view path);

  // The value of a counter (0 if nobody counted it) and of a gauge (0.0).
  std::uint64_t count_of(std::string_view path) const;
  double gauge_of(std::string_view path) const;

  // Nested objects, counters as integers, gauges as numbers (not a number and infinities as null).
  nlohmann::ordered_json tree() const;

 private:
  using figure = std::variant<std::uint64_t, double>;

  template <typename T>
  T& leaf(std::string_view path);
  void refuse_conflict(std::string_view path) const;

  // Ordered by path; the separator sorts below every other character so that children stay together.
  struct path_less {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const;
  };
  std::map<std::string, figure, path_less> figures_;  // nodes are stable: counter() hands out references
};

}  // namespace dvp::core
