#include "tlm/cpu/native_cpu.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

#include "tlm/core/sim_time.h"

namespace dvp::cpu {

namespace {

constexpr std::uint64_t ps_per_second = 1'000'000'000'000;

native_cpu_config checked(const native_cpu_config& config, const char* module_name) {
  const bool unnamed =
      std::any_of(config.work.begin(), config.work.end(), [](const work_cost& cost) { return cost.name.empty(); });
  const char* fault = config.clock_hz == 0 || config.clock_hz > ps_per_second ? "clock is 0 or above 1 THz"
                      : unnamed                                               ? "a kind of work has no name"
                      : !std::has_single_bit(config.stream.burst_bytes) ? "the bursts of its stream are no power of two"
                      : config.stream.outstanding == 0                  ? "its stream may have no burst under way"
                                                                        : nullptr;
  if (fault == nullptr) return config;
  const std::string message = std::string(module_name) + ": " + fault;
  SC_REPORT_FATAL("/dvp/cpu", message.c_str());
  throw std::invalid_argument(message);  // the report handler may have been told to go on
}

}  // namespace

native_cpu::native_cpu(const sc_core::sc_module_name& name, const native_cpu_config& config,
                       std::function<void()> firmware, core::statistics& figures, core::timeline& timeline)
    : sc_module(name),
      socket("socket"),
      interrupt("interrupt"),
      config_(checked(config, this->name())),
      firmware_(std::move(firmware)),
      period_(1.0 / static_cast<double>(config.clock_hz), sc_core::SC_SEC),
      stream_(socket, config.stream),
      slices_(timeline, "system", basename(), "amount", sc_core::SC_ZERO_TIME),
      register_reads_(figures.counter(path("register_reads"))),
      register_writes_(figures.counter(path("register_writes"))),
      bus_errors_(figures.counter(path("bus_errors"))),
      cycles_(figures.counter(path("cycles"))),
      busy_ps_(figures.counter(path("busy_ps"))),
      wait_ps_(figures.counter(path("wait_ps"))),
      waits_(figures.counter(path("waits"))),
      wait_timeouts_(figures.counter(path("wait_timeouts"))),
      stream_bytes_read_(figures.counter(path("stream_bytes_read"))),
      stream_bytes_written_(figures.counter(path("stream_bytes_written"))),
      stream_ps_(figures.counter(path("stream_ps"))),
      exposed_ps_(figures.counter(path("exposed_ps"))) {
  for (const work_cost& cost : config_.work) work_.push_back(&figures.counter(path("work." + cost.name)));
  socket.register_invalidate_direct_mem_ptr(this, &native_cpu::invalidate_direct_mem_ptr);
  socket.register_nb_transport_bw(this, &native_cpu::nb_transport_bw);
  SC_HAS_PROCESS(native_cpu);
  SC_THREAD(run);
  set_stack_size(config_.stack_bytes);
}

std::string native_cpu::path(const std::string& figure) const {
  return std::string(basename()) + '.' + figure;
}

void native_cpu::run() {
  thread_ = sc_core::sc_get_current_process_handle();
  try {
    firmware_();
  } catch (const sc_core::sc_unwind_exception&) {
    throw;
  } catch (const sc_core::sc_report&) {
    throw;
  } catch (const std::exception& fault) {
    error_ = fault.what();
  } catch (...) {
    error_ = "firmware threw something that is no std::exception";
  }
  synchronise();
  slices_.flush();
  done_ = true;
  finished_.notify(sc_core::SC_ZERO_TIME);
}

std::uint32_t native_cpu::read32(std::uint64_t address) {
  std::uint32_t value = 0;
  ++register_reads_;
  transfer(tlm::TLM_READ_COMMAND, address, value);
  return last_access_failed_ ? std::numeric_limits<std::uint32_t>::max() : value;
}

void native_cpu::write32(std::uint64_t address, std::uint32_t value) {
  ++register_writes_;
  transfer(tlm::TLM_WRITE_COMMAND, address, value);
}

void native_cpu::transfer(tlm::tlm_command command, std::uint64_t address, std::uint32_t& value) {
  const sc_core::sc_time begin = local_now();
  advance(config_.register_access_cycles);
  synchronise();

  std::uint8_t bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  tlm::tlm_generic_payload payload;
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(bytes);
  payload.set_data_length(sizeof value);
  payload.set_streaming_width(sizeof value);
  sc_core::sc_time delay;
  socket->b_transport(payload, delay);
  std::memcpy(&value, bytes, sizeof value);

  busy_ps_ += core::picoseconds(delay);
  local_ += delay;
  synchronise();
  slices_.add("registers", begin, local_now(), 1);
  last_access_failed_ = payload.is_response_error();
  if (last_access_failed_) ++bus_errors_;
}

void* native_cpu::memory(std::uint64_t address, std::uint64_t bytes) {
  auto region =
      std::find_if(regions_.begin(), regions_.end(), [&](const granted_region& r) { return r.holds(address, bytes); });
  if (region == regions_.end()) {
    tlm::tlm_generic_payload payload;
    payload.set_command(tlm::TLM_WRITE_COMMAND);
    payload.set_address(address);
    tlm::tlm_dmi dmi;
    if (!socket->get_direct_mem_ptr(payload, dmi) || !dmi.is_read_write_allowed()) return nullptr;
    regions_.push_back({dmi.get_start_address(), dmi.get_end_address(), dmi.get_dmi_ptr()});
    region = std::prev(regions_.end());
    if (!region->holds(address, bytes)) return nullptr;
  }
  return region->data + (address - region->first);
}

void native_cpu::invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) {
  std::erase_if(regions_, [&](const granted_region& r) { return r.first <= end && start <= r.last; });
}

bool native_cpu::wait_for_interrupt() {
  synchronise();
  ++waits_;
  const sc_core::sc_time begin = local_now();
  while (!interrupt.read()) {
    waiting_ = true;
    wait(interrupt.posedge_event());
    waiting_ = false;
  }
  end_wait(begin, false);
  return true;
}

bool native_cpu::wait_for_interrupt(const sc_core::sc_time& timeout) {
  synchronise();
  ++waits_;
  const sc_core::sc_time begin = local_now();
  waiting_ = true;
  sleep_until(sc_core::sc_time_stamp() + timeout);
  waiting_ = false;
  const bool high = interrupt.read();
  end_wait(begin, !high);
  return high;
}

void native_cpu::sleep_until(const sc_core::sc_time& deadline) {
  while (!interrupt.read() && sc_core::sc_time_stamp() < deadline) {
    const sc_core::sc_time now = sc_core::sc_time_stamp();
    if (alarm_at_ <= now || alarm_at_ > deadline) {
      alarm_at_ = deadline;
      alarm_.notify(deadline - now);
    }
    wait(alarm_ | interrupt.posedge_event());
    if (alarm_.triggered()) alarm_at_ = sc_core::SC_ZERO_TIME;
  }
}

void native_cpu::wait_until(const sc_core::sc_event& event, const std::function<bool()>& over) {
  synchronise();
  if (over()) return;
  ++waits_;
  const sc_core::sc_time begin = local_now();
  waiting_ = true;
  do {
    wait(event);
  } while (!over());
  waiting_ = false;
  end_wait(begin, false);
}

void native_cpu::end_wait(const sc_core::sc_time& begin, bool timed_out) {
  wait_ps_ += core::picoseconds(local_now() - begin);
  if (timed_out) ++wait_timeouts_;
  if (local_now() != begin) slices_.add("wait", begin, local_now(), 1);
}

std::uint64_t native_cpu::cycles_of(std::uint32_t kind, std::uint64_t amount) const {
  if (kind >= work_.size()) {
    throw std::out_of_range("work kind " + std::to_string(kind) + " is not in the cost table of " + name());
  }
  return static_cast<std::uint64_t>(std::llround(config_.work[kind].cycles * static_cast<double>(amount)));
}

void native_cpu::spend(std::uint32_t kind, std::uint64_t amount) {
  const sc_core::sc_time begin = local_now();
  advance(cycles_of(kind, amount));
  *work_[kind] += amount;
  slices_.add(config_.work[kind].name, begin, local_now(), amount);
  if (local_ >= config_.quantum) synchronise();
}

void native_cpu::spend(std::uint32_t kind, std::uint64_t amount, const streamed_bytes& bytes) {
  if (bytes.bytes == 0) {
    spend(kind, amount);
    return;
  }
  const std::uint64_t cycles = cycles_of(kind, amount);
  const auto* stored = static_cast<const std::uint8_t*>(memory(bytes.address, bytes.bytes));
  last_access_failed_ = stored == nullptr;
  if (last_access_failed_) return;
  synchronise();
  const sc_core::sc_time begin = sc_core::sc_time_stamp();
  const sc_core::sc_time computed = begin + time_of(cycles);
  last_access_failed_ = !stream_.move(bytes, stored, time_of(cycles));
  const sc_core::sc_time streamed = sc_core::sc_time_stamp();
  local_ = std::max(computed, streamed) - streamed;

  if (last_access_failed_) ++bus_errors_;
  cycles_ += cycles;
  busy_ps_ += core::picoseconds(local_now() - begin);
  *work_[kind] += amount;
  (bytes.written ? stream_bytes_written_ : stream_bytes_read_) += bytes.bytes;
  stream_ps_ += core::picoseconds(streamed - begin);
  slices_.add(config_.work[kind].name, begin, computed, amount);
  if (streamed > computed) {
    exposed_ps_ += core::picoseconds(streamed - computed);
    slices_.add("memory", computed, streamed, bytes.bytes);
  }
  if (local_ >= config_.quantum) synchronise();
}

void native_cpu::look_elsewhere() {
  const sc_core::sc_time begin = local_now();
  advance(config_.register_access_cycles);
  slices_.add("harts", begin, local_now(), 1);
  synchronise();
}

void native_cpu::advance(std::uint64_t cycles) {
  const sc_core::sc_time time = time_of(cycles);
  cycles_ += cycles;
  busy_ps_ += core::picoseconds(time);
  local_ += time;
}

std::uint64_t native_cpu::now_ns() const {
  return core::picoseconds(local_now()) / 1000;
}

void native_cpu::synchronise() {
  const sc_core::sc_time time = std::exchange(local_, sc_core::SC_ZERO_TIME);
  if (time > sc_core::SC_ZERO_TIME) wait(time);
}

}  // namespace dvp::cpu
