#include "tlm/platform/session.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include "dvp_gen/system.h"
#include "tlm/platform/figures.h"
#include "tlm/platform/prompts.h"
#include "tlm/platform/swap_table.h"

namespace dvp::platform {

namespace {
// Finish code of a CPU that trapped; no result code.
constexpr std::uint32_t finish_trapped = 255;
// What the result record holds until the firmware writes it.
constexpr gen::result_code no_result{0xffff};

bool is_result_code(std::uint32_t code) {
  return code <= 0xffff && std::string_view(gen::name_of(static_cast<gen::result_code>(code))) != "unknown";
}

// Events of a request. Every forward that decodes commits a token or counts as a step or an edit, few only fill the
// cache, and four times as many are none of a firmware that works.
std::uint64_t most_events(const gen::request_record& request, std::uint64_t tokens) {
  const std::uint64_t blocks = request.block_length != 0 ? tokens / request.block_length + 1 : tokens;
  return 4 * (tokens + request.steps + blocks * (1 + request.edit_steps)) + 64;
}
}  // namespace

session::session(platform& chip, core::statistics& figures, const platform_config& config, const loaded_model& loaded,
                 const decode_options& options, progress_view& view, decision_feed* feed)
    : chip_(chip),
      figures_(figures),
      config_(config),
      model_(loaded),
      options_(options),
      view_(view),
      feed_(feed),
      layout_(place_in_dram(
          loaded.header(), loaded.image_bytes(), std::min(gen::system::dram_bytes, chip.memory->bytes()),
          config.decode.swap == gen::swap_policy::none ? 0 : most_plan_entries, config.decode.compression.any())) {
  notes_ = model_.write_image(std::as_writable_bytes(
      std::span(chip_.memory->data() + (layout_.image - gen::system::dram_base), layout_.image_bytes)));
  chip_.mailbox.on_accept([this] { on_accept(); });
  chip_.mailbox.on_progress([this](std::uint32_t) { on_progress(); });
  chip_.mailbox.on_finish([this](std::uint32_t code) { on_finish(code); });
  chip_.npu.on_reset([this] { on_npu_reset(); });
  chip_.npu.set_decisions(feed);
  chip_.cpu->set_decisions(feed);
}

bool session::start(const std::vector<prompt>& prompts, std::function<void(std::size_t)> answered) {
  prompts_ = prompts;
  answered_ = std::move(answered);
  return ask_next();
}

// Sets the request of the next prompt that can be asked; those that cannot are dealt with on the way.
bool session::ask_next() {
  while (answers_.size() < prompts_.size()) {
    answer next;
    next.request = prompts_[answers_.size()];
    if (ask(next)) {
      current_ = std::move(next);
      return true;
    }
    answers_.push_back(std::move(next));
    answered_(answers_.size());
  }
  over_ = true;
  return false;
}

gen::request_record session::make_request(std::uint32_t prompt_tokens) const {
  const auto& header = model_.header();
  gen::request_record request;
  request.version = gen::request_version;
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
  request.plan_address = layout_.plan;
  request.plan_entries = layout_.plan_entries;
  request.compression_address = layout_.compression;
  apply(config_.decode, model_.config().block_causal(), layout_.latencies, request);
  return request;
}

bool session::ask(answer& current) {
  const auto tokens = tokens_of(current.request, model_);
  current.prompt_tokens = static_cast<std::uint32_t>(tokens.size());
  if (tokens.size() + options_.generate_tokens > layout_.tokens_capacity) {
    current.fault = "the prompt's " + std::to_string(tokens.size()) + " tokens and the " +
                    std::to_string(options_.generate_tokens) + " to generate exceed the model's context of " +
                    std::to_string(layout_.tokens_capacity);
    return false;
  }
  auto* buffer = record<std::uint32_t>(layout_.tokens);
  std::fill_n(buffer, layout_.tokens_capacity, 0U);
  std::copy(tokens.begin(), tokens.end(), buffer);
  before_.assign(layout_.tokens_capacity, model_.header().mask_token);
  const auto& latencies = latencies_for(config_.decode, tokens.size() + options_.generate_tokens);
  std::copy(latencies.begin(), latencies.end(), record<gen::latency_entry>(layout_.latencies));
  const gen::request_record request = make_request(current.prompt_tokens);
  *record<gen::request_record>(layout_.request) = request;
  most_events_ = most_events(request, tokens.size() + options_.generate_tokens);
  if (layout_.compression != 0) set_compression();
  gen::result_record nothing;
  nothing.code = no_result;
  *record<gen::result_record>(layout_.result) = nothing;
  accepted_ = false;
  if (feed_ != nullptr) feed_->begin(answers_.size());

  view_.begin(current.request, current.prompt_tokens);
  chip_.mailbox.set_request(layout_.request);
  return true;
}

void session::set_compression() {
  gen::compression_record compression = record_from(config_.decode.compression);
  compression.statistics_address = layout_.statistics;
  compression.statistics_entries = model_.header().layers;
  *record<gen::compression_record>(layout_.compression) = compression;
  std::fill_n(record<gen::layer_statistics>(layout_.statistics), compression.statistics_entries,
              gen::layer_statistics{});
}

void session::on_accept() {
  if (!current_) return;
  accepted_ = true;
  figures_before_ = figures_now();
  npu_figures_ = nlohmann::ordered_json::object();
  npu_counts_ = npu_over_ = false;
  prefilling_ = true;
  current_->begin_ps = sc_core::sc_time_stamp().value();
}

// The NPU counts from its reset on. A request has several: the one before its first descriptor, which parts it from the
// request before, and one for every forward that is tried again.
void session::on_npu_reset() {
  if (!current_ || !accepted_ || npu_over_) return;
  settle_npu_figures();
  npu_counts_ = true;
}

void session::settle_npu_figures() {
  if (!npu_counts_) return;
  npu_counts_ = false;
  chip_.npu.update_figures();
  npu_figures_ = sum(npu_figures_, figures_.tree()["npu"]);
}

nlohmann::ordered_json session::figures_now() {
  chip_.npu.update_figures();
  chip_.memory->update_figures();
  chip_.cpu->update_figures();
  nlohmann::ordered_json now = figures_.tree();
  if (config_.memory.lpddr5) settle_idle(now, config_.memory.lpddr5->channels);
  return now;
}

// Of the request, up to now. The window alone counts from power-on.
nlohmann::ordered_json session::figures_so_far() {
  nlohmann::ordered_json figures = difference(figures_now(), figures_before_);
  const nlohmann::ordered_json window = figures["npu"]["window"];
  figures["npu"] = npu_counts_ ? sum(npu_figures_, figures_.tree()["npu"]) : npu_figures_;
  if (figures["npu"].contains("window")) figures["npu"]["window"] = window;
  return figures;
}

void session::on_finish(std::uint32_t code) {
  if (!current_) return;
  if (code == finish_trapped) return fail("the firmware trapped");
  if (!is_result_code(code)) return fail("the firmware finished with the unknown code " + std::to_string(code));
  if (!accepted_) {
    return fail("the firmware finished a request with code " + std::to_string(code) + " without having accepted it");
  }
  const std::string stranger = stranger_among(record<const gen::result_record>(layout_.result)->total_tokens);
  if (!stranger.empty()) return fail(stranger);

  answer done = std::move(*current_);
  current_.reset();
  collect(done, static_cast<gen::result_code>(code));
  answers_.push_back(std::move(done));
  answered_(answers_.size());
  if (!ask_next()) sc_core::sc_stop();
}

void session::fail(const std::string& why) {
  current_.reset();
  view_.end();
  failure_ = why;
  over_ = true;
  sc_core::sc_stop();
}

// What the firmware wrote behind the prompt and no model has, in one sentence; empty when there is nothing.
std::string session::stranger_among(std::uint32_t total) {
  const auto* tokens = record<const std::uint32_t>(layout_.tokens);
  const std::uint32_t end = std::min(total, layout_.tokens_capacity);
  for (std::uint32_t position = current_->prompt_tokens; position < end; ++position) {
    if (tokens[position] >= model_.tokenizer().size()) {
      return "the firmware's token " + std::to_string(tokens[position]) + " at position " + std::to_string(position) +
             " is not in the vocabulary of " + std::to_string(model_.tokenizer().size());
    }
  }
  return {};
}

void session::collect(answer& current, gen::result_code code) {
  current.end_ps = sc_core::sc_time_stamp().value();
  settle_npu_figures();
  if (feed_ != nullptr) current.decisions = feed_->take();
  current.figures = figures_so_far();
  current.result = *record<gen::result_record>(layout_.result);
  // A request refused before its first descriptor left the NPU alone.
  if (current.result.descriptors == 0) current.figures["npu"] = nlohmann::ordered_json::object();

  const std::uint32_t said = current.result.total_tokens;
  const auto total = std::clamp(said, current.prompt_tokens, layout_.tokens_capacity);
  if (current.result.code == no_result && code != gen::result_code::ok) {
    current.result.code = code;  // refused before there was a place for a result
  } else if (current.result.code == no_result) {
    current.fault = "the firmware finished with code 0 and left no result";
  } else if (current.result.code != code) {
    current.fault = "the firmware finished with code " + std::to_string(static_cast<std::uint32_t>(code)) +
                    " and left code " + std::to_string(static_cast<std::uint32_t>(current.result.code)) +
                    " in its result";
  } else if (code == gen::result_code::ok && total != said) {
    current.fault = "the firmware finished with " + std::to_string(said) + " tokens and the prompt has " +
                    std::to_string(current.prompt_tokens) + " of at most " + std::to_string(layout_.tokens_capacity);
  }
  if (layout_.compression != 0) {
    const auto* layers = record<const gen::layer_statistics>(layout_.statistics);
    current.layers.assign(layers, layers + model_.header().layers);
  }
  if (swap_plan_.empty() && layout_.plan_entries != 0) take_plan(current.result);
  const auto* buffer = record<const std::uint32_t>(layout_.tokens);
  current.tokens.assign(buffer, buffer + total);
  const auto generated = std::span(current.tokens).subspan(current.prompt_tokens);
  const auto end = std::find(generated.begin(), generated.end(), model_.header().end_token);
  current.text = model_.tokenizer().decode(generated.first(static_cast<std::size_t>(end - generated.begin())));
  view_.end();
}

void session::take_plan(const gen::result_record& result) {
  const auto* entries = record<const gen::swap_plan_entry>(layout_.plan);
  const std::uint32_t kept = std::min(result.plan_length, layout_.plan_entries);
  if (kept == 0) return;
  swap_plan_ = swap_table({entries, kept}, result.plan_length - kept, layout_, model_, config_.npu.window,
                          gen::name_of(config_.decode.swap));
}

void session::on_progress() {
  if (!current_) return;
  answer& current = *current_;
  const auto& event = *record<const gen::progress_record>(layout_.progress);
  if (current.forwards.size() == most_events_) {
    return fail("the firmware reported more than the " + std::to_string(most_events_) +
                " events that a request like this can have");
  }
  if (const std::string stranger = stranger_among(event.total_tokens); !stranger.empty()) return fail(stranger);
  // Before the firmware puts the NPU away, which after a failure clears its counters.
  if (event.kind == gen::progress_kind::finished) {
    settle_npu_figures();
    npu_over_ = true;
    current.descriptor_hashes.clear();
    for (std::uint32_t q = 0; q < chip_.npu.config().queues; ++q) {
      current.descriptor_hashes.push_back(chip_.npu.fetched_hash(q));
    }
  }
  const auto total = std::min(event.total_tokens, layout_.tokens_capacity);
  const std::span<const std::uint32_t> now(record<const std::uint32_t>(layout_.tokens), total);
  const std::uint32_t mask = model_.header().mask_token;

  forward_record seen;
  seen.kind = event.kind;
  seen.forward = event.forward;
  seen.first = event.first;
  seen.length = event.length;
  seen.prefix = event.prefix;
  seen.network = event.network;
  seen.end_ps = sc_core::sc_time_stamp().value();
  for (std::uint32_t position = current.prompt_tokens; position < total; ++position) {
    if (now[position] != before_[position] && now[position] != mask) seen.commits.push_back({position, now[position]});
  }
  std::copy(now.begin(), now.end(), before_.begin());
  view_.forward(seen, now);
  current.forwards.push_back(std::move(seen));
  if (event.kind == gen::progress_kind::forward) prefilling_ = false;
  if (prefilling_ && event.kind == gen::progress_kind::prefill) current.prefill_figures = figures_so_far();
}

}  // namespace dvp::platform
