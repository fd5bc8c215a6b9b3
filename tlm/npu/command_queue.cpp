#include "tlm/npu/command_queue.h"

#include <algorithm>
#include <bit>

namespace dvp::npu {

using gen::npu::error_code;

namespace {

bool has_flag(const gen::descriptor_header& header, std::uint8_t bit) {
  return (header.flags & bit) != 0;
}

}  // namespace

bool command_queue::ring(std::uint32_t tail, const ring_setup& setup) {
  const ring_setup& used = is_busy() ? ring_ : setup;
  const bool possible = std::has_single_bit(used.entries) && used.base % gen::descriptor_bytes == 0;
  const std::uint32_t ahead = tail - static_cast<std::uint32_t>(head_);
  const auto pending = static_cast<std::uint32_t>(tail_ - head_);
  if (!possible || ahead > used.entries || ahead < pending) return false;
  ring_ = used;
  tail_ = head_ + ahead;
  events_.backlog_change();
  work.notify();
  return true;
}

bool command_queue::is_busy() const {
  const auto in_work = [](const in_flight& item) {
    const bool ended = item.progress == in_flight::state::retired || item.progress == in_flight::state::failed;
    return !item.dropped && !ended;
  };
  return has_backlog() || !notices_.empty() || std::any_of(window_.begin(), window_.end(), in_work);
}

void command_queue::count_fetched(const descriptor_view& descriptor) {
  for (const std::byte byte : descriptor.bytes) {
    fetched_hash_ = (fetched_hash_ ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3;
  }
}

in_flight& command_queue::append(const descriptor_view& descriptor) {
  in_flight& item = window_.emplace_back();
  item.descriptor = descriptor;
  item.index = head_ + window_.size() - 1;
  item.queue = this;
  events_.backlog_change();
  return item;
}

void command_queue::append_fence(const descriptor_view& descriptor, std::uint64_t edge) {
  append(descriptor);
  advance(edge);
}

bool command_queue::is_done(std::uint64_t index) const {
  if (index < head_) return true;
  const in_flight::state progress = window_[index - head_].progress;
  return progress == in_flight::state::done || progress == in_flight::state::retired;
}

bool command_queue::is_ready(const in_flight& item) const {
  for (const std::uint16_t distance : item.descriptor.header().wait) {
    if (distance != 0 && !is_done(item.index - distance)) return false;
  }
  return true;
}

void command_queue::tell_waiters() {
  std::erase_if(waiters_, [this](const waiter& each) {
    const bool told = each.item->dropped || is_ready(*each.item);
    if (told) each.event->notify();
    return told;
  });
}

void command_queue::add_notice(const notice& item) {
  notices_.push_back(item);
  notice_due_.notify();
}

in_flight* command_queue::find(std::uint64_t index) {
  if (index < head_ || index - head_ >= window_.size()) return nullptr;
  return &window_[index - head_];
}

void command_queue::complete(in_flight& item, std::uint64_t edge) {
  if (item.dropped) return;
  finish(item, edge);
  advance(edge);
  tell_waiters();
}

// Done, and retired at once unless a record is due first.
void command_queue::finish(in_flight& item, std::uint64_t edge) {
  const gen::descriptor_header header = item.descriptor.header();
  counts_.count_descriptor(header.op);
  if (has_flag(header, gen::descriptor_flag::record)) {
    item.progress = in_flight::state::done;
    add_notice({item.index, header, error_code::none, edge});
  } else {
    item.progress = in_flight::state::retired;
  }
}

void command_queue::advance(std::uint64_t edge) {
  while (!window_.empty()) {
    in_flight& oldest = window_.front();
    const bool is_fence = oldest.descriptor.op() == gen::opcode::fence;
    if (is_fence && oldest.progress == in_flight::state::dispatched && !oldest.dropped) {
      finish(oldest, edge);
      tell_waiters();
    }
    if (oldest.progress != in_flight::state::retired) return;
    const bool interrupts = has_flag(oldest.descriptor.header(), gen::descriptor_flag::interrupt);
    window_.pop_front();
    ++head_;
    if (interrupts) events_.completion();
  }
}

void command_queue::fail(in_flight& item, error_code code, std::uint64_t edge, std::uint64_t address) {
  if (item.dropped) return;
  item.progress = in_flight::state::failed;
  fail(item.index, item.descriptor.header(), code, edge, address);
}

void command_queue::fail(std::uint64_t index, const gen::descriptor_header& header, error_code code, std::uint64_t edge,
                         std::uint64_t address) {
  // Also when an earlier descriptor fails after a later one: what depends on it must not wait forever.
  for (in_flight& item : window_) {
    if (item.index > index) item.dropped = true;
  }
  tell_waiters();
  if (stopped_) return;
  stopped_ = true;
  stop_.notify();
  error_index_ = index;
  fault_address_ = address;
  events_.backlog_change();
  if (has_flag(header, gen::descriptor_flag::record) && ring_.completion_base != 0) {
    add_notice({index, header, code, edge});
  } else {
    publish(code);
  }
}

notice command_queue::take_notice() {
  const notice item = notices_.front();
  notices_.pop_front();
  return item;
}

void command_queue::settle(const notice& item, std::uint64_t edge) {
  if (item.error != error_code::none) {
    publish(item.error);
    return;
  }
  in_flight* const entry = find(item.index);
  if (entry == nullptr || entry->dropped) return;
  entry->progress = in_flight::state::retired;
  advance(edge);
}

void command_queue::refuse(const notice& item, error_code code, std::uint64_t edge, std::uint64_t address) {
  if (item.error != error_code::none) {
    publish(item.error);
    return;
  }
  in_flight* const entry = find(item.index);
  if (entry == nullptr || entry->dropped) return;
  entry->progress = in_flight::state::failed;
  // Without its header: a record about the record could only fail again.
  fail(item.index, {}, code, edge, address);
}

void command_queue::publish(error_code code) {
  error_ = code;
  events_.error();
}

void command_queue::clear() {
  window_.clear();
  waiters_.clear();
  notices_.clear();
  ring_ = {};
  head_ = 0;
  tail_ = 0;
  fetched_hash_ = hash_start;
  stopped_ = false;
  error_index_ = 0;
  fault_address_ = 0;
  error_ = error_code::none;
}

}  // namespace dvp::npu
