// DPPR's bookkeeping: small cases by hand, then millions of random transitions beside a plain model that knows only
// what happened when.
#include "firmware/dllm/revision.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace dvp::dllm {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
using code = revision_code;
using state = visibility_state;

revision_rules rules_of(std::uint32_t block_length, revision_policy policy = revision_policy::oldest) {
  return {.policy = policy, .block_length = block_length, .first_layer = 2, .layers = 3};
}

// Everything in one window; predictions by position.
void forward(revision& r, const std::vector<float>& confidences, std::uint32_t token = 5) {
  for (std::uint32_t i = 0; i < confidences.size(); ++i) {
    if (r.entries()[i].state != state::stable) {
      ASSERT_EQ(r.observe(i, token, confidences[i]), code::ok);
    }
  }
  ASSERT_TRUE(r.end_forward());
}

std::string states(const revision& r) {
  std::string text;
  for (const revision_entry& e : r.entries()) {
    text += "ivs"[static_cast<int>(e.state)];
  }
  return text;
}

TEST(revision, from_masked_to_frozen) {
  std::vector<revision_entry> entries(4);
  revision r(rules_of(2), entries);
  ASSERT_EQ(r.move_window(0, 4), code::ok);
  forward(r, {0.95f, 0.5f, 0.99f, 0.99f});
  EXPECT_EQ(states(r), "viii") << "later blocks wait, and nothing is stable at once";
  forward(r, {0.95f, 0.3f, 0.9f, 0.9f});
  EXPECT_EQ(states(r), "svii") << "without a confident one, the best becomes visible";
  EXPECT_EQ(r.current_block(), 2u);
  forward(r, {0, 0.9f, 0.2f, nan});
  EXPECT_EQ(states(r), "ssvi");
  EXPECT_EQ(r.observe(0, 5, 1.0f), code::stable_write);
  forward(r, {0, 0, 0.3f, nan});
  EXPECT_EQ(states(r), "ssvv") << "even NaN makes progress";
  EXPECT_TRUE(r.complete());
  forward(r, {0, 0, 0.9f, 0.9f});
  EXPECT_EQ(states(r), "ssss");
  EXPECT_EQ(r.counters().made_visible, 4u);
  EXPECT_EQ(r.counters().below_visibility, 3u);
  EXPECT_EQ(r.counters().made_stable, 4u);
}

// A forward that is asked about masks alone.
TEST(revision, a_confident_token_is_frozen_by_the_forward_that_had_it_as_input) {
  std::vector<revision_entry> entries(4);
  revision r(rules_of(2), entries);
  ASSERT_EQ(r.move_window(0, 4), code::ok);
  ASSERT_EQ(r.observe(0, 5, 0.95f), code::ok);
  ASSERT_EQ(r.observe(1, 5, 0.8f), code::ok);
  ASSERT_TRUE(r.end_forward());
  EXPECT_EQ(states(r), "vvii");
  EXPECT_FALSE(entries[0].fed);
  std::vector<revision_transaction> t(2);
  ASSERT_EQ(r.pick(t), 1u) << "the confident one needs no revision";
  EXPECT_EQ(t[0].position, 1u);
  ASSERT_EQ(r.observe(2, 5, 0.95f), code::ok);
  ASSERT_TRUE(r.end_forward());
  EXPECT_EQ(states(r), "svvi");
  EXPECT_TRUE(entries[1].fed);
  t[0].token = 6;
  t[0].confidence = 0.99f;
  ASSERT_EQ(r.merge(t[0]), code::ok);
  EXPECT_FALSE(entries[1].fed) << "another token has not been an input yet";
  ASSERT_EQ(r.move_window(2, 2), code::ok);
  ASSERT_EQ(r.observe(3, 5, 0.1f), code::ok);
  ASSERT_TRUE(r.end_forward());
  EXPECT_EQ(states(r), "svsv") << "a confident one that left the window waits for its revision";
  ASSERT_EQ(r.pick(t), 2u);
  EXPECT_EQ(t[0].position, 3u);
  EXPECT_EQ(t[1].position, 1u);
}

TEST(revision, accepted_predictions_need_no_confidence) {
  std::vector<revision_entry> entries(4);
  revision r(rules_of(2), entries);
  ASSERT_EQ(r.move_window(0, 4), code::ok);
  EXPECT_EQ(r.accept(0), code::bad_argument) << "not observed";
  EXPECT_EQ(r.accept(4), code::bad_argument);
  ASSERT_EQ(r.observe(0, 5, 0.1f), code::ok);
  ASSERT_EQ(r.observe(2, 5, 0.1f), code::ok);
  ASSERT_EQ(r.accept(0), code::ok);
  ASSERT_EQ(r.accept(2), code::ok);
  ASSERT_TRUE(r.end_forward());
  EXPECT_EQ(states(r), "viii") << "later blocks wait all the same";
  EXPECT_EQ(r.counters().below_visibility, 0u);
  EXPECT_EQ(r.accept(0), code::bad_argument) << "not masked";
}

TEST(revision, a_run_can_be_cut_short) {
  std::vector<revision_entry> entries(6);
  revision r(rules_of(2), entries);
  ASSERT_EQ(r.move_window(0, 5), code::ok);
  forward(r, {0.8f, 0.8f, 0, 0, 0});
  EXPECT_EQ(r.cut(0), code::bad_argument) << "behind the front";
  EXPECT_EQ(r.cut(3), code::bad_argument) << "inside a block";
  EXPECT_EQ(r.cut(8), code::bad_argument);
  EXPECT_FALSE(r.complete());
  ASSERT_EQ(r.cut(2), code::ok);
  EXPECT_TRUE(r.complete());
  EXPECT_EQ(r.observe(2, 5, 1.0f), code::bad_argument);
  ASSERT_TRUE(r.end_forward());
}

TEST(revision, a_forward_without_predictions_is_no_progress) {
  std::vector<revision_entry> entries(2);
  revision r(rules_of(2), entries);
  EXPECT_FALSE(r.end_forward());
  EXPECT_EQ(r.observe(0, 1, 1), code::bad_argument) << "not in the window";
  EXPECT_EQ(r.move_window(1, 2), code::bad_argument);
  EXPECT_EQ(r.move_window(~0u, 2), code::bad_argument);
  EXPECT_EQ(r.merge({.position = 2}), code::bad_argument);
}

TEST(revision, policies) {
  for (const auto& [policy, expected] :
       {std::pair{revision_policy::oldest, std::vector<std::uint32_t>{0, 1, 2, 3, 0}},
        std::pair{revision_policy::low_confidence, std::vector<std::uint32_t>{2, 0, 1, 3, 2}}}) {
    std::vector<revision_entry> entries(4);
    revision r(rules_of(4, policy), entries);
    ASSERT_EQ(r.move_window(0, 4), code::ok);
    forward(r, {0.75f, 0.8f, 0.7f, 0.8f});
    std::vector<std::uint32_t> order;
    for (int i = 0; i < 5; ++i) {
      std::vector<revision_transaction> one(1);
      if (i == 4) {  // the first comes back unconfirmed; the others are still on their way
        EXPECT_EQ(r.merge({expected[0], 0, 0, r.entries()[expected[0]].token_version,
                           r.entries()[expected[0]].kv_version, 5, 0.1f}),
                  code::ok);
      }
      ASSERT_EQ(r.pick(one), 1u);
      order.push_back(one[0].position);
    }
    EXPECT_EQ(order, expected);
    std::vector<revision_transaction> more(3);
    EXPECT_EQ(r.pick(more), 0u) << "all are in flight";
  }
}

TEST(revision, transactions_land_once_and_only_on_what_they_saw) {
  std::vector<revision_entry> entries(2);
  revision r(rules_of(2), entries);
  ASSERT_EQ(r.move_window(0, 2), code::ok);
  forward(r, {0.8f, 0.8f});
  std::vector<revision_transaction> t(2);
  ASSERT_EQ(r.pick(t), 2u);
  EXPECT_EQ(t[0].layers, 0u) << "the window rebuilds keys and values anyway";
  t[0].token = 6;
  EXPECT_EQ(r.merge(t[0]), code::ok);
  EXPECT_EQ(r.entries()[0].token, 6u);
  EXPECT_EQ(states(r), "vv") << "another token is not stable, however sure";
  EXPECT_EQ(r.merge(t[0]), code::dropped) << "twice";
  const revision_transaction unasked{0, 0, 0, entries[0].token_version, entries[0].kv_version, 7, 1.0f};
  EXPECT_EQ(r.merge(unasked), code::dropped) << "nobody picked it";
  ASSERT_EQ(r.move_window(1, 1), code::ok);
  std::vector<revision_transaction> u(1);
  ASSERT_EQ(r.pick(u), 1u);
  EXPECT_EQ(u[0].position, 0u);
  EXPECT_EQ(u[0].first_layer, 2u);
  EXPECT_EQ(u[0].layers, 3u);
  u[0].confidence = 0.9f;
  EXPECT_EQ(r.merge(u[0]), code::ok);
  EXPECT_EQ(r.entries()[0].state, state::stable) << "confirmed by a revision";
  EXPECT_EQ(r.merge(u[0]), code::dropped);
  ASSERT_EQ(r.observe(1, 5, 0.95f), code::ok);
  ASSERT_TRUE(r.end_forward());
  EXPECT_EQ(states(r), "ss");
  EXPECT_EQ(r.merge(t[1]), code::dropped) << "frozen meanwhile";
  EXPECT_EQ(r.counters().applied, 2u);
  EXPECT_EQ(r.counters().dropped, 4u);
}

TEST(revision, a_write_to_a_frozen_entry_stops_the_run) {
  std::vector<revision_entry> entries(1);
  revision r(rules_of(1), entries);
  ASSERT_EQ(r.move_window(0, 1), code::ok);
  forward(r, {0.9f});
  forward(r, {0.9f});
  ASSERT_EQ(states(r), "s");
  entries[0].in_flight = true;  // broken bookkeeping
  const revision_transaction t{0, 0, 0, entries[0].token_version, entries[0].kv_version, 9, 1.0f};
  EXPECT_EQ(r.merge(t), code::stable_write);
  EXPECT_EQ(r.entries()[0].token, 5u);
}

TEST(revision, a_forward_that_predicts_another_token_changes_nothing) {
  std::vector<revision_entry> entries(1);
  revision r(rules_of(1), entries);
  ASSERT_EQ(r.move_window(0, 1), code::ok);
  forward(r, {0.8f}, 5);
  forward(r, {0.95f}, 6);
  EXPECT_EQ(r.entries()[0].token, 5u);
  EXPECT_EQ(r.entries()[0].confidence, 0.8f);
  EXPECT_EQ(states(r), "v");
}

// The plain model: a diary per position. It has no versions; it remembers the last event that makes a correction
// outdated, and when each correction was begun.
struct diary {
  state is = state::invisible;
  std::uint32_t token = 0;
  float confidence = 0;
  std::uint64_t changed = 0;           // event of the last change of token, state, tier, or landed correction
  std::optional<std::uint64_t> begun;  // the correction that may still land
  std::uint32_t last_pick = 0;
  bool fed = false;  // a forward worked on the position when it had this token
};

struct flight {
  revision_transaction t;
  std::uint64_t begun = 0;
  std::uint32_t due = 0;
  bool forged = false;
};

struct run_statistics {
  std::uint64_t transitions = 0;
  std::uint64_t applied = 0;
  std::uint64_t dropped = 0;
  std::uint64_t forged = 0;
};

class random_run {
 public:
  explicit random_run(std::uint32_t seed) : engine_(seed) {
    rules_.block_length = 1 + below(12);
    rules_.policy = below(2) == 0 ? revision_policy::oldest : revision_policy::low_confidence;
    rules_.visibility = static_cast<float>(below(11)) / 10;
    rules_.stability = static_cast<float>(below(11)) / 10;
    rules_.first_layer = below(3);
    rules_.layers = below(4);
    positions_ = rules_.block_length * (1 + below(5));
    entries_.resize(positions_);
    model_.resize(positions_);
    vocabulary_ = 1 + below(4);
  }

  void run(run_statistics& statistics) {
    revision r(rules_, entries_);
    // At least one masked position a forward: the number of positions bounds the forwards until none is masked.
    std::uint32_t forwards = 0;
    while (!r.complete()) {
      ASSERT_LE(++forwards, positions_);
      ASSERT_NO_FATAL_FAILURE(step(r, statistics));
    }
    for (std::uint32_t left = 4 + below(20); left != 0 && states(r).find('v') != std::string::npos; --left) {
      ASSERT_NO_FATAL_FAILURE(step(r, statistics));
    }
    ASSERT_EQ(r.counters().made_visible, positions_);
    statistics.applied += r.counters().applied;
    statistics.dropped += r.counters().dropped;
  }

 private:
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(engine_() >> 33) % limit; }
  float confidence() { return below(40) == 0 ? nan : static_cast<float>(below(21)) / 20; }

  std::uint32_t model_block() const {
    for (std::uint32_t i = 0; i < positions_; ++i) {
      if (model_[i].is == state::invisible) {
        return i / rules_.block_length * rules_.block_length;
      }
    }
    return positions_;
  }

  void touch(std::uint32_t i) {
    model_[i].changed = ++event_;
    model_[i].begun.reset();
  }

  void step(revision& r, run_statistics& statistics) {
    const std::uint32_t block = model_block();
    ASSERT_EQ(r.current_block(), block);
    move(r, block);
    ASSERT_NO_FATAL_FAILURE(pick(r));
    ASSERT_NO_FATAL_FAILURE(predict(r, block, statistics));
    ASSERT_NO_FATAL_FAILURE(land(r, statistics));
    compare(r);
  }

  // The window holds at least the masks of the block in work.
  void move(revision& r, std::uint32_t block) {
    std::uint32_t first = below(positions_);
    std::uint32_t count = below(positions_ - first + 1);
    if (block != positions_) {
      first = block == 0 ? 0 : block - below(std::min(block, 5u) + 1);
      count = std::min(positions_ - first, block - first + rules_.block_length + below(6));
    }
    for (std::uint32_t i = 0; i < positions_; ++i) {
      const bool was = i >= first_ && i < first_ + count_;
      const bool is = i >= first && i < first + count;
      if (was != is && model_[i].is != state::stable) {
        touch(i);
      }
    }
    first_ = first;
    count_ = count;
    ASSERT_EQ(r.move_window(first, count), code::ok);
  }

  void pick(revision& r) {
    std::vector<revision_transaction> targets(below(4));
    const std::uint32_t count = r.pick(targets);
    std::vector<std::uint32_t> free;
    for (std::uint32_t i = 0; i < positions_; ++i) {
      const bool settles = i >= first_ && i < first_ + count_ && model_[i].confidence >= rules_.stability;
      if (model_[i].is == state::visible && !model_[i].begun && !settles) {
        free.push_back(i);
      }
    }
    std::stable_sort(free.begin(), free.end(), [&](std::uint32_t a, std::uint32_t b) {
      if (rules_.policy == revision_policy::oldest) {
        return model_[a].last_pick < model_[b].last_pick;
      }
      const float x = model_[a].confidence, y = model_[b].confidence;
      return x < y || (x != x && y == y);
    });
    ASSERT_EQ(count, std::min(free.size(), targets.size()));
    for (std::uint32_t k = 0; k < count; ++k) {
      revision_transaction& t = targets[k];
      ASSERT_EQ(t.position, free[k]);
      const bool in_window = t.position >= first_ && t.position < first_ + count_;
      ASSERT_EQ(t.layers, in_window ? 0 : rules_.layers);
      model_[t.position].begun = ++event_;
      model_[t.position].last_pick = r.step() + 1;
      t.token = below(vocabulary_);
      t.confidence = confidence();
      flights_.push_back({t, event_, r.step() + below(5)});
      if (below(16) == 0) {
        flights_.push_back({t, event_, r.step() + below(9)});  // delivered twice
      }
      if (below(16) == 0) {
        flight forged{t, event_, r.step() + below(3), true};
        (below(2) == 0 ? forged.t.token_version : forged.t.kv_version) -= 1 + below(3);
        flights_.push_back(forged);
      }
    }
  }

  void predict(revision& r, std::uint32_t block, run_statistics& statistics) {
    const std::uint32_t block_end = block == positions_ ? positions_ : block + rules_.block_length;
    std::map<std::uint32_t, std::pair<std::uint32_t, float>> said;
    std::set<std::uint32_t> accepted;
    const bool ask_visible = below(2) == 0;
    for (std::uint32_t i = first_; i < first_ + count_; ++i) {
      const std::uint32_t token = below(vocabulary_);
      const float c = confidence();
      if (model_[i].is == state::stable) {
        ASSERT_EQ(r.observe(i, token, c), code::stable_write);
        continue;
      }
      if (model_[i].is == state::visible && !ask_visible) {
        continue;
      }
      ASSERT_EQ(r.observe(i, token, c), code::ok);
      said[i] = {token, c};
      ++statistics.transitions;
      if (below(8) == 0) {
        ASSERT_EQ(r.accept(i), model_[i].is == state::invisible ? code::ok : code::bad_argument);
        accepted.insert(i);
      }
    }
    ASSERT_TRUE(r.end_forward());
    for (std::uint32_t i = first_; i < first_ + count_; ++i) {
      diary& d = model_[i];
      d.fed |= d.is == state::visible;
      if (d.is == state::visible && said.count(i) == 0 && d.confidence >= rules_.stability) {
        freeze(i);
      }
    }

    std::vector<std::uint32_t> reach, masked;
    for (const auto& [i, s] : said) {
      diary& d = model_[i];
      if (d.is == state::visible) {
        if (s.first == d.token) {
          d.confidence = s.second;
          if (s.second >= rules_.stability) {
            freeze(i);
          }
        }
      } else if (i >= block && i < block_end) {
        masked.push_back(i);
        if (s.second >= rules_.visibility || accepted.count(i) != 0) {
          reach.push_back(i);
        }
      }
    }
    if (reach.empty() && !masked.empty()) {
      reach.push_back(*std::max_element(masked.begin(), masked.end(), [&](std::uint32_t a, std::uint32_t b) {
        const float x = said[a].second, y = said[b].second;
        return x < y || (x != x && y == y);
      }));
    }
    ASSERT_TRUE(block == positions_ || !reach.empty()) << "every step makes progress";
    for (const std::uint32_t i : reach) {
      model_[i].is = state::visible;
      model_[i].token = said[i].first;
      model_[i].confidence = said[i].second;
      touch(i);
    }
  }

  void freeze(std::uint32_t i) {
    model_[i].is = state::stable;
    touch(i);
    frozen_[i] = model_[i].token;
  }

  void land(revision& r, run_statistics& statistics) {
    std::shuffle(flights_.begin(), flights_.end(), engine_);
    std::vector<flight> later;
    for (const flight& f : flights_) {
      if (f.due > r.step()) {
        later.push_back(f);
        continue;
      }
      ++statistics.transitions;
      statistics.forged += f.forged ? 1 : 0;
      diary& d = model_[f.t.position];
      const bool fresh = !f.forged && d.begun && *d.begun == f.begun && d.changed < f.begun;
      ASSERT_EQ(r.merge(f.t), fresh ? code::ok : code::dropped);
      if (!fresh) {
        continue;
      }
      touch(f.t.position);
      if (f.t.token != d.token) {
        d.token = f.t.token;
        d.fed = false;
        d.confidence = f.t.confidence;
      } else {
        d.confidence = f.t.confidence;
        if (f.t.confidence >= rules_.stability) {
          freeze(f.t.position);
        }
      }
    }
    flights_ = std::move(later);
  }

  void compare(const revision& r) {
    bool masks_before = false;
    for (std::uint32_t i = 0; i < positions_; ++i) {
      const revision_entry& e = r.entries()[i];
      ASSERT_EQ(e.state, model_[i].is) << i;
      if (e.state != state::invisible) {
        ASSERT_EQ(e.token, model_[i].token) << i;
        ASSERT_TRUE(e.confidence == model_[i].confidence || (e.confidence != e.confidence)) << i;
        ASSERT_EQ(e.fed, model_[i].fed) << i;
      }
      if (i % rules_.block_length == 0) {
        const auto block = model_.begin() + i;
        const auto end = block + rules_.block_length;
        ASSERT_TRUE(!masks_before || std::all_of(block, end, [](const diary& d) { return d.is == state::invisible; }))
            << "blocks fill from left to right";
        masks_before |= std::any_of(block, end, [](const diary& d) { return d.is == state::invisible; });
      }
    }
    for (const auto& [i, token] : frozen_) {
      ASSERT_EQ(r.entries()[i].state, state::stable);
      ASSERT_EQ(r.entries()[i].token, token) << "no stable entry changes";
    }
  }

  std::mt19937_64 engine_;
  revision_rules rules_;
  std::uint32_t positions_ = 0;
  std::uint32_t vocabulary_ = 0;
  std::vector<revision_entry> entries_;
  std::vector<diary> model_;
  std::map<std::uint32_t, std::uint32_t> frozen_;
  std::vector<flight> flights_;
  std::uint64_t event_ = 0;
  std::uint32_t first_ = 0;
  std::uint32_t count_ = 0;
};

TEST(revision, millions_of_transitions_keep_the_invariants) {
  constexpr std::uint64_t wanted = 8'000'000;
  const auto begin = std::chrono::steady_clock::now();
  run_statistics s;
  std::uint32_t seed = 20261129;
  for (; s.transitions < wanted; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    ASSERT_NO_FATAL_FAILURE(random_run(seed).run(s));
    if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(15)) {
      break;
    }
  }
  std::printf("seeds 20261129 to %u: %llu transitions, %llu corrections landed, %llu dropped, %llu forged\n", seed - 1,
              static_cast<unsigned long long>(s.transitions), static_cast<unsigned long long>(s.applied),
              static_cast<unsigned long long>(s.dropped), static_cast<unsigned long long>(s.forged));
  EXPECT_GT(s.transitions, wanted / 30) << "too slow to say much";
  EXPECT_GT(s.applied, s.transitions / 200);
  EXPECT_GT(s.dropped, s.transitions / 200);
  EXPECT_GT(s.forged, s.transitions / 2000);
}

// The same calls give the same hash.
TEST(revision, the_hash_tells_runs_apart) {
  const auto hash_of = [](float last) {
    std::vector<revision_entry> entries(2);
    revision r(rules_of(2), entries);
    EXPECT_EQ(r.move_window(0, 2), code::ok);
    forward(r, {0.8f, 0.75f});
    std::vector<revision_transaction> t(1);
    EXPECT_EQ(r.pick(t), 1u);
    forward(r, {0.8f, last});
    return r.state_hash();
  };
  EXPECT_EQ(hash_of(0.95f), hash_of(0.95f));
  EXPECT_NE(hash_of(0.95f), hash_of(0.85f));
}

}  // namespace
}  // namespace dvp::dllm
