// A model that is only a shape, as the header of a GGUF file: everything but the weights.
#pragma once

#include <cstddef>
#include <vector>

#include "tlm/loader/model.h"

namespace dvp::loader {

// To be opened as gguf_part::header; read_model() then gives the same configuration back. Matrices are Q8_0, vectors
// F32. The tokenizer has the 256 bytes as tokens 0 to 255 and a placeholder for every other one, so that any text is a
// prompt of as many tokens as bytes. vocabulary: more than 256 and the special tokens.
std::vector<std::byte> shape_header(const model_config& shape);

}  // namespace dvp::loader
