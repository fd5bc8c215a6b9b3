#include "tlm/faults/fault_plan.h"

#include <algorithm>
#include <bit>

namespace dvp::faults {

namespace {

bool holds(event_class wanted, event_class happened) {
  return wanted == happened || (wanted == event_class::access && happened != event_class::interrupt);
}

}  // namespace

std::vector<event_class> classes_of(fault_kind kind) {
  switch (kind) {
    case fault_kind::bus_error:
    case fault_kind::stuck:
      return {event_class::access, event_class::fetch, event_class::read, event_class::write, event_class::record};
    case fault_kind::descriptor:
      return {event_class::fetch};
    case fault_kind::record:
      return {event_class::record};
    case fault_kind::lost_interrupt:
      return {event_class::interrupt};
    case fault_kind::ecc_corrected:
    case fault_kind::ecc_uncorrectable:
      return {event_class::read, event_class::fetch};
    case fault_kind::ecc_silent:
      return {event_class::read};
  }
  return {};
}

fault_schedule::fault_schedule(const fault_plan& plan) : armed_(plan.program), generator_(plan.random.seed) {
  for (std::size_t k = 0; k < fault_kinds; ++k) {
    const std::uint64_t mean = plan.random.mean_events[k];
    if (mean != 0) drawn_.push_back({static_cast<fault_kind>(k), mean, 1 + below(2 * mean - 1)});
  }
}

void fault_schedule::arm(const fault& f) {
  armed_.push_back(f);
}

std::optional<fault> fault_schedule::next(event_class happened, std::uint64_t now_ps) {
  ++events_[static_cast<std::size_t>(happened)];
  if (happened != event_class::interrupt) ++events_[static_cast<std::size_t>(event_class::access)];
  std::optional<fault> suffered;
  auto due = armed_.end();
  for (auto each = armed_.begin(); each != armed_.end(); ++each) {
    if (!holds(each->where, happened) || now_ps < each->at_ps) continue;
    if (each->number > 1) {
      --each->number;
    } else if (due == armed_.end()) {
      due = each;
    }
  }
  if (due != armed_.end()) {
    suffered = *due;
    armed_.erase(due);
  }
  for (drawn& each : drawn_) {
    const event_class where = classes_of(each.kind).front();
    if (!holds(where, happened)) continue;
    if (each.left > 1) {
      --each.left;
    } else if (!suffered) {
      suffered = fault{each.kind, where, 1, 0, draw_bits(each.kind)};
      each.left = 1 + below(2 * each.mean - 1);
    }
  }
  return suffered;
}

inverted_bits fault_schedule::draw_bits(fault_kind kind) {
  inverted_bits bits{generator_(), 1};
  if (kind == fault_kind::ecc_silent) {
    while (std::popcount(bits.mask) < 3) bits.mask |= std::uint64_t{1} << below(64);
  } else {
    const std::uint64_t burst = 1 | below(256);
    bits.mask = burst << below(8);
  }
  return bits;
}

void invert(const inverted_bits& bits, unsigned char* data, std::size_t bytes) {
  for (std::size_t i = 0; i < 8; ++i) {
    data[(bits.byte % bytes + i) % bytes] ^= static_cast<unsigned char>(bits.mask >> (8 * i));
  }
}

}  // namespace dvp::faults
