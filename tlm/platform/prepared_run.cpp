#include "tlm/platform/prepared_run.h"

#include <utility>

#include "tlm/platform/decode_choice.h"
#include "tlm/platform/files.h"
#include "tlm/platform/latency_table.h"
#include "tlm/platform/program_image.h"
#include "tlm/platform/prompts.h"
#include "tlm/platform/sidecar_choice.h"

namespace dvp::platform {

namespace {

std::vector<prompt> collect_prompts(const run_options& options) {
  std::vector<prompt> prompts;
  if (!options.prompt_file.empty()) prompts = read_prompts(options.prompt_file, options.limit);
  for (const auto& text : options.prompts) {
    if (text.empty()) throw usage_error("--prompt: is empty; give the text to answer");
    prompts.push_back({"prompt-" + std::to_string(prompts.size() + 1), text, {}, std::nullopt});
  }
  return prompts;
}

std::string model_path(const run_options& options) {
  return (options.data == data_choice::shape ? find_model_or_shape(options.model) : find_model(options.model)).string();
}

std::vector<named_file> input_files(const run_options& options, const platform_config& config,
                                    const loaded_model& model) {
  std::vector<named_file> inputs{{"--model", model_path(options)}, {"--config", find_config(options.config).string()}};
  if (!options.prompt_file.empty()) inputs.push_back({"--prompts", options.prompt_file});
  if (!options.trajectory.empty()) inputs.push_back({"--trajectory", find_trajectory(options.trajectory).string()});
  if (model.sidecar() != nullptr) inputs.push_back({"decode.compression.sidecar", model.sidecar()->file->name()});
  if (const auto latency = find_latency_file(config)) inputs.push_back({"decode.mbsd.latency", latency->string()});
  if (config.seat == cpu_choice::rv64) {
    inputs.push_back({"--firmware", options.cpu.firmware.empty() ? built_image() : options.cpu.firmware});
  }
  return inputs;
}

}  // namespace

prepared_run::prepared_run(const run_options& options)
    : shape(options),
      model(model_path(options), options.context.value_or(loader::longest_context), options.data, options.layers),
      prompts(shape.prompts(collect_prompts(options), model)),
      config(load_config(options.config, overrides_of(options))),
      decode(choose_decode(options, model, config.decode)) {
  read_latency_file(config, model);
  load_sidecar(config, model);
  shape.apply(config);
  for (const auto& item : prompts) tokens_of(item, model);
  inputs = input_files(options, config, model);
}

}  // namespace dvp::platform
