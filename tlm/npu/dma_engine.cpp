#include "tlm/npu/dma_engine.h"

#include <algorithm>
#include <iterator>

#include "tlm/npu/dma_segments.h"

namespace dvp::npu {

namespace {

// As what the list of a gather is read.
constexpr gen::descriptor_header list_header = [] {
  gen::descriptor_header header;
  header.tag_precision = gen::precision::raw;
  header.bytes_purpose = gen::purpose::other;
  return header;
}();

}  // namespace

dma_engine::dma_engine(const sc_core::sc_module_name& name, engine_id id, npu_parts& parts, memory_link& memory)
    : engine(name, id, parts), link_(memory) {
  SC_HAS_PROCESS(dma_engine);
  SC_THREAD(issue_process);
  SC_THREAD(drain_process);
}

void dma_engine::clear() {
  engine::clear();
  issue_state_ = engine_state::idle;
  work_.clear();
  unanswered_ = 0;
  ends_.clear();
  next_issue_ = sc_core::SC_ZERO_TIME;
}

void dma_engine::show(engine_state state) {
  issue_state_ = state;
  engine::show(work_.empty() ? state : engine_state::busy);
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
  const sc_core::sc_time begin = sc_core::sc_time_stamp();
  work& current = work_.emplace_back(work{.item = &item, .banks = banks, .begin = begin, .end = begin});
  show(engine_state::busy);
  next_issue_ = std::max(next_issue_, begin);
  issue_all(current, item.descriptor.as<gen::dma_descriptor>());
  current.issued = true;
  if (current.unanswered == 0) drain_arrival_.notify();
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
  const auto front_is_answered = [this] {
    return !work_.empty() && work_.front().issued && work_.front().unanswered == 0;
  };
  while (!front_is_answered()) parts().reset.wait(drain_arrival_);
  parts().wait_until(work_.front().end);
  const work done = work_.front();
  work_.pop_front();
  parts().memory.release(done.banks, id());
  if (work_.empty()) show(issue_state_);
  const sc_core::sc_time end = sc_core::sc_time_stamp();
  draw(done.item->descriptor, std::max(done.begin, drawn_until_), end);
  drawn_until_ = end;
  if (done.ok()) {
    parts().counts.count_work(work_of(parts().config, done.item->descriptor));
    done.item->queue->complete(*done.item, parts().clock.now());
  } else {
    done.item->queue->fail(*done.item, done.error, parts().clock.now(), done.fault_address);
  }
}

void dma_engine::issue_all(work& of, const gen::dma_descriptor& d) {
  if (d.header.op == gen::opcode::dma_gather) {
    issue_gather(of, d);
    return;
  }
  for_each_segment(d, [&](std::uint64_t dram, std::uint64_t scratchpad, std::uint64_t bytes) {
    return issue_segment(of, d, dram, scratchpad, bytes);
  });
}

void dma_engine::issue_gather(work& of, const gen::dma_descriptor& d) {
  list_.resize(d.rows);
  std::span<std::byte> rest = std::as_writable_bytes(std::span(list_));
  for (std::uint64_t address = d.list_address; !rest.empty();) {
    const std::uint64_t bytes = burst_bytes(address, rest.size(), parts().config.dma_max_burst_bytes);
    if (!issue(of, address, rest.first(bytes), list_header)) return;
    rest = rest.subspan(bytes);
    address += bytes;
  }
  // No row is known before the list is here.
  while (of.unanswered != 0) parts().reset.wait(answer_arrival_);
  if (!of.ok()) return;
  parts().wait_until(of.end);
  next_issue_ = std::max(next_issue_, sc_core::sc_time_stamp());
  for_each_gathered(d, list_, [&](std::uint64_t dram, std::uint64_t scratchpad, std::uint64_t bytes) {
    return issue_segment(of, d, dram, scratchpad, bytes);
  });
}

bool dma_engine::issue_segment(work& of, const gen::dma_descriptor& d, std::uint64_t dram, std::uint64_t scratchpad,
                               std::uint64_t bytes) {
  const std::uint64_t stored = stored_per_byte(d.header.tag_precision);
  std::uint64_t position = d.header.op == gen::opcode::dma_gather ? 0 : dram / stored;
  while (bytes != 0) {
    const std::uint64_t n = burst_bytes(position, bytes, parts().config.dma_max_burst_bytes);
    if (!issue(of, dram, parts().memory.bytes().subspan(scratchpad, n), d.header)) return false;
    position += n;
    dram += n * stored;
    scratchpad += n;
    bytes -= n;
  }
  return true;
}

bool dma_engine::issue(work& of, std::uint64_t dram, std::span<std::byte> data, const gen::descriptor_header& as) {
  const npu_config& config = parts().config;
  const npu_clock& clock = parts().clock;
  const sc_core::sc_time slot = take_slot();
  if (!of.ok()) return false;
  const sc_core::sc_time ready = std::max({next_issue_, slot, sc_core::sc_time_stamp()});
  const sc_core::sc_time at = clock.time_of(clock.edge(ready));
  if (at > sc_core::sc_time_stamp() + clock.cycles(config.dma_quantum_cycles)) {
    parts().reset.wait(at - sc_core::sc_time_stamp());
  }
  const tlm::tlm_command command = id() == engine_id::dma_store ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND;
  ++unanswered_;
  ++of.unanswered;
  link_.submit({command, dram, data, as.tag_precision, as.bytes_purpose, address_space::device, as.function},
               at - sc_core::sc_time_stamp(), [this, &of](const memory_answer& answer) { answered(of, answer); });
  const std::uint64_t width_cycles =
      (data.size() + config.scratchpad_bytes_per_cycle - 1) / config.scratchpad_bytes_per_cycle;
  next_issue_ = at + clock.cycles(std::max<std::uint64_t>(config.dma_issue_cycles, width_cycles));
  return of.ok();
}

sc_core::sc_time dma_engine::take_slot() {
  if (unanswered_ + ends_.size() < parts().config.dma_max_outstanding) return sc_core::SC_ZERO_TIME;
  while (ends_.empty()) parts().reset.wait(answer_arrival_);
  const sc_core::sc_time end = ends_.front();
  ends_.pop_front();
  return end;
}

void dma_engine::answered(work& of, const memory_answer& answer) {
  --unanswered_;
  auto place = ends_.end();
  while (place != ends_.begin() && answer.end < *std::prev(place)) --place;
  ends_.insert(place, answer.end);
  --of.unanswered;
  of.end = std::max(of.end, answer.end);
  if (of.ok() && !answer.ok()) {
    of.error = answer.error;
    of.fault_address = answer.address;
  }
  answer_arrival_.notify();
  if (of.issued && of.unanswered == 0) drain_arrival_.notify();
}

}  // namespace dvp::npu
