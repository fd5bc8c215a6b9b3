#include "tlm/platform/profile/measurement.h"

#include <algorithm>
#include <span>

#include "dvp_gen/system.h"

namespace dvp::platform {

measurement::measurement(platform& chip, const platform_config& config, const loaded_model& model)
    : chip_(chip),
      config_(config),
      model_(model),
      layout_(
          place_in_dram(model.header(), model.image_bytes(), std::min(gen::system::dram_bytes, chip.memory->bytes()))) {
  model_.write_image(std::as_writable_bytes(std::span(record<unsigned char>(layout_.image), layout_.image_bytes)));
  chip_.mailbox.on_finish([this](std::uint32_t code) { on_finish(code); });
}

template <class Record>
Record* measurement::record(std::uint64_t address) {
  return reinterpret_cast<Record*>(chip_.memory->data() + (address - gen::system::dram_base));
}

void measurement::start(const std::vector<std::uint32_t>& keys, std::uint32_t rows,
                        std::function<void(std::size_t)> measured) {
  keys_ = keys;
  rows_ = rows;
  measured_ = std::move(measured);
  times_.push_back({keys_[0], {}});
  ask_next();
}

// The next rows of the number of keys in work, as many as a request holds.
void measurement::ask_next() {
  const std::uint32_t keys = times_.back().keys;
  const auto done = static_cast<std::uint32_t>(times_.back().ns.size());
  asked_ = std::min(static_cast<std::uint32_t>(most_latency_entries), std::min(rows_, keys) - done);
  auto* entries = record<gen::latency_entry>(layout_.latencies);
  for (std::uint32_t i = 0; i < asked_; ++i) entries[i] = {done + i + 1, 0};
  std::fill_n(record<std::uint32_t>(layout_.tokens), keys, model_.header().mask_token);
  *record<gen::result_record>(layout_.result) = {};

  gen::request_record request;
  request.prompt_tokens = keys;
  apply_platform(config_.decode, request);
  request.version = gen::request_version;
  request.loop = gen::decode_loop::profile;
  request.block_length = model_.header().block_length;
  request.image_address = layout_.image;
  request.tokens_address = layout_.tokens;
  request.tokens_capacity = layout_.tokens_capacity;
  request.kv_address = layout_.kv;
  request.kv_bytes = layout_.kv_bytes;
  request.work_address = layout_.work;
  request.work_bytes = layout_.work_bytes;
  request.result_address = layout_.result;
  request.progress_address = layout_.progress;
  request.latency_address = layout_.latencies;
  request.latency_entries = asked_;
  *record<gen::request_record>(layout_.request) = request;
  chip_.mailbox.set_request(layout_.request);
}

void measurement::on_finish(std::uint32_t code) {
  if (over_ || !failure_.empty()) return;
  if (code != static_cast<std::uint32_t>(gen::result_code::ok)) {
    const auto result = static_cast<gen::result_code>(code);
    failure_ = "the firmware ended the measurement with " + std::to_string(times_.back().keys) + " keys with " +
               (code > 0xffff ? std::to_string(code) : gen::name_of(result));
    unfit_ = result == gen::result_code::window_too_small;
    if (unfit_) failure_ += "; raise npu.window.bytes or npu.window.entries, or measure fewer --keys";
    sc_core::sc_stop();
    return;
  }
  measured_times& now = times_.back();
  const auto* entries = record<const gen::latency_entry>(layout_.latencies);
  for (std::uint32_t i = 0; i < asked_; ++i) now.ns.push_back(entries[i].ns);
  if (now.ns.size() == std::min(rows_, now.keys)) {
    measured_(times_.size());
    over_ = times_.size() == keys_.size();
    if (!over_) times_.push_back({keys_[times_.size()], {}});
  }
  if (over_) {
    sc_core::sc_stop();
  } else {
    ask_next();
  }
}

}  // namespace dvp::platform
