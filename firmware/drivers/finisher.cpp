#include "firmware/drivers/finisher.h"

#include "dvp_gen/finisher_regs.h"
#include "firmware/hal/hal.h"

namespace dvp::drivers {

namespace regs = gen::finisher;

void finisher::pass() {
  hal::fence();
  hal::write32(base_ + regs::finish::offset,
               regs::finish::outcome.set(0, static_cast<std::uint32_t>(regs::outcome::pass)));
}

void finisher::fail(std::uint32_t code) {
  hal::fence();
  const std::uint32_t fail = regs::finish::outcome.set(0, static_cast<std::uint32_t>(regs::outcome::fail));
  hal::write32(base_ + regs::finish::offset, regs::finish::code.set(fail, code));
}

}  // namespace dvp::drivers
