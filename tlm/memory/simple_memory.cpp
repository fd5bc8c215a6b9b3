#include "tlm/memory/simple_memory.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "tlm/core/byte_access.h"
#include "tlm/core/converted_read.h"
#include "tlm/core/sim_time.h"

namespace dvp::memory {

namespace {

__extension__ using wide = unsigned __int128;

simple_memory_config checked(const simple_memory_config& config, const char* module_name) {
  const char* fault = config.bytes == 0              ? "size is 0 bytes"
                      : config.bytes_per_second == 0 ? "bandwidth is 0 bytes per second"
                      : !(config.e_core_pj_per_bit >= 0) || !(config.e_down_pj_per_bit >= 0)
                          ? "an energy is negative or not a number"
                          : nullptr;
  if (fault == nullptr) return config;
  const std::string message = std::string(module_name) + ": " + fault;
  SC_REPORT_FATAL("/dvp/memory", message.c_str());
  throw std::invalid_argument(message);  // the report handler may have been told to go on
}

}  // namespace

simple_memory::simple_memory(const sc_core::sc_module_name& name, const simple_memory_config& config,
                             core::statistics& figures, core::timeline& timeline)
    : sc_module(name),
      socket("socket"),
      config_(checked(config, this->name())),
      pages_(config.bytes),
      timeline_(timeline),
      slices_(timeline, "system", basename(), "bytes", config.timeline_gap),
      rates_(timeline, "system", basename()),
      traffic_(figures, basename()),
      busy_ps_(figures.counter(path("busy_ps"))),
      direct_grants_(figures.counter(path("direct_grants"))),
      core_pj_(figures.gauge(path("energy.core_pj_modelled"))),
      down_pj_(figures.gauge(path("energy.down_pj_modelled"))),
      total_pj_(figures.gauge(path("energy.total_pj_modelled"))) {
  socket.register_b_transport(this, &simple_memory::b_transport);
  socket.register_transport_dbg(this, &simple_memory::transport_dbg);
  socket.register_get_direct_mem_ptr(this, &simple_memory::get_direct_mem_ptr);
}

void simple_memory::end_of_simulation() {
  slices_.flush();
  rates_.flush();
}

std::string simple_memory::path(const char* figure) const {
  return std::string(basename()) + '.' + figure;
}

void simple_memory::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  if (payload.get_command() == tlm::TLM_IGNORE_COMMAND) {
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return;
  }
  const bool converted = core::is_converted_read(payload);
  const core::access_tag& tag = core::tag_of(payload);
  const auto status = core::check_rows(payload, tag.block, [&](const tlm::tlm_generic_payload& row) {
    return converted ? core::check_converted(row, views_, config_.bytes) : core::check_bytes(row, config_.bytes);
  });
  payload.set_response_status(status);
  if (status != tlm::TLM_OK_RESPONSE) return;
  core::for_each_row(payload, tag.block, [&](tlm::tlm_generic_payload& row) {
    converted ? core::move_converted(row, views_, data()) : core::move_bytes(row, data());
    return true;
  });
  if (tag.precision == gen::precision::q0 && converted) {
    traffic_.count(false, tag, 0);
    return;
  }
  const sc_core::sc_time now = sc_core::sc_time_stamp();
  const sc_core::sc_time start = std::max(now + delay, bus_free_);
  bus_free_ = start + transfer_time(payload.get_data_length());
  delay = bus_free_ + config_.latency - now;
  account(payload, start, bus_free_);
  payload.set_dmi_allowed(config_.direct_memory && !converted);
}

unsigned int simple_memory::transport_dbg(tlm::tlm_generic_payload& payload) {
  return core::move_debug_bytes(payload, data(), config_.bytes);
}

bool simple_memory::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
  dmi.init();
  const bool plain = core::delivered_bits(core::tag_of(payload).precision) == 8;
  if (!config_.direct_memory || !plain || !core::is_inside(payload.get_address(), 1, config_.bytes)) {
    dmi.set_start_address(payload.get_address());
    dmi.set_end_address(payload.get_address());
    return false;
  }
  dmi.set_dmi_ptr(data());
  dmi.set_start_address(0);
  dmi.set_end_address(config_.bytes - 1);
  dmi.set_read_latency(config_.latency);
  dmi.set_write_latency(config_.latency);
  dmi.allow_read_write();
  ++direct_grants_;
  return true;
}

sc_core::sc_time simple_memory::transfer_time(std::uint64_t length) const {
  constexpr std::uint64_t ps_per_second = 1'000'000'000'000;
  const wide scaled = static_cast<wide>(length) * ps_per_second + (config_.bytes_per_second - 1);
  return sc_core::sc_time(static_cast<double>(static_cast<std::uint64_t>(scaled / config_.bytes_per_second)),
                          sc_core::SC_PS);
}

void simple_memory::account(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& begin,
                            const sc_core::sc_time& end) {
  const core::access_tag& tag = core::tag_of(payload);
  const bool write = payload.is_write();
  const std::uint64_t bytes = payload.get_data_length();
  traffic_.count(write, tag, bytes);
  busy_ps_ += core::picoseconds(end - begin);

  // Writes are always stored as 8-bit elements, whatever the tag says.
  const std::uint64_t p = write ? 8 : core::delivered_bits(tag.precision);
  const std::uint64_t elements = p == 8 ? bytes : core::elements_read(tag, bytes);
  core_bits_ += 8 * elements;
  down_bits_ += p * elements;
  core_pj_ = static_cast<double>(core_bits_) * config_.e_core_pj_per_bit;
  down_pj_ = static_cast<double>(down_bits_) * config_.e_down_pj_per_bit;
  total_pj_ = core_pj_ + down_pj_;

  if (timeline_.on()) {
    if (!write) rates_.add(tag.precision, begin, bytes);
    slices_.add(std::string(write ? "write " : "read ") + gen::name_of(tag.purpose), begin, end, bytes);
  }
}

}  // namespace dvp::memory
