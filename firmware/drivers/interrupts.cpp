#include "firmware/drivers/interrupts.h"

#include "dvp_gen/plic_regs.h"
#include "firmware/hal/hal.h"

namespace dvp::drivers {
namespace {

namespace regs = gen::plic;

constexpr std::uint32_t context = 0;  // machine mode of hart 0

}  // namespace

void interrupts::start(std::uint64_t base, std::span<const std::uint32_t> sources) {
  base_ = base;
  claimed_ = 0;
  std::uint32_t enabled = 0;
  for (const std::uint32_t source : sources) {
    hal::write32(base + regs::source::priority::at(source), 1);
    enabled |= 1u << source;
  }
  hal::write32(base + regs::context::threshold::at(context), 0);
  hal::write32(base + regs::enables::word::at(context), enabled);
}

std::uint32_t interrupts::wait(std::uint32_t timeout_us) {
  while (hal::wait_for_interrupt(timeout_us)) {
    // 0: the line was high, but the request is gone.
    const std::uint32_t source = hal::read32(base_ + regs::context::claim::at(context));
    if (source != 0) {
      claimed_ |= 1u << source;
      return source;
    }
  }
  return 0;
}

void interrupts::complete(std::uint32_t source) {
  hal::write32(base_ + regs::context::claim::at(context), source);
  claimed_ &= ~(1u << source);
}

bool interrupt_line::wait(std::uint32_t timeout_us) {
  // Asleep behind a claimed source nobody would be woken: a stale request of it, or a foreign wait, left it so.
  if (controller_->claimed(source_)) {
    complete();
  }
  for (;;) {
    const std::uint32_t source = controller_->wait(timeout_us);
    if (source == source_) {
      return true;
    }
    if (source == 0) {
      return false;
    }
  }
}

}  // namespace dvp::drivers
