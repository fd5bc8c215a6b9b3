// A memory system's counts as named figures, below the module's path:
//
//   busy_ps, idle.<cause>_ps                      data buses, summed over channels; causes of figures.h
//   states.{active,precharged,active_power_down,precharge_power_down,self_refresh}_ps   ranks, summed over channels
//   rows.{hits,misses,conflicts}                  bursts by the state of their row when their turn came
//   commands.<name>                               by command, lower case
//   bursts.{read,write}, column_accesses, forwarded_reads, coalesced_writes, wck_starts
//   latency.{read,write}_{count,total_ps}         submit to last beat, or to acceptance when posted
//   precision.<p>.{reads,elements,delivered_bits,padding_bits,scale_bits,core_bits}   p: q8, q4, q2, q0
//   bound.{io,core}_bursts                        which of the two set a read burst's pace
//   stream.{accesses,bytes}                       served in one step
//   elapsed_ps                                    simulated time the counts cover
//   energy.{activate,refresh,background,core,down,convert,total}_pj_modelled
//
// All are sums over time, so the difference of two reports is the report of the time between.
#pragma once

#include <string>

#include "tlm/core/statistics.h"
#include "tlm/lpddr5/device/device.h"
#include "tlm/lpddr5/engine/figures.h"

namespace dvp::lpddr5 {

void report(const system_figures& figures, const device& d, core::statistics& out, const std::string& owner);

}  // namespace dvp::lpddr5
