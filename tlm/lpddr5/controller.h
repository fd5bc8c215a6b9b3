// LPDDR5 memory behind a TLM-2.0 socket: the module to instantiate in a platform.
//
//   initiators ─> socket ─> bytes (host pages)         moved when the access arrives, in order of arrival
//                    └────> memory_system ─> due events ─> END_REQ, BEGIN_RESP
//
// Bytes and time are apart. The bytes of an access move when it arrives (its BEGIN_REQ plus its delay; the call for
// b_transport), so a read sees every write that arrived before it, whatever the scheduler does. Of accesses of
// different initiators for the very same moment, those announced with a delay and those without have no order. Time
// comes from the command-level engine. CK edges are multiples of tCK from time 0; an access arrives at the next edge.
//
// nb_transport_fw: base protocol, approximately timed. BEGIN_REQ is answered with
//   TLM_COMPLETED   refused accesses, TLM_IGNORE_COMMAND, reads of q0; and what is accepted and finished at once, as a
//                   posted write: its delay then says when
//   TLM_UPDATED     END_REQ, with the delay until every burst of the access has a place in its queue
//   TLM_ACCEPTED    the queues are full: END_REQ, or BEGIN_RESP in its place, comes later (back-pressure)
// BEGIN_RESP comes when the last beat is on the bus. An initiator gets one response at a time: the next waits for its
// END_RESP. Responses come in order of completion, not of request. A payload with a memory manager is acquired from
// BEGIN_REQ to END_RESP. An initiator that sends a request before END_REQ of the last is served all the same, so a bus
// that merges several initiators into one socket is fine. Phases other than the base protocol's are ignored.
//
// b_transport: loosely timed, never waits. It runs the engine ahead from now + delay until the access is complete and
// adds that to the delay. The engine's time does not go back: an access by either interface that arrives for an earlier
// time is served as if it arrived where the engine is. So results of blocking traffic depend on the order of calls, as
// always with temporal decoupling, and mixing both interfaces delays the non-blocking side by what the blocking side
// runs ahead. Data never depend on it. Several blocking initiators are served one after the other within a quantum: two
// with a quantum of 10 us take twice as long as one alone, with a quantum of 0 still 1.25 times. Masters that should
// compete for the memory use nb_transport.
//
// An access may be a block of rows (core/row_block.h): its bytes are those of its rows. With stream_bytes in the
// configuration a block is served in one step, at the rate that its rows have command by command.
//
// An access is split into bursts at once, whatever its length: while it is under way it costs about 2 bytes of host
// memory per byte asked for, so hundreds of megabytes belong into several accesses.
//
// Reads with a core::access_tag of precision q4 or q2 deliver converted codes (tlm/core/converted_read.h); `view` names
// a descriptor given to set_view(). q0 takes no time, no command and touches no data; its elements are counted. Any
// other precision, no tag, and every write move plain bytes.
//
// Refused, without time, count or effect, in this order:
//   length or streaming width 0; a converted read that streams, or whose length is not that of its elements
//                                                     -> TLM_BURST_ERROR_RESPONSE
//   no data pointer                                   -> TLM_GENERIC_ERROR_RESPONSE
//   byte enables of length 0 or other than 0x00 and 0xff, or any on a converted read
//                                                     -> TLM_BYTE_ENABLE_ERROR_RESPONSE
//   a view that is not set or has another precision   -> TLM_COMMAND_ERROR_RESPONSE
//   a byte or element outside the memory              -> TLM_ADDRESS_ERROR_RESPONSE
// Nothing reachable from a socket throws.
//
// DMI grants the whole memory to plain accesses; its latency is that of a row hit. What goes through it, transport_dbg
// or data() takes no time and is in no figure; transport_dbg moves plain bytes whatever the tag, and none without a
// data pointer.
//
// Figures below the module's base name: those of core::traffic_figures, direct_grants, and those of system_report.h,
// which are current after update_figures() and at the end of simulation.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <systemc>
#include <tlm>
#include <vector>

#include "tlm/core/host_pages.h"
#include "tlm/core/memory_seat.h"
#include "tlm/core/read_rates.h"
#include "tlm/core/statistics.h"
#include "tlm/core/timeline.h"
#include "tlm/core/traffic_figures.h"
#include "tlm/lpddr5/ck_clock.h"
#include "tlm/lpddr5/config/memory_config.h"
#include "tlm/lpddr5/data_bus_track.h"
#include "tlm/lpddr5/due_events.h"
#include "tlm/lpddr5/engine/memory_system.h"
#include "tlm/numerics/view_table.h"
#include "tlm_utils/multi_passthrough_target_socket.h"

namespace dvp::lpddr5 {

// What concerns the module and not the memory.
struct controller_options {
  bool direct_memory = true;            // grant DMI
  std::uint64_t timeline_gap_ns = 100;  // bursts of one direction at most so far apart are one slice
  command_sink* commands = nullptr;     // hears every DRAM command; outlives the module
};

class controller : public sc_core::sc_module, public core::memory_seat, private access_sink {
 public:
  using options = controller_options;

  // A configuration that makes no memory is a fatal report with the module's name. Figures and timeline outlive it.
  controller(const sc_core::sc_module_name& name, const memory_config& config, core::statistics& figures,
             core::timeline& timeline, const options& o = {});
  // With figures of its own and no timeline.
  controller(const sc_core::sc_module_name& name, const memory_config& config, const options& o = {});
  ~controller() override;

  tlm_utils::multi_passthrough_target_socket<controller> socket;

  // memory_seat. A view may be set at any time; an access converts by the one that is set when it arrives.
  std::uint32_t views() const override { return numerics::view_table::count; }
  bool set_view(std::uint16_t number, const numerics::view& v) override { return views_.set(number, v); }
  void serve(tlm::tlm_initiator_socket<>& from) override { from.bind(socket); }
  std::uint8_t* data() override { return pages_.data(); }
  std::uint64_t bytes() const override { return system_->bytes(); }
  void update_figures() override;

  const core::statistics& statistics() const { return figures_; }
  // The engine's counts up to now, for what the named figures leave out: histograms, banks, channels.
  const system_figures& engine_figures();
  const memory_system& system() const { return *system_; }

  // Accesses that arrived and are not answered to the end; 0 when a run was left to finish.
  std::size_t under_way() const { return under_way_; }

 private:
  struct own_figures;
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};
  static constexpr std::uint32_t blocked = nobody - 1;  // responding until a response_over event
  static constexpr std::uint64_t unknown = due_events::none;

  // One access from arrival to END_RESP. The engine and the due events know it by its place in accesses_.
  struct transaction {
    tlm::tlm_generic_payload* payload = nullptr;  // null: of b_transport, which waits for it itself
    std::uint32_t initiator = 0;
    std::uint32_t next = nobody;       // of the free ones, or of those that wait for their initiator
    bool request_over = false;         // END_REQ was sent or replaced
    std::uint64_t accepted = unknown;  // values of sc_time
    std::uint64_t finished = unknown;
  };
  struct initiator_state {
    std::uint32_t responding = nobody;
    std::uint32_t first = nobody, last = nobody;  // responses that wait
  };

  controller(const sc_core::sc_module_name& name, const memory_config& config, std::unique_ptr<own_figures> own,
             const options& o);
  controller(const sc_core::sc_module_name& name, const memory_config& config, std::unique_ptr<own_figures> own,
             core::statistics& figures, core::timeline& timeline, const options& o);

  tlm::tlm_sync_enum nb_transport_fw(int initiator, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  void b_transport(int initiator, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned int transport_dbg(int initiator, tlm::tlm_generic_payload& payload);
  bool get_direct_mem_ptr(int initiator, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
  void end_of_elaboration() override;
  void end_of_simulation() override;

  // access_sink. They note and put due events: no initiator is called from inside the engine.
  void accepted(std::uint64_t id, cycles at) override;
  void finished(std::uint64_t id, cycles at) override;

  // An access arrives: answers its payload, moves its bytes and counts them. Nothing when it needs no time.
  std::optional<access> take(tlm::tlm_generic_payload& payload, const sc_core::sc_time& arrival);
  void submit(std::uint32_t index, access& a);

  tlm::tlm_sync_enum begin_request(std::uint32_t initiator, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                   sc_core::sc_time& delay);
  void end_response(std::uint32_t initiator, const sc_core::sc_time& delay);
  void wake();
  void run_engine(std::uint64_t now);
  void schedule();
  void arrive(std::uint32_t index);
  void send_end_request(std::uint32_t index);
  void respond(std::uint32_t index);
  void begin_response(std::uint32_t index);
  void next_response(std::uint32_t initiator);

  std::uint32_t allocate(tlm::tlm_generic_payload* payload, std::uint32_t initiator);
  void free(std::uint32_t index);

  std::unique_ptr<own_figures> own_;
  core::statistics& figures_;
  bool direct_memory_;
  device device_;
  ck_clock clock_;
  data_bus_track track_;
  std::unique_ptr<memory_system> system_;
  core::host_pages pages_;
  numerics::view_table views_;
  core::traffic_figures traffic_;
  core::read_rates rates_;
  std::uint64_t& direct_grants_;

  std::deque<transaction> accesses_;  // in place while initiators call back
  std::uint32_t free_ = nobody;
  std::size_t under_way_ = 0;
  std::uint32_t starting_ = nobody;  // inside the engine for this one: its caller looks at its times
  std::vector<initiator_state> initiators_;
  due_events due_;
  sc_core::sc_event wake_;
  std::uint64_t wake_at_ = due_events::none;
  bool serving_ = false;  // inside wake(), which schedules at its end
};

}  // namespace dvp::lpddr5
