#include "tlm/mailbox/mailbox.h"

#include <utility>

#include "dvp_gen/mailbox_bank.h"
#include "dvp_gen/mailbox_regs.h"

namespace dvp::mailbox {

namespace reg = gen::mailbox;

mailbox::mailbox(const sc_core::sc_module_name& name) : register_target(name, reg::bank), interrupt("interrupt") {
  SC_HAS_PROCESS(mailbox);
  SC_METHOD(drive_interrupt);
  sensitive << state_changed_;
  registers_.on_write(reg::progress::offset, [this](std::uint32_t value) {
    if (progress_) progress_(reg::progress::sequence.get(value));
  });
  registers_.on_write(reg::finish::offset, [this](std::uint32_t value) {
    if (finish_) finish_(reg::finish::code.get(value));
  });
  registers_.on_write(reg::request_state::offset, [this](std::uint32_t value) {
    state_changed_.notify(sc_core::SC_ZERO_TIME);
    if (reg::request_state::pending.get(value) != 0 && std::exchange(offered_, false) && accept_) accept_();
  });
}

void mailbox::set_request(std::uint64_t address) {
  registers_.set(reg::request_lo::offset, static_cast<std::uint32_t>(address));
  registers_.set(reg::request_hi::offset, static_cast<std::uint32_t>(address >> 32));
  registers_.set(reg::request_state::offset, reg::request_state::pending.set(0, 1));
  offered_ = true;
  state_changed_.notify(sc_core::SC_ZERO_TIME);
}

void mailbox::drive_interrupt() {
  interrupt.write(reg::request_state::pending.get(registers_.get(reg::request_state::offset)) != 0);
}

}  // namespace dvp::mailbox
