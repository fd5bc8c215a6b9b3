#include "firmware/drivers/converter.h"

#include "dvp_gen/converter_regs.h"
#include "firmware/hal/hal.h"

namespace dvp::drivers {

namespace regs = gen::converter;

converter_code converter::probe(std::uint64_t base) {
  base_ = base;
  if (hal::read32(base + regs::id::offset) != regs::id::reset) {
    return converter_code::absent;
  }
  views_ = regs::views::count.get(hal::read32(base + regs::views::offset));
  views_ = views_ < regs::view::count ? views_ : regs::view::count;
  return converter_code::ok;
}

converter_code converter::set_view(std::uint32_t number, std::uint32_t descriptor) {
  if (number == 0 || number > views_) {
    return converter_code::bad_argument;
  }
  const std::uint64_t place = base_ + regs::view::descriptor::at(number - 1);
  hal::write32(place, descriptor);
  return hal::read32(place) == descriptor ? converter_code::ok : converter_code::refused;
}

}  // namespace dvp::drivers
