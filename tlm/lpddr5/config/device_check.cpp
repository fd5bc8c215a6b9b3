#include "tlm/lpddr5/config/device_check.h"

#include <algorithm>
#include <bit>

#include "tlm/core/strict_json.h"

namespace dvp::lpddr5 {

namespace {

constexpr std::uint64_t shortest_tCK_fs = 200'000;
constexpr std::uint64_t longest_tCK_fs = 100'000'000;
constexpr cycles longest_timing = 10'000'000;
constexpr std::uint64_t largest_channel = std::uint64_t{1} << 44;

class judge {
 public:
  judge(const device& d, const std::string& file) : d_(d), t_(d.times), o_(d.shape), file_(file) {}

  void sizes() const {
    power_of_two("rows", o_.rows);
    power_of_two("columns", o_.columns);
    power_of_two("bank groups", o_.bank_groups);
    power_of_two("banks per group", o_.banks_per_group);
    power_of_two("ranks", o_.ranks);
    power_of_two("bits of width", o_.width_bits);
    power_of_two("channels", o_.channels);
    if (o_.width_bits < 8) fail("the width of " + number(o_.width_bits) + " bits is less than a byte; give 8 or more");
    if (o_.banks() != 8 && o_.banks() != 16) {
      fail(number(o_.banks()) + " banks are none of the modes BG (4 groups of 4), 16B (16) and 8B (8)");
    }
    if (o_.bank_groups > 1 && (o_.bank_groups != 4 || o_.banks_per_group != 4)) {
      fail(number(o_.bank_groups) + " groups of " + number(o_.banks_per_group) +
           " banks are no LPDDR5; BG mode has 4 groups of 4");
    }
    if (o_.burst_length != 16 && o_.burst_length != 32) {
      fail("a burst length of " + number(o_.burst_length) + " is no LPDDR5; give 16 or 32");
    }
    if (o_.mode() == bank_mode::b8 && o_.burst_length == 16) {
      fail("8B mode has no bursts of 16; give burst length 32 or 16 banks");
    }
    if (o_.columns % o_.burst_length != 0) {
      fail(number(o_.columns) + " columns are not a multiple of the burst length " + number(o_.burst_length));
    }
    if (o_.pair_offset != 0 && o_.pair_offset * 2 != o_.banks()) {
      fail("banks " + number(o_.pair_offset) + " apart are no pairs of " + number(o_.banks()) +
           " banks; give half the banks, or 0 for one bank per refresh");
    }
    const std::uint64_t rows = std::uint64_t{o_.rows} * o_.banks() * o_.ranks;
    if (rows > largest_channel / std::max<std::uint64_t>(o_.bytes_per_row(), 1)) {
      fail("a channel of more than 16 TiB is beyond this model; check rows, columns and width");
    }
  }

  void ranges() const {
    if (t_.tCK_fs < shortest_tCK_fs || t_.tCK_fs > longest_tCK_fs) {
      fail("tCK of " + number(t_.tCK_fs) + " fs is not 0.2 to 100 ns; it is the period of CK in seconds, not of WCK");
    }
    for (const timing_field& field : timing_fields()) {
      const cycles value = t_.*(field.value);
      if (value < 0 || value > longest_timing) {
        fail(std::string(field.name) + " of " + number(value) + " clocks is absurd; give 0 to " +
             number(longest_timing));
      }
    }
    for (const auto& [name, value] : {std::pair{"RL", t_.RL},
                                      {"WL", t_.WL},
                                      {"RAS", t_.RAS},
                                      {"RPpb", t_.RPpb},
                                      {"RPab", t_.RPab},
                                      {"RCpb", t_.RCpb},
                                      {"RRD", t_.RRD},
                                      {"PPD", t_.PPD},
                                      {"BL_n_min", t_.BL_n_min},
                                      {"BL_n_max", t_.BL_n_max},
                                      {"BL_n_S", t_.BL_n_S},
                                      {"BL_n_L", t_.BL_n_L},
                                      {"AAD", t_.AAD},
                                      {"REFI", t_.REFI},
                                      {"RFCab", t_.RFCab}}) {
      if (value < 1) fail(std::string(name) + " is 0 clocks; it takes at least 1");
    }
    if (t_.RCD < 2) fail("RCD of " + number(t_.RCD) + " clocks leaves no time for ACT-1 and ACT-2; give at least 2");
  }

  void relations() const {
    if (t_.RCpb < t_.RAS + t_.RPpb) {
      fail("RC (RCpb) " + number(t_.RCpb) + " is shorter than RAS + RP, " + number(t_.RAS) + " + " + number(t_.RPpb) +
           "; a row cannot be open and closed in that time");
    }
    if (t_.RPab < t_.RPpb) {
      fail("RPab " + number(t_.RPab) + " is shorter than RPpb " + number(t_.RPpb) +
           "; all banks take no less than one");
    }
    if (t_.FAW < t_.RRD) {
      fail("FAW " + number(t_.FAW) + " is shorter than RRD " + number(t_.RRD) +
           "; four activates take no less than two");
    }
    if (t_.RAS < t_.RCD) {
      fail("RAS " + number(t_.RAS) + " is shorter than RCD " + number(t_.RCD) +
           "; a row would close before it is open");
    }
    if (t_.REFI <= t_.RFCab) {
      fail("REFI " + number(t_.REFI) + " is not longer than RFCab " + number(t_.RFCab) +
           "; refresh would take all the time");
    }
    if (t_.REFIpb != 0 && t_.REFIpb <= std::max(t_.pbR2pbR, t_.pbR2act)) {
      fail("REFIpb " + number(t_.REFIpb) + " is not longer than pbR2pbR " + number(t_.pbR2pbR) + " and pbR2act " +
           number(t_.pbR2act) + "; refresh would take all the time");
    }
    if (t_.BL_n_max < t_.BL_n_min || t_.BL_n_L < t_.BL_n_S) {
      fail("BL_n_max must not be below BL_n_min, nor BL_n_L below BL_n_S; they are " + number(t_.BL_n_max) + ", " +
           number(t_.BL_n_min) + ", " + number(t_.BL_n_L) + ", " + number(t_.BL_n_S));
    }
    const cycles apart = t_.RL + t_.BL_n_min - t_.WL;
    if (std::min(t_.RTW_S, t_.RTW_L) < apart) {
      fail("RTW of " + number(std::min(t_.RTW_S, t_.RTW_L)) + " clocks lets a write's data meet a read's; give RTW_S " +
           "and RTW_L at least RL + BL_n_min - WL, " + number(apart));
    }
    const cycles turn = std::min(t_.RTW_L, t_.WL + t_.BL_n_min + t_.WTR_L);
    if (t_.BL_n_L > turn) {
      fail("BL_n_L of " + number(t_.BL_n_L) + " clocks is longer than a read and a write of a bank group are apart, " +
           number(turn) + "; give no more, or longer RTW_L and WTR_L");
    }
    const auto burst_clocks = static_cast<cycles>(o_.burst_length / o_.beats_per_ck);
    if (t_.BL_n_min < burst_clocks) {
      fail("BL_n_min of " + number(t_.BL_n_min) + " clocks is shorter than the " + number(burst_clocks) + " that " +
           number(o_.burst_length) + " beats take at " + number(o_.beats_per_ck) +
           " beats per CK; data would be faster than the pins");
    }
    if (t_.BL_n_S < std::min(burst_clocks, static_cast<cycles>(16 / o_.beats_per_ck))) {
      fail("BL_n_S of " + number(t_.BL_n_S) + " clocks lets bursts collide on the data bus; give at least " +
           number(16 / o_.beats_per_ck));
    }
  }

  // Banks must close, be refreshed and still serve rows in between, or requests wait forever.
  void room_for_refresh() const {
    for (const timing_field& field : timing_fields()) {
      const cycles value = t_.*(field.value);
      if (value > t_.REFI) {
        fail(std::string(field.name) + " of " + number(value) + " clocks is longer than REFI " + number(t_.REFI) +
             "; everything else must fit between two refreshes");
      }
    }
    const cycles close =
        std::max({t_.RAS, t_.RCpb - t_.RPpb, t_.RCD + t_.BL_n_min + t_.RBTP, t_.RCD + t_.WL + t_.BL_n_min + t_.WR});
    const cycles all = 4 * (t_.RFCab + t_.RPab + close);
    if (t_.REFI < all) {
      fail("REFI of " + number(t_.REFI) + " clocks leaves no room for accesses beside refresh: RFCab " +
           number(t_.RFCab) + ", RPab " + number(t_.RPab) + " and " + number(close) +
           " to use and close a row; give at least " + number(all) + " or shorter timings");
    }
    const auto banks = static_cast<cycles>(o_.banks());
    const auto often = [&](const char* name, cycles value, cycles most) {
      if (value <= most) return;
      fail(std::string(name) + " of " + number(value) + " clocks keeps the banks from opening and closing between " +
           "refreshes; give at most " + number(most));
    };
    often("RRD", t_.RRD, t_.REFI / 4 / banks);
    often("PPD", t_.PPD, t_.REFI / 4 / banks);
    often("FAW", t_.FAW, t_.REFI / 4);
    if (t_.REFIpb == 0) return;
    const cycles units = o_.pair_offset != 0 ? banks / 2 : banks;
    const cycles one = 2 * (t_.RFCpb + t_.RPpb + close);
    const cycles round = std::min(units * t_.REFIpb, t_.REFI);
    if (round < one) {
      fail("REFIpb of " + number(t_.REFIpb) + " clocks refreshes a bank every " + number(round) +
           " and leaves no room for its accesses: RFCpb " + number(t_.RFCpb) + ", RPpb " + number(t_.RPpb) + " and " +
           number(close) + " to use and close a row; give at least " + number((one + units - 1) / units) +
           " or shorter timings");
    }
    // A per-bank refresh takes part in the window of four activates.
    often("FAW", t_.FAW, round / units);
  }

 private:
  template <typename Number>
  static std::string number(Number n) {
    return std::to_string(n);
  }
  void power_of_two(const char* what, std::uint32_t n) const {
    if (!std::has_single_bit(n)) {
      fail(number(n) + " " + what + " are not a power of two; address bits cannot select them");
    }
  }
  [[noreturn]] void fail(const std::string& what) const { throw core::config_error(file_, d_.id, what); }

  const device& d_;
  const timing& t_;
  const organisation& o_;
  const std::string& file_;
};

}  // namespace

void check_device(const device& d, const std::string& file) {
  const judge j(d, file);
  j.sizes();
  j.ranges();
  j.relations();
  j.room_for_refresh();
}

}  // namespace dvp::lpddr5
