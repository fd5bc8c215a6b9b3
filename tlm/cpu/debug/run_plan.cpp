#include "tlm/cpu/debug/run_plan.h"

#include <algorithm>

#include "tlm/cpu/debug/hex.h"

namespace dvp::cpu::debug {

namespace {

struct action {
  char what = 0;  // c, s or r
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::optional<std::uint32_t> hart;  // nothing: all that no action names
};

std::optional<action> parse_action(std::string_view text, std::uint32_t harts) {
  field_reader in(text);
  action a;
  if (in.take('c') || in.take('s')) {
    a.what = text.front();
  } else if (in.take('C') || in.take('S')) {
    a.what = text.front() == 'C' ? 'c' : 's';
    if (!in.number()) return std::nullopt;
  } else if (in.take('r')) {
    a.what = 'r';
    const auto begin = in.number();
    const bool comma = in.take(',');
    const auto end = in.number();
    if (!begin || !comma || !end) return std::nullopt;
    a.begin = *begin;
    a.end = *end;
  } else {
    return std::nullopt;
  }
  if (in.done()) return a;
  if (!in.take(':')) return std::nullopt;
  if (in.take("-1")) return in.done() ? std::optional(a) : std::nullopt;
  const auto thread = in.number();
  if (!thread || !in.done() || *thread > harts) return std::nullopt;
  if (*thread != 0) a.hart = static_cast<std::uint32_t>(*thread - 1);  // 0 is any thread
  return a;
}

}  // namespace

run_plan run_plan::step(std::uint32_t hart) {
  run_plan plan = only(hart);
  plan.extent_ = extent::one_step;
  return plan;
}

run_plan run_plan::only(std::uint32_t hart) {
  run_plan plan;
  plan.harts_ = {hart};
  return plan;
}

std::optional<run_plan> run_plan::parse(std::string_view actions, std::uint32_t harts, std::uint32_t current) {
  field_reader in(actions);
  if (!in.take(';')) return std::nullopt;
  std::vector<action> of_hart(harts);
  action of_others;
  do {
    const auto a = parse_action(in.until(';'), harts);
    if (!a) return std::nullopt;
    action& place = a->hart ? of_hart[*a->hart] : of_others;
    if (place.what == 0) place = *a;  // the leftmost counts
  } while (!in.done());
  for (action& a : of_hart) {
    if (a.what == 0) a = of_others;
  }

  const auto steps = [&](std::uint32_t hart) { return of_hart[hart].what == 's' || of_hart[hart].what == 'r'; };
  std::optional<std::uint32_t> stepping;
  run_plan plan;
  for (std::uint32_t hart = 0; hart < harts; ++hart) {
    if (steps(hart) && (!stepping || hart == current)) stepping = hart;
    if (of_hart[hart].what == 'c') plan.harts_.push_back(hart);
  }
  if (stepping) {
    const action& a = of_hart[*stepping];
    plan = step(*stepping);
    if (a.what == 'r') {
      plan.extent_ = extent::range;
      plan.begin_ = a.begin;
      plan.end_ = a.end;
    }
    return plan;
  }
  if (plan.harts_.empty()) return std::nullopt;
  if (plan.harts_.size() == harts) plan.harts_.clear();
  return plan;
}

resume run_plan::first() const {
  if (harts_.empty()) return {resume_action::run, 0};
  return {resume_action::step, harts_.front()};
}

std::optional<resume> run_plan::next(stop& why, target& machine, const point_set& points) const {
  if (why.reason != stop_reason::stepped || harts_.empty()) return std::nullopt;
  const std::uint64_t pc = machine.read_register(why.hart, pc_number).value_or(0);
  if (points.breaks_at(pc)) {
    why.reason = stop_reason::breakpoint;
    return std::nullopt;
  }
  if (extent_ == extent::one_step || (extent_ == extent::range && (pc < begin_ || pc >= end_))) return std::nullopt;
  const auto after = std::upper_bound(harts_.begin(), harts_.end(), why.hart);
  return resume{resume_action::step, after == harts_.end() ? harts_.front() : *after};
}

}  // namespace dvp::cpu::debug
