#include "tlm/npu/decisions.h"

namespace dvp::npu {

const char* name_of(decision kind) {
  switch (kind) {
    case decision::sample:
      return "sample";
    case decision::drift:
      return "drift";
    case decision::activity:
      return "activity";
    case decision::ranking:
      return "ranking";
    case decision::revision:
      return "revision";
  }
  return "unknown";
}

std::optional<decision_place> decision_of(const descriptor_view& descriptor) {
  constexpr std::uint32_t word = sizeof(std::uint32_t);
  const gen::descriptor_header header = descriptor.header();
  if (header.op == gen::opcode::sample) {
    if ((header.flags & gen::descriptor_flag::last_chunk) == 0) return {};
    const auto d = descriptor.as<gen::sample_descriptor>();
    const std::uint32_t words = d.rows * std::uint32_t{sizeof(gen::sample_record) / word};
    return decision_place{decision::sample, d.result, words, word, d.first_row};
  }
  if (header.op != gen::opcode::vector) return {};
  const auto d = descriptor.as<gen::vector_descriptor>();
  switch (static_cast<gen::vector_function>(header.function)) {
    case gen::vector_function::difference:
      return decision_place{decision::drift, d.e, 2, word};
    case gen::vector_function::row_abs_sum:
      return decision_place{decision::activity, d.d, d.rows, d.d_stride};
    case gen::vector_function::column_max:
      return decision_place{decision::ranking, d.d, d.columns, word};
    default:
      return {};
  }
}

bool carries_decisions(gen::purpose purpose) {
  switch (purpose) {
    case gen::purpose::results:
    case gen::purpose::commands:
    case gen::purpose::kv_metadata:
    case gen::purpose::ffn_state:
    case gen::purpose::other:
      return true;
    default:
      return false;
  }
}

}  // namespace dvp::npu
