// Shapes of published models, and of the two shipped ones, as the firmware knows them.
#pragma once

#include "firmware/kernels/model.h"

namespace dvp::test {

struct published {
  const char* name;
  kernels::config model;
};

inline constexpr published models[] = {
    {"tiny_llada",
     {.vocabulary = 128, .width = 128, .layers = 6, .heads = 4, .kv_heads = 4, .head_length = 32, .ffn_width = 384}},
    {"tiny_fdllm2",
     {.vocabulary = 128,
      .width = 128,
      .layers = 6,
      .heads = 4,
      .kv_heads = 2,
      .head_length = 32,
      .ffn_width = 384,
      .qkv_bias = true}},
    {"llada_8b",
     {.vocabulary = 126464,
      .width = 4096,
      .layers = 32,
      .heads = 32,
      .kv_heads = 32,
      .head_length = 128,
      .ffn_width = 12288}},
    {"dream_7b",
     {.vocabulary = 152064,
      .width = 3584,
      .layers = 28,
      .heads = 28,
      .kv_heads = 4,
      .head_length = 128,
      .ffn_width = 18944,
      .qkv_bias = true}},
    {"fast_dllm_v2_1_5b",
     {.vocabulary = 151936,
      .width = 1536,
      .layers = 28,
      .heads = 12,
      .kv_heads = 2,
      .head_length = 128,
      .ffn_width = 8960,
      .qkv_bias = true}},
};

}  // namespace dvp::test
