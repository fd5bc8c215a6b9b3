// What a memory system counts. Plain integers; ratios and units are made where they are shown.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tlm/lpddr5/device/command.h"

namespace dvp::lpddr5 {

// Why the data bus of a channel was idle between two bursts, in clocks. Each idle clock has one cause: the constraint
// that held back the burst which ended the gap. The time after a channel's last burst is not counted.
enum class idle_cause : std::uint8_t {
  no_request,   // nothing was waiting for this channel
  refresh,      // the rank was closing for, in, or opening after a refresh
  row,          // precharge and activate of the burst's bank (tRP, tRCD, tRAS, tRC, tFAW, tRRD)
  bank_group,   // the same bank group came too soon
  turnaround,   // between reads and writes, or between ranks
  core,         // a precision-tagged read waited for column accesses of the array
  command_bus,  // another command, CAS, or WCK start
  power_down    // leaving power-down or self-refresh
};
constexpr std::size_t idle_cause_count = 8;
const char* name_of(idle_cause cause);

struct channel_figures {
  std::array<std::uint64_t, command_count> commands{};
  std::vector<std::array<std::uint64_t, command_count>> bank_commands;  // per rank * banks + bank
  std::uint64_t read_bursts = 0, write_bursts = 0;                      // on the data bus
  std::uint64_t row_hits = 0;         // bursts whose row was open when their turn came
  std::uint64_t row_misses = 0;       // ... whose bank was closed
  std::uint64_t row_conflicts = 0;    // ... whose bank had another row open
  std::uint64_t column_accesses = 0;  // of the cell array, reads and writes
  std::uint64_t busy_cycles = 0;      // data bus carries beats
  std::array<std::uint64_t, idle_cause_count> idle_cycles{};
  std::uint64_t forwarded_reads = 0;   // answered from a waiting write
  std::uint64_t coalesced_writes = 0;  // joined a waiting write
  std::uint64_t wck_starts = 0;        // CAS
  // Refreshes done, the longest debt in refreshes at any time, and the longest lead.
  std::uint64_t refresh_debt_max = 0, refresh_lead_max = 0;
  // Sum over time of entries in the queues (entries * clocks), for the mean; and the most.
  std::uint64_t queue_entry_cycles = 0;
  std::uint32_t queue_max = 0;
  // Clocks of each rank in each state, summed over ranks: active, precharged, both power-downs, self-refresh.
  std::uint64_t active_cycles = 0, precharged_cycles = 0, active_pd_cycles = 0, precharge_pd_cycles = 0,
                self_refresh_cycles = 0;
};

// Histogram of latencies with bounded memory: exact below 1024 clocks, then 1/64 steps; percentiles are upper bounds of
// their bucket.
class latency_histogram {
 public:
  void add(cycles latency);
  std::uint64_t count() const { return count_; }
  cycles min() const { return count_ == 0 ? 0 : min_; }
  cycles max() const { return max_; }
  double mean() const;
  cycles percentile(double p) const;  // 0 < p <= 100
  struct bucket {
    cycles from, to;  // [from, to)
    std::uint64_t count;
  };
  std::vector<bucket> buckets() const;  // those that are not empty, ascending

 private:
  static std::size_t index(cycles latency);
  static cycles lower(std::size_t index);
  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  __extension__ unsigned __int128 sum_ = 0;
  cycles min_ = 0;
  cycles max_ = 0;
};

// Elements and bits of precision-tagged and plain accesses, by precision in bits (index 0, 2, 4, 8).
struct precision_figures {
  std::uint64_t reads = 0;  // accesses
  std::uint64_t elements = 0;
  std::uint64_t delivered_bits = 0;            // elements * p
  std::uint64_t padding_bits = 0;              // burst bits that carry nothing asked for
  std::uint64_t scale_bits = 0;                // scales that rode along
  std::uint64_t core_bits = 0;                 // read from the cell array for them
  std::uint64_t io_bound = 0, core_bound = 0;  // bursts by the bound that set their pace
};

struct system_figures {
  std::vector<channel_figures> channels;
  latency_histogram read_latency, write_latency;  // submit to last beat (or to acceptance when posted), clocks
  std::uint64_t reads = 0, writes = 0;            // accesses
  std::uint64_t read_bytes = 0, write_bytes = 0;  // asked for by accesses, delivered bytes
  std::array<precision_figures, 9> by_precision;
  std::uint64_t streamed_accesses = 0, streamed_bytes = 0;  // served in one step (stream mode)
  cycles now = 0;                                           // end of what is counted
};

}  // namespace dvp::lpddr5
