// The shape of a model out of a Hugging Face config.json.
#pragma once

#include <filesystem>

#include "tlm/loader/model.h"

namespace dvp::platform {

// By model_type: llada (keys of LLaDAConfig: d_model, n_layers, ...), Dream, and qwen2 and Fast_dLLM_Qwen (those of
// Qwen2Config: hidden_size, num_hidden_layers, ...). mask_token_id has to be there, Fast-dLLM's bd_size and
// small_block_size may; keys that do not decide a shape are passed over. core::config_error naming file and key.
loader::model_config read_hf_config(const std::filesystem::path& path);

}  // namespace dvp::platform
