#include "tlm/loader/ggml_type.h"

namespace dvp::loader {
namespace {

constexpr ggml_type number(std::uint32_t value) {
  return static_cast<ggml_type>(value);
}

constexpr ggml_type_info types[] = {
    {ggml_type::f32, "F32", 1, 4, true},
    {ggml_type::f16, "F16", 1, 2, true},
    {ggml_type::q4_0, "Q4_0", 32, 2 + 16, true},
    {ggml_type::q4_1, "Q4_1", 32, 4 + 16, true},
    {number(6), "Q5_0", 32, 22, false},
    {number(7), "Q5_1", 32, 24, false},
    {ggml_type::q8_0, "Q8_0", 32, 2 + 32, true},
    {number(9), "Q8_1", 32, 36, false},
    {number(10), "Q2_K", 256, 84, false},
    {number(11), "Q3_K", 256, 110, false},
    {ggml_type::q4_k, "Q4_K", 256, 144, false},
    {number(13), "Q5_K", 256, 176, false},
    {number(14), "Q6_K", 256, 210, false},
    {number(15), "Q8_K", 256, 292, false},
    {number(16), "IQ2_XXS", 256, 66, false},
    {number(17), "IQ2_XS", 256, 74, false},
    {number(18), "IQ3_XXS", 256, 98, false},
    {number(19), "IQ1_S", 256, 50, false},
    {number(20), "IQ4_NL", 32, 18, false},
    {number(21), "IQ3_S", 256, 110, false},
    {number(22), "IQ2_S", 256, 82, false},
    {number(23), "IQ4_XS", 256, 136, false},
    {number(24), "I8", 1, 1, false},
    {number(25), "I16", 1, 2, false},
    {number(26), "I32", 1, 4, false},
    {number(27), "I64", 1, 8, false},
    {number(28), "F64", 1, 8, false},
    {number(29), "IQ1_M", 256, 56, false},
    {ggml_type::bf16, "BF16", 1, 2, true},
    {number(34), "TQ1_0", 256, 54, false},
    {number(35), "TQ2_0", 256, 66, false},
    {number(39), "MXFP4", 32, 17, false},
};

}  // namespace

const ggml_type_info* find_ggml_type(std::uint32_t wanted) {
  for (const ggml_type_info& info : types) {
    if (info.type == number(wanted)) {
      return &info;
    }
  }
  return nullptr;
}

}  // namespace dvp::loader
