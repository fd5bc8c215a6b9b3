#include "tlm/core/merged_slices.h"

#include <algorithm>

namespace dvp::core {

merged_slices::merged_slices(timeline& out, std::string_view process, std::string_view name,
                             std::string_view amount_name, const sc_core::sc_time& gap)
    : out_(out), track_(out.track(process, name)), amount_name_(amount_name), gap_(gap) {}

void merged_slices::add(std::string_view name, const sc_core::sc_time& begin, const sc_core::sc_time& end,
                        std::uint64_t amount) {
  if (!out_.on()) return;
  if (count_ == 0 || name != name_ || begin > end_ + gap_) {
    flush();
    name_ = name;
    begin_ = begin;
    end_ = end;
  }
  end_ = std::max(end_, end);
  ++count_;
  amount_ += amount;
}

void merged_slices::flush() {
  if (count_ == 0) return;
  out_.slice(track_, name_, begin_, end_, {{"count", count_}, {amount_name_, amount_}});
  count_ = 0;
  amount_ = 0;
}

}  // namespace dvp::core
