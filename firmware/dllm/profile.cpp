#include "firmware/dllm/profile.h"

#include <algorithm>
#include <array>
#include <limits>

#include "firmware/dllm/drafts.h"
#include "firmware/hal/hal.h"

namespace dvp::dllm {
namespace {

using gen::result_code;

// Asks for the tokens of `rows` positions from `first` on. With shifted logits the first row predicts nothing here.
result_code forward_of(session& s, std::uint32_t first, std::uint32_t rows) {
  const std::uint32_t shift = s.model().shift_logits ? 1 : 0;
  const std::uint32_t asked = rows - shift;
  const block b{.first = first + shift, .length = std::min(asked, most_block_length)};
  return s.predict({.first = first, .rows = rows, .keys = s.request().prompt_tokens}, b, positions(0, b.length),
                   positions(0, asked - b.length));
}

}  // namespace

result_code run_profile(session& s) {
  const gen::request_record& request = s.request();
  const std::uint32_t keys = request.prompt_tokens;
  const auto entries = hal::objects<gen::latency_entry>(request.latency_address, request.latency_entries);
  // The entries are main memory, and the run writes some: the rows that are checked are those that are run.
  std::array<std::uint32_t, most_latency_entries> rows{};
  std::uint32_t most = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    rows[i] = entries[i].rows;
    if (rows[i] <= most || rows[i] > std::min(keys, most_logits_rows)) {
      return result_code::bad_request;
    }
    most = rows[i];
  }
  const std::uint32_t first = keys - most;
  result_code code = s.fill({.first = 0, .rows = keys, .keys = keys}, {}, keys);
  for (std::size_t i = 0; i < entries.size() && code == result_code::ok; ++i) {
    const std::uint64_t begin = hal::now_ns();
    code = forward_of(s, first, rows[i]);
    const std::uint64_t ns = hal::now_ns() - begin;
    entries[i].ns = static_cast<std::uint32_t>(std::min<std::uint64_t>(ns, std::numeric_limits<std::uint32_t>::max()));
  }
  s.result().total_tokens = keys;
  return code;
}

}  // namespace dvp::dllm
