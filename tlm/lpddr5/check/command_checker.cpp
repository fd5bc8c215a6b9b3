#include "tlm/lpddr5/check/command_checker.h"

#include <algorithm>
#include <bit>

namespace dvp::lpddr5 {

namespace {

constexpr std::size_t index_of(command c) {
  return static_cast<std::size_t>(c);
}

constexpr bool is_seldom(command c) {
  return index_of(c) >= index_of(command::ref_all);
}

}  // namespace

command_checker::rank_state::rank_state(const device& d, const refresh_promise& promise)
    : banks(d.shape.banks()), ledger(d, promise) {
  acts.fill(-d.times.FAW);
}

command_checker::channel_state::channel_state(const device& d, const refresh_promise& promise, std::size_t ring)
    : ranks(d.shape.ranks, rank_state(d, promise)),
      bus(d),
      often{.ring = std::vector<issued_command>(ring)},
      seldom(often) {}

command_checker::command_checker(const device& d, std::uint32_t channels, const checker_options& options)
    : device_(d), options_(options), constraints_(constraints_of(d)) {
  cycles longest = 0;
  for (std::size_t i = 0; i < constraints_.size(); ++i) {
    const constraint& k = constraints_[i];
    for (const command later : k.later) {
      for (const command earlier : k.earlier) {
        pairs_[index_of(later)][index_of(earlier)].push_back(static_cast<std::uint16_t>(i));
        cycles& longest_of = (is_seldom(earlier) ? longest_seldom_ : longest_often_)[index_of(later)];
        longest_of = std::max(longest_of, k.distance);
      }
    }
    longest = std::max(longest, k.distance);
  }
  // A clock holds one command, and no tagged read stretches a distance by more than 255 slots.
  const cycles horizon = longest + 255 * std::max(d.times.BL_n_L, cycles{1});
  const auto ring = std::bit_ceil(static_cast<std::size_t>(horizon));
  channels_.assign(channels, channel_state(d, options.refresh, ring));
}

void command_checker::issued(std::uint32_t channel, const issued_command& c) {
  ++commands_;
  if (channel >= channels_.size() || c.rank >= device_.shape.ranks || c.bank >= device_.shape.banks() ||
      c.row >= device_.shape.rows || c.column >= device_.shape.columns) {
    report(channel, c, "organisation", "there is no such channel, rank, bank, row or column");
    return;
  }
  check_order(channel, c);
  check_rank(channel, c);
  check_bank(channel, c);
  const channel_state& ch = channels_[channel];
  check_distances(channel, c, ch.often, longest_often_[index_of(c.what)] + ch.stretch);
  check_distances(channel, c, ch.seldom, longest_seldom_[index_of(c.what)]);
  if (opens_a_row(c.what)) check_faw(channel, c);
  check_wck(channel, c);
  if (is_column(c.what)) check_bus(channel, c);
  check_refresh(channel, c);
  apply(channel, c);
  remember(channel, c);
}

void command_checker::check_order(std::uint32_t channel, const issued_command& c) {
  const auto& last = channels_[channel].last;
  if (!last || c.at > last->at) return;
  report(channel, c, "command bus", 1, subject(*last) + " at clock " + std::to_string(last->at), c.at - last->at);
}

// Looks back as far as any constraint of this command reaches. Per earlier command the longest distance counts, and
// each constraint is reported once.
void command_checker::check_distances(std::uint32_t channel, const issued_command& c, const history& past,
                                      cycles reach) {
  const auto& rules = pairs_[index_of(c.what)];
  const std::uint64_t mask = past.ring.size() - 1;
  const std::uint64_t oldest = past.count > mask ? past.count - mask : 0;
  const cycles since = c.at - reach;
  std::vector<std::string_view> reported;
  for (std::uint64_t i = past.count; i-- > oldest;) {
    const issued_command& earlier = past.ring[i & mask];
    if (earlier.at <= since) break;
    if (earlier.rank != c.rank) continue;
    const constraint* worst = nullptr;
    cycles most = c.at - earlier.at;
    for (const std::uint16_t k : rules[index_of(earlier.what)]) {
      const constraint& rule = constraints_[k];
      const cycles need = needed(rule, earlier);
      if (need > most && within(rule.scope, earlier, c)) {
        most = need;
        worst = &rule;
      }
    }
    if (worst == nullptr || std::find(reported.begin(), reported.end(), worst->name) != reported.end()) continue;
    reported.push_back(worst->name);
    report(channel, c, worst->name, most, subject(earlier) + " at clock " + std::to_string(earlier.at),
           c.at - earlier.at);
  }
}

void command_checker::check_faw(std::uint32_t channel, const issued_command& c) {
  const rank_state& r = channels_[channel].ranks[c.rank];
  const cycles fourth = r.acts[r.next_act];
  if (c.at - fourth >= device_.times.FAW) return;
  report(channel, c, "tFAW", device_.times.FAW, "the fourth last ACT1 or REFpb at clock " + std::to_string(fourth),
         c.at - fourth);
}

void command_checker::check_bus(std::uint32_t channel, const issued_command& c) {
  const auto met = channels_[channel].bus.take(c);
  if (!met) return;
  report(channel, c, met->name,
         "needs " + std::to_string(met->needed) + " clocks between its data and that of the command at clock " +
             std::to_string(met->other) + ", " + (met->got < 0 ? "they overlap" : "got " + std::to_string(met->got)));
}

void command_checker::check_refresh(std::uint32_t channel, const issued_command& c) {
  channel_state& ch = channels_[channel];
  for (std::uint32_t rank = 0; rank < ch.ranks.size(); ++rank) {
    while (const auto late = ch.ranks[rank].ledger.time_is(c.at)) {
      report(channel, c.at, "rank " + std::to_string(rank), "refresh in time", *late);
    }
  }
  if (c.what != command::ref_all && c.what != command::ref_bank) return;
  const refresh_kind kind = c.what == command::ref_all ? refresh_kind::all_bank : refresh_kind::per_bank;
  if (kind != options_.refresh.kind) {
    report(channel, c, "refresh kind", "this kind of refresh was not promised");
  } else if (const auto wrong = ch.ranks[c.rank].ledger.refreshed(c.at, c.bank)) {
    report(channel, c, "refresh order", *wrong);
  }
}

void command_checker::remember(std::uint32_t channel, const issued_command& c) {
  channel_state& ch = channels_[channel];
  history& past = is_seldom(c.what) ? ch.seldom : ch.often;
  past.ring[past.count++ & (past.ring.size() - 1)] = c;
  ch.last = c;
  if (is_read(c.what)) {
    ch.stretch = std::max({ch.stretch, slots_after_first(c) * device_.times.BL_n_L, data_later(c)});
  }
}

void command_checker::finish(cycles end) {
  for (std::uint32_t channel = 0; channel < channels_.size(); ++channel) {
    for (rank_state& r : channels_[channel].ranks) {
      if (r.act1) report(channel, *r.act1, "tAAD", "its ACT2 never came");
      if (r.cas) report(channel, *r.cas, "CAS pair", "its access never came");
      while (const auto late = r.ledger.time_is(end)) report(channel, end, "rank", "refresh in time", *late);
    }
  }
}

std::optional<std::uint32_t> command_checker::open_row(std::uint32_t channel, std::uint32_t rank,
                                                       std::uint32_t bank) const {
  const bank_state& b = channels_[channel].ranks[rank].banks[bank];
  if (b.phase != bank_phase::open) return std::nullopt;
  return b.row;
}

cycles command_checker::slots_after_first(const issued_command& c) const {
  return (static_cast<cycles>(c.columns) + options_.core_feed - 1) / options_.core_feed - 1;
}

cycles command_checker::data_later(const issued_command& c) const {
  const cycles burst = device_.shape.burst_length / device_.shape.beats_per_ck;
  return c.late_cycles + (c.io_cycles > burst ? c.io_cycles - burst : 0);
}

cycles command_checker::needed(const constraint& k, const issued_command& earlier) const {
  cycles distance = k.distance;
  if (earlier.columns > 1 && k.per_slot != 0) distance += k.per_slot * slots_after_first(earlier);
  if (k.with_data) distance += data_later(earlier);
  return distance;
}

bool command_checker::concerns(const issued_command& c, std::uint32_t bank) const {
  return to_all_banks(c.what) || c.bank == bank ||
         (c.what == command::ref_bank && device_.shape.pair_offset != 0 && c.bank + device_.shape.pair_offset == bank);
}

bool command_checker::within(reach scope, const issued_command& earlier, const issued_command& later) const {
  const std::uint32_t per_group = device_.shape.banks_per_group;
  switch (scope) {
    case reach::rank:
      return true;
    case reach::bank_group:
      return earlier.bank / per_group == later.bank / per_group;
    case reach::bank:
      // Two refreshes of pairs meet in both banks or in none.
      return to_all_banks(later.what) || concerns(earlier, later.bank) || concerns(later, earlier.bank);
  }
  return true;
}

std::string command_checker::subject(const issued_command& c) const {
  std::string text(name_of(c.what));
  text += " of rank " + std::to_string(c.rank);
  if (!to_all_banks(c.what)) text += " bank " + std::to_string(c.bank);
  return text;
}

void command_checker::report(std::uint32_t channel, cycles at, const std::string& subject, std::string_view name,
                             const std::string& what) {
  ++violations_;
  ++by_name_[std::string(name)];
  if (sentences_.size() >= options_.keep) return;
  sentences_.push_back("channel " + std::to_string(channel) + ", clock " + std::to_string(at) + ": " + subject +
                       " breaks " + std::string(name) + ": " + what);
}

void command_checker::report(std::uint32_t channel, const issued_command& c, std::string_view name,
                             const std::string& what) {
  report(channel, c.at, subject(c), name, what);
}

void command_checker::report(std::uint32_t channel, const issued_command& c, std::string_view name, cycles distance,
                             const std::string& earlier, cycles got) {
  report(channel, c, name,
         "needs " + std::to_string(distance) + " clocks after " + earlier + ", got " + std::to_string(got));
}

}  // namespace dvp::lpddr5
