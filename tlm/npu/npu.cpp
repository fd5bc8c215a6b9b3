#include "tlm/npu/npu.h"

#include <bit>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "dvp_gen/npu_bank.h"
#include "tlm/array/array_config.h"
#include "tlm/npu/execute_sample.h"
#include "tlm/npu/execute_vector.h"
#include "tlm/npu/stage_engine.h"
#include "tlm/npu/timing.h"

namespace dvp::npu {

namespace reg = gen::npu;

namespace {

const npu_config& checked(const npu_config& config, const sc_core::sc_module_name& name) {
  try {
    validate(config);
  } catch (const std::invalid_argument& problem) {
    SC_REPORT_FATAL("/dvp/npu", (std::string(static_cast<const char*>(name)) + ": " + problem.what()).c_str());
  }
  return config;
}

std::uint32_t low(std::uint64_t value) {
  return static_cast<std::uint32_t>(value);
}
std::uint32_t high(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32);
}

}  // namespace

npu::npu(const sc_core::sc_module_name& name, const npu_config& config, array::array_seat& seat,
         core::statistics& figures, core::timeline& timeline)
    : sc_module(name),
      registers("registers"),
      memory("memory"),
      interrupt("interrupt"),
      parts_(checked(config, name), timeline),
      window_("window", parts_.config.window, parts_.clock, parts_.reset, timeline,
              [this] { pend(reg::irq_status::window, 0); }),
      link_(memory, window_, parts_.counts, parts_.reset, config.memory_non_blocking, config.shape_only),
      bank_(reg::bank),
      figures_(figures),
      gemm_(seat, config.array.columns) {
  registers.register_b_transport(this, &npu::b_transport);
  registers.register_transport_dbg(this, &npu::transport_dbg);
  memory.register_nb_transport_bw(this, &npu::memory_answered);
  make_engines();
  make_queues();
  connect_registers();
  SC_HAS_PROCESS(npu);
  SC_METHOD(drive_interrupt);
  sensitive << interrupt_changed_;
  SC_METHOD(wake_processes);
  sensitive << parts_.reset.woken();
  dont_initialize();
}

void npu::make_engines() {
  const auto failed = [this](const std::exception& problem) {
    failure_ = problem.what();
    sc_core::sc_stop();
  };
  const auto worker = [this](const descriptor_view& d, std::span<std::byte> bytes) { return run_unit(d, bytes); };
  const auto unit = [&](engine_id id) {
    engines_.push_back(std::make_unique<compute_engine>(name_of(id), id, parts_, worker, failed));
  };
  for (const engine_id id : {engine_id::dma_load, engine_id::dma_store}) {
    engines_.push_back(std::make_unique<dma_engine>(name_of(id), id, parts_, link_));
  }
  unit(engine_id::array);
  unit(engine_id::vector);
  unit(engine_id::sampling);
  engines_.push_back(std::make_unique<stage_engine>(name_of(engine_id::stage), parts_, link_));
}

// Does what the descriptor says and returns how long that takes, in cycles.
std::uint64_t npu::run_unit(const descriptor_view& d, std::span<std::byte> bytes) {
  const npu_config& config = parts_.config;
  std::uint64_t cycles = 0;
  switch (d.op()) {
    case gen::opcode::gemm: {
      const auto gemm = d.as<gen::gemm_descriptor>();
      cycles = gemm_cycles(
          config, config.shape_only ? gemm_.time_only(gemm, array::shape_of(config.array)) : gemm_.run(gemm, bytes));
      break;
    }
    case gen::opcode::sample:
      cycles = sample_cycles(config, d);
      break;
    default:
      cycles = vector_cycles(config, d);
  }
  if (!config.shape_only) execute(d, bytes);
  if (decisions_ != nullptr) decide(d, bytes);
  parts_.counts.count_work(work_of(config, d));
  return cycles;
}

void npu::execute(const descriptor_view& d, std::span<std::byte> bytes) {
  switch (d.op()) {
    case gen::opcode::vector:
      execute_vector(d.as<gen::vector_descriptor>(), bytes);
      break;
    case gen::opcode::rebuild:
      compressed_.run(d.as<gen::rebuild_descriptor>(), bytes);
      break;
    case gen::opcode::update:
      compressed_.run(d.as<gen::update_descriptor>(), bytes);
      break;
    case gen::opcode::sample:
      execute_sample(d.as<gen::sample_descriptor>(), bytes);
      break;
    default:
      break;  // the array's, which returns its time
  }
}

void npu::decide(const descriptor_view& d, std::span<std::byte> bytes) {
  const std::optional<decision_place> place = decision_of(d);
  if (!place) return;
  words_.resize(place->words);
  const auto at = [&](std::uint32_t i) { return bytes.data() + place->address + std::size_t{i} * place->stride; };
  if (parts_.config.shape_only) {
    decisions_->give(place->kind, place->first_row, words_);
    for (std::uint32_t i = 0; i < place->words; ++i) std::memcpy(at(i), &words_[i], sizeof(std::uint32_t));
  } else {
    for (std::uint32_t i = 0; i < place->words; ++i) std::memcpy(&words_[i], at(i), sizeof(std::uint32_t));
    decisions_->made(place->kind, words_);
  }
}

void npu::make_queues() {
  std::array<engine*, engine_count> engines{};
  for (std::size_t i = 0; i < engine_count; ++i) engines[i] = engines_[i].get();
  for (std::uint32_t q = 0; q < parts_.config.queues; ++q) {
    command_queue::listener events;
    events.completion = [this, q] { pend(reg::irq_status::completion, q); };
    events.error = [this, q] { pend(reg::irq_status::error, q); };
    events.backlog_change = [this] { follow_backlog(); };
    queues_.push_back(std::make_unique<command_queue>(parts_.counts, std::move(events)));
    const std::string name = "queue" + std::to_string(q);
    sequencers_.push_back(std::make_unique<sequencer>(name.c_str(), parts_, *queues_.back(), engines, link_));
  }
}

void npu::connect_registers() {
  const npu_config& config = parts_.config;
  const std::uint32_t capability = reg::capability::rows.set(0, config.array.rows) |
                                   reg::capability::columns.set(0, config.array.columns) |
                                   reg::capability::queues.set(0, config.queues);
  bank_.set(reg::capability::offset, capability);
  bank_.set(reg::scratchpad_size::offset, config.scratchpad_bytes);
  bank_.set(reg::scratchpad_banks::offset, config.scratchpad_banks);
  bank_.set(reg::accumulator::offset, config.array.accumulator_vectors);
  bank_.on_read(reg::status::offset, [this] { return status(); });
  bank_.on_write(reg::control::offset, [this](std::uint32_t value) { control_written(value); });
  bank_.on_write(reg::irq_status::offset, [this](std::uint32_t) { interrupt_changed_.notify(sc_core::SC_ZERO_TIME); });
  bank_.on_write(reg::irq_enable::offset, [this](std::uint32_t) { interrupt_changed_.notify(sc_core::SC_ZERO_TIME); });
  for (std::uint32_t q = 0; q < reg::queue::count; ++q) connect_queue_registers(q);
  connect_counters();
  connect_window();
}

void npu::connect_queue_registers(std::uint32_t q) {
  bank_.on_write(reg::queue::tail::at(q), [this, q](std::uint32_t tail) { doorbell(q, tail); });
  if (q >= parts_.config.queues) return;
  const command_queue& queue = *queues_[q];
  bank_.on_read(reg::queue::head::at(q), [&queue] { return low(queue.head()); });
  bank_.on_read(reg::queue::error::at(q), [&queue] { return static_cast<std::uint32_t>(queue.error()); });
  bank_.on_read(reg::queue::error_index::at(q), [&queue] { return low(queue.error_index()); });
  bank_.on_read(reg::queue::fault_address_lo::at(q), [&queue] { return low(queue.fault_address()); });
  bank_.on_read(reg::queue::fault_address_hi::at(q), [&queue] { return high(queue.fault_address()); });
}

void npu::connect_window() {
  const window_config& window = parts_.config.window;
  bank_.on_write(reg::window_command::offset, [this](std::uint32_t value) { window_written(value); });
  bank_.on_read(reg::window_status::offset, [this] { return window_.status(); });
  if (!window_.is_present()) return;
  bank_.set(reg::window_size_lo::offset, low(window.bytes));
  bank_.set(reg::window_size_hi::offset, high(window.bytes));
  const auto page_shift = static_cast<std::uint32_t>(std::countr_zero(window.page_bytes));
  bank_.set(reg::window_geometry::offset,
            reg::window_geometry::entries.set(0, window.entries) | reg::window_geometry::page_shift.set(0, page_shift));
}

void npu::window_written(std::uint32_t value) {
  window_command command;
  command.operation = static_cast<reg::window_operation>(reg::window_command::operation.get(value));
  command.entry = reg::window_entry::index.get(bank_.get(reg::window_entry::offset));
  command.bus = std::uint64_t{bank_.get(reg::window_bus_hi::offset)} << 32 | bank_.get(reg::window_bus_lo::offset);
  command.page = bank_.get(reg::window_page::offset);
  command.pages = bank_.get(reg::window_count::offset);
  window_.command(command);
}

void npu::connect_counters() {
  for (std::uint32_t i = 0; i < reg::counters::count; ++i) {
    const auto which = static_cast<reg::counter>(i);
    bank_.on_read(
        reg::counters::value_lo::at(i), [this, which] { return low(counter(which)); },
        [this, which, i] { bank_.set(reg::counters::value_hi::at(i), high(counter(which))); });
  }
}

void npu::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  // Registers are met at the exact time.
  if (delay != sc_core::SC_ZERO_TIME) {
    sc_core::wait(delay);
    delay = sc_core::SC_ZERO_TIME;
  }
  bank_.access(payload, false);
}

unsigned int npu::transport_dbg(tlm::tlm_generic_payload& payload) {
  return bank_.access(payload, true) == tlm::TLM_OK_RESPONSE ? payload.get_data_length() : 0;
}

tlm::tlm_sync_enum npu::memory_answered(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                        sc_core::sc_time& delay) {
  return link_.nb_transport_bw(payload, phase, delay);
}

bool npu::is_enabled() const {
  return reg::control::enable.get(bank_.get(reg::control::offset)) != 0;
}

void npu::control_written(std::uint32_t value) {
  if (reg::control::soft_reset.get(value) != 0) {
    bank_.set(reg::control::offset, reg::control::soft_reset.set(bank_.get(reg::control::offset), 0));
    soft_reset();
  }
  if (is_enabled() && !parts_.counts.started()) parts_.counts.start(parts_.clock.now());
  for (const auto& each : sequencers_) each->allow_fetch(is_enabled());
}

void npu::doorbell(std::uint32_t q, std::uint32_t tail) {
  if (q >= queues_.size()) return;
  command_queue& queue = *queues_[q];
  const bool moved = tail != low(queue.tail());
  if (!moved || queue.stopped()) {
    bank_.set(reg::queue::tail::at(q), low(queue.tail()));
    return;
  }
  const auto address = [&](std::uint32_t low_offset, std::uint32_t high_offset) {
    return std::uint64_t{bank_.get(high_offset)} << 32 | bank_.get(low_offset);
  };
  const ring_setup setup{address(reg::queue::base_lo::at(q), reg::queue::base_hi::at(q)),
                         address(reg::queue::completion_lo::at(q), reg::queue::completion_hi::at(q)),
                         reg::queue::size::entries.get(bank_.get(reg::queue::size::at(q))),
                         reg::queue::size::check.get(bank_.get(reg::queue::size::at(q))) != 0};
  if (is_enabled() && queue.ring(tail, setup)) return;
  bank_.set(reg::queue::tail::at(q), low(queue.tail()));
  queue.fail(queue.tail(), {}, reg::error_code::bad_queue, parts_.clock.now());
}

void npu::soft_reset() {
  if (before_reset_) before_reset_();
  jobs_at_reset_ = gemm_.jobs();
  for (const auto& each : engines_) each->clear();
  for (const auto& each : queues_) each->clear();
  parts_.memory.release_all();
  window_.clear();
  parts_.counts.clear();
  parts_.counts.set_backlog(false, parts_.clock.now());
  bank_.set(reg::irq_status::offset, 0);
  for (std::uint32_t q = 0; q < reg::queue::count; ++q) {
    for (const std::uint32_t offset :
         {reg::queue::base_lo::at(q), reg::queue::base_hi::at(q), reg::queue::size::at(q), reg::queue::tail::at(q),
          reg::queue::completion_lo::at(q), reg::queue::completion_hi::at(q)}) {
      bank_.set(offset, 0);
    }
  }
  for (std::uint32_t i = 0; i < reg::counters::count; ++i) bank_.set(reg::counters::value_hi::at(i), 0);
  interrupt_changed_.notify(sc_core::SC_ZERO_TIME);
  parts_.reset.pulse();
}

void npu::pend(const gen::bit_field& cause, std::uint32_t q) {
  bank_.set(reg::irq_status::offset, bank_.get(reg::irq_status::offset) | (1U << (cause.lsb + q)));
  interrupt_changed_.notify(sc_core::SC_ZERO_TIME);
}

void npu::follow_backlog() {
  bool backlog = false;
  for (const auto& queue : queues_) backlog = backlog || queue->has_backlog();
  parts_.counts.set_backlog(backlog, parts_.clock.now());
}

std::uint32_t npu::status() const {
  bool busy = false;
  bool error = false;
  for (const auto& queue : queues_) {
    busy = busy || queue->is_busy();
    error = error || queue->error() != reg::error_code::none;
  }
  return reg::status::busy.set(0, busy ? 1 : 0) | reg::status::error.set(0, error ? 1 : 0);
}

void npu::drive_interrupt() {
  interrupt.write((bank_.get(reg::irq_status::offset) & bank_.get(reg::irq_enable::offset)) != 0);
}

void npu::update_figures() {
  const std::string base = std::string(basename()) + ".";
  for (std::uint32_t i = 0; i < reg::counters::count; ++i) {
    const auto which = static_cast<reg::counter>(i);
    figures_.set(base + "counters." + reg::name_of(which), counter(which));
  }
  constexpr std::array states = {
      std::pair{engine_state::idle, "idle_cycles"}, std::pair{engine_state::waiting, "waiting_cycles"},
      std::pair{engine_state::blocked, "blocked_cycles"}, std::pair{engine_state::busy, "busy_cycles"}};
  for (std::size_t e = 0; e < engine_count; ++e) {
    const auto id = static_cast<engine_id>(e);
    for (const auto& [state, figure] : states) {
      figures_.set(base + "engines." + name_of(id) + "." + figure, engine_cycles(id, state));
    }
  }
  for (std::uint8_t op = 0; op <= static_cast<std::uint8_t>(gen::opcode::update); ++op) {
    const auto code = static_cast<gen::opcode>(op);
    figures_.set(base + "descriptors." + gen::name_of(code), parts_.counts.descriptors(code));
  }
  const work& done = parts_.counts.done();
  for (std::size_t format = 0; format < streamed_formats; ++format) {
    figures_.set(base + "work.macs_" + gen::name_of(static_cast<gen::precision>(format)), done.macs[format]);
  }
  figures_.set(base + "work.vector_passes", done.vector_passes);
  figures_.set(base + "work.sampling_elements", done.sampling_elements);
  figures_.set(base + "work.scratchpad_bytes", done.scratchpad_bytes);
  figures_.set(base + "array_jobs", gemm_.jobs() - jobs_at_reset_);
  window_.update_figures(figures_, base + "window.");
}

}  // namespace dvp::npu
