#include "tlm/mailbox/mailbox.h"

#include "dvp_gen/mailbox_bank.h"
#include "dvp_gen/mailbox_regs.h"

namespace dvp::mailbox {

namespace reg = gen::mailbox;

mailbox::mailbox(const sc_core::sc_module_name& name) : sc_module(name), socket("socket"), registers_(reg::bank) {
  socket.register_b_transport(this, &mailbox::transport);
  socket.register_transport_dbg(this, &mailbox::debug);
  registers_.on_write(reg::progress::offset, [this](std::uint32_t value) {
    if (progress_) progress_(reg::progress::sequence.get(value));
  });
  registers_.on_write(reg::finish::offset, [this](std::uint32_t value) {
    if (finish_) finish_(reg::finish::code.get(value));
  });
}

void mailbox::set_request(std::uint64_t address) {
  registers_.set(reg::request_lo::offset, static_cast<std::uint32_t>(address));
  registers_.set(reg::request_hi::offset, static_cast<std::uint32_t>(address >> 32));
}

void mailbox::transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
  payload.set_response_status(registers_.access(payload, false));
}

unsigned mailbox::debug(tlm::tlm_generic_payload& payload) {
  payload.set_response_status(registers_.access(payload, true));
  return payload.is_response_ok() ? payload.get_data_length() : 0;
}

}  // namespace dvp::mailbox
