// The NPU: registers, two command queues, six engines around a scratchpad, an address window, one memory socket, one
// interrupt line.
//
// What software sees is gen/spec/blocks/npu.json and gen/spec/formats/descriptor.json; docs of the parts are in their
// headers. Decided here:
//   - everything happens on edges of the NPU clock; a register write takes effect at the first edge after it
//   - the ring of a queue is fetched in order and dispatched in order to the engines' FIFOs; engines run in parallel,
//     each in FIFO order; a descriptor starts when its waits are complete, its engine is free and its banks are free
//   - a write to tail that does not move it is no doorbell; one that is refused stops the queue with bad_queue and the
//     index of the first descriptor not yet rung in, while those rung in before are no longer fetched
//   - the doorbell of a queue that has stopped is ignored
//   - an access that meets no map entry of the window stops its queue with window_fault and the address; see
//   memory_link.h
//   - clearing enable stops fetching; what was fetched goes on
//   - soft reset clears queues with their ring registers, errors, counters and irq_status at once and drops work in
//     whatever state; enable and irq_enable stay as written. The scratchpad keeps its bytes. Accesses already handed
//     to the memory are not undone
//   - counters count from the first enable after power-on or soft reset
//
// An array implementation that throws (lockstep) stops its queue with error lockstep and the simulation with sc_stop();
// failure() has the message.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "tlm/array/array_seat.h"
#include "tlm/core/register_bank.h"
#include "tlm/core/statistics.h"
#include "tlm/core/timeline.h"
#include "tlm/npu/address_window.h"
#include "tlm/npu/command_queue.h"
#include "tlm/npu/decisions.h"
#include "tlm/npu/dma_engine.h"
#include "tlm/npu/engine.h"
#include "tlm/npu/execute_compressed.h"
#include "tlm/npu/execute_gemm.h"
#include "tlm/npu/memory_link.h"
#include "tlm/npu/npu_config.h"
#include "tlm/npu/npu_parts.h"
#include "tlm/npu/sequencer.h"
#include "tlm_utils/simple_initiator_socket.h"
#include "tlm_utils/simple_target_socket.h"

namespace dvp::npu {

class npu : public sc_core::sc_module {
 public:
  // A configuration that validate() refuses is a fatal report with the module's name. Seat, figures and timeline
  // outlive the module.
  npu(const sc_core::sc_module_name& name, const npu_config& config, array::array_seat& seat, core::statistics& figures,
      core::timeline& timeline);

  tlm_utils::simple_target_socket<npu> registers;
  tlm_utils::simple_initiator_socket<npu> memory;
  sc_core::sc_out<bool> interrupt;

  const npu_config& config() const { return parts_.config; }
  // Who is told, or without data asked for, what software decides by. Outlives the simulation; without data there has
  // to be one before the first descriptor.
  void set_decisions(decision_port* port) { decisions_ = port; }

  // What the array seat reported; empty while it agrees with itself.
  std::string failure() const { return failure_; }

  // For traces of register accesses.
  core::register_bank& bank() { return bank_; }
  // Host-side view of the scratchpad, for tests and dumps.
  std::span<std::byte> scratchpad_bytes() { return parts_.memory.bytes(); }
  // Now, as the registers would show it.
  std::uint64_t counter(gen::npu::counter which) const { return parts_.counts.value(which, parts_.clock.now()); }
  std::uint64_t engine_cycles(engine_id engine, engine_state state) const {
    return parts_.counts.cycles_in(engine, state, parts_.clock.now());
  }

  // Over the descriptors of a queue since the last reset; see command_queue.
  std::uint64_t fetched_hash(std::uint32_t queue) const { return queues_.at(queue)->fetched_hash(); }

  // Writes the figures since the last reset, below the module's base name: counters.<counter>,
  // engines.<engine>.{idle,waiting,blocked,busy}_cycles, descriptors.<opcode>, array_jobs; and window.* since power-on,
  // see address_window.h. Done by itself at the end of the simulation.
  void update_figures();
  // Called at every soft reset, before it clears anything: the last moment for figures since the one before.
  void on_reset(std::function<void()> listener) { before_reset_ = std::move(listener); }

  // Payloads that the memory has not given back.
  std::size_t memory_payloads_out() const { return link_.payloads_out(); }

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned int transport_dbg(tlm::tlm_generic_payload& payload);
  tlm::tlm_sync_enum memory_answered(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void end_of_simulation() override { update_figures(); }
  void drive_interrupt();
  void wake_processes() { parts_.reset.wake_up(); }

  void make_engines();
  void make_queues();
  void connect_registers();
  void connect_queue_registers(std::uint32_t q);
  void connect_counters();
  void connect_window();

  void control_written(std::uint32_t value);
  void doorbell(std::uint32_t q, std::uint32_t tail);
  void soft_reset();
  void pend(const gen::bit_field& cause, std::uint32_t q);
  void follow_backlog();
  std::uint32_t status() const;
  bool is_enabled() const;

  void window_written(std::uint32_t value);
  std::uint64_t run_unit(const descriptor_view& descriptor, std::span<std::byte> bytes);
  void execute(const descriptor_view& descriptor, std::span<std::byte> bytes);
  void decide(const descriptor_view& descriptor, std::span<std::byte> bytes);

  npu_parts parts_;
  address_window window_;
  memory_link link_;
  core::register_bank bank_;
  core::statistics& figures_;
  gemm_executor gemm_;
  compressed_executor compressed_;
  decision_port* decisions_ = nullptr;
  std::vector<std::uint32_t> words_;  // of a decision
  std::uint64_t jobs_at_reset_ = 0;
  std::vector<std::unique_ptr<command_queue>> queues_;
  std::vector<std::unique_ptr<engine>> engines_;  // by engine_id
  std::vector<std::unique_ptr<sequencer>> sequencers_;
  sc_core::sc_event interrupt_changed_;
  std::function<void()> before_reset_;
  std::string failure_;
};

}  // namespace dvp::npu
