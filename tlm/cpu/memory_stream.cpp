#include "tlm/cpu/memory_stream.h"

#include <algorithm>
#include <cstring>

namespace dvp::cpu {

namespace {

void wait_until(const sc_core::sc_time& at) {
  const sc_core::sc_time now = sc_core::sc_time_stamp();
  if (at > now) sc_core::wait(at - now);
}

}  // namespace

memory_stream::~memory_stream() {
  for (auto& b : pool_) b.clear_extension(&b.tag);
}

bool memory_stream::move(const streamed_bytes& what, const std::uint8_t* stored, const sc_core::sc_time& pace) {
  const sc_core::sc_time begin = sc_core::sc_time_stamp();
  const std::uint64_t first_boundary = config_.burst_bytes - what.address % config_.burst_bytes;
  const std::uint64_t bursts =
      what.bytes <= first_boundary ? 1 : 2 + (what.bytes - first_boundary - 1) / config_.burst_bytes;
  refused_ = false;
  std::uint64_t done = 0;
  for (std::uint64_t i = 0; i < bursts && !refused_; ++i) {
    wait_until_under_way(config_.outstanding - 1);
    if (i > config_.outstanding) {
      const double part = static_cast<double>(i - config_.outstanding) / static_cast<double>(bursts);
      wait_until(begin + pace * part);
    }
    wait_until(request_over_);
    burst& b = take();
    const std::uint64_t address = what.address + done;
    const auto bytes =
        static_cast<std::uint32_t>(std::min(what.bytes - done, config_.burst_bytes - address % config_.burst_bytes));
    b.tag = core::access_tag(gen::precision::raw, what.purpose, 0);
    b.set_command(what.written ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    b.set_address(address);
    b.set_data_length(bytes);
    b.set_streaming_width(bytes);
    if (what.written) std::memcpy(b.data.data(), stored + done, bytes);
    config_.non_blocking ? send_non_blocking(b) : send_blocking(b);
    done += bytes;
  }
  wait_until_under_way(0);
  return !refused_;
}

memory_stream::burst& memory_stream::take() {
  if (free_.empty()) {
    burst& fresh = pool_.emplace_back();
    fresh.set_mm(this);
    fresh.set_extension(&fresh.tag);
    fresh.data.resize(config_.burst_bytes);
    fresh.set_data_ptr(fresh.data.data());
    free_.push_back(&fresh);
  }
  burst& b = *free_.back();
  free_.pop_back();
  b.set_dmi_allowed(false);
  b.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  b.acquire();
  ++unanswered_;
  return b;
}

void memory_stream::free(tlm::tlm_generic_payload* payload) {
  free_.push_back(static_cast<burst*>(payload));
}

void memory_stream::send_blocking(burst& b) {
  sc_core::sc_time delay;
  socket_->b_transport(b, delay);
  complete(b, sc_core::sc_time_stamp() + delay);
}

void memory_stream::send_non_blocking(burst& b) {
  b.acquire();  // in use here until the call is over, even if its answer comes inside
  requesting_ = &b;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay;
  const tlm::tlm_sync_enum given = socket_->nb_transport_fw(b, phase, delay);
  const sc_core::sc_time at = sc_core::sc_time_stamp() + delay;
  if (given != tlm::TLM_ACCEPTED) request_is_over(b, at);
  if (given == tlm::TLM_COMPLETED) complete(b, at);
  if (given == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP) {
    complete(b, at);
    phase = tlm::END_RESP;
    socket_->nb_transport_fw(b, phase, delay);
  }
  b.release();
  // No other burst is requested meanwhile, so the pointer stays this one's even when the payload is free again.
  while (requesting_ == &b) sc_core::wait(answered_);
}

tlm::tlm_sync_enum memory_stream::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                  sc_core::sc_time& delay) {
  const sc_core::sc_time at = sc_core::sc_time_stamp() + delay;
  request_is_over(payload, at);
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  complete(static_cast<burst&>(payload), at);
  return tlm::TLM_COMPLETED;
}

void memory_stream::request_is_over(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& at) {
  if (requesting_ != &payload) return;
  requesting_ = nullptr;
  request_over_ = at;
  answered_.notify();
}

void memory_stream::complete(burst& b, const sc_core::sc_time& at) {
  --unanswered_;
  ends_.insert(std::upper_bound(ends_.begin(), ends_.end(), at), at);
  if (!b.is_response_ok()) refused_ = true;
  answered_.notify();
  b.release();
}

void memory_stream::wait_until_under_way(std::size_t most) {
  for (;;) {
    const sc_core::sc_time now = sc_core::sc_time_stamp();
    while (!ends_.empty() && ends_.front() <= now) ends_.pop_front();
    if (unanswered_ + ends_.size() <= most) return;
    ends_.empty() ? sc_core::wait(answered_) : sc_core::wait(ends_.front() - now, answered_);
  }
}

}  // namespace dvp::cpu
