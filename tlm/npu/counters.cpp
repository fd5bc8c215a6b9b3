#include "tlm/npu/counters.h"

#include <numeric>

namespace dvp::npu {

void counters::start(std::uint64_t edge) {
  clear();
  started_ = true;
  start_ = edge;
  for (engine_times& times : engines_) times.since = edge;
}

void counters::clear() {
  const auto states = engines_;
  const bool backlog = backlog_;
  *this = counters();
  for (std::size_t i = 0; i < engine_count; ++i) engines_[i].state = states[i].state;
  backlog_ = backlog;
}

void counters::settle(engine_id engine, std::uint64_t edge) {
  engine_times& times = engines_[static_cast<std::size_t>(engine)];
  if (started_) {
    if (engine == engine_id::array) starved_ = starved(edge);
    times.cycles[static_cast<std::size_t>(times.state)] += edge - times.since;
  }
  times.since = edge;
}

void counters::enter(engine_id engine, engine_state state, std::uint64_t edge) {
  settle(engine, edge);
  engines_[static_cast<std::size_t>(engine)].state = state;
}

void counters::set_backlog(bool backlog, std::uint64_t edge) {
  settle(engine_id::array, edge);
  backlog_ = backlog;
}

std::uint64_t counters::starved(std::uint64_t edge) const {
  const engine_times& times = engines_[static_cast<std::size_t>(engine_id::array)];
  const bool starving = started_ && backlog_ && times.state == engine_state::idle;
  return starved_ + (starving ? edge - times.since : 0);
}

std::uint64_t counters::cycles_in(engine_id engine, engine_state state, std::uint64_t edge) const {
  const engine_times& times = engines_[static_cast<std::size_t>(engine)];
  const std::uint64_t current = started_ && times.state == state ? edge - times.since : 0;
  return times.cycles[static_cast<std::size_t>(state)] + current;
}

std::uint64_t counters::value(gen::npu::counter which, std::uint64_t edge) const {
  using gen::npu::counter;
  switch (which) {
    case counter::cycles:
      return cycles(edge);
    case counter::array_busy:
      return cycles_in(engine_id::array, engine_state::busy, edge);
    case counter::vector_busy:
      return cycles_in(engine_id::vector, engine_state::busy, edge);
    case counter::sampling_busy:
      return cycles_in(engine_id::sampling, engine_state::busy, edge);
    case counter::dma_load_busy:
      return cycles_in(engine_id::dma_load, engine_state::busy, edge);
    case counter::dma_store_busy:
      return cycles_in(engine_id::dma_store, engine_state::busy, edge);
    case counter::stage_busy:
      return cycles_in(engine_id::stage, engine_state::busy, edge);
    case counter::stall_dependency:
      return cycles_in(engine_id::array, engine_state::waiting, edge) + starved(edge);
    case counter::stall_scratchpad: {
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < engine_count; ++i) {
        sum += cycles_in(static_cast<engine_id>(i), engine_state::blocked, edge);
      }
      return sum;
    }
    case counter::stall_empty:
      return cycles_in(engine_id::array, engine_state::idle, edge) - starved(edge);
    case counter::macs:
      return std::accumulate(work_.macs.begin(), work_.macs.end(), std::uint64_t{0});
    case counter::bytes_read:
      return bytes_read_;
    case counter::bytes_written:
      return bytes_written_;
    case counter::descriptors:
      return std::accumulate(descriptors_.begin(), descriptors_.end(), std::uint64_t{0});
  }
  return 0;
}

}  // namespace dvp::npu
