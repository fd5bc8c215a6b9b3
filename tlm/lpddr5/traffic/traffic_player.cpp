#include "tlm/lpddr5/traffic/traffic_player.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace dvp::lpddr5 {

namespace {

// For std::*_heap, which keep the greatest on top: the earliest is the greatest. Equal times go by id, so that the
// order does not depend on who told first.
constexpr auto later = [](const auto& a, const auto& b) { return a.at != b.at ? a.at > b.at : a.id > b.id; };

}  // namespace

bool traffic_player::player::blocked() const {
  const auto full = [](std::uint64_t limit, std::uint64_t count) { return limit != 0 && count >= limit; };
  return waits || full(limits.outstanding, pending[0] + pending[1]) ||
         full(request.write ? limits.pending_writes : limits.pending_reads, pending[request.write ? 1 : 0]);
}

void traffic_player::add(std::unique_ptr<traffic_source> source, const player_limits& limits) {
  player p;
  p.source = std::move(source);
  p.limits = limits;
  p.left = limits.requests == 0 ? UINT64_MAX : limits.requests;
  players_.push_back(std::move(p));
}

cycles traffic_player::play(memory_system& memory) {
  tCK_fs_ = memory.of().times.tCK_fs;
  for (auto& p : players_) fetch(p);
  together_ = players_.size() != 1 || players_[0].limits.any();
  if (together_) {
    play_together(memory);
  } else {
    play_alone(memory);
  }
  return memory.drain();
}

cycles traffic_player::cycles_of(std::int64_t ps) const {
  constexpr std::int64_t plain = INT64_MAX / 2000;  // so far 64 bits do
  if (ps > plain) return to_cycles_up(ps, tCK_fs_);
  return static_cast<cycles>((static_cast<std::uint64_t>(ps) * 1000 + tCK_fs_ - 1) / tCK_fs_);
}

// The next request, and when it may go; the one before was accepted at p.ready.
void traffic_player::fetch(player& p) {
  p.has_request = p.left != 0 && p.source->next(p.request);
  if (!p.has_request) return;
  --p.left;
  if (p.request.timing == request_timing::absolute) {
    p.ready = std::max(p.ready, cycles_of(p.request.time_ps));
  } else if (p.request.timing == request_timing::after_previous) {
    p.ready += cycles_of(p.request.time_ps);
  }
  if (p.ready >= p.limits.until) p.has_request = false;
}

void traffic_player::submit(memory_system& memory, std::size_t index, cycles at) {
  const traffic_request& r = players_[index].request;
  if (r.bytes > memory.bytes() || r.address > memory.bytes() - r.bytes) {
    throw traffic_error("address " + std::to_string(r.address) + ": the memory has only " +
                        std::to_string(memory.bytes()) + " bytes");
  }
  ++requests_;
  memory.submit(at, {.id = 2 * index + (r.write ? 1U : 0U),
                     .address = r.address,
                     .bytes = r.bytes,
                     .write = r.write,
                     .precision = r.precision,
                     .tagged = r.tagged});
}

// One source without a limit needs no events but its acceptances.
void traffic_player::play_alone(memory_system& memory) {
  player& p = players_[0];
  while (p.has_request) {
    submit(memory, 0, p.ready);
    if (memory.waiting() != 0) memory.settle();
    p.ready = std::max(p.ready, accepted_at_);
    fetch(p);
  }
}

traffic_player::player* traffic_player::pick(std::size_t& index) {
  player* best = nullptr;
  for (std::size_t i = 0; i < players_.size(); ++i) {
    const std::size_t candidate = (turn_ + i) % players_.size();
    player& p = players_[candidate];
    if (!p.has_request || p.blocked()) continue;
    if (best == nullptr || std::max(p.ready, now_) < std::max(best->ready, now_)) {
      best = &p;
      index = candidate;
    }
  }
  return best;
}

void traffic_player::play_together(memory_system& memory) {
  const auto is_blocked = [](const player& p) { return p.has_request && p.blocked(); };
  for (;;) {
    if (players_.size() == 1 && players_[0].waits && memory.waiting() != 0) {
      memory.settle();  // exact to the clock, which advance() is not for the other channels
      continue;
    }
    std::size_t index = 0;
    player* next = pick(index);
    const cycles at = next == nullptr ? never : std::max(next->ready, now_);
    if (std::any_of(players_.begin(), players_.end(), is_blocked)) {
      // An event may let one of them go before `at`. Events that are still to be told are not before `untold`.
      const cycles untold = memory.next_event();
      if (!ahead_.empty() && ahead_.front().at <= std::min(at, untold)) {
        std::pop_heap(ahead_.begin(), ahead_.end(), later);
        const event e = ahead_.back();
        ahead_.pop_back();
        now_ = std::max(now_, e.at);
        apply(e);
        continue;
      }
      if (untold < at) {
        const cycles until = std::max(untold, memory.now());
        const std::size_t told = ahead_.size();
        memory.advance(until);
        if (memory.next_event() == untold && ahead_.size() == told) memory.advance(until + 1);
        continue;
      }
      if (next == nullptr) throw std::logic_error("the memory owes an answer that never comes");
    }
    if (next == nullptr) return;
    now_ = at;
    turn_ = index + 1;
    next->ready = at;
    next->waits = true;
    ++next->pending[next->request.write ? 1 : 0];
    submit(memory, index, at);
  }
}

void traffic_player::apply(const event& e) {
  player& p = players_[e.id / 2];
  if (e.is_finish) {
    --p.pending[e.id % 2];
    return;
  }
  p.waits = false;
  p.ready = std::max(p.ready, e.at);
  fetch(p);
}

void traffic_player::tell(const event& e) {
  if (e.at <= now_) {
    apply(e);
    return;
  }
  ahead_.push_back(e);
  std::push_heap(ahead_.begin(), ahead_.end(), later);
}

void traffic_player::accepted(std::uint64_t id, cycles at) {
  accepted_at_ = std::max(accepted_at_, at);
  if (!together_) return;
  if (players_.size() == 1) {
    apply({at, id, false});  // it waits for nothing else
  } else {
    tell({at, id, false});
  }
}

void traffic_player::finished(std::uint64_t id, cycles at) {
  if (together_) tell({at, id, true});
}

}  // namespace dvp::lpddr5
