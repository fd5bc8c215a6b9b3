#include "tlm/npu/execute_sample.h"

#include <cstdint>
#include <cstring>

#include "tlm/npu/scratchpad_access.h"
#include "tlm/numerics/sampling.h"

namespace dvp::npu {

static_assert(sizeof(gen::sampling_state) == sizeof(numerics::running_sample));
static_assert(gen::no_token == numerics::no_token);

void execute_sample(const gen::sample_descriptor& d, std::span<std::byte> scratchpad) {
  const bool first = (d.header.flags & gen::descriptor_flag::first_chunk) != 0;
  const bool last = (d.header.flags & gen::descriptor_flag::last_chunk) != 0;
  const std::uint64_t key = std::uint64_t{d.noise_key_hi} << 32 | d.noise_key_lo;
  for (std::uint32_t r = 0; r < d.rows; ++r) {
    std::byte* kept = row_at<std::byte>(scratchpad, d.state, sizeof(gen::sampling_state), r);
    numerics::running_sample state = numerics::start();
    if (!first) std::memcpy(&state, kept, sizeof state);
    numerics::update(state, row_at<float>(scratchpad, d.logits, d.logits_stride, r), d.columns, d.first_token,
                     d.suppressed_token, d.temperature, key, d.first_row + r);
    std::memcpy(kept, &state, sizeof state);
    if (!last) continue;
    const numerics::sample chosen = numerics::finish(state);
    const gen::sample_record record{chosen.token, chosen.confidence};
    std::memcpy(row_at<std::byte>(scratchpad, d.result, sizeof record, r), &record, sizeof record);
  }
}

}  // namespace dvp::npu
