#include "firmware/dllm/converter_views.h"

#include "dvp_gen/converter_regs.h"
#include "firmware/drivers/converter.h"
#include "firmware/hal/hal.h"

namespace dvp::dllm {
namespace {

using drivers::converter;
using drivers::converter_code;
using gen::result_code;
namespace descriptor = gen::converter::view::descriptor;

// Sets one view; midpoint: whether its codes stand for midpoints.
result_code set_view(converter& device, std::uint32_t number, std::uint32_t precision, std::uint32_t value,
                     bool& midpoint) {
  if (descriptor::precision.get(value) != precision) {
    return result_code::bad_image;
  }
  midpoint = static_cast<gen::converter::view_mode>(descriptor::mode.get(value)) == gen::converter::view_mode::midpoint;
  switch (device.set_view(number, value)) {
    case converter_code::ok:
      return result_code::ok;
    case converter_code::refused:
      return result_code::bad_image;
    case converter_code::absent:
    case converter_code::bad_argument:
      break;
  }
  return result_code::bad_request;
}

}  // namespace

result_code set_views(const compression_request& compression, std::uint64_t converter_base, std::uint32_t layers,
                      kernels::anchored_ffn& network) {
  if (!compression.ranks() && !compression.anchors()) {
    return result_code::ok;
  }
  converter device;
  if (device.probe(converter_base) != converter_code::ok || device.views() == 0) {
    return result_code::bad_request;
  }
  result_code code = result_code::ok;
  for (std::uint32_t layer = 0; compression.anchors() && layer < layers && code == result_code::ok; ++layer) {
    const auto words = hal::objects<std::uint32_t>(network.layers[layer].views.data, 2);
    code = set_view(device, network.q4_view(layer), 4, words[0], network.half_step_q4[layer]);
    if (code == result_code::ok) {
      code = set_view(device, network.q2_view(layer), 2, words[1], network.half_step_q2[layer]);
    }
  }
  return code;
}

}  // namespace dvp::dllm
