// Judges the command stream of an LPDDR5 memory: every constraint of the device, re-derived from its timing, and every
// bank, rank and WCK state. Knows nothing of the engine that made the stream.
//
//   issued ─> order, rank state ─> bank state ─> pairwise distances, tFAW ─> WCK, data bus ─> refresh
//
// Each violation is one sentence, e.g.
//   channel 0, clock 46: RD of rank 0 bank 4 breaks tCCD_L: needs 4 clocks after RD of rank 0 bank 5 at clock 43, got 3
// A command that breaks a rule is then taken as done, so that one error gives few sentences.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tlm/lpddr5/check/constraints.h"
#include "tlm/lpddr5/check/data_bus.h"
#include "tlm/lpddr5/check/refresh_ledger.h"

namespace dvp::lpddr5 {

struct checker_options {
  refresh_promise refresh;
  std::uint32_t core_feed = 1;  // column accesses of the array per burst slot, for precision-tagged reads
  std::size_t keep = 20;        // sentences kept; all are counted
};

class command_checker : public command_sink {
 public:
  command_checker(const device& d, std::uint32_t channels, const checker_options& options);

  void issued(std::uint32_t channel, const issued_command& c) override;

  // What can only be known at the end: a refresh that never came, an ACT-1 without its ACT-2, a CAS without its access.
  void finish(cycles end);

  std::uint64_t commands() const { return commands_; }
  std::uint64_t violations() const { return violations_; }
  const std::map<std::string, std::uint64_t>& by_name() const { return by_name_; }
  const std::vector<std::string>& sentences() const { return sentences_; }

  // The row that is open, as the stream has it.
  std::optional<std::uint32_t> open_row(std::uint32_t channel, std::uint32_t rank, std::uint32_t bank) const;

 private:
  enum class bank_phase : std::uint8_t { closed, activating, open };
  struct bank_state {
    bank_phase phase = bank_phase::closed;
    std::uint32_t row = 0;
  };
  enum class rank_phase : std::uint8_t { awake, power_down, self_refresh };
  struct rank_state {
    rank_state(const device& d, const refresh_promise& promise);
    rank_phase phase = rank_phase::awake;
    std::vector<bank_state> banks;
    std::uint32_t not_closed = 0;
    std::optional<issued_command> act1;  // whose ACT-2 is still to come
    std::array<cycles, 4> acts{};        // clocks of the last four ACT1 and REFpb, the oldest at next_act
    std::uint32_t next_act = 0;
    std::optional<issued_command> cas;  // whose access is still to come
    cycles wck_until = -1;              // last clock at which an access needs no CAS
    refresh_ledger ledger;
  };
  // The last commands, in a ring whose size is a power of two. Refreshes and power commands have one of their own:
  // they reach far, and few of them are within reach.
  struct history {
    std::vector<issued_command> ring;
    std::uint64_t count = 0;
  };
  struct channel_state {
    channel_state(const device& d, const refresh_promise& promise, std::size_t ring);
    std::vector<rank_state> ranks;
    data_bus bus;
    history often, seldom;
    std::optional<issued_command> last;
    cycles stretch = 0;  // most by which a tagged read lengthened a distance so far
  };
  // The constraints of one pair of commands that apply within a reach; the wider reach always applies as well.
  using pair_rules = std::vector<std::uint16_t>;

  void check_order(std::uint32_t channel, const issued_command& c);
  void check_rank(std::uint32_t channel, const issued_command& c);
  void check_bank(std::uint32_t channel, const issued_command& c);
  void check_distances(std::uint32_t channel, const issued_command& c, const history& past, cycles reach);
  void check_faw(std::uint32_t channel, const issued_command& c);
  void check_wck(std::uint32_t channel, const issued_command& c);
  void check_bus(std::uint32_t channel, const issued_command& c);
  void check_refresh(std::uint32_t channel, const issued_command& c);
  void apply(std::uint32_t channel, const issued_command& c);
  void remember(std::uint32_t channel, const issued_command& c);
  void set_phase(rank_state& r, std::uint32_t bank, bank_phase phase);

  cycles slots_after_first(const issued_command& c) const;
  // By how much the end of the burst's data lies behind that of a plain burst.
  cycles data_later(const issued_command& c) const;
  cycles needed(const constraint& k, const issued_command& earlier) const;
  bool within(reach scope, const issued_command& earlier, const issued_command& later) const;
  bool concerns(const issued_command& c, std::uint32_t bank) const;

  void report(std::uint32_t channel, cycles at, const std::string& subject, std::string_view name,
              const std::string& what);
  void report(std::uint32_t channel, const issued_command& c, std::string_view name, const std::string& what);
  void report(std::uint32_t channel, const issued_command& c, std::string_view name, cycles distance,
              const std::string& earlier, cycles got);
  std::string subject(const issued_command& c) const;

  device device_;
  checker_options options_;
  std::vector<constraint> constraints_;
  std::array<std::array<pair_rules, command_count>, command_count> pairs_;  // [later][earlier]
  // By later command: the longest distance to commands of each history.
  std::array<cycles, command_count> longest_often_{};
  std::array<cycles, command_count> longest_seldom_{};
  std::vector<channel_state> channels_;
  std::uint64_t commands_ = 0;
  std::uint64_t violations_ = 0;
  std::map<std::string, std::uint64_t> by_name_;
  std::vector<std::string> sentences_;
};

}  // namespace dvp::lpddr5
