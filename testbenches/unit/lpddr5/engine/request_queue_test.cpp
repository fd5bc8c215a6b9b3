#include "tlm/lpddr5/engine/request_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>

#include "testbenches/unit/lpddr5/engine/test_memory.h"

namespace dvp::lpddr5::test {
namespace {

// What the queue is for, in the plainest form: a list in order of arrival.
struct plain_queue {
  struct item {
    request_queue::index index;
    burst what;
  };
  bool touch(const burst& a, const burst& b) const {
    if (a.rank != b.rank || a.bank != b.bank || a.row != b.row) return false;
    for (unsigned i = 0; i < a.columns; ++i) {
      for (unsigned j = 0; j < b.columns; ++j) {
        if (a.column + 16 * i * a.column_step == b.column + 16 * j * b.column_step) return true;
      }
    }
    return false;
  }
  // Held: an older burst of the other direction touches the same address.
  bool held(std::list<item>::const_iterator it) const {
    return std::any_of(items.begin(), it, [&](const item& older) {
      return older.what.write != it->what.write && touch(older.what, it->what);
    });
  }
  request_queue::index first(std::uint32_t bank, bool write, std::int64_t row) const {
    for (auto it = items.begin(); it != items.end(); ++it) {
      if (it->what.bank != bank || it->what.write != write || (row >= 0 && it->what.row != row)) continue;
      if (!held(it)) return it->index;
    }
    return request_queue::none;
  }
  std::list<item> items;
};

TEST(request_queue, agrees_with_a_plain_list) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    random_numbers random(seed);
    const organisation shape;
    controller_config config;
    config.queue = queue_layout::shared;
    config.read_queue = 24;
    request_queue queue(shape, config);
    plain_queue plain;
    std::vector<std::int64_t> rows(shape.banks(), -1);
    for (int step = 0; step < 4000; ++step) {
      burst b;
      b.bank = static_cast<std::uint8_t>(random.below(3));
      b.row = static_cast<std::uint32_t>(random.below(3));
      b.column = static_cast<std::uint16_t>(16 * random.below(6));
      b.write = random.below(2) == 0;
      if (!b.write && random.below(4) == 0) b.columns = 2;
      const auto what = random.below(5);
      if (what < 3 && queue.has_room(b)) {
        plain.items.push_back({queue.push(b, step), b});
      } else if (what == 3 && !plain.items.empty()) {
        // Whatever leaves is not held.
        std::vector<std::list<plain_queue::item>::iterator> free;
        for (auto it = plain.items.begin(); it != plain.items.end(); ++it) {
          if (!plain.held(it)) free.push_back(it);
        }
        const auto leaving = free[random.below(free.size())];
        // Of bursts that are alike the older goes first; the scheduler picks from oldest() and hit() alone.
        if (queue.oldest(leaving->what.bank, leaving->what.write) == leaving->index ||
            queue.hit(leaving->what.bank, leaving->what.write) == leaving->index) {
          queue.remove(leaving->index);
          plain.items.erase(leaving);
        }
      } else if (what == 4) {
        rows[b.bank] = static_cast<std::int64_t>(random.below(4)) - 1;
        queue.set_row(b.bank, rows[b.bank]);
      }
      ASSERT_EQ(queue.size(), plain.items.size());
      ASSERT_EQ(queue.oldest(), plain.items.empty() ? request_queue::none : plain.items.front().index);
      for (std::uint32_t bank = 0; bank < 3; ++bank) {
        for (const bool write : {false, true}) {
          ASSERT_EQ(queue.oldest(bank, write), plain.first(bank, write, -1)) << step;
          ASSERT_EQ(queue.hit(bank, write), rows[bank] < 0 ? request_queue::none : plain.first(bank, write, rows[bank]))
              << step;
        }
      }
    }
  }
}

}  // namespace
}  // namespace dvp::lpddr5::test
