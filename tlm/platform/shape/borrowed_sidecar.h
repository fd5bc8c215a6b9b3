// What a compression sidecar says, for a model it was not made for and whose weights are not there.
#pragma once

#include <cstddef>
#include <span>

#include "tlm/loader/compression_sidecar.h"
#include "tlm/loader/model.h"

namespace dvp::platform {

// Settings, shares and the rank of the corrections are the lender's; layers, width and channels the model's. Views are
// those of the lender's layers in turn. importance: fp32 [ffn_width], of every layer, in whose place the codes and
// scales that no one reads are left out. importance and the lender's file outlive it.
loader::compression_sidecar borrowed_sidecar(const loader::compression_sidecar& lender,
                                             const loader::model_config& model, std::span<const std::byte> importance);

}  // namespace dvp::platform
