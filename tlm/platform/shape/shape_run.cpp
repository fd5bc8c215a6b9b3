#include "tlm/platform/shape/shape_run.h"

#include <random>
#include <string>

#include "tlm/platform/files.h"

namespace dvp::platform {

namespace {

// Of a prompt without text: any tokens but the special ones.
std::vector<std::uint32_t> any_tokens(std::uint32_t count, const gen::image_header& model, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint32_t> tokens;
  while (tokens.size() < count) {
    const std::uint32_t first = first_drawn_token(model.vocabulary);
    const auto token = first + static_cast<std::uint32_t>(random() % (model.vocabulary - first));
    if (token != model.mask_token && token != model.end_token && token != model.pad_token) tokens.push_back(token);
  }
  return tokens;
}

}  // namespace

shape_run::shape_run(const run_options& options) : options_(options) {
  if (options.data == data_choice::shape) trajectory_ = read_trajectory(options.trajectory);
}

std::vector<prompt> shape_run::prompts(std::vector<prompt> given, const loaded_model& model) const {
  if (!trajectory_) return given;
  for (const std::uint32_t count : options_.prompt_tokens) {
    prompt asked;
    asked.id = "prompt-" + std::to_string(given.size() + 1);
    asked.tokens = any_tokens(count, model.header(), options_.seed + given.size());
    given.push_back(std::move(asked));
  }
  const auto* recorded = std::get_if<recorded_trajectory>(&trajectory_->what);
  if (recorded == nullptr) {
    if (given.empty()) {
      throw usage_error("--trajectory " + options_.trajectory +
                        ": is a distribution, which has no prompts; add --prompt-tokens N, or --prompts");
    }
    return given;
  }
  if (!given.empty()) {
    throw usage_error("--trajectory " + options_.trajectory +
                      ": was recorded with its own prompts; leave --prompt, --prompts and --prompt-tokens out");
  }
  for (const recorded_answer& answer : recorded->answers) {
    for (const std::uint32_t token : answer.prompt) {
      if (token < model.header().vocabulary) continue;
      throw usage_error("--trajectory " + options_.trajectory + ": " + answer.id + " has token " +
                        std::to_string(token) + " and " + model.name() + " has " +
                        std::to_string(model.header().vocabulary) + "; take the model it was recorded with, " +
                        recorded->model);
    }
    prompt asked;
    asked.id = answer.id;
    asked.tokens = answer.prompt;
    given.push_back(std::move(asked));
  }
  return given;
}

void shape_run::apply(platform_config& config) const {
  if (!trajectory_) return;
  const bool revises = config.decode.visibility > 0 && config.decode.revisions != 0;
  if (config.seat == cpu_choice::rv64 && (revises || config.decode.engine == gen::forward_engine::cpu)) {
    throw usage_error(
        std::string(revises ? "decode.dppr: revises" : "decode.engine: cpu computes") +
        " in the RV64 image, which takes data; take the native CPU (--cpu native), or leave --data shape out");
  }
  const auto* distribution = std::get_if<decision_distribution>(&trajectory_->what);
  if (revises && distribution != nullptr && !distribution->revision) {
    throw usage_error("--trajectory " + options_.trajectory +
                      ": has no revision, which decode.dppr needs; add one, or set decode.dppr.revisions to 0");
  }
  config.npu.shape_only = true;
}

std::unique_ptr<decision_feed> shape_run::feed(const loaded_model& model) const {
  if (!trajectory_) {
    if (options_.replayable) return std::make_unique<decision_recorder>();
    return nullptr;
  }
  if (const auto* recorded = std::get_if<recorded_trajectory>(&trajectory_->what)) {
    return std::make_unique<decision_replay>(*recorded);
  }
  const gen::image_header& header = model.header();
  const std::uint32_t positions = model.config().block_causal() ? header.sub_block_length : header.block_length;
  return std::make_unique<decision_generator>(
      std::get<decision_distribution>(trajectory_->what), positions, header.vocabulary,
      std::vector<std::uint32_t>{header.mask_token, header.end_token, header.pad_token}, options_.seed);
}

}  // namespace dvp::platform
