#include "tlm/platform/native_seat.h"

#include "dvp_gen/system.h"
#include "firmware/apps/firmware.h"
#include "firmware/port/native/machine.h"

namespace dvp::platform {

namespace {

void run_until_stopped() {
  try {
    apps::serve(gen::system::mailbox_base, gen::system::npu_base, gen::system::plic_base);
  } catch (const sc_core::sc_unwind_exception&) {
    throw;
  } catch (...) {
    sc_core::sc_stop();
    throw;
  }
}

}  // namespace

native_seat::native_seat(const cpu::native_cpu_config& config, core::statistics& figures, core::timeline& timeline)
    : cpu_("cpu", config, run_until_stopped, figures, timeline), machine_(cpu_) {
  hal::install(&machine_);
}

void native_seat::connect(std::uint32_t, core::bus::initiator_side& bus, hart_lines& lines) {
  cpu_.socket.bind(bus);
  cpu_.interrupt.bind(lines.external);
}

std::string native_seat::fault() const {
  return cpu_.error().empty() ? "" : "the firmware ended: " + cpu_.error();
}

}  // namespace dvp::platform
