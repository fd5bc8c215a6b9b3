#include "testbenches/regress/regress_case.h"

#include <stdexcept>

#include "testbenches/regress/designs.h"

namespace dvp::regress {

namespace {

// The row that made the wrong sum: the sum is right while that row and those below it take no part.
std::optional<std::uint32_t> find_row(case_options options, const mismatch& failure, std::uint32_t rows) {
  options.waves.clear();
  options.cycles = failure.cycle + 1;
  const auto wrong = [&](std::uint32_t limit) {
    options.row_limit = limit;
    cover_points unused;
    const case_result result = run_array_case(options, unused);
    return result.failure && result.failure->cycle <= failure.cycle;
  };
  if (wrong(0)) return std::nullopt;
  std::uint32_t right = 0;
  std::uint32_t failing = rows;
  while (failing - right > 1) {
    const std::uint32_t middle = right + (failing - right) / 2;
    (wrong(middle) ? failing : right) = middle;
  }
  return failing - 1;
}

}  // namespace

case_result run_case(const case_options& options, cover_points& points) {
  if (options.design == "converter") return run_converter_case(options, points);
  if (!options.design.starts_with("array/")) throw std::invalid_argument("no design " + options.design);
  case_result result = run_array_case(options, points);
  if (!result.failure) return result;
  const std::size_t column = result.failure->place.find(", column");
  if (column == std::string::npos) return result;
  const std::uint32_t rows = make_array(options.design.substr(6), 1)->shape().rows;
  const auto row = find_row(options, *result.failure, rows);
  result.failure->place.insert(column, row ? ", row " + std::to_string(*row) : ", no row (on the way in or out)");
  return result;
}

}  // namespace dvp::regress
