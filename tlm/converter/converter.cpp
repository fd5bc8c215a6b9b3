#include "tlm/converter/converter.h"

#include <string>
#include <utility>

#include "dvp_gen/converter_bank.h"
#include "dvp_gen/converter_regs.h"

namespace dvp::converter {

namespace reg = gen::converter;

namespace {

static_assert(
    static_cast<std::uint32_t>(numerics::view_mode::midpoint) == static_cast<std::uint32_t>(reg::view_mode::midpoint) &&
    static_cast<std::uint32_t>(numerics::view_mode::round) == static_cast<std::uint32_t>(reg::view_mode::round) &&
    static_cast<std::uint32_t>(numerics::view_mode::fitted) == static_cast<std::uint32_t>(reg::view_mode::fitted) &&
    static_cast<std::uint32_t>(numerics::view_mode::truncate) == static_cast<std::uint32_t>(reg::view_mode::truncate));

std::uint32_t checked(std::uint32_t views, const char* name) {
  if (views > reg::view::count) {
    SC_REPORT_FATAL("/dvp/converter", (std::string(name) + ": " + std::to_string(views) +
                                       " views, the registers hold 0 to " + std::to_string(reg::view::count))
                                          .c_str());
  }
  return views;
}

numerics::view decode(std::uint32_t value) {
  namespace field = reg::view::descriptor;
  const auto byte = [value](const gen::bit_field& f) { return static_cast<std::uint8_t>(f.get(value)); };
  numerics::view v;
  v.precision = byte(field::precision);
  v.mode = static_cast<numerics::view_mode>(byte(field::mode));
  v.shift = byte(field::shift);
  v.clip = byte(field::clip);
  v.threshold = byte(field::threshold);
  return v;
}

}  // namespace

converter::converter(const sc_core::sc_module_name& name, std::uint32_t views, set_view set)
    : register_target(name, reg::bank), set_(std::move(set)) {
  const std::uint32_t usable = checked(views, this->name());
  registers_.set(reg::views::offset, reg::views::count.set(0, usable));
  for (std::uint32_t v = 0; v < reg::view::count; ++v) {
    const std::uint32_t offset = reg::view::descriptor::at(v);
    registers_.on_write(offset, [this, v, offset, usable, kept = std::uint32_t{0}](std::uint32_t value) mutable {
      if (v < usable && set_(static_cast<std::uint16_t>(v + 1), decode(value))) kept = value;
      registers_.set(offset, kept);
    });
  }
}

}  // namespace dvp::converter
