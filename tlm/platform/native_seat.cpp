#include "tlm/platform/native_seat.h"

#include "dvp_gen/system.h"
#include "firmware/apps/firmware.h"
#include "firmware/port/native/machine.h"

namespace dvp::platform {

namespace {

void serve() {
  apps::serve(gen::system::mailbox_base, gen::system::npu_base, gen::system::plic_base);
}

}  // namespace

native_seat::native_seat(const native_choice& config, bool has_data, core::statistics& figures,
                         core::timeline& timeline)
    : harts_(config.harts, config.hart, serve, figures, timeline), machine_(harts_, has_data) {
  hal::install(&machine_);
}

void native_seat::connect(std::uint32_t hart, core::bus::initiator_side& bus, hart_lines& lines) {
  harts_[hart].socket.bind(bus);
  harts_[hart].interrupt.bind(lines.external);
}

}  // namespace dvp::platform
