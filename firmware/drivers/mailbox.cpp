#include "firmware/drivers/mailbox.h"

#include "dvp_gen/mailbox_regs.h"
#include "firmware/hal/hal.h"

namespace dvp::drivers {

namespace regs = gen::mailbox;

mailbox_code mailbox::probe(std::uint64_t base) {
  base_ = base;
  return hal::read32(base + regs::id::offset) == regs::id::reset ? mailbox_code::ok : mailbox_code::absent;
}

std::uint64_t mailbox::accept(interrupt_line line) {
  while (regs::request_state::pending.get(hal::read32(base_ + regs::request_state::offset)) == 0) {
    static_cast<void>(line.wait(0));
  }
  posted_ = 0;
  // The address after the acceptance: a request set in between would be a new one, with an interrupt of its own.
  hal::write32(base_ + regs::request_state::offset, regs::request_state::pending.set(0, 1));
  line.complete();
  const std::uint64_t low = hal::read32(base_ + regs::request_lo::offset);
  const std::uint64_t high = hal::read32(base_ + regs::request_hi::offset);
  return high << 32 | low;
}

void mailbox::post_progress() {
  hal::fence();
  hal::write32(base_ + regs::progress::offset, posted_++);
}

void mailbox::finish(gen::result_code code) {
  hal::fence();
  hal::write32(base_ + regs::finish::offset, regs::finish::code.set(0, static_cast<std::uint32_t>(code)));
}

}  // namespace dvp::drivers
