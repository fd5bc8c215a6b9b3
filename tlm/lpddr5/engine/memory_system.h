// A memory of one or more LPDDR5 channels without SystemC: accesses in, times out, every DRAM command told to a sink.
//
//   access ─ split by address_mapping ─> bursts ─> channel (queue, scheduler, timing rules, refresh) ─> commands
//                                                     └─> accepted and finished, to the access_sink
//
// Time is CK clocks. Channels are simulated up to the time asked for, command by command, each at its own pace: there
// is no tick. What an access does depends only on accesses submitted before it or before its commands' times, so
// results do not depend on how often advance() is called.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tlm/lpddr5/device/device.h"
#include "tlm/lpddr5/engine/access.h"
#include "tlm/lpddr5/engine/address_mapping.h"
#include "tlm/lpddr5/engine/controller_config.h"
#include "tlm/lpddr5/engine/figures.h"
#include "tlm/lpddr5/engine/never.h"
#include "tlm/lpddr5/engine/rules.h"

namespace dvp::lpddr5 {

class channel;

class access_sink {
 public:
  virtual ~access_sink() = default;
  // Every burst of the access is in its queue: the requester may submit the next.
  virtual void accepted(std::uint64_t id, cycles at) = 0;
  // The last beat is on the bus (or a posted write was accepted), backend_cycles included. Never before accepted().
  virtual void finished(std::uint64_t id, cycles at) = 0;
};

class memory_system {
 public:
  // The device's organisation gives one channel; `mapping` says how many there are. Sinks outlive the system;
  // `commands` may be null. std::invalid_argument when the layout spreads an element's bits over channels.
  memory_system(const device& d, const rule_table& rules, const controller_config& config,
                const address_mapping& mapping, access_sink& sink, command_sink* commands);
  ~memory_system();
  memory_system(const memory_system&) = delete;
  memory_system& operator=(const memory_system&) = delete;

  // Hands over an access at a time >= that of every earlier submit and advance (an earlier one is taken as now()).
  // Always taken; accepted() comes inside this call or later, when there is room for all its bursts.
  void submit(cycles at, const access& a);

  // Simulates everything that happens before `until`; events come in no order among channels, in order of time within
  // one.
  void advance(cycles until);

  // A time before which advance() brings no event: never() when nothing is on its way.
  cycles next_event() const;
  // When any channel does anything next if nothing arrives; advancing to one clock past it does that and no more.
  cycles next_step() const;

  // Runs until every submitted access is accepted / finished and gives the time of the last event. For callers that are
  // the only source of accesses.
  cycles settle();
  cycles drain();

  // Accesses with bursts that found no room yet, and accesses not finished.
  std::size_t waiting() const;
  std::size_t unfinished() const;

  // Counts up to now(); background and idle times are brought up to date.
  const system_figures& figures(cycles until);

  cycles now() const;
  std::uint64_t bytes() const;
  const device& of() const;
  const controller_config& config() const;
  const address_mapping& mapping() const;

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

// Energy of what was counted, joules per part. The total is their sum.
struct energy_figures {
  double activate_j = 0, refresh_j = 0, background_j = 0;
  double core_read_j = 0, core_write_j = 0;  // cell array
  double down_read_j = 0, down_write_j = 0;  // across the I/O, padding and scales included
  double convert_j = 0;
  double total_j() const {
    return activate_j + refresh_j + background_j + core_read_j + core_write_j + down_read_j + down_write_j + convert_j;
  }
};
energy_figures energy_of(const system_figures& figures, const device& d);

}  // namespace dvp::lpddr5
