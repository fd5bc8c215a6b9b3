// Plays traffic into a memory_system: in the order of each source, at its times or as fast as accepted.
//
// The next request of a source is submitted when the one before was accepted, its time has come, and fewer than
// `outstanding` of the source are unfinished. Several requests may go in one clock, so that many channels can all be
// kept busy. Of several sources that could go at the same clock, each gets its turn; one that waited for room in a
// queue goes in the clock after room was found.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tlm/lpddr5/engine/memory_system.h"
#include "tlm/lpddr5/traffic/traffic_source.h"

namespace dvp::lpddr5 {

struct player_limits {
  std::uint64_t outstanding = 0;     // unfinished requests; 0: no limit
  std::uint64_t requests = 0;        // of the source, at most; 0: all
  std::uint64_t pending_reads = 0;   // unfinished reads; 0: no limit
  std::uint64_t pending_writes = 0;  // unfinished writes; 0: no limit
  cycles until = never;              // requests from then on are not given

  bool any() const { return outstanding != 0 || pending_reads != 0 || pending_writes != 0; }
};

class traffic_player : public access_sink {
 public:
  void add(std::unique_ptr<traffic_source> source, const player_limits& limits);

  // Plays all sources to their ends, waits for the last answer and gives its time. The memory tells its events to this
  // object, is otherwise idle, and is at the start of its time. traffic_error for a request outside the memory.
  cycles play(memory_system& memory);

  std::uint64_t requests() const { return requests_; }  // submitted

  void accepted(std::uint64_t id, cycles at) override;
  void finished(std::uint64_t id, cycles at) override;

 private:
  struct player {
    std::unique_ptr<traffic_source> source;
    player_limits limits;
    traffic_request request{};      // the next
    cycles ready = 0;               // it may go from here on
    std::uint64_t pending[2] = {};  // unfinished reads and writes
    std::uint64_t left = 0;         // requests it may still give
    bool has_request = false;
    bool waits = false;  // for its last request's acceptance

    bool blocked() const;
  };
  struct event {
    cycles at;
    std::uint64_t id;  // 2 * player + write
    bool is_finish;
  };

  void play_alone(memory_system& memory);
  void play_together(memory_system& memory);
  void fetch(player& p);
  void submit(memory_system& memory, std::size_t index, cycles at);
  player* pick(std::size_t& index);
  void apply(const event& e);
  void tell(const event& e);
  cycles cycles_of(std::int64_t ps) const;

  std::vector<player> players_;
  std::vector<event> ahead_;  // heap of events told before their time
  cycles now_ = 0;
  cycles accepted_at_ = 0;  // the latest
  std::size_t turn_ = 0;    // who goes first among equals
  bool together_ = false;
  std::uint64_t requests_ = 0;
  std::uint64_t tCK_fs_ = 1;
};

}  // namespace dvp::lpddr5
