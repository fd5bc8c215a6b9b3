// Random accesses through random controllers, every command and every answer judged.
//
//   lpddr5_soak --requests 1000000 --seed 1 [--episode 17] [--per-episode 20000]
//
// Prints one line per episode. Ends with status 1 at the first episode that breaks a rule, and says how to repeat it.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>

#include "testbenches/soak/access_ledger.h"
#include "testbenches/soak/episode.h"

namespace dvp::lpddr5::test {
namespace {

struct options {
  std::uint64_t requests = 1'000'000;
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> episode;
  std::uint64_t per_episode = 20'000;
};

struct totals {
  std::uint64_t requests = 0, commands = 0, violations = 0, forwarded = 0, coalesced = 0;
  cycles clocks = 0;
};

checker_options promise_of(const controller_config& config) {
  checker_options options;
  options.refresh.kind = static_cast<refresh_kind>(config.refresh);
  options.refresh.postpone = config.refresh_postpone;
  options.refresh.pull_in = config.refresh_pull_in;
  options.core_feed = config.tagged.core_feed;
  return options;
}

// Plays the traffic; gives false when the memory stops answering.
bool play(const episode& e, std::uint64_t requests, random_generator& random, memory_system& memory,
          access_ledger& ledger) {
  cycles now = 0;
  std::uint64_t previous = 0;
  for (std::uint64_t id = 0; id < requests; ++id) {
    while (memory.unfinished() >= e.load.window || memory.waiting() >= e.load.backlog) {
      const cycles next = memory.next_event();
      if (next >= never) return false;
      now = std::max(now, next);
      memory.advance(++now);
    }
    if (e.load.gap != 0) now += static_cast<cycles>(random.below(static_cast<std::uint64_t>(e.load.gap) + 1));
    if (e.load.pause != 0 && random.below(200) == 0) now += e.load.pause;
    access a = random_access(random, e, memory.bytes(), previous);
    a.id = id;
    previous = a.address + a.bytes < memory.bytes() ? a.address + a.bytes : 0;
    memory.advance(now);
    ledger.submitted(now, a);
    memory.submit(now, a);
  }
  return true;
}

// The sum of a hash of every event: the same events give the same sum in whatever order channels tell them.
class fingerprint : public access_sink, public command_sink {
 public:
  void accepted(std::uint64_t id, cycles at) override { add(id, static_cast<std::uint64_t>(at), 1); }
  void finished(std::uint64_t id, cycles at) override { add(id, static_cast<std::uint64_t>(at), 2); }
  void issued(std::uint32_t channel, const issued_command& c) override {
    add((std::uint64_t{channel} << 40) | (std::uint64_t{static_cast<std::uint8_t>(c.what)} << 32) | (c.rank << 8U) |
            c.bank,
        static_cast<std::uint64_t>(c.at), (std::uint64_t{c.row} << 16) | c.column);
  }
  std::uint64_t sum() const { return sum_; }

 private:
  void add(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    sum_ += random_generator(a ^ random_generator(b ^ (c << 20)).next()).next();
  }
  std::uint64_t sum_ = 0;
};

// What the memory does with accesses at given times, time being advanced in between at random, or not at all.
std::uint64_t fingerprint_of(const episode& e, std::uint64_t seed, bool advanced) {
  const address_mapping mapping(e.mapping, e.memory.shape, e.channels);
  const rule_table rules = compile(e.rules, e.memory.times);
  fingerprint events;
  memory_system memory(e.memory, rules, e.config, mapping, events, &events);
  random_generator random(seed), pace(seed + 1);
  cycles now = 0;
  for (std::uint64_t id = 0; id < 1000; ++id) {
    access a = random_access(random, e, memory.bytes(), id * 64 % memory.bytes());
    a.id = id;
    const auto gap = static_cast<cycles>(random.below(random.chance(0.02) ? 10'000 : 40));
    while (advanced && pace.chance(0.5)) {
      memory.advance(memory.now() +
                     static_cast<cycles>(pace.below(static_cast<std::uint64_t>(now + gap - memory.now()) + 1)));
      if (pace.chance(0.5)) memory.next_event();
    }
    now += gap;
    memory.submit(now, a);
  }
  memory.drain();
  memory.advance(now + 1'000'000);
  return events.sum();
}

totals run_episode(const options& o, std::uint64_t number, std::uint64_t requests) {
  random_generator random(o.seed * 1'000'003 + number);
  const episode e = random_episode(random);
  std::cout << "seed " << o.seed << " episode " << number << ": " << e.description() << std::flush;

  const address_mapping mapping(e.mapping, e.memory.shape, e.channels);
  const rule_table rules = compile(e.rules, e.memory.times);
  command_checker checker(e.memory, e.channels, promise_of(e.config));
  access_ledger ledger(e.memory, e.config, mapping, checker);
  memory_system memory(e.memory, rules, e.config, mapping, ledger, &ledger);

  const std::uint64_t seed = random.next();
  const bool repeats = number % 10 != 0 || fingerprint_of(e, seed, false) == fingerprint_of(e, seed, true);
  const bool answered = play(e, requests, random, memory, ledger);
  const cycles busy = answered ? memory.drain() : memory.now();
  // Then idle for a few refreshes, power-down and self-refresh included.
  const cycles end = busy + static_cast<cycles>(random.below(5)) * e.memory.times.REFI;
  memory.advance(end);
  const system_figures& figures = memory.figures(end);
  ledger.end(figures);
  checker.finish(end);

  totals t;
  t.requests = requests;
  t.commands = checker.commands();
  t.violations = checker.violations() + ledger.violations() + !answered + !repeats;
  t.clocks = end;
  for (const auto& c : figures.channels) {
    t.forwarded += c.forwarded_reads;
    t.coalesced += c.coalesced_writes;
  }
  std::cout << " | " << t.commands << " commands, " << t.clocks << " clocks, " << t.forwarded << " forwarded, "
            << t.coalesced << " coalesced, " << t.violations << " violations\n";
  if (t.violations != 0) {
    if (!answered) std::cout << "  the memory has unfinished accesses and no next event\n";
    if (!repeats) std::cout << "  what the memory does depends on how often time is advanced\n";
    for (const auto& s : checker.sentences()) std::cout << "  " << s << "\n";
    for (const auto& s : ledger.sentences()) std::cout << "  " << s << "\n";
    std::cout << "  repeat: lpddr5_soak --seed " << o.seed << " --episode " << number << " --per-episode "
              << o.per_episode << "\n";
  }
  return t;
}

int run(const options& o) {
  const auto begin = std::chrono::steady_clock::now();
  totals sum;
  std::uint64_t number = o.episode.value_or(0);
  do {
    const totals t = run_episode(o, number++, o.per_episode);
    sum.requests += t.requests;
    sum.commands += t.commands;
    sum.violations += t.violations;
    sum.forwarded += t.forwarded;
    sum.coalesced += t.coalesced;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::printf(
        "total: %llu requests, %llu commands, %llu forwarded, %llu coalesced, %llu violations, %.0f s, %.0f "
        "requests/s\n",
        static_cast<unsigned long long>(sum.requests), static_cast<unsigned long long>(sum.commands),
        static_cast<unsigned long long>(sum.forwarded), static_cast<unsigned long long>(sum.coalesced),
        static_cast<unsigned long long>(sum.violations), seconds, static_cast<double>(sum.requests) / seconds);
    std::fflush(stdout);
  } while (sum.violations == 0 && sum.requests < o.requests && !o.episode);
  return sum.violations == 0 ? 0 : 1;
}

options parse(int argc, char** argv) {
  options o;
  for (int i = 1; i < argc; i += 2) {
    const std::string key = argv[i];
    if (i + 1 == argc) throw std::invalid_argument(key + " needs a number");
    const std::uint64_t value = std::stoull(argv[i + 1]);
    if (key == "--requests") {
      o.requests = value;
    } else if (key == "--seed") {
      o.seed = value;
    } else if (key == "--episode") {
      o.episode = value;
    } else if (key == "--per-episode") {
      o.per_episode = value;
    } else {
      throw std::invalid_argument("there is no option " + key +
                                  "; there are --requests, --seed, --episode, --per-episode");
    }
  }
  return o;
}

}  // namespace
}  // namespace dvp::lpddr5::test

int main(int argc, char** argv) {
  try {
    return dvp::lpddr5::test::run(dvp::lpddr5::test::parse(argc, argv));
  } catch (const std::exception& error) {
    std::cerr << "lpddr5_soak: " << error.what() << "\n";
    return 2;
  }
}
