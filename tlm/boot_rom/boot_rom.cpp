#include "tlm/boot_rom/boot_rom.h"

#include <cstring>
#include <sstream>

#include "tlm/boot_rom/encoding.h"
#include "tlm/core/byte_access.h"

namespace dvp::boot_rom {

namespace {

constexpr std::uint32_t mhartid = 0xf14;

// The entry's 64 bits follow the instructions at a multiple of 8.
constexpr std::int32_t entry_offset = 24;
constexpr std::array<std::uint32_t, 5> code{
    auipc(reg::t0, 0),  // t0 = the ROM's first byte
    csrr(reg::a0, mhartid),
    addi(reg::a1, reg::zero, 0),  // no device tree
    ld(reg::t0, reg::t0, entry_offset),
    jalr(reg::zero, reg::t0, 0),
};
static_assert(sizeof code <= entry_offset && entry_offset % 8 == 0);

}  // namespace

boot_rom::boot_rom(const sc_core::sc_module_name& name, std::uint64_t entry) : sc_module(name), socket("socket") {
  if (entry % 2 != 0) {
    std::ostringstream message;
    message << this->name() << ": no instruction can start at the odd address 0x" << std::hex << entry;
    SC_REPORT_FATAL("/dvp/boot_rom", message.str().c_str());
  }
  socket.register_b_transport(this, &boot_rom::b_transport);
  socket.register_transport_dbg(this, &boot_rom::transport_dbg);
  socket.register_get_direct_mem_ptr(this, &boot_rom::get_direct_mem_ptr);
  std::memcpy(bytes_.data(), code.data(), sizeof code);
  std::memcpy(bytes_.data() + entry_offset, &entry, sizeof entry);
}

void boot_rom::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
  tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
  if (payload.is_write()) {
    status = tlm::TLM_COMMAND_ERROR_RESPONSE;
  } else if (payload.is_read()) {
    status = core::check_bytes(payload, size);
    if (status == tlm::TLM_OK_RESPONSE) {
      core::move_bytes(payload, bytes_.data());
      payload.set_dmi_allowed(true);
    }
  }
  payload.set_response_status(status);
}

unsigned int boot_rom::transport_dbg(tlm::tlm_generic_payload& payload) {
  return payload.is_read() ? core::move_debug_bytes(payload, bytes_.data(), size) : 0;
}

bool boot_rom::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
  dmi.init();
  const bool inside = core::is_inside(payload.get_address(), 1, size);
  const bool granted = inside && !payload.is_write();
  dmi.set_start_address(inside ? 0 : payload.get_address());
  dmi.set_end_address(inside ? size - 1 : payload.get_address());
  if (!granted) return false;
  dmi.set_dmi_ptr(bytes_.data());
  dmi.allow_read();
  return true;
}

}  // namespace dvp::boot_rom
