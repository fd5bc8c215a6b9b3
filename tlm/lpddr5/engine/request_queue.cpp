#include "tlm/lpddr5/engine/request_queue.h"

namespace dvp::lpddr5 {

namespace {

std::size_t capacity(const organisation& shape, const controller_config& config) {
  switch (config.queue) {
    case queue_layout::shared:
      return config.read_queue;
    case queue_layout::read_write:
      return std::size_t{config.read_queue} + config.write_queue;
    case queue_layout::bankwise:
      break;
  }
  return std::size_t{config.read_queue} * shape.banks() * shape.ranks;
}

}  // namespace

request_queue::request_queue(const organisation& shape, const controller_config& config)
    : banks_per_rank_(shape.banks()),
      columns_per_access_(shape.burst_length),
      layout_(config.queue),
      read_limit_(config.read_queue),
      write_limit_(config.write_queue),
      entries_(capacity(shape, config)),
      banks_(std::size_t{shape.banks()} * shape.ranks),
      rank_count_(shape.ranks),
      // A tagged read is found by each of its up to eight column accesses.
      table_{burst_table(8 * entries_.size()), burst_table(entries_.size())} {
  for (std::size_t i = entries_.size(); i-- > 0;) {
    entries_[i].next = free_;
    free_ = static_cast<index>(i);
  }
}

bool request_queue::has_room(const burst& b) const {
  switch (layout_) {
    case queue_layout::shared:
      return size() < read_limit_;
    case queue_layout::read_write:
      return b.write ? count_[1] < write_limit_ : count_[0] < read_limit_;
    case queue_layout::bankwise:
      break;
  }
  return banks_[bank_of(b)].count < read_limit_;
}

request_queue::index request_queue::same_address(const burst& b, bool write) const {
  index youngest = none;
  for (std::uint32_t n = 0; n < b.columns; ++n) {
    const index found = table_[write ? 1 : 0].find(key(b, n));
    if (found != none && (youngest == none || (*this)[found].order > (*this)[youngest].order)) youngest = found;
  }
  return youngest;
}

request_queue::index request_queue::push(const burst& b, cycles arrival) {
  const index i = free_;
  entry& e = (*this)[i];
  free_ = e.next;
  e = entry{};
  e.what = b;
  e.order = arrivals_++;
  e.arrival = arrival;

  e.older = youngest_;
  (youngest_ == none ? oldest_ : (*this)[youngest_].younger) = i;
  youngest_ = i;

  const unsigned direction = b.write ? 1 : 0;
  const std::uint32_t bank = bank_of(b);
  bank_lists& lists = banks_[bank];
  e.previous = lists.tail[direction];
  (lists.tail[direction] == none ? lists.head[direction] : (*this)[lists.tail[direction]].next) = i;
  lists.tail[direction] = i;
  ++lists.count;
  ++rank_count_[b.rank];
  ++count_[direction];
  in_use_ |= std::uint64_t{1} << bank;

  // Reads of one address keep their order by themselves: they are alike, and the older one goes first.
  e.held_by = same_address(b, !b.write);
  if (e.held_by != none) (*this)[e.held_by].holds = true;
  for (std::uint32_t n = 0; n < b.columns; ++n) table_[direction].put(key(b, n), i);
  if (e.held_by == none) {
    if (lists.oldest[direction] == none) lists.oldest[direction] = i;
    if (lists.hit[direction] == none && lists.row == b.row) lists.hit[direction] = i;
  }
  return i;
}

void request_queue::remove(index i) {
  entry& e = (*this)[i];
  (e.older == none ? oldest_ : (*this)[e.older].younger) = e.younger;
  (e.younger == none ? youngest_ : (*this)[e.younger].older) = e.older;

  const unsigned direction = e.what.write ? 1 : 0;
  const std::uint32_t bank = bank_of(e.what);
  bank_lists& lists = banks_[bank];
  (e.previous == none ? lists.head[direction] : (*this)[e.previous].next) = e.next;
  (e.next == none ? lists.tail[direction] : (*this)[e.next].previous) = e.previous;
  if (--lists.count == 0) in_use_ &= ~(std::uint64_t{1} << bank);
  --rank_count_[e.what.rank];
  --count_[direction];
  for (std::uint32_t n = 0; n < e.what.columns; ++n) table_[direction].erase(key(e.what, n), i);
  if (lists.oldest[direction] == i) refresh_oldest(lists, direction);
  if (lists.hit[direction] == i) find_hit(lists, direction, e.next);

  const bool holds = e.holds;
  e.next = free_;
  free_ = i;
  if (holds) let_go(i);
}

void request_queue::let_go(index leaving) {
  for (index i = oldest_; i != none; i = (*this)[i].younger) {
    entry& e = (*this)[i];
    if (e.held_by != leaving) continue;
    // A burst of several column accesses may have had more than one in its way.
    e.held_by = none;
    for (index j = e.older; j != none && e.held_by == none; j = (*this)[j].older) {
      if ((*this)[j].what.write != e.what.write && touch((*this)[j].what, e.what)) e.held_by = j;
    }
    if (e.held_by != none) {
      (*this)[e.held_by].holds = true;
      continue;
    }
    const unsigned direction = e.what.write ? 1 : 0;
    bank_lists& lists = banks_[bank_of(e.what)];
    refresh_oldest(lists, direction);
    find_hit(lists, direction, lists.head[direction]);
  }
}

bool request_queue::touch(const burst& a, const burst& b) const {
  if (a.rank != b.rank || a.bank != b.bank || a.row != b.row) return false;
  for (std::uint32_t n = 0; n < a.columns; ++n) {
    for (std::uint32_t m = 0; m < b.columns; ++m) {
      if (key(a, n) == key(b, m)) return true;
    }
  }
  return false;
}

void request_queue::set_row(std::uint32_t bank, std::int64_t row) {
  bank_lists& lists = banks_[bank];
  lists.row = row;
  for (unsigned direction = 0; direction < 2; ++direction) find_hit(lists, direction, lists.head[direction]);
}

bool request_queue::another_hit(std::uint32_t bank, index but) const {
  const bank_lists& lists = banks_[bank];
  for (unsigned direction = 0; direction < 2; ++direction) {
    for (index i = lists.head[direction]; i != none; i = (*this)[i].next) {
      if (i != but && (*this)[i].what.row == lists.row) return true;
    }
  }
  return false;
}

void request_queue::refresh_oldest(bank_lists& lists, unsigned direction) {
  index i = lists.head[direction];
  while (i != none && (*this)[i].held_by != none) i = (*this)[i].next;
  lists.oldest[direction] = i;
}

void request_queue::find_hit(bank_lists& lists, unsigned direction, index from) {
  index i = lists.row < 0 ? none : from;
  while (i != none && ((*this)[i].held_by != none || (*this)[i].what.row != lists.row)) i = (*this)[i].next;
  lists.hit[direction] = i;
}

}  // namespace dvp::lpddr5
