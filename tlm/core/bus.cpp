#include "tlm/core/bus.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace dvp::core {

namespace {

address_map checked_map(std::vector<address_window> windows, const char* bus_name) {
  try {
    return address_map(std::move(windows));
  } catch (const std::invalid_argument& error) {
    SC_REPORT_FATAL("/dvp/bus", (std::string(bus_name) + ": " + error.what()).c_str());
    throw;  // the report handler may have been told to go on
  }
}

// Bytes of address space the access touches: a shorter streaming width wraps the data onto it.
std::uint64_t footprint(const tlm::tlm_generic_payload& payload) {
  return std::min(payload.get_data_length(), payload.get_streaming_width());
}

// The payload carries a window-relative address for as long as this lives.
class relative_address {
 public:
  relative_address(tlm::tlm_generic_payload& payload, std::uint64_t base)
      : payload_(payload), original_(payload.get_address()) {
    payload_.set_address(original_ - base);
  }
  relative_address(const relative_address&) = delete;
  relative_address& operator=(const relative_address&) = delete;
  ~relative_address() { payload_.set_address(original_); }

 private:
  tlm::tlm_generic_payload& payload_;
  std::uint64_t original_;
};

}  // namespace

bus::bus(const sc_core::sc_module_name& name, std::vector<address_window> windows, std::size_t initiators,
         const sc_core::sc_time& latency)
    : sc_module(name),
      map_(checked_map(std::move(windows), this->name())),
      latency_(latency),
      initiators_("from_initiator", initiators),
      targets_("to_target", map_.size()) {
  for (std::size_t i = 0; i < initiators; ++i) {
    const int tag = static_cast<int>(i);
    initiators_[i].register_b_transport(this, &bus::b_transport, tag);
    initiators_[i].register_nb_transport_fw(this, &bus::nb_transport_fw, tag);
    initiators_[i].register_transport_dbg(this, &bus::transport_dbg, tag);
    initiators_[i].register_get_direct_mem_ptr(this, &bus::get_direct_mem_ptr, tag);
  }
  for (std::size_t w = 0; w < map_.size(); ++w) {
    const int tag = static_cast<int>(w);
    targets_[w].register_nb_transport_bw(this, &bus::nb_transport_bw, tag);
    targets_[w].register_invalidate_direct_mem_ptr(this, &bus::invalidate_direct_mem_ptr, tag);
  }
}

bus::target_side& bus::to_target(std::string_view window) {
  const auto index = map_.named(window);
  if (!index) {
    const std::string message = std::string(name()) + ": no window is named '" + std::string(window) + "'";
    SC_REPORT_FATAL("/dvp/bus", message.c_str());
    throw std::invalid_argument(message);
  }
  return targets_[*index];
}

void bus::b_transport(int, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const auto window = map_.find(payload.get_address(), footprint(payload));
  if (!window) {
    ++unmapped_;
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  const relative_address scope(payload, map_[*window].base);
  delay += latency_;
  targets_[*window]->b_transport(payload, delay);
}

tlm::tlm_sync_enum bus::nb_transport_fw(int initiator, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                        sc_core::sc_time& delay) {
  if (phase == tlm::BEGIN_REQ) {
    const auto window = map_.find(payload.get_address(), footprint(payload));
    if (!window) {
      ++unmapped_;
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return tlm::TLM_COMPLETED;
    }
    payload.acquire();
    under_way_[&payload] = {static_cast<std::size_t>(initiator), *window, payload.get_address()};
    payload.set_address(payload.get_address() - map_[*window].base);
  }
  const std::size_t window = under_way_.at(&payload).window;
  const tlm::tlm_sync_enum answer = targets_[window]->nb_transport_fw(payload, phase, delay);
  if (answer == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP) delay += latency_;
  forget_if_over(payload, phase, answer);
  return answer;
}

tlm::tlm_sync_enum bus::nb_transport_bw(int, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                        sc_core::sc_time& delay) {
  const std::size_t initiator = under_way_.at(&payload).initiator;
  // The target's response is over when the initiator's is, less the way.
  const sc_core::sc_time way = phase == tlm::BEGIN_RESP ? latency_ : sc_core::SC_ZERO_TIME;
  sc_core::sc_time arrival = delay + way;
  const tlm::tlm_sync_enum answer = initiators_[initiator]->nb_transport_bw(payload, phase, arrival);
  if (answer != tlm::TLM_ACCEPTED) delay = arrival - way;
  forget_if_over(payload, phase, answer);
  return answer;
}

void bus::forget_if_over(tlm::tlm_generic_payload& payload, const tlm::tlm_phase& phase, tlm::tlm_sync_enum answer) {
  if (answer != tlm::TLM_COMPLETED && phase != tlm::END_RESP) return;
  const auto over = under_way_.find(&payload);
  payload.set_address(over->second.address);
  under_way_.erase(over);
  payload.release();
}

unsigned int bus::transport_dbg(int, tlm::tlm_generic_payload& payload) {
  const auto window = map_.find(payload.get_address(), payload.get_data_length());
  if (!window) return 0;
  const relative_address scope(payload, map_[*window].base);
  return targets_[*window]->transport_dbg(payload);
}

bool bus::get_direct_mem_ptr(int, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
  const auto window = map_.find(payload.get_address(), 1);
  if (!window) {
    const address_range hole = map_.hole(payload.get_address());
    dmi.init();
    dmi.set_start_address(hole.first);
    dmi.set_end_address(hole.last);
    return false;
  }
  const address_window& range = map_[*window];
  const relative_address scope(payload, range.base);
  const bool granted = targets_[*window]->get_direct_mem_ptr(payload, dmi);
  // A target may answer for more than its window (the default range is all addresses): keep what the window shows.
  const std::uint64_t last = std::min<std::uint64_t>(dmi.get_end_address(), range.bytes - 1);
  dmi.set_start_address(range.base + dmi.get_start_address());
  dmi.set_end_address(range.base + last);
  dmi.set_read_latency(dmi.get_read_latency() + latency_);
  dmi.set_write_latency(dmi.get_write_latency() + latency_);
  return granted;
}

void bus::invalidate_direct_mem_ptr(int window, sc_dt::uint64 start, sc_dt::uint64 end) {
  const address_window& range = map_[static_cast<std::size_t>(window)];
  if (start >= range.bytes) return;
  const std::uint64_t last = range.base + std::min<std::uint64_t>(end, range.bytes - 1);
  for (auto& initiator : initiators_) initiator->invalidate_direct_mem_ptr(range.base + start, last);
}

}  // namespace dvp::core
