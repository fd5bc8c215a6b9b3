#include "tlm/npu/scratchpad.h"

#include <algorithm>

namespace dvp::npu {

scratchpad::scratchpad(std::uint32_t bytes, std::uint32_t banks, reset_line& reset)
    : bytes_(bytes),
      bank_bytes_(bytes / banks),
      words_((bytes + 7) / 8),
      dma_ports_(banks),
      compute_ports_(banks),
      reset_(reset) {}

bank_set scratchpad::banks_of(const operand_list& operands) const {
  bank_set set = 0;
  for (const operand& item : operands) {
    if (item.bytes() == 0) continue;
    const std::uint64_t last = (item.end() - 1) / bank_bytes_;
    for (std::uint64_t bank = item.address / bank_bytes_; bank <= last; ++bank) set |= bank_set{1} << bank;
  }
  return set;
}

bool scratchpad::is_free(bank_set banks, engine_id engine) const {
  const std::vector<port>& ports = ports_of(engine);
  for (std::size_t bank = 0; bank < ports.size(); ++bank) {
    if ((banks >> bank & 1) == 0) continue;
    if (!ports[bank].waiting.empty() || !ports[bank].serves(engine)) return false;
  }
  return true;
}

void scratchpad::acquire(bank_set banks, engine_id engine) {
  std::vector<port>& ports = ports_of(engine);
  for (std::size_t bank = 0; bank < ports.size(); ++bank) {
    if ((banks >> bank & 1) == 0) continue;
    port& wanted = ports[bank];
    wanted.waiting.push_back(engine);
    while (wanted.waiting.front() != engine || !wanted.serves(engine)) reset_.wait(released_);
    wanted.waiting.pop_front();
    wanted.owner = engine;
    ++wanted.holds;
  }
}

void scratchpad::release(bank_set banks, engine_id engine) {
  std::vector<port>& ports = ports_of(engine);
  for (std::size_t bank = 0; bank < ports.size(); ++bank) {
    if ((banks >> bank & 1) != 0) --ports[bank].holds;
  }
  released_.notify();
}

void scratchpad::release_all() {
  std::fill(dma_ports_.begin(), dma_ports_.end(), port{});
  std::fill(compute_ports_.begin(), compute_ports_.end(), port{});
}

}  // namespace dvp::npu
