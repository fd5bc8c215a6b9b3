// How many accesses per second of wall time the LPDDR5 controller serves: 32-byte accesses, one channel of LPDDR5-6400
// with all-bank refresh, an initiator with 64 payloads that sends as fast as requests are accepted.
//
//   lpddr5_controller_bench [nb|b] [stream|random] [accesses]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "tlm/lpddr5/config/builtin_device.h"
#include "tlm/lpddr5/controller.h"
#include "tlm_utils/simple_initiator_socket.h"

namespace {

using namespace dvp;

constexpr std::uint64_t area = 64U << 20;

lpddr5::memory_config one_channel() {
  lpddr5::memory_config config;
  lpddr5::device_choice choice;
  choice.speed = "lpddr5-6400";
  config.dev = lpddr5::builtin_device(choice);
  config.rules = lpddr5::builtin_rules();
  config.channels = 1;
  config.mapping = lpddr5::standard_mapping("row-bank-column-group-channel", config.dev.shape, 1, 64, false);
  return config;
}

class initiator : public sc_core::sc_module, tlm::tlm_mm_interface {
 public:
  tlm_utils::simple_initiator_socket<initiator> socket;

  initiator(const sc_core::sc_module_name& name, bool random, std::uint64_t count)
      : sc_module(name), socket("socket"), payloads_(64), random_(random), left_(count), data_(32) {
    socket.register_nb_transport_bw(this, &initiator::nb_transport_bw);
    for (auto& p : payloads_) {
      p.set_mm(this);
      p.set_data_ptr(data_.data());
      p.set_data_length(32);
      p.set_streaming_width(32);
      p.set_byte_enable_ptr(nullptr);
      free_.push_back(&p);
    }
    SC_HAS_PROCESS(initiator);
    SC_METHOD(send_all);
    sensitive << go_;
  }

  void blocking() {
    auto& p = payloads_.front();
    sc_core::sc_time delay;
    for (; left_ != 0; --left_) {
      fill(p);
      socket->b_transport(p, delay);
    }
  }

 private:
  void fill(tlm::tlm_generic_payload& p) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    p.set_command(random_ && state_ >> 63 != 0 ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    p.set_address(random_ ? (state_ >> 20) % area / 32 * 32 : next_);
    next_ = (next_ + 32) % area;
    p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    p.set_dmi_allowed(false);
  }

  void free(tlm::tlm_generic_payload* p) override {
    free_.push_back(p);
    if (request_free_) go_.notify(sc_core::SC_ZERO_TIME);
  }

  void send_all() {
    while (left_ != 0 && request_free_ && !free_.empty()) {
      auto& p = *free_.back();
      free_.pop_back();
      fill(p);
      p.acquire();
      --left_;
      request_free_ = false;
      tlm::tlm_phase phase = tlm::BEGIN_REQ;
      sc_core::sc_time delay;
      const auto answer = socket->nb_transport_fw(p, phase, delay);
      if (answer == tlm::TLM_ACCEPTED) continue;
      request_free_ = true;
      if (answer == tlm::TLM_COMPLETED) p.release();
      if (delay != sc_core::SC_ZERO_TIME) {
        go_.notify(delay);
        return;
      }
    }
  }

  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time&) {
    request_free_ = true;
    if (phase == tlm::END_REQ) {
      go_.notify(sc_core::SC_ZERO_TIME);
      return tlm::TLM_ACCEPTED;
    }
    p.release();
    return tlm::TLM_COMPLETED;
  }

  std::deque<tlm::tlm_generic_payload> payloads_;
  std::vector<tlm::tlm_generic_payload*> free_;
  bool random_;
  std::uint64_t left_;
  std::vector<unsigned char> data_;
  bool request_free_ = true;
  std::uint64_t state_ = 1, next_ = 0;
  sc_core::sc_event go_;
};

}  // namespace

int sc_main(int argc, char** argv) {
  const std::string interface = argc > 1 ? argv[1] : "nb";
  const bool random = argc > 2 && std::string(argv[2]) == "random";
  const std::uint64_t count = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 2'000'000;
  const bool blocking = interface == "b";
  lpddr5::controller memory("memory", one_channel());
  initiator from("initiator", random, blocking ? count : count);
  from.socket.bind(memory.socket);
  if (blocking) sc_core::sc_start(sc_core::SC_ZERO_TIME);
  const auto begin = std::chrono::steady_clock::now();
  blocking ? from.blocking() : sc_core::sc_start();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  memory.update_figures();
  const auto& figures = memory.statistics();
  std::printf(
      "%s %s: %.2f M accesses/s, %.2f GB/s simulated, row hits %.1f %%\n", interface.c_str(),
      random ? "random" : "stream", static_cast<double>(count) / seconds * 1e-6,
      32e3 * static_cast<double>(count) / static_cast<double>(figures.count_of("memory.elapsed_ps")),
      100.0 * static_cast<double>(figures.count_of("memory.rows.hits")) /
          static_cast<double>(figures.count_of("memory.bursts.read") + figures.count_of("memory.bursts.write")));
  return 0;
}
