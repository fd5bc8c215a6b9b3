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
// The bytes are those stored: a precision tag changes accounting only.
//
// DMI grants the whole memory, with `latency` as its latency; what goes through it, or through data(), takes no bus
// time and is in no figure or slice. Debug accesses neither.
//
// Figures, below the module's base name:
//   bytes_read, bytes_written, accesses, busy_ps (data bus occupied), direct_grants
//   traffic.{read,write}.<purpose>.<precision>_bytes   for the tags that occurred
//   energy.{core,down,total}_pj_modelled
// Energy is movement energy, 8 e_core + p e_down per element: p is 4 and 2 for reads tagged q4 and q2; every other
// access, all writes included, counts its bytes with p = 8.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <systemc>
#include <tlm>

#include "tlm/core/access_tag.h"
#include "tlm/core/merged_slices.h"
#include "tlm/core/statistics.h"
#include "tlm/core/timeline.h"
#include "tlm/memory/host_pages.h"
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

class simple_memory : public sc_core::sc_module {
 public:
  // A configuration out of range is a fatal report with the module's name. Figures and timeline outlive the module.
  simple_memory(const sc_core::sc_module_name& name, const simple_memory_config& config, core::statistics& figures,
                core::timeline& timeline);

  tlm_utils::simple_target_socket<simple_memory> socket;

  // The stored bytes, for loaders and checks on the host side; zero where nobody wrote.
  std::uint8_t* data() { return pages_.data(); }
  std::uint64_t bytes() const { return config_.bytes; }

 private:
  static constexpr std::size_t purposes = 16;
  static constexpr std::size_t precisions = 8;

  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned int transport_dbg(tlm::tlm_generic_payload& payload);
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
  void end_of_simulation() override { slices_.flush(); }

  std::string path(const char* figure) const;
  bool holds(std::uint64_t address, std::uint64_t length) const;
  void move(tlm::tlm_generic_payload& payload);
  sc_core::sc_time transfer_time(std::uint64_t length) const;
  void account(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& begin, const sc_core::sc_time& end);

  simple_memory_config config_;
  host_pages pages_;
  sc_core::sc_time bus_free_;
  core::statistics& figures_;
  core::timeline& timeline_;
  core::merged_slices slices_;
  std::array<std::uint64_t*, 2 * purposes * precisions> traffic_{};
  std::uint64_t& bytes_read_;
  std::uint64_t& bytes_written_;
  std::uint64_t& accesses_;
  std::uint64_t& busy_ps_;
  std::uint64_t& direct_grants_;
  std::uint64_t core_bits_ = 0;
  std::uint64_t down_bits_ = 0;
  double& core_pj_;
  double& down_pj_;
  double& total_pj_;
};

}  // namespace dvp::memory
