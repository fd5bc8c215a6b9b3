#include "tlm/platform/session.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "dvp_gen/system.h"
#include "firmware/apps/firmware.h"
#include "tlm/platform/figures.h"

namespace dvp::platform {

session::session(platform& chip, core::statistics& figures, const platform_config& config, const loaded_model& loaded,
                 const decode_options& options, progress_view& view)
    : chip_(chip),
      figures_(figures),
      config_(config),
      model_(loaded),
      options_(options),
      view_(view),
      layout_(place_in_dram(loaded.header(), loaded.image_bytes(),
                            std::min(gen::system::dram_bytes, chip.memory->bytes()))) {
  notes_ = model_.write_image(std::as_writable_bytes(
      std::span(chip_.memory->data() + (layout_.image - gen::system::dram_base), layout_.image_bytes)));
  chip_.mailbox.on_progress([this](std::uint32_t) { on_progress(); });
}

void session::run(const std::vector<prompt>& prompts, const std::function<void(std::size_t done)>& answered) {
  for (const auto& request : prompts) {
    ask(request);
    answered(answers_.size());
    if (!chip_.npu.failure().empty()) break;
  }
}

gen::request_record session::make_request(std::uint32_t prompt_tokens) const {
  const auto& header = model_.header();
  gen::request_record request;
  request.version = gen::request_version;
  request.loop =
      (header.flags & gen::image_flag::block_causal) != 0 ? gen::decode_loop::fast_dllm_v2 : gen::decode_loop::llada;
  if (options_.stop_at_end) request.flags = gen::request_flag::stop_at_end;
  request.image_address = layout_.image;
  request.tokens_address = layout_.tokens;
  request.tokens_capacity = layout_.tokens_capacity;
  request.prompt_tokens = prompt_tokens;
  request.generate_tokens = options_.generate_tokens;
  request.block_length = header.block_length;
  request.sub_block_length = header.sub_block_length;
  request.steps = options_.steps;
  request.threshold = options_.threshold;
  request.temperature = options_.temperature;
  request.seed = options_.seed;
  request.kv_address = layout_.kv;
  request.kv_bytes = layout_.kv_bytes;
  request.work_address = layout_.work;
  request.work_bytes = layout_.work_bytes;
  request.result_address = layout_.result;
  request.progress_address = layout_.progress;
  request.watchdog_us = config_.watchdog_us;
  request.row_tile = config_.row_tile;
  return request;
}

void session::ask(const prompt& request) {
  answer& current = answers_.emplace_back();
  current.request = request;
  const auto tokens = model_.tokenizer().encode(request.text + model_.defaults().prompt_suffix);
  current.prompt_tokens = static_cast<std::uint32_t>(tokens.size());
  if (tokens.size() + options_.generate_tokens > layout_.tokens_capacity) {
    current.fault = "the prompt's " + std::to_string(tokens.size()) + " tokens and the " +
                    std::to_string(options_.generate_tokens) + " to generate exceed the model's context of " +
                    std::to_string(layout_.tokens_capacity);
    return;
  }
  auto* buffer = record<std::uint32_t>(layout_.tokens);
  std::fill_n(buffer, layout_.tokens_capacity, 0U);
  std::copy(tokens.begin(), tokens.end(), buffer);
  before_.assign(layout_.tokens_capacity, model_.header().mask_token);
  *record<gen::request_record>(layout_.request) = make_request(current.prompt_tokens);
  *record<gen::result_record>(layout_.result) = {};
  chip_.mailbox.set_request(layout_.request);

  view_.begin(request, current.prompt_tokens);
  chip_.memory->update_figures();
  const auto figures_before = figures_.tree();
  current.begin_ps = sc_core::sc_time_stamp().value();
  apps::run_firmware(gen::system::mailbox_base, gen::system::npu_base);
  chip_.cpu.synchronise();
  current.end_ps = sc_core::sc_time_stamp().value();
  chip_.memory->update_figures();
  const auto figures_after = figures_.tree();
  current.figures = difference(figures_after, figures_before);
  // The firmware resets the NPU before its first descriptor, so its figures are this request's alone already; a request
  // refused before that left it alone.
  current.figures["npu"] = record<gen::result_record>(layout_.result)->descriptors != 0
                               ? figures_after["npu"]
                               : nlohmann::ordered_json::object();

  current.result = *record<gen::result_record>(layout_.result);
  const auto total = std::clamp(current.result.total_tokens, current.prompt_tokens, layout_.tokens_capacity);
  current.tokens.assign(buffer, buffer + total);
  const auto generated = std::span(current.tokens).subspan(current.prompt_tokens);
  const auto end = std::find(generated.begin(), generated.end(), model_.header().end_token);
  current.text = model_.tokenizer().decode(generated.first(static_cast<std::size_t>(end - generated.begin())));
  view_.end();
}

void session::on_progress() {
  if (answers_.empty()) return;
  answer& current = answers_.back();
  const auto& event = *record<const gen::progress_record>(layout_.progress);
  // Before the firmware puts the NPU away, which after a failure clears its counters.
  if (event.kind == gen::progress_kind::finished) chip_.npu.update_figures();
  const auto total = std::min(event.total_tokens, layout_.tokens_capacity);
  const std::span<const std::uint32_t> now(record<const std::uint32_t>(layout_.tokens), total);
  const std::uint32_t mask = model_.header().mask_token;

  forward_record seen{event.kind, event.forward, event.first, event.length, {}};
  for (std::uint32_t position = current.prompt_tokens; position < total; ++position) {
    if (now[position] != before_[position] && now[position] != mask) seen.commits.push_back({position, now[position]});
  }
  std::copy(now.begin(), now.end(), before_.begin());
  view_.forward(seen, now);
  current.forwards.push_back(std::move(seen));
}

}  // namespace dvp::platform
