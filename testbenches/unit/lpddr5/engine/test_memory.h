// A memory under test with everything it tells recorded.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "tlm/lpddr5/config/builtin_device.h"
#include "tlm/lpddr5/engine/memory_system.h"

namespace dvp::lpddr5::test {

struct recorder : access_sink, command_sink {
  struct answer {
    cycles accepted = never;
    cycles finished = never;
    int accepts = 0;
    int finishes = 0;
  };
  void accepted(std::uint64_t id, cycles at) override {
    earliest = std::min(earliest, at);
    answers[id].accepted = at;
    ++answers[id].accepts;
  }
  void finished(std::uint64_t id, cycles at) override {
    earliest = std::min(earliest, at);
    answers[id].finished = at;
    ++answers[id].finishes;
  }
  void issued(std::uint32_t channel, const issued_command& c) override {
    if (log.size() <= channel) log.resize(channel + 1);
    log[channel].push_back(c);
  }

  std::unordered_map<std::uint64_t, answer> answers;
  cycles earliest = never;                       // of what was told; tests set it back
  std::vector<std::vector<issued_command>> log;  // per channel
};

inline device lpddr5_6400() {
  device_choice choice;
  choice.speed = "lpddr5-6400";
  return builtin_device(choice);
}

struct test_memory {
  explicit test_memory(const controller_config& policies = {}, std::uint32_t channels = 1,
                       const std::string& order = "row-bank-column-group-channel", const device& d = lpddr5_6400())
      : dev(d),
        memory(dev, compile(builtin_rules(), dev.times), policies,
               address_mapping(standard_mapping(order, dev.shape, channels, dev.shape.burst_bytes(), false), dev.shape,
                               channels),
               record, &record) {}

  std::uint64_t read(cycles at, std::uint64_t address, std::uint64_t bytes = 32) {
    return submit(at, access_to(address, bytes, false));
  }
  std::uint64_t write(cycles at, std::uint64_t address, std::uint64_t bytes = 32) {
    return submit(at, access_to(address, bytes, true));
  }
  static access access_to(std::uint64_t address, std::uint64_t bytes, bool write) {
    access a;
    a.address = address;
    a.bytes = bytes;
    a.write = write;
    return a;
  }
  std::uint64_t submit(cycles at, access a) {
    a.id = next_id++;
    memory.submit(at, a);
    return a.id;
  }

  device dev;
  recorder record;
  memory_system memory;
  std::uint64_t next_id = 0;
};

inline controller_config without_refresh() {
  controller_config c;
  c.refresh = refresh_policy::none;
  return c;
}

// Small and the same everywhere, unlike the distributions of the standard library.
class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t below(std::uint64_t n) {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return (z ^ (z >> 31)) % n;
  }

 private:
  std::uint64_t state_;
};

}  // namespace dvp::lpddr5::test
