#include "firmware/port/riscv/end_run.h"

#include "dvp_gen/mailbox_regs.h"
#include "dvp_gen/system.h"
#include "firmware/drivers/finisher.h"
#include "firmware/hal/hal.h"
#include "firmware/port/riscv/console.h"

namespace dvp::port {
namespace {

[[noreturn]] void sleep() {
  for (;;) {
    asm volatile("wfi");
  }
}

}  // namespace

void end_run(int code) {
  console.flush();
  drivers::finisher finisher(gen::system::finisher_base);
  code == 0 ? finisher.pass() : finisher.fail(static_cast<std::uint32_t>(code));
  sleep();
}

void end_run_badly(std::uint32_t code) {
  console.flush();
  hal::write32(gen::system::mailbox_base + gen::mailbox::finish::offset, gen::mailbox::finish::code.set(0, trapped));
  end_run_at_once(code);
}

void end_run_at_once(std::uint32_t code) {
  drivers::finisher(gen::system::finisher_base).fail(code);
  sleep();
}

}  // namespace dvp::port
