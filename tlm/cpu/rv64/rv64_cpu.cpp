#include "tlm/cpu/rv64/rv64_cpu.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "tlm/core/sim_time.h"

namespace dvp::cpu::rv64 {

namespace {

constexpr std::uint64_t ps_per_second = 1'000'000'000'000;
constexpr std::uint64_t debug_piece_bytes = 4096;
// Of the simulator, which translates on the thread's stack.
constexpr std::size_t stack_bytes = 4U << 20;

rv64_cpu_config checked(const rv64_cpu_config& config, const char* module_name) {
  std::string fault = config.costs.fault();
  if (config.clock_hz == 0 || config.clock_hz > ps_per_second) fault = "clock is 0 or above 1 THz";
  if (fault.empty()) return config;
  const std::string message = std::string(module_name) + ": " + fault;
  SC_REPORT_FATAL("/dvp/cpu", message.c_str());
  throw std::invalid_argument(message);  // the report handler may have been told to go on
}

std::uint64_t now_ps() {
  return core::picoseconds(sc_core::sc_time_stamp());
}

// a * b / c without overflow in between.
std::uint64_t scaled(std::uint64_t a, std::uint64_t b, std::uint64_t c, bool up) {
  __extension__ using wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<wide>(a) * b + (up ? c - 1 : 0)) / c);
}

}  // namespace

rv64_cpu::rv64_cpu(const sc_core::sc_module_name& name, const rv64_cpu_config& config, core::statistics& figures,
                   core::timeline& timeline)
    : sc_module(name),
      socket("socket"),
      software("software"),
      timer("timer"),
      external("external"),
      config_(checked(config, this->name())),
      hart_({config.hart, config.reset_pc, config.costs, config.direct_memory}, *this),
      timeline_(timeline),
      track_(timeline.track("system", basename())),
      instructions_(figures.counter(path("instructions"))),
      cycles_(figures.counter(path("cycles"))),
      sleep_ps_(figures.counter(path("sleep_ps"))),
      sleeps_(figures.counter(path("sleeps"))),
      exceptions_(figures.counter(path("exceptions"))),
      interrupts_(figures.counter(path("interrupts"))),
      register_reads_(figures.counter(path("register_reads"))),
      register_writes_(figures.counter(path("register_writes"))),
      bus_errors_(figures.counter(path("bus_errors"))) {
  socket.register_invalidate_direct_mem_ptr(this, &rv64_cpu::invalidate_direct_mem_ptr);
  SC_HAS_PROCESS(rv64_cpu);
  SC_THREAD(run);
  set_stack_size(stack_bytes);
  SC_METHOD(lines_changed);
  sensitive << software << timer << external;
}

rv64_cpu::~rv64_cpu() = default;

std::string rv64_cpu::path(const char* figure) const {
  return std::string(basename()) + '.' + figure;
}

// Time.

std::uint64_t rv64_cpu::to_ps(std::uint64_t units) const {
  return scaled(units, ps_per_second, config_.clock_hz * units_per_cycle, false);
}

std::uint64_t rv64_cpu::to_units(std::uint64_t ps) const {
  return scaled(ps, config_.clock_hz * units_per_cycle, ps_per_second, true);
}

sc_core::sc_time rv64_cpu::local_time() const {
  const auto local = sc_core::sc_time::from_value(sc_core::sc_time(1, sc_core::SC_PS).value() * to_ps(hart_.now()));
  return std::max(local, sc_core::sc_time_stamp());
}

std::uint64_t rv64_cpu::time_ns() {
  const std::uint64_t simulated = to_ps(hart_.now()) / 1000;
  return mtime_ ? simulated + (mtime_() - now_ps() / 1000) : simulated;
}

void rv64_cpu::synchronise() {
  const sc_core::sc_time ahead = local_time() - sc_core::sc_time_stamp();
  if (ahead > sc_core::SC_ZERO_TIME) wait(ahead);
}

sc_core::sc_time rv64_cpu::quiet_time() const {
  // A line that has changed at this very time is seen by the next instruction but one.
  if (settled_lines() != levels()) return sc_core::SC_ZERO_TIME;
  if (!has_forecast()) return sc_core::sc_time_to_pending_activity(simcontext());
  const sc_core::sc_time now = sc_core::sc_time_stamp();
  return std::max(next_timer_(), now) - now;
}

std::uint64_t rv64_cpu::slice_limit() const {
  const std::uint64_t now = now_ps();
  std::uint64_t limit = to_units(now + core::picoseconds(config_.quantum));
  if (hart_.interruptible()) {
    const sc_core::sc_time quiet = quiet_time();
    // What happens then is seen by instructions that start after it.
    if (quiet < config_.quantum) limit = to_units(now + core::picoseconds(quiet) + 1);
  }
  return std::max(limit, hart_.now() + 1);
}

// Interrupt lines.

void rv64_cpu::line::change(bool to, const sc_core::sc_time& now) {
  if (to == level) return;
  if (changed != now) before = level;
  changed = now;
  level = to;
}

void rv64_cpu::lines_changed() {
  const sc_core::sc_time now = sc_core::sc_time_stamp();
  lines_[0].change(software.read(), now);
  lines_[1].change(timer.read(), now);
  lines_[2].change(external.read(), now);
  line_event_.notify();
}

std::uint64_t rv64_cpu::settled_lines() const {
  const sc_core::sc_time now = sc_core::sc_time_stamp();
  return (lines_[0].settled(now) ? software_interrupt : 0) | (lines_[1].settled(now) ? timer_interrupt : 0) |
         (lines_[2].settled(now) ? external_interrupt : 0);
}

std::uint64_t rv64_cpu::levels() const {
  return (lines_[0].level ? software_interrupt : 0) | (lines_[1].level ? timer_interrupt : 0) |
         (lines_[2].level ? external_interrupt : 0);
}

void rv64_cpu::look_at_lines() {
  synchronise();
  hart_.set_interrupts(settled_lines());
}

// Execution.

void rv64_cpu::run() {
  while (!done_) {
    if (local_time() - sc_core::sc_time_stamp() >= config_.quantum) synchronise();
    const bool interruptible = hart_.interruptible();
    if (interruptible) {
      look_at_lines();
      // What is due now goes first: it may tell how far there is nothing to see.
      if (!has_forecast() && sc_core::sc_pending_activity_at_current_time(simcontext())) {
        wait(sc_core::SC_ZERO_TIME);
      }
    }
    const std::uint64_t steps = supervisor_ != nullptr ? supervisor_->may_run(*this) : 0;
    if (!interruptible && hart_.interruptible()) continue;  // a debugger wrote so: the lines first
    tell(state());
    act(hart_.run(slice_limit(), steps));
  }
}

void rv64_cpu::act(slice_end why) {
  switch (why) {
    case slice_end::limit:
    case slice_end::synchronise:
      look_at_lines();
      break;
    case slice_end::access:
    case slice_end::trap:
      break;  // run() synchronises where it has to
    case slice_end::sleep:
      sleep();
      break;
    case slice_end::fault:
      synchronise();
      if (supervisor_ != nullptr) supervisor_->stopped(*this, why);
      error_ = hart_.fault();
      done_ = true;
      update_figures();
      tell(nullptr);
      finished_.notify(sc_core::SC_ZERO_TIME);
      break;
    default:
      if (supervisor_ != nullptr) supervisor_->stopped(*this, why);
  }
}

void rv64_cpu::sleep() {
  tell("sleep");
  synchronise();
  while (((settled_lines() | levels()) & hart_.enabled_interrupts()) == 0) wait(line_event_);
  tell(state());
  hart_.wake(to_units(now_ps()));
  // A step that slept ends here.
  if (supervisor_ != nullptr && supervisor_->may_run(*this) != 0) supervisor_->stopped(*this, slice_end::stepped);
}

void rv64_cpu::hold() {
  for (;;) wait();  // the thread has no static sensitivity; an event on its stack would never be destroyed
}

void rv64_cpu::tell(const char* activity) {
  if (activity == activity_ || (activity != nullptr && activity_ != nullptr && std::strcmp(activity, activity_) == 0)) {
    return;
  }
  const sc_core::sc_time now = local_time();
  if (activity_ != nullptr && now > activity_since_) timeline_.slice(track_, activity_, activity_since_, now);
  activity_ = activity;
  activity_since_ = now;
}

void rv64_cpu::end_of_simulation() {
  tell(nullptr);
  update_figures();
}

void rv64_cpu::update_figures() {
  const hart_figures& f = hart_.figures();
  instructions_ = f.instructions;
  cycles_ = (hart_.now() - f.asleep_units) / units_per_cycle;
  sleeps_ = f.sleeps;
  sleep_ps_ = to_ps(f.asleep_units) + (hart_.asleep() ? now_ps() - std::min(now_ps(), to_ps(hart_.now())) : 0);
  exceptions_ = f.exceptions;
  interrupts_ = f.interrupts;
  register_reads_ = f.device_reads;
  register_writes_ = f.device_writes;
  bus_errors_ = f.refused;
}

// Surroundings of the hart.

bool rv64_cpu::read(std::uint64_t address, std::uint32_t bytes, std::uint64_t& value) {
  return transfer(tlm::TLM_READ_COMMAND, address, bytes, value);
}

bool rv64_cpu::write(std::uint64_t address, std::uint32_t bytes, std::uint64_t value) {
  return transfer(tlm::TLM_WRITE_COMMAND, address, bytes, value);
}

bool rv64_cpu::transfer(tlm::tlm_command command, std::uint64_t address, std::uint32_t bytes, std::uint64_t& value) {
  synchronise();
  std::uint8_t data[sizeof value];
  std::memcpy(data, &value, sizeof value);
  tlm::tlm_generic_payload payload;
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(data);
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  sc_core::sc_time delay;
  socket->b_transport(payload, delay);
  std::memcpy(&value, data, sizeof value);
  hart_.advance_to(to_units(now_ps() + core::picoseconds(delay)));
  return !payload.is_response_error();
}

std::optional<granted_memory> rv64_cpu::grant(std::uint64_t address) {
  const bool known = std::any_of(refused_.begin(), refused_.end(),
                                 [&](const range& r) { return r.first <= address && address <= r.last; });
  if (known) return std::nullopt;
  tlm::tlm_generic_payload payload;
  payload.set_command(tlm::TLM_READ_COMMAND);
  payload.set_address(address);
  tlm::tlm_dmi dmi;
  if (!socket->get_direct_mem_ptr(payload, dmi) || !dmi.is_read_allowed()) {
    const range refused{dmi.get_start_address(), dmi.get_end_address()};
    const auto holds = [&](std::uint64_t a) { return refused.first <= a && a <= refused.last; };
    if (holds(address)) {
      std::erase_if(refused_, [&](const range& r) { return holds(r.first) && holds(r.last); });
      refused_.push_back(refused);
    }
    return std::nullopt;
  }
  return granted_memory{
      dmi.get_start_address(), dmi.get_end_address(), dmi.get_dmi_ptr(), true, dmi.is_write_allowed(), true};
}

void rv64_cpu::invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) {
  refused_.clear();
  hart_.forget_grants();
}

void rv64_cpu::code_changed() {
  hart_.forget_code();
  if (supervisor_ != nullptr) supervisor_->code_changed();
}

// Debug transport.

std::size_t rv64_cpu::debug(tlm::tlm_command command, std::uint64_t address, std::uint8_t* data, std::size_t bytes) {
  const auto move = [&](std::size_t at, std::size_t length) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(address + at);
    payload.set_data_ptr(data + at);
    payload.set_data_length(static_cast<unsigned int>(length));
    payload.set_streaming_width(static_cast<unsigned int>(length));
    return std::min<std::size_t>(socket->transport_dbg(payload), length);
  };
  std::size_t moved = 0;
  while (moved < bytes) {
    const std::uint64_t in_page = (address + moved) % debug_piece_bytes;
    const std::size_t piece = std::min<std::size_t>(bytes - moved, debug_piece_bytes - in_page);
    std::size_t now = move(moved, piece);
    // A target may refuse a piece that leaves what it holds.
    if (now == 0) now = move(moved, std::min<std::size_t>(piece, 4 - (address + moved) % 4));
    if (now == 0) now = move(moved, 1);
    if (now == 0) break;
    moved += now;
  }
  return moved;
}

std::size_t rv64_cpu::debug_read(std::uint64_t address, std::uint8_t* data, std::size_t bytes) {
  return debug(tlm::TLM_READ_COMMAND, address, data, bytes);
}

std::size_t rv64_cpu::debug_write(std::uint64_t address, const std::uint8_t* data, std::size_t bytes) {
  std::vector<std::uint8_t> copy(data, data + bytes);
  return debug(tlm::TLM_WRITE_COMMAND, address, copy.data(), bytes);
}

}  // namespace dvp::cpu::rv64
