#include "tlm/platform/decode_choice.h"

#include <string>

#include "tlm/platform/files.h"

namespace dvp::platform {

namespace {

// What the firmware would refuse with a code, said with the numbers the user can change.
void refuse_impossible(const run_options& options, const loaded_model& model, const decode_config& config,
                       const decode_options& decode) {
  refuse_unfit(config, model.config().block_causal(), model.name());
  refuse_unfit(config.compression, model.header(), model.name());
  if (config.compression.any() && config.row_tile != 0 && config.row_tile < model.header().block_length) {
    throw usage_error("decode.row_tile: is " + std::to_string(config.row_tile) + " and compression works on the " +
                      std::to_string(model.header().block_length) + " rows of a block at once; set it to 0");
  }
  if (config.engine == gen::forward_engine::cpu && options.array != array_choice::model) {
    throw usage_error(std::string("--array ") + name_of(options.array) +
                      ": decode.engine is cpu, so that the array never works; use --array model, or set decode.engine "
                      "to npu");
  }
  if (options.threshold && (config.rule == gen::commit_rule::count || config.rule == gen::commit_rule::factor)) {
    throw usage_error("--threshold: decode.rule " + std::string(gen::name_of(config.rule)) +
                      " does not look at it; set decode.rule to threshold, or leave it out");
  }
  if (options.threshold && config.visibility > 0) {
    throw usage_error("--threshold: with decode.dppr.visibility, that one and decode.dppr.stability decide; set them");
  }
  if (model.config().block_causal()) {
    if (options.steps) throw usage_error("--steps: is for the LLaDA loop and " + model.name() + " has another");
    if (options.stop_at_end)
      throw usage_error("--stop-at-end: is for the LLaDA loop and " + model.name() + " has another");
    return;
  }
  if (config.draft_trigger != 0 && !config.fast_dllm_v1) {
    throw usage_error("decode.mbsd.trigger: drafts on " + model.name() +
                      " need decode.loop fast_dllm_v1 and decode.cache dual; set those too, or the trigger to 0");
  }
  const std::uint32_t layers = model.header().layers;
  if (config.visibility > 0 &&
      (config.refresh_first_layer >= layers || config.refresh_layers > layers - config.refresh_first_layer)) {
    throw usage_error("decode.dppr.refresh: first_layer " + std::to_string(config.refresh_first_layer) +
                      " and layers " + std::to_string(config.refresh_layers) + " are not within the " +
                      std::to_string(layers) + " layers of " + model.name());
  }
  if (options.threshold && !config.fast_dllm_v1)
    throw usage_error("--threshold: is for the Fast-dLLM loops and " + model.name() + " has another");
  const std::uint32_t block = model.defaults().block_length;
  if (decode.generate_tokens % block != 0) {
    throw usage_error("--generate " + std::to_string(decode.generate_tokens) +
                      ": the LLaDA loop generates whole blocks of " + std::to_string(block) +
                      " tokens; give a multiple");
  }
  if (config.fast_dllm_v1 && config.rule != gen::commit_rule::count) return;
  const std::uint32_t blocks = decode.generate_tokens / block;
  if (decode.steps % blocks != 0) {
    throw usage_error("--steps " + std::to_string(decode.steps) + ": must be a multiple of the " +
                      std::to_string(blocks) + " blocks that " + std::to_string(decode.generate_tokens) +
                      " tokens make");
  }
}

}  // namespace

decode_options choose_decode(const run_options& options, const loaded_model& model, const decode_config& config) {
  const auto& defaults = model.defaults();
  decode_options decode;
  decode.generate_tokens = options.generate_tokens.value_or(defaults.gen_length);
  decode.steps = options.steps.value_or(defaults.steps);
  decode.threshold = options.threshold.value_or(defaults.threshold);
  decode.temperature = options.temperature;
  decode.seed = options.seed;
  decode.stop_at_end = options.stop_at_end;
  refuse_impossible(options, model, config, decode);
  return decode;
}

}  // namespace dvp::platform
