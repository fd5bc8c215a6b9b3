// Main memory with one latency and one bandwidth: the simplest model behind the memory seat.
//
// A request occupies the data bus for its bytes at the stated bandwidth, one request after another in the order they
// arrive; its data is complete one latency later, and the next request may use the bus meanwhile:
//   start    = max(now + delay, bus free)
//   bus free = start + transfer,   transfer = ceil(data length / bytes_per_second) in picoseconds
//   delay    = bus free + latency - now
// Bytes are read or written at the call. Any alignment, length, byte enables and streaming width are served; masked
// bytes cost the same. An access that leaves the memory is answered with TLM_ADDRESS_ERROR_RESPONSE, one of length or
// streaming width 0 with TLM_BURST_ERROR_RESPONSE, one with byte enables of length 0 with
// TLM_BYTE_ENABLE_ERROR_RESPONSE; none of them takes time or is counted.
// A read tagged q4 or q2 delivers converted codes, the views being those given to set_view(), and is refused as
// core/converted_read.h says; it takes the time of the delivered bytes. One of q0 takes no time and delivers nothing.
// Every other access moves the stored bytes, whatever its tag.
//
// DMI grants the whole memory to plain accesses, with `latency` as its latency; what goes through it, or through
// data(), takes no bus time and is in no figure or slice. Debug accesses neither.
//
// Figures, below the module's base name:
//   bytes_read, bytes_written, accesses, busy_ps (data bus occupied), direct_grants
//   traffic.{read,write}.<purpose>.<precision>_bytes   for the tags that occurred
//   energy.{core,down,total}_pj_modelled
// Energy is movement energy, 8 e_core + p e_down per element: p is 4 and 2 for reads tagged q4 and q2, which count
// their elements; those of q0 cost nothing; every other access, all writes included, counts its bytes with p = 8.
#pragma once

#include <cstdint>
#include <string>
#include <systemc>
#include <tlm>

#include "tlm/core/access_tag.h"
#include "tlm/core/host_pages.h"
#include "tlm/core/memory_seat.h"
#include "tlm/core/merged_slices.h"
#include "tlm/core/read_rates.h"
#include "tlm/core/statistics.h"
#include "tlm/core/timeline.h"
#include "tlm/core/traffic_figures.h"
#include "tlm/numerics/view_table.h"
#include "tlm_utils/simple_target_socket.h"

namespace dvp::memory {

struct simple_memory_config {
  std::uint64_t bytes = 0;  // size, 1 or more
  sc_core::sc_time latency;
  std::uint64_t bytes_per_second = 0;  // 1 or more
  double e_core_pj_per_bit = 0;        // reading the cell array, always 8 bits per element
  double e_down_pj_per_bit = 0;        // bringing the delivered bits to the initiator
  bool direct_memory = true;           // grant DMI
  // Accesses of one direction and purpose that are at most this far apart are one slice of the timeline.
  sc_core::sc_time timeline_gap;
};

class simple_memory : public sc_core::sc_module, public core::memory_seat {
 public:
  // A configuration out of range is a fatal report with the module's name. Figures and timeline outlive the module.
  simple_memory(const sc_core::sc_module_name& name, const simple_memory_config& config, core::statistics& figures,
                core::timeline& timeline);

  tlm_utils::simple_target_socket<simple_memory> socket;

  // memory_seat; the figures are always current.
  std::uint32_t views() const override { return numerics::view_table::count; }
  bool set_view(std::uint16_t number, const numerics::view& v) override { return views_.set(number, v); }
  void serve(tlm::tlm_initiator_socket<>& from) override { from.bind(socket); }
  std::uint8_t* data() override { return pages_.data(); }
  std::uint64_t bytes() const override { return config_.bytes; }
  void update_figures() override {}

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned int transport_dbg(tlm::tlm_generic_payload& payload);
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
  void end_of_simulation() override;

  std::string path(const char* figure) const;
  sc_core::sc_time transfer_time(std::uint64_t length) const;
  void account(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& begin, const sc_core::sc_time& end);

  simple_memory_config config_;
  core::host_pages pages_;
  numerics::view_table views_;
  sc_core::sc_time bus_free_;
  core::timeline& timeline_;
  core::merged_slices slices_;
  core::read_rates rates_;
  core::traffic_figures traffic_;
  std::uint64_t& busy_ps_;
  std::uint64_t& direct_grants_;
  std::uint64_t core_bits_ = 0;
  std::uint64_t down_bits_ = 0;
  double& core_pj_;
  double& down_pj_;
  double& total_pj_;
};

}  // namespace dvp::memory
