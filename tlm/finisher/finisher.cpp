#include "tlm/finisher/finisher.h"

#include "dvp_gen/finisher_bank.h"

namespace dvp::finisher {

namespace reg = gen::finisher;

finisher::finisher(const sc_core::sc_module_name& name) : register_target(name, reg::bank) {
  registers_.on_read(reg::finish::offset, [] { return 0U; });
  registers_.on_write(reg::finish::offset, [this](std::uint32_t value) {
    const auto outcome = static_cast<reg::outcome>(reg::finish::outcome.get(value));
    const std::uint32_t code = outcome == reg::outcome::fail ? reg::finish::code.get(value) : 0;
    const bool known = outcome == reg::outcome::fail || outcome == reg::outcome::pass || outcome == reg::outcome::reset;
    if (known && finish_) finish_(outcome, code);
  });
}

}  // namespace dvp::finisher
