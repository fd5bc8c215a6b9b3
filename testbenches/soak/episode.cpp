#include "testbenches/soak/episode.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "tlm/lpddr5/config/builtin_device.h"

namespace dvp::lpddr5::test {

namespace {

template <typename T, std::size_t n>
const T& one_of(random_generator& random, const std::array<T, n>& choices) {
  return choices[random.below(n)];
}

constexpr std::array<const char*, 3> scheduler_names{"fifo", "fr-fcfs", "fr-fcfs-grouped"};
constexpr std::array<const char*, 4> page_names{"open", "open-adaptive", "closed", "closed-adaptive"};
constexpr std::array<const char*, 3> refresh_names{"none", "all-bank", "per-bank"};
constexpr std::array<const char*, 3> queue_names{"shared", "read-write", "bankwise"};
constexpr std::array<const char*, 3> layout_names{"bytes", "nibble", "bitplane"};
constexpr std::array<const char*, 5> kind_names{"sequential", "uniform", "hot", "conflicts", "mixed"};

// The built-in speeds run in BG and 8B mode; 16B is for slower ones.
device slow_16b(device d, std::uint32_t burst_length) {
  d.id += " as 16B";
  d.shape.bank_groups = 1;
  d.shape.banks_per_group = 16;
  d.shape.burst_length = burst_length;
  timing& t = d.times;
  t.BL_n_min = t.BL_n_max = t.BL_n_S = t.BL_n_L = burst_length / 8;
  t.WTR_S = t.WTR_L;
  t.RTW_S = t.RTW_L = t.RL + t.BL_n_min + 2 - t.WL;
  return d;
}

device random_device(random_generator& random) {
  device_choice choice;
  choice.speed = one_of(random, std::array<std::string, 3>{"lpddr5-5500", "lpddr5-6400", "lpddr5x-8533"});
  choice.density_gbit = one_of(random, std::array<std::uint32_t, 3>{8, 16, 32});
  choice.ranks = random.chance(0.4) ? 2 : 1;
  choice.wck_always_on = random.chance(0.5);
  const std::uint64_t mode = random.below(6);
  if (mode == 0 && choice.speed != "lpddr5x-8533") {
    choice.mode = bank_mode::b8;
  } else {
    choice.mode = bank_mode::bg;
    choice.burst_length = mode <= 2 ? 32U : 16U;
  }
  const device d = builtin_device(choice);
  return mode == 5 ? slow_16b(d, random.chance(0.5) ? 16 : 32) : d;
}

controller_config random_config(random_generator& random) {
  controller_config c;
  c.scheduler = static_cast<scheduler_policy>(random.below(3));
  c.page = static_cast<page_policy>(random.below(4));
  c.refresh = static_cast<refresh_policy>(random.below(3));
  c.refresh_postpone = static_cast<std::uint32_t>(random.chance(0.5) ? 0 : random.below(9));
  c.refresh_pull_in = static_cast<std::uint32_t>(random.chance(0.5) ? 0 : random.below(9));
  c.queue = static_cast<queue_layout>(random.below(3));
  c.read_queue = one_of(random, std::array<std::uint32_t, 5>{1, 2, 8, 32, 64});
  c.write_queue = one_of(random, std::array<std::uint32_t, 5>{1, 2, 8, 32, 64});
  c.write_high = static_cast<std::uint32_t>(1 + random.below(c.write_queue));
  c.write_low = static_cast<std::uint32_t>(random.below(c.write_high));
  c.posted_writes = random.chance(0.7);
  c.coalesce_writes = random.chance(0.5);
  c.starvation_limit = one_of(random, std::array<cycles, 4>{0, 64, 512, 4096});
  c.power_down_after = random.chance(0.5) ? 0 : static_cast<cycles>(1 + random.below(100));
  c.self_refresh_after = random.chance(0.6) ? 0 : static_cast<cycles>(100 + random.below(8000));
  c.frontend_cycles = static_cast<cycles>(random.below(5));
  c.backend_cycles = static_cast<cycles>(random.below(5));
  c.tagged.layout = random.chance(0.6) ? data_layout::bytes : static_cast<data_layout>(1 + random.below(2));
  c.tagged.core_feed = static_cast<std::uint32_t>(1 + random.below(4));
  c.tagged.convert_cycles = static_cast<cycles>(random.below(4));
  c.tagged.scales = random.chance(0.5) ? scale_place::cached : scale_place::in_burst;
  return c;
}

traffic random_traffic(random_generator& random, const device& d) {
  traffic t;
  t.kind = static_cast<traffic_kind>(random.below(5));
  t.write_share = one_of(random, std::array<double, 5>{0, 0.1, 0.3, 0.5, 1});
  t.tagged_share = random.chance(0.5) ? 0 : 0.5;
  t.window = one_of(random, std::array<std::uint32_t, 4>{1, 8, 64, 256});
  t.backlog = one_of(random, std::array<std::uint32_t, 3>{1, 4, 32});
  t.gap = random.chance(0.5) ? 0 : static_cast<cycles>(random.below(60));
  t.pause = random.chance(0.6) ? 0 : static_cast<cycles>(random.below(20'000));
  t.region = d.shape.burst_bytes() << random.below(8);
  return t;
}

}  // namespace

episode random_episode(random_generator& random) {
  episode e;
  e.memory = random_device(random);
  e.rules = builtin_rules();
  e.config = random_config(random);
  e.channels = one_of(random, std::array<std::uint32_t, 3>{1, 2, 4});
  const auto& orders = standard_mapping_orders();
  e.mapping_order = orders[random.below(orders.size())];
  // A layout keeps its planes in one channel: 2 bursts for nibbles, 8 for bit planes.
  const std::uint64_t layout = static_cast<std::uint64_t>(e.config.tagged.layout);
  const std::uint64_t least = layout == 0 ? 0 : layout == 1 ? 1 : 3;
  const std::uint64_t interleave = std::uint64_t{e.memory.shape.burst_bytes()}
                                   << std::max<std::uint64_t>(least, random.below(4));
  e.mapping = standard_mapping(e.mapping_order, e.memory.shape, e.channels, interleave, random.chance(0.3));
  e.load = random_traffic(random, e.memory);
  return e;
}

access random_access(random_generator& random, const episode& e, std::uint64_t bytes, std::uint64_t previous) {
  access a;
  a.write = random.chance(e.load.write_share);
  const std::uint64_t burst = e.memory.shape.burst_bytes();
  const bool plain = random.chance(0.8);
  a.bytes = plain ? burst : 1 + random.below(512);
  traffic_kind kind = e.load.kind;
  if (kind == traffic_kind::mixed) kind = static_cast<traffic_kind>(random.below(4));
  switch (kind) {
    case traffic_kind::sequential:
      a.address = previous;
      break;
    case traffic_kind::hot:
      a.address = bytes / 3 + random.below(e.load.region);
      break;
    case traffic_kind::conflicts:  // a few places far apart
      a.address = random.below(64) * (bytes / 64) + random.below(2048);
      break;
    case traffic_kind::uniform:
    case traffic_kind::mixed:
      a.address = random.below(bytes);
      break;
  }
  if (plain) a.address = a.address / burst * burst;
  if (a.address + a.bytes > bytes) a.address = bytes - a.bytes;
  if (!a.write && random.chance(e.load.tagged_share)) {
    a.tagged = true;
    a.precision = one_of(random, std::array<std::uint8_t, 4>{8, 4, 2, 0});
    a.bytes = std::min(a.bytes * (1 + random.below(4)), bytes - a.address);
  }
  return a;
}

std::string episode::description() const {
  const organisation& o = memory.shape;
  const auto name = [](const auto& names, auto value) { return names[static_cast<std::size_t>(value)]; };
  std::ostringstream out;
  out << memory.id << " BL" << o.burst_length << " groups " << o.bank_groups << "x" << o.banks_per_group << " ranks "
      << o.ranks << " rows " << o.rows << (o.wck_always_on ? " wck-on" : " wck-sync") << " channels " << channels << " "
      << mapping_order << " | " << name(scheduler_names, config.scheduler) << " " << name(page_names, config.page)
      << " refresh " << name(refresh_names, config.refresh) << " +" << config.refresh_postpone << "-"
      << config.refresh_pull_in << " queue " << name(queue_names, config.queue) << " " << config.read_queue << "/"
      << config.write_queue << " drain " << config.write_high << ".." << config.write_low
      << (config.posted_writes ? " posted" : "") << (config.coalesce_writes ? " coalesce" : "") << " starvation "
      << config.starvation_limit << " pd " << config.power_down_after << " sr " << config.self_refresh_after << " ends "
      << config.frontend_cycles << "/" << config.backend_cycles << " " << name(layout_names, config.tagged.layout)
      << " feed " << config.tagged.core_feed << " convert " << config.tagged.convert_cycles
      << (config.tagged.scales == scale_place::cached ? "" : " scales-in-burst") << " | " << name(kind_names, load.kind)
      << " writes " << load.write_share << " tagged " << load.tagged_share << " window " << load.window << " backlog "
      << load.backlog << " gap " << load.gap << " pause " << load.pause << " region " << load.region;
  return out.str();
}

}  // namespace dvp::lpddr5::test
