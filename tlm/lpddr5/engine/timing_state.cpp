#include "tlm/lpddr5/engine/timing_state.h"

namespace dvp::lpddr5 {

namespace {

constexpr cycles long_ago = -(cycles{1} << 40);

void raise(cycles& at, cycles to) {
  at = std::max(at, to);
}

std::uint32_t bit(command c) {
  return 1U << static_cast<unsigned>(c);
}

}  // namespace

timing_state::timing_state(const rule_table& rules, const organisation& shape)
    : rules_(rules),
      banks_(shape.banks()),
      groups_(shape.bank_groups),
      group_size_(shape.banks_per_group),
      ranks_(shape.ranks),
      bank_(std::size_t{banks_} * ranks_),
      group_(std::size_t{groups_} * ranks_),
      rank_(ranks_),
      windows_(rules.windows.size() * ranks_),
      holes_(rules.holes.size() * ranks_) {
  for (auto& h : windows_) h.at.fill(long_ago);
  for (auto& h : holes_) h.at.fill(long_ago);
  for (const auto& w : rules.windows) {
    special_ |= w.later_mask;
    watched_ |= w.earlier_mask;
  }
  for (const auto& h : rules.holes) {
    special_ |= h.later_mask;
    watched_ |= h.earlier_mask;
  }
}

cycles timing_state::beyond(command c, std::uint32_t rank, cycles at) const {
  for (std::size_t i = 0; i < rules_.windows.size(); ++i) {
    const windowed_rule& rule = rules_.windows[i];
    if ((rule.later_mask & bit(c)) == 0) continue;
    const history& h = windows_[i * ranks_ + (rule.scope == rule_scope::channel ? 0 : rank)];
    raise(at, h.at[(h.next + 8 - rule.window) % 8] + rule.latency);
  }
  for (bool moved = !rules_.holes.empty(); moved;) {
    moved = false;
    for (std::size_t i = 0; i < rules_.holes.size(); ++i) {
      const hole_rule& rule = rules_.holes[i];
      if ((rule.later_mask & bit(c)) == 0) continue;
      const history& h = holes_[i * ranks_ + (rule.scope == rule_scope::channel ? 0 : rank)];
      for (const cycles earlier : h.at) {
        if (at >= earlier + rule.from && at < earlier + rule.to) {
          at = earlier + rule.to;
          moved = true;
        }
      }
    }
  }
  return at;
}

void timing_state::remember(command c, std::uint32_t rank, cycles at) {
  const auto push = [&](std::vector<history>& histories, std::size_t rule, rule_scope scope) {
    history& h = histories[rule * ranks_ + (scope == rule_scope::channel ? 0 : rank)];
    h.at[h.next % 8] = at;
    h.next = (h.next + 1) % 8;
  };
  for (std::size_t i = 0; i < rules_.windows.size(); ++i) {
    if ((rules_.windows[i].earlier_mask & bit(c)) != 0) push(windows_, i, rules_.windows[i].scope);
  }
  for (std::size_t i = 0; i < rules_.holes.size(); ++i) {
    if ((rules_.holes[i].earlier_mask & bit(c)) != 0) push(holes_, i, rules_.holes[i].scope);
  }
}

void timing_state::issue(command c, std::uint32_t rank, std::uint32_t bank, cycles at, const read_stretch& stretch) {
  const std::size_t k = static_cast<std::size_t>(c);
  const auto effects = [&](rule_scope scope) -> const std::vector<rule_effect>& {
    return rules_.effects[static_cast<std::size_t>(scope)][k];
  };
  const auto wide = [&](command later) { return is_read(later) ? stretch.other_reads : stretch.same_group; };

  issue_to_partner(c, rank, bank, at + stretch.same_group);
  row& own_rank = rank_[rank];
  for (const auto& e : effects(rule_scope::rank)) {
    raise(own_rank[static_cast<std::size_t>(e.later)], at + e.latency + wide(e.later));
  }
  for (const auto& e : effects(rule_scope::channel)) {
    raise(channel_[static_cast<std::size_t>(e.later)], at + e.latency + wide(e.later));
  }
  if (ranks_ > 1) {
    for (std::uint32_t other = 0; other < ranks_; ++other) {
      if (other == rank) continue;
      for (const auto& e : effects(rule_scope::other_rank)) {
        raise(rank_[other][static_cast<std::size_t>(e.later)], at + e.latency + wide(e.later));
      }
    }
  }
  if ((watched_ >> k & 1) != 0) remember(c, rank, at);
}

void timing_state::issue_to_partner(command c, std::uint32_t rank, std::uint32_t bank, cycles at) {
  const std::size_t k = static_cast<std::size_t>(c);
  row& own_bank = bank_[rank * banks_ + bank];
  for (const auto& e : rules_.effects[static_cast<std::size_t>(rule_scope::bank)][k]) {
    raise(own_bank[static_cast<std::size_t>(e.later)], at + e.latency);
  }
  row& own_group = group_[rank * groups_ + bank / group_size_];
  for (const auto& e : rules_.effects[static_cast<std::size_t>(rule_scope::bank_group)][k]) {
    raise(own_group[static_cast<std::size_t>(e.later)], at + e.latency);
  }
}

}  // namespace dvp::lpddr5
