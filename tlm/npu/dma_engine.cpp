#include "tlm/npu/dma_engine.h"

#include <algorithm>

#include "tlm/npu/dma_segments.h"

namespace dvp::npu {

dma_engine::dma_engine(const sc_core::sc_module_name& name, engine_id id, npu_parts& parts,
                       tlm::tlm_initiator_socket<>& memory)
    : engine(name, id, parts),
      port_(memory, parts.counts, parts.reset),
      outstanding_(parts.config.dma_max_outstanding) {
  SC_HAS_PROCESS(dma_engine);
  SC_THREAD(issue_process);
  SC_THREAD(drain_process);
}

void dma_engine::clear() {
  engine::clear();
  issue_state_ = engine_state::idle;
  in_work_ = 0;
  draining_.clear();
  std::fill(outstanding_.begin(), outstanding_.end(), sc_core::SC_ZERO_TIME);
  next_issue_ = sc_core::SC_ZERO_TIME;
}

void dma_engine::show(engine_state state) {
  issue_state_ = state;
  engine::show(in_work_ != 0 ? engine_state::busy : state);
}

void dma_engine::issue_process() {
  for (;;) {
    try {
      serve();
    } catch (const restarted&) {
    }
  }
}

void dma_engine::serve() {
  in_flight& item = take();
  const bank_set banks = parts().memory.banks_of(operands_of(item.descriptor));
  acquire(banks);
  ++in_work_;
  show(engine_state::busy);
  const sc_core::sc_time begin = sc_core::sc_time_stamp();
  next_issue_ = std::max(next_issue_, begin);
  last_end_ = begin;
  const bool ok = issue_all(item.descriptor.as<gen::dma_descriptor>());
  draining_.push_back({&item, banks, begin, last_end_, ok});
  drain_arrival_.notify();
  show(engine_state::idle);
  parts().wait_until(next_issue_);
}

void dma_engine::drain_process() {
  for (;;) {
    try {
      drain();
    } catch (const restarted&) {
    }
  }
}

void dma_engine::drain() {
  while (draining_.empty()) parts().reset.wait(drain_arrival_);
  parts().wait_until(draining_.front().end);
  const draining done = draining_.front();
  draining_.pop_front();
  parts().memory.release(done.banks, id());
  if (--in_work_ == 0) show(issue_state_);
  const sc_core::sc_time end = sc_core::sc_time_stamp();
  draw(done.item->descriptor, std::max(done.begin, drawn_until_), end);
  drawn_until_ = end;
  if (done.ok) {
    done.item->queue->complete(*done.item, parts().clock.now());
  } else {
    done.item->queue->fail(*done.item, gen::npu::error_code::bus_error, parts().clock.now());
  }
}

bool dma_engine::issue_all(const gen::dma_descriptor& d) {
  if (d.header.op == gen::opcode::dma_gather) return issue_gather(d);
  bool ok = true;
  for_each_segment(d, [&](std::uint64_t dram, std::uint64_t scratchpad, std::uint64_t bytes) {
    ok = issue_segment(d, dram, scratchpad, bytes);
    return ok;
  });
  return ok;
}

bool dma_engine::issue_gather(const gen::dma_descriptor& d) {
  list_.resize(d.rows);
  std::span<std::byte> rest = std::as_writable_bytes(std::span(list_));
  for (std::uint64_t address = d.list_address; !rest.empty();) {
    const std::uint64_t bytes = burst_bytes(address, rest.size(), parts().config.dma_max_burst_bytes);
    if (!issue(address, rest.first(bytes), gen::precision::raw, gen::purpose::other)) return false;
    rest = rest.subspan(bytes);
    address += bytes;
  }
  // No row is known before the list is here.
  parts().wait_until(last_end_);
  next_issue_ = std::max(next_issue_, sc_core::sc_time_stamp());
  for (std::uint32_t r = 0; r < d.rows; ++r) {
    const std::uint64_t dram = d.dram_address + std::uint64_t{list_[r]} * d.dram_stride;
    const std::uint64_t scratchpad = d.scratchpad_address + std::uint64_t{r} * d.scratchpad_stride;
    if (!issue_segment(d, dram, scratchpad, d.row_bytes)) return false;
  }
  return true;
}

bool dma_engine::issue_segment(const gen::dma_descriptor& d, std::uint64_t dram, std::uint64_t scratchpad,
                               std::uint64_t bytes) {
  std::uint64_t position = d.header.op == gen::opcode::dma_gather ? 0 : dram;
  while (bytes != 0) {
    const std::uint64_t n = burst_bytes(position, bytes, parts().config.dma_max_burst_bytes);
    if (!issue(dram, parts().memory.bytes().subspan(scratchpad, n), d.header.tag_precision, d.header.bytes_purpose)) {
      return false;
    }
    position += n;
    dram += n;
    scratchpad += n;
    bytes -= n;
  }
  return true;
}

bool dma_engine::issue(std::uint64_t dram, std::span<std::byte> data, gen::precision precision, gen::purpose purpose) {
  const npu_config& config = parts().config;
  const npu_clock& clock = parts().clock;
  const sc_core::sc_time ready = std::max({next_issue_, outstanding_[oldest_], sc_core::sc_time_stamp()});
  const sc_core::sc_time at = clock.time_of(clock.edge(ready));
  if (at > sc_core::sc_time_stamp() + clock.cycles(config.dma_quantum_cycles)) {
    parts().reset.wait(at - sc_core::sc_time_stamp());
  }
  sc_core::sc_time delay = at - sc_core::sc_time_stamp();
  const bool ok = id() == engine_id::dma_store ? port_.write(dram, data, precision, purpose, delay)
                                               : port_.read(dram, data, precision, purpose, delay);
  const sc_core::sc_time end = sc_core::sc_time_stamp() + delay;
  outstanding_[oldest_] = end;
  oldest_ = (oldest_ + 1) % outstanding_.size();
  last_end_ = std::max(last_end_, end);
  const std::uint64_t width_cycles =
      (data.size() + config.scratchpad_bytes_per_cycle - 1) / config.scratchpad_bytes_per_cycle;
  next_issue_ = at + clock.cycles(std::max<std::uint64_t>(config.dma_issue_cycles, width_cycles));
  return ok;
}

}  // namespace dvp::npu
