// Policies of the controller: everything about it that is not the device's.
#pragma once

#include <cstdint>
#include <string>

#include "tlm/lpddr5/device/command.h"

namespace dvp::lpddr5 {

enum class scheduler_policy : std::uint8_t {
  fifo,            // strictly in order of arrival
  fr_fcfs,         // row hits first, then oldest
  fr_fcfs_grouped  // reads and writes in groups: writes collect up to the high watermark, then drain to the low one
};
enum class page_policy : std::uint8_t {
  open,            // a row stays open until another is needed or a refresh closes it
  open_adaptive,   // auto precharge when the queue holds only misses for the bank
  closed,          // auto precharge after every access
  closed_adaptive  // auto precharge unless the queue holds another hit
};
enum class refresh_policy : std::uint8_t { none, all_bank, per_bank };
// Where the requests wait.
enum class queue_layout : std::uint8_t {
  shared,      // one queue per channel for both directions
  read_write,  // one for each direction
  bankwise     // one per bank
};
// How the cells of an element are laid out across columns; all but bytes exist for comparison.
enum class data_layout : std::uint8_t {
  bytes,    // 8 bits of an element together: the array reads all of them
  nibble,   // high and low nibbles in columns of their own: q4 and q2 read one of two
  bitplane  // a column per bit: p bits read p of eight
};
enum class scale_place : std::uint8_t { cached, in_burst };

struct tagged_read_config {
  data_layout layout = data_layout::bytes;
  // Column accesses the array can make per burst slot of the I/O: 1 for an unmodified LPDDR5, where q4 and q2 save
  // energy but no time; 1 to 16.
  std::uint32_t core_feed = 1;
  cycles convert_cycles = 0;  // added to the latency of converted data; one burst per clock goes through
  scale_place scales = scale_place::cached;
  std::uint32_t scale_group = 32;  // elements that share a scale
  std::uint32_t scale_bits = 16;
};

struct controller_config {
  scheduler_policy scheduler = scheduler_policy::fr_fcfs;
  page_policy page = page_policy::open;
  refresh_policy refresh = refresh_policy::all_bank;
  std::uint32_t refresh_postpone = 0;  // refreshes that may be put off while requests wait, 0 to 8
  std::uint32_t refresh_pull_in = 0;   // refreshes that may be done early while none wait, 0 to 8
  queue_layout queue = queue_layout::read_write;
  std::uint32_t read_queue = 32;   // entries; of the one queue when shared, of each bank's when bankwise
  std::uint32_t write_queue = 32;  // read_write only
  std::uint32_t write_high = 24;   // fr_fcfs_grouped: drain writes when so many wait ...
  std::uint32_t write_low = 8;     // ... until so few are left, or earlier when no read waits
  bool posted_writes = true;       // a write is answered when it is accepted; otherwise when its data is on the bus
  bool coalesce_writes = true;     // a write to a burst whose write still waits joins it
  // A request that waited so long goes before the row hits of its bank and direction; 0: never.
  cycles starvation_limit = 4096;
  cycles power_down_after = 0;    // idle clocks of a rank before power-down; 0: never
  cycles self_refresh_after = 0;  // idle clocks before self-refresh; 0: never
  cycles frontend_cycles = 0;     // arrival at the socket to the queue
  cycles backend_cycles = 0;      // last beat to the response
  tagged_read_config tagged;
  // Accesses of at least so many bytes are served in one step: blocks, and reads once reads of their precision have
  // followed each other end to end for eight rows of every channel (open_runs.h); 0: never (cycle mode).
  std::uint64_t stream_bytes = 0;
};

}  // namespace dvp::lpddr5
