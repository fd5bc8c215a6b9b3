// What an LPDDR5 device is: organisation, timing, energy. Filled from a memspec file (config/memspec.h) and constant
// from then on.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tlm/lpddr5/device/command.h"

namespace dvp::lpddr5 {

// 8B: 8 banks without groups, BL32 only; 16B: 16 banks without groups; BG: 4 groups of 4 banks.
enum class bank_mode : std::uint8_t { b8, b16, bg };

struct organisation {
  std::uint32_t channels = 1;         // of this device file; the controller may ask for another number
  std::uint32_t ranks = 1;            // 1 to 4
  std::uint32_t bank_groups = 4;      // per rank
  std::uint32_t banks_per_group = 4;  // 8B: 8, 16B: 16
  std::uint32_t rows = 32768;         // per bank
  std::uint32_t columns = 1024;       // per row, each of width_bits
  std::uint32_t width_bits = 16;      // DQ of the channel, all its devices together
  std::uint32_t burst_length = 16;    // beats: 16 or 32
  std::uint32_t beats_per_ck = 8;     // two per WCK, WCK:CK 4:1
  std::uint32_t pair_offset = 8;      // banks b and b + pair_offset are refreshed by one REFpb; 0: one bank each
  bool wck_always_on = true;          // no CAS; otherwise WCK stops after each access and CAS starts it again

  std::uint32_t banks() const { return bank_groups * banks_per_group; }  // per rank
  bank_mode mode() const {
    return bank_groups > 1 ? bank_mode::bg : banks_per_group > 8 ? bank_mode::b16 : bank_mode::b8;
  }
  std::uint32_t burst_bytes() const { return burst_length * width_bits / 8; }
  std::uint32_t bursts_per_row() const { return columns / burst_length; }
  std::uint64_t bytes_per_row() const { return std::uint64_t{columns} * width_bits / 8; }
  std::uint64_t bytes_per_channel() const { return bytes_per_row() * rows * banks() * ranks; }
};

// In clocks of CK. The names are those of the memspec keys; the four BL_n and two RTW belong to the burst length in
// use.
struct timing {
  std::uint64_t tCK_fs = 1'250'000;
  cycles REFI = 0, REFIpb = 0, RFCab = 0, RFCpb = 0;
  cycles RAS = 0, RPab = 0, RPpb = 0, RCpb = 0, RCab = 0, PPD = 0;
  cycles RCD = 0, FAW = 0, RRD = 0, AAD = 0;
  cycles RL = 0, WL = 0, RBTP = 0, WR = 0, RTRS = 0;  // RBTP: end of a read burst (BL_n_min) to PRE
  cycles BL_n_min = 0;                                // data of one burst on the bus, gap of BL32 in BG mode included
  cycles BL_n_max = 0;                                // the same as seen by its bank group
  cycles BL_n_S = 0;                                  // column command to column command of another bank group
  cycles BL_n_L = 0;                                  // ... of the same bank group
  cycles WTR_L = 0, WTR_S = 0, RTW_L = 0, RTW_S = 0;
  cycles WCKPST = 0;  // WCK runs on after the last beat
  cycles pbR2act = 0, pbR2pbR = 0;
  cycles XP = 0, CSPD = 0;  // PDX to any command; PDE to PDX
  cycles SR = 0, XSR = 0;   // SRE to SRX; SRX to any command
};

// One row per member of `timing` that is a number of clocks: what rule expressions and messages call it.
struct timing_field {
  std::string_view name;
  cycles timing::*value;
};
std::span<const timing_field> timing_fields();
std::optional<cycles> timing_value(const timing& t, std::string_view name);

// Energies and powers of one channel. Integers of femtojoules keep sums exact: 1 pJ/bit = 1000 fJ/bit.
struct energy_table {
  std::uint64_t act_fj = 0;                // ACT-1, ACT-2 and the PRE that ends the row, of one bank
  std::uint64_t ref_all_fj = 0;            // one REFab
  std::uint64_t ref_bank_fj = 0;           // one REFpb
  std::uint64_t core_read_fj_per_bit = 0;  // cell array to the converter, always all 8 bits of an element
  std::uint64_t core_write_fj_per_bit = 0;
  std::uint64_t down_read_fj_per_bit = 0;  // converter to the initiator: the bits that cross the I/O
  std::uint64_t down_write_fj_per_bit = 0;
  std::uint64_t convert_fj_per_element[9] = {};  // by precision; 0 for 8 and 0 bits
  // Background power by state, microwatts per rank.
  std::uint64_t active_standby_uw = 0;     // a row is open
  std::uint64_t precharge_standby_uw = 0;  // none is
  std::uint64_t active_power_down_uw = 0;
  std::uint64_t precharge_power_down_uw = 0;
  std::uint64_t self_refresh_uw = 0;
  std::string basis;  // one sentence: currents of which file, or which choice and why
};

struct device {
  std::string id;        // memoryId
  std::string standard;  // "LPDDR5" or "LPDDR5X"
  organisation shape;
  timing times;
  energy_table energy;
  std::string provenance;  // where the timing comes from, one sentence per source
};

// Products of clocks and femtoseconds.
__extension__ using wide_integer = __int128;

// Duration of a number of clocks in picoseconds, rounded to nearest.
constexpr std::int64_t to_ps(cycles n, std::uint64_t tCK_fs) {
  return static_cast<std::int64_t>((static_cast<wide_integer>(n) * static_cast<wide_integer>(tCK_fs) + 500) / 1000);
}
// First clock edge at or after a time.
constexpr cycles to_cycles_up(std::int64_t ps, std::uint64_t tCK_fs) {
  const wide_integer fs = static_cast<wide_integer>(ps) * 1000;
  return static_cast<cycles>((fs + static_cast<wide_integer>(tCK_fs) - 1) / static_cast<wide_integer>(tCK_fs));
}
// Peak bandwidth of one channel, bytes per second.
double peak_bytes_per_second(const device& d);

}  // namespace dvp::lpddr5
