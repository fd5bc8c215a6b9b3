#include "firmware/dllm/revision.h"

#include <algorithm>

#include "firmware/dllm/fnv.h"

namespace dvp::dllm {
namespace {

constexpr std::uint32_t picked_state = 3;

// A number is more than NaN.
bool more_confident(float a, float b) {
  return a > b || (b != b && a == a);
}

}  // namespace

revision::revision(const revision_rules& rules, std::span<revision_entry> entries)
    : rules_(rules), entries_(entries), hash_(fnv_start) {}

revision_code revision::move_window(std::uint32_t first, std::uint32_t count) {
  const std::uint32_t positions = static_cast<std::uint32_t>(entries_.size());
  if (first > positions || count > positions - first) {
    return revision_code::bad_argument;
  }
  for (std::uint32_t i = 0; i < positions; ++i) {
    const bool is_in = i - first < count;
    if (is_in != in_window(i) && entries_[i].state != visibility_state::stable) {
      ++entries_[i].kv_version;
      entries_[i].in_flight = false;
      entries_[i].observed = false;
      entries_[i].accepted = false;
    }
  }
  window_first_ = first;
  window_count_ = count;
  return revision_code::ok;
}

revision_code revision::cut(std::uint32_t count) {
  if (count > entries_.size() || count % rules_.block_length != 0 || count < current_ ||
      std::any_of(entries_.begin() + count, entries_.end(),
                  [](const revision_entry& e) { return e.state != visibility_state::invisible; })) {
    return revision_code::bad_argument;
  }
  entries_ = entries_.first(count);
  window_first_ = std::min(window_first_, count);
  window_count_ = std::min(window_count_, count - window_first_);
  return revision_code::ok;
}

// A visible position that the forward in work makes stable unless it is asked about it.
bool revision::settles(std::uint32_t position) const {
  return in_window(position) && entries_[position].confidence >= rules_.stability;
}

// Whether the policy takes position a before position b.
bool revision::before(std::uint32_t a, std::uint32_t b) const {
  const revision_entry& x = entries_[a];
  const revision_entry& y = entries_[b];
  if (rules_.policy == revision_policy::oldest && x.revised != y.revised) {
    return x.revised < y.revised;
  }
  if (rules_.policy == revision_policy::low_confidence && x.confidence != y.confidence) {
    return more_confident(y.confidence, x.confidence);
  }
  return a < b;
}

std::uint32_t revision::pick(std::span<revision_transaction> targets) {
  std::uint32_t count = 0;
  const std::uint32_t positions = static_cast<std::uint32_t>(entries_.size());
  while (count < targets.size()) {
    std::uint32_t best = positions;
    for (std::uint32_t i = 0; i < positions; ++i) {
      const revision_entry& e = entries_[i];
      if (e.state == visibility_state::visible && !e.in_flight && !settles(i) &&
          (best == positions || before(i, best))) {
        best = i;
      }
    }
    if (best == positions) {
      break;
    }
    revision_entry& e = entries_[best];
    const bool refresh = !in_window(best);
    targets[count++] = {.position = best,
                        .first_layer = refresh ? rules_.first_layer : 0,
                        .layers = refresh ? rules_.layers : 0,
                        .token_version = e.token_version,
                        .kv_version = e.kv_version,
                        .token = e.token,
                        .confidence = e.confidence};
    e.in_flight = true;
    e.revised = step_ + 1;
    ++counters_.picked;
    note(best, picked_state);
  }
  return count;
}

revision_code revision::observe(std::uint32_t position, std::uint32_t token, float confidence) {
  if (position >= entries_.size() || !in_window(position)) {
    return revision_code::bad_argument;
  }
  revision_entry& e = entries_[position];
  if (e.state == visibility_state::stable) {
    return revision_code::stable_write;
  }
  e.observed = true;
  e.next_token = token;
  e.next_confidence = confidence;
  return revision_code::ok;
}

revision_code revision::accept(std::uint32_t position) {
  if (position >= entries_.size() || !entries_[position].observed ||
      entries_[position].state != visibility_state::invisible) {
    return revision_code::bad_argument;
  }
  entries_[position].accepted = true;
  return revision_code::ok;
}

// What a forward does to a visible position that it had as input.
void revision::end_visible(std::uint32_t position) {
  revision_entry& e = entries_[position];
  e.fed = true;
  if (!e.observed) {
    if (settles(position)) {
      make_stable(position);
    }
  } else if (e.next_token == e.token) {
    confirm(position, e.next_confidence);
  }
}

bool revision::end_forward() {
  ++step_;
  const std::uint32_t block_end = complete() ? current_ : current_ + rules_.block_length;
  std::uint32_t best = block_end;
  bool some = false;
  for (std::uint32_t i = window_first_; i < window_first_ + window_count_; ++i) {
    revision_entry& e = entries_[i];
    if (e.state == visibility_state::visible) {
      end_visible(i);
    } else if (e.observed && i >= current_ && i < block_end) {
      if (e.accepted || e.next_confidence >= rules_.visibility) {
        make_visible(i);
        some = true;
      } else if (best == block_end || more_confident(e.next_confidence, entries_[best].next_confidence)) {
        best = i;
      }
    }
    e.observed = e.accepted = false;
  }
  if (!some && best != block_end) {
    make_visible(best);
    ++counters_.below_visibility;
    some = true;
  }
  const bool progress = some || complete();
  if (current_ < block_end && std::all_of(entries_.begin() + current_, entries_.begin() + block_end,
                                          [](auto& e) { return e.state != visibility_state::invisible; })) {
    current_ = block_end;
  }
  return progress;
}

revision_code revision::merge(const revision_transaction& t) {
  if (t.position >= entries_.size()) {
    return revision_code::bad_argument;
  }
  revision_entry& e = entries_[t.position];
  if (!e.in_flight || t.token_version != e.token_version || t.kv_version != e.kv_version) {
    ++counters_.dropped;
    return revision_code::dropped;
  }
  if (e.state == visibility_state::stable) {
    return revision_code::stable_write;
  }
  e.in_flight = false;
  ++e.kv_version;
  ++counters_.applied;
  if (t.token == e.token) {
    confirm(t.position, t.confidence);
  } else {
    replace(t.position, t.token, t.confidence);
    ++counters_.replaced;
  }
  return revision_code::ok;
}

void revision::make_visible(std::uint32_t position) {
  revision_entry& e = entries_[position];
  e.state = visibility_state::visible;
  ++counters_.made_visible;
  replace(position, e.next_token, e.next_confidence);
}

void revision::make_stable(std::uint32_t position) {
  revision_entry& e = entries_[position];
  e.state = visibility_state::stable;
  e.in_flight = false;
  ++e.token_version;
  ++counters_.made_stable;
  note(position, static_cast<std::uint32_t>(e.state));
}

void revision::replace(std::uint32_t position, std::uint32_t token, float confidence) {
  revision_entry& e = entries_[position];
  e.token = token;
  e.confidence = confidence;
  e.in_flight = false;
  e.fed = false;
  ++e.token_version;
  note(position, static_cast<std::uint32_t>(e.state));
}

void revision::confirm(std::uint32_t position, float confidence) {
  entries_[position].confidence = confidence;
  if (confidence >= rules_.stability) {
    make_stable(position);
  }
}

void revision::note(std::uint32_t position, std::uint32_t state) {
  for (const std::uint32_t word : {step_, position, state, entries_[position].token}) {
    hash_ = fnv(hash_, word);
  }
}

}  // namespace dvp::dllm
