// What a memory owes its requesters, kept from outside: from the accesses submitted and the commands issued.
//
//   each access is accepted once, then finished once, never before its data can have been on the bus;
//   a column command is for a burst that somebody waits for; at the end nobody waits;
//   a read is never read from the array before a write that came earlier, nor after one that came later.
//
// Which read was answered from a waiting write, and which writes became one, is not told; their numbers are, and must
// add up. A read that no command can have served had a waiting write that replaced the whole burst. Where several
// writes of one burst may have become one, order is judged as far as it can be known.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "tlm/lpddr5/check/command_checker.h"
#include "tlm/lpddr5/engine/memory_system.h"

namespace dvp::lpddr5::test {

class access_ledger : public access_sink, public command_sink {
 public:
  access_ledger(const device& d, const controller_config& config, const address_mapping& mapping,
                command_checker& checker);

  // Before the memory hears of it; `at` is the time it will take it.
  void submitted(cycles at, const access& a);
  void accepted(std::uint64_t id, cycles at) override;
  void finished(std::uint64_t id, cycles at) override;
  void issued(std::uint32_t channel, const issued_command& c) override;
  // After the memory has drained.
  void end(const system_figures& figures);

  std::uint64_t violations() const { return violations_; }
  const std::vector<std::string>& sentences() const { return sentences_; }

 private:
  struct record {
    cycles submitted = 0;
    cycles accepted = -1;
    bool write = false;
    std::vector<std::uint64_t> bursts;  // of reads
  };
  struct waiting_read {
    std::uint64_t id;
    std::uint64_t writes_before;  // of this burst
    std::uint64_t issued_before;  // of those, the ones known to be done when it came
    bool must;                    // no write of the burst waited when it came: it can only come from the array
    bool served;                  // a command was put down to it
    cycles data_end;              // of the first command since it came; -1: none
  };
  struct burst_state {
    std::vector<waiting_read> reads;
    std::vector<bool> full;     // of each write: it replaces all that the burst holds
    std::uint64_t writes = 0;   // submitted
    std::uint64_t issued = 0;   // column commands for them
    std::uint64_t settled = 0;  // of the submitted ones, those that column commands may have covered
    // Reads finished without a command put down to them: forwarded, or their command was put down to another.
    std::uint64_t spare = 0;
  };

  std::vector<std::uint64_t> bursts_of(const access& a) const;
  bool covers(const access& a, std::uint64_t burst) const;
  std::uint64_t burst_of(std::uint32_t channel, const issued_command& c, std::uint32_t n) const;
  void read_issued(std::uint64_t burst, const issued_command& c);
  void write_issued(std::uint64_t burst, const issued_command& c);
  void report(const std::string& sentence);

  const device& device_;
  const controller_config& config_;
  const address_mapping& mapping_;
  command_checker& checker_;
  const std::uint64_t burst_bytes_;
  const std::uint32_t planes_;  // bursts over which the bits of an element are spread
  const bool merging_;
  std::unordered_map<std::uint64_t, record> open_;
  std::unordered_map<std::uint64_t, burst_state> bursts_;
  std::uint64_t read_bursts_ = 0, write_bursts_ = 0;    // asked for
  std::uint64_t read_columns_ = 0, write_columns_ = 0;  // came
  std::uint64_t violations_ = 0;
  std::vector<std::string> sentences_;
};

}  // namespace dvp::lpddr5::test
