#include "tlm/lpddr5/check/constraints.h"

namespace dvp::lpddr5 {

using enum command;

std::vector<constraint> constraints_of(const device& d) {
  const timing& t = d.times;
  const std::vector<command> reads{rd, rda}, writes{wr, wra}, columns{rd, rda, wr, wra};
  const std::vector<command> closing{pre, pre_all};
  // What needs a bank at rest: its next row, its refresh, and self-refresh. Power-down may come while a row is open,
  // but waits for a precharge that is under way.
  const std::vector<command> needs_closed{act1, ref_bank, ref_all, sr_enter};
  const std::vector<command> waits_for_precharge{act1, ref_bank, ref_all, sr_enter, pd_enter};
  const std::vector<command> any{act1, act2, pre,     pre_all,  cas,      rd,      wr,
                                 rda,  wra,  ref_all, ref_bank, pd_enter, sr_enter};

  // A row's cells are written back when the last beat is in; a row read may close once its data left the array.
  const cycles read_to_pre = t.BL_n_min + t.RBTP;
  const cycles write_to_pre = t.WL + t.BL_n_min + t.WR;

  return {
      // One bank: row open, used, closed.
      {"tRCD", reach::bank, {act1}, {rd, rda, wr, wra, pd_enter}, t.RCD},
      {"tRAS", reach::bank, {act1}, closing, t.RAS},
      {"tRC", reach::bank, {act1}, needs_closed, t.RAS + t.RPpb},
      {"tRP", reach::bank, {pre}, waits_for_precharge, t.RPpb},
      {"tRPab", reach::rank, {pre_all}, waits_for_precharge, t.RPab},
      {"tRTP", reach::bank, reads, closing, read_to_pre, t.BL_n_L},
      {"tWR", reach::bank, writes, closing, write_to_pre},
      {"tRTP + tRP", reach::bank, {rda}, waits_for_precharge, read_to_pre + t.RPpb, t.BL_n_L},
      {"tWR + tRP", reach::bank, {wra}, waits_for_precharge, write_to_pre + t.RPpb},

      // Between the banks of a rank. A REFpb opens rows inside, so it keeps its distance and counts for tFAW.
      {"tRRD", reach::rank, {act1}, {act1, ref_bank}, t.RRD},
      {"tPPD", reach::rank, closing, closing, t.PPD},

      // Column to column. The same bank group needs its array for longer; a turnaround needs the bus idle.
      {"tCCD_S", reach::rank, reads, columns, t.BL_n_S, t.BL_n_S},
      {"tCCD_S", reach::rank, writes, writes, t.BL_n_S},
      {"tCCD_L", reach::bank_group, reads, columns, t.BL_n_L, t.BL_n_L},
      {"tCCD_L", reach::bank_group, writes, writes, t.BL_n_L},
      {"tRTW_S", reach::rank, reads, writes, t.RTW_S, 0, true},
      {"tRTW_L", reach::bank_group, reads, writes, t.RTW_L, 0, true},
      {"tWTR_S", reach::rank, writes, reads, t.WL + t.BL_n_min + t.WTR_S},
      {"tWTR_L", reach::bank_group, writes, reads, t.WL + t.BL_n_max + t.WTR_L},

      // Refresh.
      {"tRFCab", reach::rank, {ref_all}, any, t.RFCab},
      {"tRFCpb", reach::bank, {ref_bank}, any, t.RFCpb},
      {"tpbR2act", reach::rank, {ref_bank}, {act1}, t.pbR2act},
      {"tpbR2pbR", reach::rank, {ref_bank}, {ref_bank}, t.pbR2pbR},

      // Power-down and self-refresh. Neither may begin while the rank still moves data, WCK runs out, or a row is
      // written.
      {"tCSPD", reach::rank, {pd_enter}, {pd_exit}, t.CSPD},
      {"tXP", reach::rank, {pd_exit}, any, t.XP},
      {"tSR", reach::rank, {sr_enter}, {sr_exit}, t.SR},
      {"tXSR", reach::rank, {sr_exit}, any, t.XSR},
      {"read data", reach::rank, reads, {pd_enter, sr_enter}, t.RL + t.BL_n_min + t.WCKPST, 0, true},
      {"write recovery", reach::rank, writes, {pd_enter, sr_enter}, write_to_pre},
  };
}

}  // namespace dvp::lpddr5
