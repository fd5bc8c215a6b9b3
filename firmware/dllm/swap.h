// Memory residency of a run on an NPU that sees main memory through an address window (SOMR): which policy, and what
// became of it.
//
//     request.swap ── none, somr ── swap_plan (who sits where) ── swap_staged, swap_stages (copies ahead of use)
//                  └─ naive, lru ── swap_mapped (maps and unmaps at every operator)
//     all ── swap_graph (what a forward reads), swap_window (commands, counters, record)
#pragma once

#include <cstdint>

#include "dvp_gen/request.h"
#include "firmware/dllm/request.h"
#include "firmware/dllm/swap_graph.h"
#include "firmware/dllm/swap_mapped.h"
#include "firmware/dllm/swap_plan.h"
#include "firmware/dllm/swap_staged.h"
#include "firmware/dllm/swap_window.h"
#include "firmware/drivers/npu_window.h"
#include "firmware/kernels/run_state.h"

namespace dvp::dllm {

struct swap_policies {
  staged_residency staged;
  mapped_residency mapped;
};

// The run that is to go through the window, placed in memory; its network has what compression asks for.
struct swapped_run {
  const gen::request_record& request;
  const work_layout& work;
  const compression_request& compression;
  const kernels::config& model;
  kernels::weights& weights;
  const kernels::anchored_ffn& network;
  kernels::run_state& state;
};

class swap_runtime {
 public:
  // Decides about everything, which costs the CPU its time the first time only, for the policies with a plan; `window`
  // is open and there is one. It and the policies outlive the run. Norms and biases move: the weights name their new
  // place. On ok the NPU may be started, with memory_base() for its rings, and then start() called. Codes: ok,
  // window_too_small, too_long (no room in the work buffer).
  [[nodiscard]] gen::result_code plan(const swapped_run& run, drivers::npu_window& window, swap_policies& policies);
  // The bus address that would be at device address 0 if all memory were in line with the command ring.
  std::uint64_t memory_base() const { return memory_base_; }

  // The NPU and the stream have been started: maps what is always mapped and makes it the run's residency.
  // identity: the CPU wrote the matrix at state.identity.
  void start(kernels::run_state& state, bool identity);
  // The run is over: waits for copies under way, and counts its descriptors and all lost interrupts into `result`. The
  // run has no residency any more; the stream's status tells whether the copies went well.
  void finish(kernels::run_state& state, gen::result_record& result);
  // What was done, or why nothing could be. Does nothing for a run without a window.
  void report(gen::result_record& result) const;
  // Forgets the last run, but not its plan.
  void clear();

 private:
  // The plan of the last request is kept while it is one for this request too.
  void plan_once(const window_limits& limits, const byte_range& room, bool staging);
  bool place(const gen::request_record& request, const byte_range& room, swap_policies& policies);

  drivers::npu_window* window_ = nullptr;
  kernels::residency* policy_ = nullptr;
  std::uint64_t memory_base_ = 0;
  swap_refusal refusal_;
  swap_graph graph_;
  plan_workspace space_;
  swap_plan plan_;
  bool planned_ = false;
  struct {
    swap_graph graph;
    window_limits limits;
    byte_range room;
    bool staging = false;
  } planned_for_;
  swap_window commands_;
  mapped_space mapped_;
};

}  // namespace dvp::dllm
