// Devices whose every number was typed from the published values, for tests that must not take the device files' word.
#pragma once

#include "tlm/lpddr5/device/device.h"

namespace dvp::lpddr5::test {

// LPDDR5-6400, x16, bank groups, BL16, 8 Gb, in CK of 1.25 ns.
inline device typed_6400(std::uint32_t ranks = 1) {
  device d;
  d.id = "typed 6400";
  d.standard = "LPDDR5";
  d.shape.ranks = ranks;
  timing& t = d.times;
  t.REFI = 3125, t.REFIpb = 391, t.RFCab = 168, t.RFCpb = 96;
  t.RAS = 34, t.RPab = 17, t.RPpb = 15, t.RCpb = 49, t.RCab = 51, t.PPD = 2;
  t.RCD = 15, t.FAW = 16, t.RRD = 4, t.AAD = 8;
  t.RL = 17, t.WL = 9, t.RBTP = 6, t.WR = 28, t.RTRS = 2;
  t.BL_n_min = 2, t.BL_n_max = 4, t.BL_n_S = 2, t.BL_n_L = 4;
  t.WTR_L = 10, t.WTR_S = 5, t.RTW_L = 12, t.RTW_S = 12;
  t.WCKPST = 1, t.pbR2act = 6, t.pbR2pbR = 72;
  t.XP = 6, t.CSPD = 6, t.SR = 12, t.XSR = 174;
  return d;
}

// LPDDR5-5500: CK of 1.4545 ns.
inline device typed_5500(std::uint32_t ranks = 1) {
  device d = typed_6400(ranks);
  d.id = "typed 5500";
  timing& t = d.times;
  t.tCK_fs = 1'454'545;
  t.REFI = 2686, t.REFIpb = 336, t.RFCab = 145, t.RFCpb = 83;
  t.RAS = 29, t.RPab = 15, t.RPpb = 13, t.RCpb = 42, t.RCab = 44;
  t.RCD = 13, t.FAW = 16, t.RRD = 4;
  t.RL = 15, t.WL = 8, t.RBTP = 4, t.WR = 24;
  t.WTR_L = 9, t.WTR_S = 5, t.RTW_L = 11, t.RTW_S = 11;
  t.pbR2act = 6, t.pbR2pbR = 62;
  t.XP = 5, t.CSPD = 6, t.SR = 11, t.XSR = 150;
  return d;
}

// LPDDR5X-8533: CK of 0.9375 ns.
inline device typed_8533(std::uint32_t ranks = 1) {
  device d = typed_6400(ranks);
  d.id = "typed 8533";
  d.standard = "LPDDR5X";
  timing& t = d.times;
  t.tCK_fs = 937'500;
  t.REFI = 4167, t.REFIpb = 521, t.RFCab = 224, t.RFCpb = 128;
  t.RAS = 45, t.RPab = 23, t.RPpb = 20, t.RCpb = 65, t.RCab = 68;
  t.RCD = 20, t.FAW = 22, t.RRD = 6;
  t.RL = 23, t.WL = 12, t.RBTP = 8, t.WR = 37;
  t.WTR_L = 13, t.WTR_S = 7, t.RTW_L = 15, t.RTW_S = 15;
  t.pbR2act = 8, t.pbR2pbR = 96;
  t.XP = 8, t.CSPD = 8, t.SR = 16, t.XSR = 232;
  return d;
}

// 6400 with BL32: two halves of 2 CK with a gap of 2 between them.
inline device typed_6400_bl32() {
  device d = typed_6400();
  d.shape.burst_length = 32;
  d.times.BL_n_min = 6, d.times.BL_n_max = 8, d.times.BL_n_S = 2, d.times.BL_n_L = 8;
  d.times.RTW_S = d.times.RTW_L = 16;
  return d;
}

}  // namespace dvp::lpddr5::test
