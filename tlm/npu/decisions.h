// What the NPU computes and software decides by: the only results of data that the time of a decode depends on.
//
//   sample     sample, last chunk     per row: token, then its confidence as binary32; a CPU's kernels: a row at a time
//   drift      vector difference      two sums of squares, binary32: moved, anchored
//   activity   vector row_abs_sum     per row: its sum, binary32
//   ranking    vector column_max      per column: its largest score, binary32; once per descriptor that adds to it
//   revision   none: a CPU's kernels  token and confidence of a row whose token is revised
//
// With real data a port is told them as they are made. Without data (npu_config::shape_only) nothing is computed and
// the port says what they are. Either way one call per descriptor, in the order in which its engine runs
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tlm/npu/descriptor_view.h"

namespace dvp::npu {

enum class decision : std::uint8_t { sample, drift, activity, ranking, revision };
inline constexpr std::size_t decisions = 5;

// "sample", "drift", "activity", "ranking", "revision"
const char* name_of(decision kind);

class decision_port {
 public:
  virtual ~decision_port() = default;
  virtual void made(decision kind, std::span<const std::uint32_t> words) = 0;
  // Fills `words`. first_row: of samples, the first row's position in the sequence; the others are those behind
  // it. Of a revision: that row, and `words` hold the token that is there, and its confidence.
  virtual void give(decision kind, std::uint32_t first_row, std::span<std::uint32_t> words) = 0;
};

// Where in the scratchpad a checked descriptor leaves words to decide by: so many, `stride` bytes from one to the next.
struct decision_place {
  decision kind;
  std::uint32_t address;
  std::uint32_t words;
  std::uint32_t stride;
  std::uint32_t first_row = 0;  // of samples, as in decision_port
};

// Nothing for a descriptor whose result nobody decides by.
std::optional<decision_place> decision_of(const descriptor_view& descriptor);

// Without data, whether bytes of this purpose move all the same: those that carry decisions, and what software makes of
// them.
bool carries_decisions(gen::purpose purpose);

}  // namespace dvp::npu
