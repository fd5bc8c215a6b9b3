#include "tlm/platform/shape/borrowed_sidecar.h"

#include <vector>

#include "dvp_gen/numbers.h"

namespace dvp::platform {

namespace {

using gen::tensor_kind;

// Rows and columns of one of the lender's tensors in the other model, by the shapes that compression_sidecar.h states.
void reshape(loader::sidecar_tensor& tensor, const loader::compression_sidecar& s) {
  const std::uint32_t k = s.correction_rank;
  switch (tensor.kind) {
    case tensor_kind::ffn_channels:
      tensor.rows = s.ffn_width;
      tensor.columns = 3 * s.width;
      break;
    case tensor_kind::ffn_importance:
      tensor.columns = s.ffn_width;
      break;
    case tensor_kind::correction_q4_inputs:
    case tensor_kind::correction_q2_inputs:
      tensor.columns = s.width;
      break;
    case tensor_kind::correction_q4_channels:
    case tensor_kind::correction_q2_channels:
      tensor.rows = s.ffn_width;
      tensor.columns = 3 * k;
      break;
    case tensor_kind::correction_q4_outputs:
    case tensor_kind::correction_q2_outputs:
      tensor.rows = s.width;
      break;
    default:
      break;  // views have two words whatever the model
  }
}

std::uint32_t scale_slots(std::uint32_t width) {
  const std::uint32_t used = 2 * (width / gen::numbers::weight_group) + 1;
  return (used + gen::scale_slot_unit - 1) / gen::scale_slot_unit * gen::scale_slot_unit;
}

}  // namespace

loader::compression_sidecar borrowed_sidecar(const loader::compression_sidecar& lender,
                                             const loader::model_config& model, std::span<const std::byte> importance) {
  loader::compression_sidecar s = lender;
  s.layers = model.layers;
  s.width = model.width;
  s.ffn_width = model.ffn_width;
  s.scale_slots = scale_slots(model.width);
  s.tensors.clear();
  for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
    for (const loader::sidecar_tensor& lent : lender.tensors) {
      if (lent.layer != layer % lender.layers) continue;
      loader::sidecar_tensor tensor = lent;
      tensor.layer = layer;
      reshape(tensor, s);
      if (tensor.kind == tensor_kind::ffn_importance) {
        tensor.data = importance;
      } else if (tensor.kind != tensor_kind::ffn_views) {
        tensor.data = tensor.scales = {};
      }
      s.tensors.push_back(tensor);
    }
  }
  return s;
}

}  // namespace dvp::platform
