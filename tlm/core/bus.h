// Interconnect without contention: any number of initiators, one target per window of the address map.
//
// Routes b_transport, nb_transport, transport_dbg and DMI requests; the target sees addresses relative to its window,
// the initiator gets its own address back. Each access adds the stated latency once: a blocking one before the target
// sees it, a non-blocking one to its response on the way back, so that requests can be as dense as the target takes
// them and responses as dense as it sends them. One that ends early, with TLM_COMPLETED for BEGIN_REQ, adds none. DMI
// latencies grow by the same. Concurrent accesses pass each other; a non-blocking one is the target's from BEGIN_REQ
// until TLM_COMPLETED or END_RESP, and its phases pass through unchanged.
//
// An access that is in no window or leaves its window is answered with TLM_ADDRESS_ERROR_RESPONSE, 0 debug bytes or a
// refused DMI request, takes no time and is counted in unmapped(). A DMI request in no window is refused for the whole
// hole between its neighbours, so that one request tells all of it. A bad address map (see address_map) is a fatal
// report at elaboration with this module's name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string_view>
#include <systemc>
#include <tlm>
#include <unordered_map>
#include <vector>

#include "tlm/core/address_map.h"
#include "tlm_utils/simple_initiator_socket.h"
#include "tlm_utils/simple_target_socket.h"

namespace dvp::core {

class bus : public sc_core::sc_module {
 public:
  using initiator_side = tlm_utils::simple_target_socket_tagged<bus>;
  using target_side = tlm_utils::simple_initiator_socket_tagged<bus>;

  bus(const sc_core::sc_module_name& name, std::vector<address_window> windows, std::size_t initiators,
      const sc_core::sc_time& latency);

  // Where initiator i binds its socket; every one must be bound.
  initiator_side& from_initiator(std::size_t i) { return initiators_.at(i); }
  // What to bind to the target of a window; an unknown name is a fatal report. Every one must be bound.
  target_side& to_target(std::string_view window);

  const address_map& map() const { return map_; }
  std::uint64_t unmapped() const { return unmapped_; }

 private:
  // A non-blocking access under way.
  struct route {
    std::size_t initiator;
    std::size_t window;
    std::uint64_t address;  // the initiator's
  };

  void b_transport(int initiator, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  tlm::tlm_sync_enum nb_transport_fw(int initiator, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  tlm::tlm_sync_enum nb_transport_bw(int window, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  void forget_if_over(tlm::tlm_generic_payload& payload, const tlm::tlm_phase& phase, tlm::tlm_sync_enum answer);
  unsigned int transport_dbg(int initiator, tlm::tlm_generic_payload& payload);
  bool get_direct_mem_ptr(int initiator, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
  void invalidate_direct_mem_ptr(int window, sc_dt::uint64 start, sc_dt::uint64 end);

  address_map map_;
  sc_core::sc_time latency_;
  sc_core::sc_vector<initiator_side> initiators_;
  sc_core::sc_vector<target_side> targets_;
  std::pmr::unsynchronized_pool_resource routes_;
  std::pmr::unordered_map<const tlm::tlm_generic_payload*, route> under_way_{&routes_};
  std::uint64_t unmapped_ = 0;
};

}  // namespace dvp::core
