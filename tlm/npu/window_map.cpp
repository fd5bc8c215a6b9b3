#include "tlm/npu/window_map.h"

#include <iterator>
#include <limits>

namespace dvp::npu {

using gen::npu::window_operation;
using gen::npu::window_result;

window_map::window_map(const window_config& config)
    : window_pages_(config.bytes == 0 ? 0 : config.bytes / config.page_bytes),
      page_bytes_(config.page_bytes),
      entries_(window_pages_ == 0 ? 0 : config.entries) {}

window_result window_map::check(const window_command& command) const {
  if (window_pages_ == 0) return window_result::no_window;
  const bool maps = command.operation == window_operation::map;
  const bool unmaps = command.operation == window_operation::unmap;
  if (!maps && !unmaps && command.operation != window_operation::flush) return window_result::bad_command;
  if (maps || unmaps) {
    const bool in_use = command.entry < entries_.size() && pages(command.entry) != 0;
    if (command.entry >= entries_.size() || in_use == maps) return window_result::bad_entry;
  }
  if (unmaps) return window_result::ok;
  if (maps && command.bus % page_bytes_ != 0) return window_result::not_page_aligned;
  if (!fits(command)) return window_result::bad_range;
  if (maps && !is_free(command)) return window_result::overlap;
  return window_result::ok;
}

bool window_map::fits(const window_command& command) const {
  if (command.pages == 0 || command.page >= window_pages_ || command.pages > window_pages_ - command.page) return false;
  const std::uint64_t bytes = command.pages * page_bytes_;
  if (command.operation == window_operation::map) {
    return bytes - 1 <= std::numeric_limits<std::uint64_t>::max() - command.bus;
  }
  std::uint64_t device = command.page * page_bytes_;
  return covers(device, bytes);
}

bool window_map::is_free(const window_command& command) const {
  const auto next = by_page_.lower_bound(command.page);
  if (next != by_page_.end() && next->first < command.page + command.pages) return false;
  if (next == by_page_.begin()) return true;
  const mapping& before = entries_[std::prev(next)->second];
  return before.page + before.pages <= command.page;
}

void window_map::map(const window_command& command) {
  entries_[command.entry] = {command.bus, command.page, command.pages};
  by_page_.emplace(command.page, command.entry);
  pages_ += command.pages;
}

void window_map::unmap(std::uint32_t entry) {
  by_page_.erase(entries_[entry].page);
  pages_ -= entries_[entry].pages;
  entries_[entry] = {};
}

void window_map::clear() {
  for (mapping& each : entries_) each = {};
  by_page_.clear();
  pages_ = 0;
}

window_span window_map::find(std::uint64_t device) const {
  const auto next = by_page_.upper_bound(device / page_bytes_);
  if (next == by_page_.begin()) return {};
  const mapping& found = entries_[std::prev(next)->second];
  const std::uint64_t within = device - found.page * page_bytes_;
  const std::uint64_t bytes = found.pages * page_bytes_;
  if (within >= bytes) return {};
  return {found.bus + within, bytes - within};
}

bool window_map::covers(std::uint64_t& device, std::uint64_t bytes) const {
  for (;;) {
    const std::uint64_t span = find(device).bytes;
    if (span == 0) return false;
    if (span >= bytes) return true;
    device += span;
    bytes -= span;
  }
}

}  // namespace dvp::npu
