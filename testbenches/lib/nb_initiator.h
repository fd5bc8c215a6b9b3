// A TLM initiator of non-blocking accesses: one request at a time, any number in flight, answers in any order, and
// payloads from a pool that knows how many are out.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <systemc>
#include <tlm>
#include <vector>

#include "tlm/core/access_tag.h"

namespace dvp::test {

// What is asked, and below what came of it. Stays in place until it is done.
struct nb_access {
  tlm::tlm_command command = tlm::TLM_READ_COMMAND;
  std::uint64_t address = 0;
  std::vector<std::uint8_t> data;
  std::vector<std::uint8_t> enables = {};  // empty: none
  std::uint32_t streaming_width = 0;       // 0: the data length
  std::optional<core::access_tag> tag = {};

  bool done = false;
  bool completed_early = false;  // TLM_COMPLETED for BEGIN_REQ
  bool accepted_later = false;   // neither END_REQ nor BEGIN_RESP came with the call
  tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
  sc_core::sc_time arrival;       // BEGIN_REQ and its delay
  sc_core::sc_time request_over;  // END_REQ, or what took its place
  sc_core::sc_time responded;     // BEGIN_RESP, or early completion
};

class nb_initiator : public sc_core::sc_module {
 public:
  // How a response is ended. The delay is annotated, or for `later` what passes before END_RESP is sent.
  struct ending {
    enum class way { completed, updated, later } how = way::completed;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  };

  tlm_utils::simple_initiator_socket<nb_initiator> socket;
  std::function<ending()> end = [] { return ending{}; };
  std::function<void(nb_access&)> on_done = [](nb_access&) {};

  explicit nb_initiator(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
    socket.register_nb_transport_bw(this, &nb_initiator::nb_transport_bw);
    SC_HAS_PROCESS(nb_initiator);
    SC_METHOD(send_end_response);
    sensitive << end_response_;
    dont_initialize();
  }
  ~nb_initiator() override {
    for (auto& p : pool_) p.clear_extension<core::access_tag>();
  }

  // When the next request may go; nothing while the end of the last is not known.
  std::optional<sc_core::sc_time> free_from() const {
    if (requesting_ != nullptr) return std::nullopt;
    return request_over_;
  }
  // Told whenever free_from() gets a value, and when an access is done.
  const sc_core::sc_event& changed() const { return changed_; }

  // Precondition: free_from() is not after now + delay.
  void send(nb_access& a, sc_core::sc_time delay = sc_core::SC_ZERO_TIME) {
    pooled& p = take();
    p.of = &a;
    fill(p, a);
    p.acquire();
    a.arrival = sc_core::sc_time_stamp() + delay;
    requesting_ = &p;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    const auto answer = socket->nb_transport_fw(p, phase, delay);
    const sc_core::sc_time at = sc_core::sc_time_stamp() + delay;
    if (answer == tlm::TLM_COMPLETED) {
      a.completed_early = true;
      request_is_over(p, at);
      a.responded = at;
      finish(p);
    } else if (answer == tlm::TLM_UPDATED) {
      request_is_over(p, at);
      if (phase == tlm::BEGIN_RESP && respond_to(p, at).how != ending::way::later) end_later(p, at);
    } else if (requesting_ == &p) {
      a.accepted_later = true;
    }
  }

  std::size_t payloads_out() const { return out_; }

 private:
  struct pooled : tlm::tlm_generic_payload {
    nb_access* of = nullptr;
    core::access_tag tag;
  };
  struct manager : tlm::tlm_mm_interface {
    nb_initiator* owner = nullptr;
    void free(tlm::tlm_generic_payload* payload) override {
      --owner->out_;
      owner->free_.push_back(static_cast<pooled*>(payload));
    }
  };

  pooled& take() {
    ++out_;
    if (free_.empty()) {
      manager_.owner = this;
      pool_.emplace_back();
      pool_.back().set_mm(&manager_);
      return pool_.back();
    }
    pooled& p = *free_.back();
    free_.pop_back();
    return p;
  }

  static void fill(pooled& p, nb_access& a) {
    p.set_command(a.command);
    p.set_address(a.address);
    p.set_data_ptr(a.data.data());
    p.set_data_length(static_cast<unsigned int>(a.data.size()));
    p.set_streaming_width(a.streaming_width != 0 ? a.streaming_width : static_cast<unsigned int>(a.data.size()));
    p.set_byte_enable_ptr(a.enables.empty() ? nullptr : a.enables.data());
    p.set_byte_enable_length(static_cast<unsigned int>(a.enables.size()));
    p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    p.set_dmi_allowed(false);
    p.clear_extension<core::access_tag>();
    if (a.tag) {
      p.tag = *a.tag;
      p.set_extension(&p.tag);
    }
  }

  void request_is_over(pooled& p, const sc_core::sc_time& at) {
    if (requesting_ != &p) return;
    requesting_ = nullptr;
    p.of->request_over = request_over_ = at;
    changed_.notify();
  }

  ending respond_to(pooled& p, const sc_core::sc_time& at) {
    request_is_over(p, at);
    p.of->responded = at;
    p.of->status = p.get_response_status();
    const ending e = end();
    if (e.how == ending::way::later) end_later(p, at + e.delay);
    return e;
  }

  void end_later(pooled& p, const sc_core::sc_time& at) {
    ending_ = &p;
    end_response_.notify(at - sc_core::sc_time_stamp());
  }

  void send_end_response() {
    pooled& p = *ending_;
    ending_ = nullptr;
    tlm::tlm_phase phase = tlm::END_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    socket->nb_transport_fw(p, phase, delay);
    finish(p);
  }

  void finish(pooled& p) {
    p.of->status = p.get_response_status();
    p.of->done = true;
    on_done(*p.of);
    p.release();
    changed_.notify();
  }

  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) {
    auto& p = static_cast<pooled&>(payload);
    const sc_core::sc_time at = sc_core::sc_time_stamp() + delay;
    if (phase == tlm::END_REQ) {
      request_is_over(p, at);
      return tlm::TLM_ACCEPTED;
    }
    const ending e = respond_to(p, at);
    if (e.how == ending::way::later) return tlm::TLM_ACCEPTED;
    delay += e.delay;
    finish(p);
    if (e.how == ending::way::completed) return tlm::TLM_COMPLETED;
    phase = tlm::END_RESP;
    return tlm::TLM_UPDATED;
  }

  std::deque<pooled> pool_;
  std::vector<pooled*> free_;
  manager manager_;
  std::size_t out_ = 0;
  pooled* requesting_ = nullptr;
  pooled* ending_ = nullptr;
  sc_core::sc_time request_over_;
  sc_core::sc_event changed_;
  sc_core::sc_event end_response_;
};

}  // namespace dvp::test
