// Boot ROM: read-only memory with the few instructions at which every hart starts.
//
// From its first byte on: a0 = mhartid, a1 = 0 (there is no device tree in memory), jump to the entry. t0 is used.
// These are the registers in which the field's firmware expects hart number and device tree. The rest reads as zeros.
//
// Reads of any alignment and length are served at once; the bus in front has the latency. A write is answered with
// TLM_COMMAND_ERROR_RESPONSE and changes nothing, a debug write moves 0 bytes. DMI grants reads of all of it.
#pragma once

#include <array>
#include <cstdint>
#include <systemc>
#include <tlm>

#include "dvp_gen/system.h"
#include "tlm_utils/simple_target_socket.h"

namespace dvp::boot_rom {

class boot_rom : public sc_core::sc_module {
 public:
  static constexpr std::size_t size = gen::system::boot_rom_bytes;

  // entry: where the harts go, any address that is a multiple of 2. Another one is a fatal report with the module's
  // name.
  boot_rom(const sc_core::sc_module_name& name, std::uint64_t entry);

  tlm_utils::simple_target_socket<boot_rom> socket;

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned int transport_dbg(tlm::tlm_generic_payload& payload);
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);

  std::array<std::uint8_t, size> bytes_{};
};

}  // namespace dvp::boot_rom
