// The player: order, times, limits, fairness; judged by the commands that the memory issues and by closed forms.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "tlm/lpddr5/config/memory_config.h"
#include "tlm/lpddr5/traffic/generators.h"
#include "tlm/lpddr5/traffic/traffic_player.h"

namespace dvp::lpddr5 {
namespace {

class listed : public traffic_source {
 public:
  explicit listed(std::vector<traffic_request> requests) : requests_(std::move(requests)) {}
  bool next(traffic_request& request) override {
    if (at_ == requests_.size()) return false;
    request = requests_[at_++];
    return true;
  }

 private:
  std::vector<traffic_request> requests_;
  std::size_t at_ = 0;
};

struct recorder : command_sink {
  std::vector<issued_command> commands;
  void issued(std::uint32_t, const issued_command& c) override { commands.push_back(c); }
  std::vector<cycles> times(command what) const {
    std::vector<cycles> all;
    for (const auto& c : commands) {
      if (c.what == what) all.push_back(c.at);
    }
    return all;
  }
};

// One channel without refresh, row-bank-column: 2 KiB of a row, then the next bank.
struct world {
  explicit world(std::uint32_t channels = 1) : config(load_memory_config("lpddr5-6400-x16")) {
    config.controller = controller_config{};
    config.controller.refresh = refresh_policy::none;
    config.channels = channels;
    map.emplace(standard_mapping("row-bank-column-channel", config.dev.shape, channels, 32, false), config.dev.shape,
                channels);
    rules = compile(config.rules, config.dev.times);
  }
  void add(std::unique_ptr<traffic_source> source, player_limits limits = {}) { player.add(std::move(source), limits); }
  void add(std::vector<traffic_request> requests, player_limits limits = {}) {
    add(std::make_unique<listed>(std::move(requests)), limits);
  }
  cycles play() {
    memory = std::make_unique<memory_system>(config.dev, rules, config.controller, *map, player, &heard);
    return player.play(*memory);
  }
  std::uint64_t in_row(std::uint32_t row, std::uint32_t bank_group = 0) const {
    return map->encode({.bank_group = bank_group, .row = row});
  }

  memory_config config;
  std::optional<address_mapping> map;
  rule_table rules;
  traffic_player player;
  recorder heard;
  std::unique_ptr<memory_system> memory;
};

traffic_request read_at(std::uint64_t address, std::int64_t ps, request_timing timing) {
  return {.address = address, .bytes = 32, .time_ps = ps, .timing = timing};
}

TEST(traffic_player, keeps_absolute_times) {
  world w;
  // 1.25 ns clocks; a time between two edges waits for the later one. The last is late and goes at once.
  w.add({read_at(0, 0, request_timing::absolute), read_at(32, 1'000'000, request_timing::absolute),
         read_at(64, 2'000'001, request_timing::absolute), read_at(96, 1, request_timing::absolute)});
  w.play();
  EXPECT_EQ(w.heard.times(command::act1), (std::vector<cycles>{0}));
  const auto reads = w.heard.times(command::rd);
  ASSERT_EQ(reads.size(), 4u);
  EXPECT_EQ(reads[1], 800);
  EXPECT_EQ(reads[2], 1601);
  EXPECT_EQ(reads[3], 1605);  // same bank group, tCCD_L
}

TEST(traffic_player, counts_relative_times_from_the_request_before) {
  for (const std::uint64_t limit : {0u, 5u}) {
    world w;
    w.add(
        {read_at(0, 1'000'000, request_timing::after_previous), read_at(32, 1'000'000, request_timing::after_previous),
         read_at(64, 1'250'000, request_timing::after_previous)},
        {.outstanding = limit});
    w.play();
    EXPECT_EQ(w.heard.times(command::act1), (std::vector<cycles>{800}));
    const auto reads = w.heard.times(command::rd);
    EXPECT_EQ(reads[1], 1600);
    EXPECT_EQ(reads[2], 2600);
  }
}

TEST(traffic_player, one_outstanding_waits_for_each_answer) {
  world w;
  std::vector<traffic_request> requests;
  for (std::uint32_t row = 0; row < 100; ++row) requests.push_back(read_at(w.in_row(row), 0, request_timing::at_once));
  w.add(requests, {.outstanding = 1});
  const cycles end = w.play();
  // A conflict costs RPpb + RCD + RL + burst; the first read finds the bank closed.
  const timing& t = w.config.dev.times;
  EXPECT_EQ(end, 100 * (t.RPpb + t.RCD + t.RL + t.BL_n_min) - t.RPpb);
}

// With the limit out of reach the event loop has to give what the short way for a single source gives.
TEST(traffic_player, an_unreachable_limit_changes_nothing) {
  generator_options g;
  g.requests = 5000;
  g.reads = 0.6;
  g.range_bytes = 1 << 24;
  for (const pattern what : {pattern::random, pattern::stream}) {
    for (const std::uint32_t channels : {1U, 4U}) {
      g.what = what;
      world alone(channels), together(channels);
      alone.add(make_generator(g));
      together.add(make_generator(g), {.outstanding = 1'000'000});
      EXPECT_EQ(alone.play(), together.play()) << name_of(what) << channels;
      ASSERT_EQ(alone.heard.commands.size(), together.heard.commands.size());
      for (std::size_t i = 0; channels == 1 && i < alone.heard.commands.size(); ++i) {
        ASSERT_EQ(alone.heard.commands[i].at, together.heard.commands[i].at) << i;
      }
    }
  }
}

TEST(traffic_player, limits_reads_and_writes_apart) {
  world w;
  w.config.controller.posted_writes = false;
  std::vector<traffic_request> requests;
  for (std::uint32_t i = 0; i < 40; ++i) {
    requests.push_back(read_at(w.in_row(i / 20, i % 4), 0, request_timing::at_once));
    requests.back().address += i * 32;
  }
  w.add(requests, {.pending_reads = 2, .pending_writes = 1});
  const cycles two = w.play();
  world other;
  other.add(requests, {.outstanding = 2});
  EXPECT_EQ(two, other.play());
  world writes;
  writes.config.controller.posted_writes = false;
  for (auto& r : requests) r.write = true;
  writes.add(requests, {.pending_reads = 2, .pending_writes = 1});
  const cycles one = writes.play();
  world single;
  single.config.controller.posted_writes = false;
  single.add(requests, {.outstanding = 1});
  EXPECT_EQ(one, single.play());
}

TEST(traffic_player, stops_at_the_number_or_time_asked_for) {
  generator_options g;
  g.range_bytes = 1 << 20;
  world w;
  w.add(make_generator(g), {.requests = 77});
  w.play();
  EXPECT_EQ(w.player.requests(), 77u);
  world timed;
  g.interval_fs = 12'500'000;  // ten clocks
  timed.add(make_generator(g), {.until = 1000});
  timed.play();
  EXPECT_EQ(timed.player.requests(), 100u);
}

TEST(traffic_player, sources_take_turns) {
  world w;
  generator_options g;
  g.requests = 400;
  g.range_bytes = 1 << 15;
  g.what = pattern::random;
  for (std::uint64_t i = 0; i < 4; ++i) {
    g.first_address = i << 20;
    g.seed = i;
    w.add(make_generator(g), {.outstanding = 2});
  }
  w.play();
  EXPECT_EQ(w.player.requests(), 1600u);
  // While all have requests left, none gets far ahead: reads of each 1 MiB region among the first half.
  std::map<std::uint64_t, int> served;
  int seen = 0;
  for (const auto& c : w.heard.commands) {
    if (c.what == command::rd && ++seen <= 800) ++served[c.row >> 5];
  }
  ASSERT_EQ(served.size(), 4u);
  for (const auto& [region, count] : served) EXPECT_NEAR(count, 200, 60) << region;
}

TEST(traffic_player, keeps_many_channels_busy) {
  world w(32);
  generator_options g;
  g.requests = 64'000;
  g.range_bytes = 1 << 26;
  w.add(make_generator(g));
  const cycles end = w.play();
  // 2,000 bursts of one open row after the other per channel, 4 clocks each in a bank group, and the first latency.
  EXPECT_LT(end, 2000 * 4 * 1.02 + 200);
}

TEST(traffic_player, refuses_what_lies_outside) {
  world w;
  w.add({read_at(w.map->bytes() - 31, 0, request_timing::at_once)});
  EXPECT_THROW(w.play(), traffic_error);
}

TEST(traffic_player, nothing_to_play_takes_no_time) {
  world w;
  w.add(std::vector<traffic_request>{});
  w.add(std::vector<traffic_request>{});
  EXPECT_EQ(w.play(), 0);
  EXPECT_EQ(w.player.requests(), 0u);
}

}  // namespace
}  // namespace dvp::lpddr5
