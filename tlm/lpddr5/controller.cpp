#include "tlm/lpddr5/controller.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "tlm/core/byte_access.h"
#include "tlm/core/converted_read.h"
#include "tlm/lpddr5/system_report.h"

namespace dvp::lpddr5 {

namespace {

std::unique_ptr<memory_system> make_system(const memory_config& config, access_sink& sink, data_bus_track& track,
                                           const char* module_name) {
  std::string message;
  try {
    const address_mapping mapping(config.mapping, config.dev.shape, config.channels);
    const rule_table rules = compile(config.rules, config.dev.times);
    return std::make_unique<memory_system>(config.dev, rules, config.controller, mapping, sink,
                                           track.wanted() ? &track : nullptr);
  } catch (const std::invalid_argument& error) {
    message = std::string(module_name) + ": " + error.what();
  }
  SC_REPORT_FATAL("/dvp/lpddr5", message.c_str());
  throw std::invalid_argument(message);  // the report handler may have been told to go on
}

bool is_code(gen::precision precision) {
  return precision == gen::precision::q8 || core::delivered_bits(precision) != 8;
}

// Whether every enable that a byte of the data uses is TLM_BYTE_DISABLED or TLM_BYTE_ENABLED.
bool enables_are_valid(const tlm::tlm_generic_payload& payload) {
  const std::uint8_t* enables = payload.get_byte_enable_ptr();
  if (enables == nullptr) return true;
  const auto used = std::min(payload.get_byte_enable_length(), payload.get_data_length());
  return std::all_of(enables, enables + used,
                     [](std::uint8_t e) { return e == TLM_BYTE_DISABLED || e == TLM_BYTE_ENABLED; });
}

// TLM_OK, or why an access of plain bytes is refused.
tlm::tlm_response_status check_plain(const tlm::tlm_generic_payload& payload, std::uint64_t memory_bytes) {
  const auto status = core::check_bytes(payload, memory_bytes);
  if (status == tlm::TLM_BURST_ERROR_RESPONSE) return status;
  if (payload.get_data_ptr() == nullptr) return tlm::TLM_GENERIC_ERROR_RESPONSE;
  return enables_are_valid(payload) ? status : tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
}

}  // namespace

struct controller::own_figures {
  core::statistics figures;
  core::timeline off;
};

controller::controller(const sc_core::sc_module_name& name, const memory_config& config, core::statistics& figures,
                       core::timeline& timeline, const options& o)
    : controller(name, config, nullptr, figures, timeline, o) {}

controller::controller(const sc_core::sc_module_name& name, const memory_config& config, const options& o)
    : controller(name, config, std::make_unique<own_figures>(), o) {}

controller::controller(const sc_core::sc_module_name& name, const memory_config& config,
                       std::unique_ptr<own_figures> own, const options& o)
    : controller(name, config, std::move(own), own->figures, own->off, o) {}

controller::controller(const sc_core::sc_module_name& name, const memory_config& config,
                       std::unique_ptr<own_figures> own, core::statistics& figures, core::timeline& timeline,
                       const options& o)
    : sc_module(name),
      socket("socket"),
      own_(std::move(own)),
      figures_(figures),
      direct_memory_(o.direct_memory),
      device_(config.dev),
      clock_(device_.times.tCK_fs),
      track_(timeline, basename(), device_, config.channels,
             sc_core::sc_time(static_cast<double>(o.timeline_gap_ns), sc_core::SC_NS), o.commands),
      system_(make_system(config, *this, track_, this->name())),
      pages_(system_->bytes()),
      traffic_(figures, basename()),
      rates_(timeline, "system", basename()),
      direct_grants_(figures.counter(std::string(basename()) + ".direct_grants")) {
  socket.register_nb_transport_fw(this, &controller::nb_transport_fw);
  socket.register_b_transport(this, &controller::b_transport);
  socket.register_transport_dbg(this, &controller::transport_dbg);
  socket.register_get_direct_mem_ptr(this, &controller::get_direct_mem_ptr);
  SC_HAS_PROCESS(controller);
  SC_METHOD(wake);
  sensitive << wake_;
  dont_initialize();
}

controller::~controller() = default;

void controller::end_of_elaboration() {
  initiators_.resize(socket.size());
}

void controller::end_of_simulation() {
  update_figures();
  track_.flush();
  rates_.flush();
}

void controller::update_figures() {
  report(engine_figures(), device_, figures_, basename());
}

const system_figures& controller::engine_figures() {
  const cycles now = clock_.down(sc_core::sc_time_stamp().value());
  if (now > system_->now()) system_->advance(now);
  return system_->figures(system_->now());
}

// ---- Data -----------------------------------------------------------------------------------------------------------

std::optional<access> controller::take(tlm::tlm_generic_payload& payload, const sc_core::sc_time& arrival) {
  if (payload.get_command() == tlm::TLM_IGNORE_COMMAND) {
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return std::nullopt;
  }
  const core::access_tag& tag = core::tag_of(payload);
  access a;
  a.address = payload.get_address();
  a.write = payload.is_write();
  a.precision = a.write ? 8 : core::delivered_bits(tag.precision);
  a.tagged = !a.write && is_code(tag.precision);
  const bool plain = a.precision == 8;
  const auto status = core::check_rows(payload, tag.block, [&](const tlm::tlm_generic_payload& row) {
    return plain ? check_plain(row, bytes()) : core::check_converted(row, views_, bytes());
  });
  payload.set_response_status(status);
  if (status != tlm::TLM_OK_RESPONSE) return std::nullopt;

  const std::uint64_t length = payload.get_data_length();
  a.bytes = plain ? core::touched_bytes(payload) : core::elements_read(tag, length);
  a.rows = tag.block.rows;
  a.stride = tag.block.stride;
  a.list = tag.block.list;
  if (!tag.timing_only) {
    core::for_each_row(payload, tag.block, [&](tlm::tlm_generic_payload& row) {
      plain ? core::move_bytes(row, data()) : core::move_converted(row, views_, data());
      return true;
    });
  }
  if (plain) payload.set_dmi_allowed(direct_memory_);
  traffic_.count(a.write, tag, a.precision == 0 ? 0 : length);
  if (!a.write) rates_.add(tag.precision, arrival, length);
  if (a.bytes == 0) return std::nullopt;
  return a;
}

unsigned int controller::transport_dbg(int /*initiator*/, tlm::tlm_generic_payload& payload) {
  return payload.get_data_ptr() == nullptr ? 0 : core::move_debug_bytes(payload, data(), bytes());
}

bool controller::get_direct_mem_ptr(int /*initiator*/, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
  dmi.init();
  const bool plain = core::delivered_bits(core::tag_of(payload).precision) == 8;
  if (!direct_memory_ || !plain || !core::is_inside(payload.get_address(), 1, bytes())) {
    dmi.set_start_address(payload.get_address());
    dmi.set_end_address(payload.get_address());
    return false;
  }
  const timing& t = device_.times;
  const controller_config& config = system_->config();
  const cycles ends = config.frontend_cycles + t.BL_n_min + config.backend_cycles;
  dmi.set_dmi_ptr(data());
  dmi.set_start_address(0);
  dmi.set_end_address(bytes() - 1);
  dmi.set_read_latency(clock_.time(t.RL + ends));
  dmi.set_write_latency(clock_.time(config.posted_writes ? config.frontend_cycles : t.WL + ends));
  dmi.allow_read_write();
  ++direct_grants_;
  return true;
}

// ---- Blocking -------------------------------------------------------------------------------------------------------

void controller::b_transport(int /*initiator*/, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const sc_core::sc_time now = sc_core::sc_time_stamp();
  std::optional<access> a = take(payload, now + delay);
  if (!a) return;
  const std::uint32_t index = allocate(nullptr, 0);
  a->id = index;
  starting_ = index;
  system_->submit(clock_.up((now + delay).value()), *a);
  // The next thing to happen is a command, or a burst that enters its queue without one.
  while (accesses_[index].finished == unknown) system_->advance(system_->next_step() + 1);
  starting_ = nobody;
  delay = std::max(delay, sc_core::sc_time::from_value(accesses_[index].finished) - now);
  free(index);
  schedule();
}

// ---- Non-blocking ---------------------------------------------------------------------------------------------------

tlm::tlm_sync_enum controller::nb_transport_fw(int initiator, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                               sc_core::sc_time& delay) {
  const auto from = static_cast<std::uint32_t>(initiator);
  if (phase == tlm::BEGIN_REQ) return begin_request(from, payload, phase, delay);
  if (phase == tlm::END_RESP) {
    const std::uint32_t responding = initiators_[from].responding;
    if (responding != nobody && accesses_[responding].payload == &payload) end_response(from, delay);
    return tlm::TLM_COMPLETED;
  }
  return tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum controller::begin_request(std::uint32_t initiator, tlm::tlm_generic_payload& payload,
                                             tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const std::uint64_t now = sc_core::sc_time_stamp().value();
  if (delay != sc_core::SC_ZERO_TIME) {
    const std::uint32_t index = allocate(&payload, initiator);
    if (payload.has_mm()) payload.acquire();
    due_.put(now + delay.value(), due_kind::arrival, index);
    schedule();
    return tlm::TLM_ACCEPTED;
  }
  std::optional<access> a = take(payload, sc_core::sc_time_stamp());
  if (!a) return tlm::TLM_COMPLETED;
  const std::uint32_t index = allocate(&payload, initiator);
  submit(index, *a);
  transaction& t = accesses_[index];
  if (t.accepted == unknown) {
    if (payload.has_mm()) payload.acquire();
    schedule();
    return tlm::TLM_ACCEPTED;
  }
  delay = sc_core::sc_time::from_value(std::max(t.accepted, now) - now);
  if (t.finished != unknown && t.finished <= t.accepted) {
    free(index);
    schedule();
    return tlm::TLM_COMPLETED;
  }
  if (payload.has_mm()) payload.acquire();
  t.request_over = true;
  if (t.finished != unknown) due_.put(t.finished, due_kind::finished, index);
  schedule();
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

// The events of this access that come at once are in its transaction afterwards, not among those due.
void controller::submit(std::uint32_t index, access& a) {
  a.id = index;
  starting_ = index;
  system_->submit(clock_.up(sc_core::sc_time_stamp().value()), a);
  starting_ = nobody;
}

void controller::accepted(std::uint64_t id, cycles at) {
  const auto index = static_cast<std::uint32_t>(id);
  accesses_[index].accepted = clock_.at(at);
  if (index != starting_) due_.put(accesses_[index].accepted, due_kind::accepted, index);
}

void controller::finished(std::uint64_t id, cycles at) {
  const auto index = static_cast<std::uint32_t>(id);
  transaction& t = accesses_[index];
  t.finished = clock_.at(at);
  // Finished as it is accepted: BEGIN_RESP takes END_REQ's place.
  if (index != starting_ && (t.request_over || t.finished > t.accepted)) {
    due_.put(t.finished, due_kind::finished, index);
  }
}

void controller::wake() {
  wake_at_ = due_events::none;
  serving_ = true;
  const std::uint64_t now = sc_core::sc_time_stamp().value();
  run_engine(now);
  while (due_.next() <= now) {
    const due_event event = due_.take();
    switch (event.kind) {
      case due_kind::arrival:
        arrive(event.index);
        break;
      case due_kind::accepted: {
        const transaction& t = accesses_[event.index];
        t.finished <= t.accepted ? respond(event.index) : send_end_request(event.index);
        break;
      }
      case due_kind::finished:
        respond(event.index);
        break;
      case due_kind::response_over:
        initiators_[event.index].responding = nobody;
        next_response(event.index);
        break;
    }
  }
  serving_ = false;
  schedule();
}

void controller::run_engine(std::uint64_t now) {
  const cycles edge = clock_.down(now);
  if (edge > system_->now()) system_->advance(edge);
  // What happens at this very edge: room in a queue.
  if (system_->next_event() <= edge) system_->advance(edge + 1);
}

void controller::arrive(std::uint32_t index) {
  transaction& t = accesses_[index];
  std::optional<access> a = take(*t.payload, sc_core::sc_time_stamp());
  if (!a) {
    respond(index);
    return;
  }
  submit(index, *a);
  if (t.accepted == unknown) return;
  due_.put(t.accepted, due_kind::accepted, index);
  if (t.finished != unknown && t.finished > t.accepted) due_.put(t.finished, due_kind::finished, index);
}

void controller::send_end_request(std::uint32_t index) {
  transaction& t = accesses_[index];
  t.request_over = true;
  tlm::tlm_phase phase = tlm::END_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  socket[static_cast<int>(t.initiator)]->nb_transport_bw(*t.payload, phase, delay);
}

void controller::respond(std::uint32_t index) {
  transaction& t = accesses_[index];
  initiator_state& to = initiators_[t.initiator];
  if (to.first == nobody && to.responding == nobody) {
    begin_response(index);
    return;
  }
  (to.first == nobody ? to.first : accesses_[to.last].next) = index;
  to.last = index;
  if (!t.request_over) send_end_request(index);
}

void controller::begin_response(std::uint32_t index) {
  transaction& t = accesses_[index];
  const std::uint32_t initiator = t.initiator;
  t.request_over = true;
  initiators_[initiator].responding = index;
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  const auto answer = socket[static_cast<int>(initiator)]->nb_transport_bw(*t.payload, phase, delay);
  if (answer == tlm::TLM_COMPLETED || (answer == tlm::TLM_UPDATED && phase == tlm::END_RESP)) {
    if (initiators_[initiator].responding == index) end_response(initiator, delay);
  }
}

void controller::end_response(std::uint32_t initiator, const sc_core::sc_time& delay) {
  initiator_state& of = initiators_[initiator];
  tlm::tlm_generic_payload* payload = accesses_[of.responding].payload;
  free(of.responding);
  if (delay == sc_core::SC_ZERO_TIME && of.first == nobody) {
    of.responding = nobody;
  } else {
    of.responding = blocked;
    due_.put((sc_core::sc_time_stamp() + delay).value(), due_kind::response_over, initiator);
    schedule();
  }
  if (payload->has_mm()) payload->release();
}

void controller::next_response(std::uint32_t initiator) {
  initiator_state& to = initiators_[initiator];
  if (to.first == nobody) return;
  const std::uint32_t index = to.first;
  to.first = accesses_[index].next;
  accesses_[index].next = nobody;
  begin_response(index);
}

void controller::schedule() {
  if (serving_) return;
  const std::uint64_t now = sc_core::sc_time_stamp().value();
  std::uint64_t next = due_.next();
  const cycles event = system_->next_event();
  // Before its present the engine has nothing more to tell.
  if (event < never) next = std::min(next, clock_.at(std::max(event, system_->now())));
  if (next >= wake_at_) return;
  wake_at_ = next;
  next > now ? wake_.notify(sc_core::sc_time::from_value(next - now)) : wake_.notify(sc_core::SC_ZERO_TIME);
}

std::uint32_t controller::allocate(tlm::tlm_generic_payload* payload, std::uint32_t initiator) {
  std::uint32_t index = free_;
  if (index == nobody) {
    index = static_cast<std::uint32_t>(accesses_.size());
    accesses_.emplace_back();
  } else {
    free_ = accesses_[index].next;
  }
  accesses_[index] = transaction{payload, initiator};
  ++under_way_;
  return index;
}

void controller::free(std::uint32_t index) {
  accesses_[index].next = free_;
  free_ = index;
  --under_way_;
}

}  // namespace dvp::lpddr5
