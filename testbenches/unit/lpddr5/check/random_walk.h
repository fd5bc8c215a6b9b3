// Drives timing_state without a controller: a random command among those the bank and rank states allow, each as early
// as the rules let it. Reaches what no controller does, such as both kinds of refresh side by side.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "tlm/lpddr5/engine/timing_state.h"
#include "tlm/lpddr5/traffic/random.h"

namespace dvp::lpddr5::test {

class random_walk {
 public:
  random_walk(const device& d, const rule_table& rules, std::uint64_t seed, command_sink& sink)
      : device_(d), state_(rules, d.shape), random_(seed), sink_(sink), ranks_(d.shape.ranks) {
    for (auto& r : ranks_) r.open.resize(d.shape.banks());
  }

  void step() {
    // Now and then only two banks, so that all are closed by something else than a PREab.
    const bool narrow = steps_++ / 512 % 2 == 1;
    const auto rank = static_cast<std::uint8_t>(random_.below(ranks_.size()));
    const auto bank = static_cast<std::uint8_t>(random_.below(narrow ? 2 : device_.shape.banks()));
    rank_state& r = ranks_[rank];
    if (r.asleep) return issue(*r.asleep, rank, bank);
    const std::uint32_t pair = device_.shape.pair_offset;
    // Rank commands are rare, or nothing else would ever be close to anything.
    switch (random_.below(narrow ? 12 : 40)) {
      case 0:
        if (r.open_count != 0) return narrow ? void() : close_all(rank);
        return issue(random_.chance(0.8) ? command::ref_all : command::sr_enter, rank, bank);
      case 1:
        if (random_.chance(0.2)) return issue(command::pd_enter, rank, bank);
        return narrow ? void() : close_all(rank);
      case 2:
      case 3:
      case 4:
        if (const std::uint32_t low = bank % pair; !r.open[low] && !r.open[low + pair]) {
          return issue(command::ref_bank, rank, static_cast<std::uint8_t>(low));
        }
        return;
      default:
        break;
    }
    if (!r.open[bank]) return activate(rank, bank);
    constexpr command choices[] = {command::rd,  command::rd,  command::wr, command::wr,
                                   command::rda, command::wra, command::pre};
    issue(choices[random_.below(7)], rank, bank);
  }

 private:
  struct rank_state {
    std::vector<bool> open;
    std::uint32_t open_count = 0;
    std::optional<command> asleep;  // what ends it
  };

  void close_all(std::uint8_t rank) {
    if (ranks_[rank].open_count != 0) issue(command::pre_all, rank, 0);
  }

  void activate(std::uint8_t rank, std::uint8_t bank) {
    row_ = static_cast<std::uint32_t>(random_.below(16));
    issue(command::act1, rank, bank);
    issue(command::act2, rank, bank);
  }

  void issue(command c, std::uint8_t rank, std::uint8_t bank) {
    const std::uint32_t partner = bank + device_.shape.pair_offset;
    cycles at = state_.earliest(c, rank, bank, now_ + 1);
    if (c == command::ref_bank) {
      for (cycles other;
           (other = state_.earliest(c, rank, partner, at)) != at || state_.earliest(c, rank, bank, at) != at;) {
        at = std::max(other, state_.earliest(c, rank, bank, other));
      }
    }
    now_ = at;
    state_.issue(c, rank, bank, at);
    if (c == command::ref_bank) state_.issue_to_partner(c, rank, partner, at);
    follow(c, ranks_[rank], bank);
    issued_command out;
    out.at = at;
    out.what = c;
    out.rank = rank;
    out.bank = bank;
    if (c == command::act1) rows_[rank * device_.shape.banks() + bank] = row_;
    if (c == command::act1 || c == command::act2 || is_column(c)) out.row = rows_[rank * device_.shape.banks() + bank];
    sink_.issued(0, out);
  }

  static void follow(command c, rank_state& r, std::uint32_t bank) {
    switch (c) {
      case command::act1:
        r.open[bank] = true;
        ++r.open_count;
        break;
      case command::pre:
      case command::rda:
      case command::wra:
        r.open[bank] = false;
        --r.open_count;
        break;
      case command::pre_all:
        r.open.assign(r.open.size(), false);
        r.open_count = 0;
        break;
      case command::pd_enter:
        r.asleep = command::pd_exit;
        break;
      case command::sr_enter:
        r.asleep = command::sr_exit;
        break;
      case command::pd_exit:
      case command::sr_exit:
        r.asleep.reset();
        break;
      default:
        break;
    }
  }

  const device& device_;
  timing_state state_;
  random_generator random_;
  command_sink& sink_;
  std::vector<rank_state> ranks_;
  std::array<std::uint32_t, 256> rows_{};
  std::uint32_t row_ = 0;
  cycles now_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace dvp::lpddr5::test
