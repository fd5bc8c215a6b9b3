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

// Every row of a plane.
row_run rows_of(const gen::dma_descriptor& d) {
  return {.dram = d.dram_address,
          .bytes = d.row_bytes,
          .stride = d.dram_stride,
          .stored_per_byte = stored_per_byte(d.header.tag_precision),
          .rows = d.rows};
}

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
  in_flight_ = 0;
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
  work& current = work_.emplace_back(work{.engine = this, .item = &item, .banks = banks, .begin = begin, .end = begin});
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
  const bool apart = d.rows > 1 && !rows_are_dense(d) && d.scratchpad_stride == d.row_bytes;
  if (apart && parts().config.dma_block_bytes != 0) {
    row_run run = rows_of(d);
    std::uint64_t scratchpad = d.scratchpad_address;
    for (std::uint32_t plane = 0; plane < d.planes; ++plane) {
      if (!issue_rows(of, d, run, scratchpad)) return;
      run.dram += d.dram_plane_stride;
      scratchpad += d.scratchpad_plane_stride;
    }
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
    const portion burst{.dram = address, .data = rest.first(bytes), .cost = cost_of_burst(parts().config, bytes)};
    if (!issue(of, burst, list_header)) return;
    rest = rest.subspan(bytes);
    address += bytes;
  }
  // No row is known before the list is here.
  while (of.unanswered != 0) parts().reset.wait(answer_arrival_);
  if (!of.ok()) return;
  parts().wait_until(of.end);
  next_issue_ = std::max(next_issue_, sc_core::sc_time_stamp());
  if (d.scratchpad_stride == d.row_bytes && parts().config.dma_block_bytes != 0) {
    row_run run = rows_of(d);
    run.dense = rows_are_dense(d);
    run.list = list_;
    issue_rows(of, d, run, d.scratchpad_address);
    return;
  }
  for_each_gathered(d, list_, [&](std::uint64_t dram, std::uint64_t scratchpad, std::uint64_t bytes) {
    return issue_segment(of, d, dram, scratchpad, bytes);
  });
}

bool dma_engine::issue_rows(work& of, const gen::dma_descriptor& d, const row_run& run, std::uint64_t scratchpad) {
  const npu_config& config = parts().config;
  const std::uint32_t most = rows_per_block(config, run);
  bool in_blocks = most > 1;
  for (std::uint32_t first = 0; first < run.rows;) {
    const std::uint64_t place = scratchpad + first * run.bytes;
    const std::uint32_t end = std::min(first + most, run.rows);
    portion block{.data = parts().memory.bytes().subspan(place, (end - first) * run.bytes)};
    block.dram = run.list.empty() ? run.address(first) : run.dram;
    block.block = {end - first, run.stride, run.list.empty() ? nullptr : run.list.data() + first};
    in_blocks = in_blocks && link_.is_in_one_place(access_of(block, d.header));
    if (in_blocks && end - first > 1) {
      block.cost = cost_of_rows(config, run, first, end);
      if (!issue(of, block, d.header)) return false;
      first = end;
    } else {
      const std::uint32_t next = run.piece_end(first, run.rows);
      if (!issue_segment(of, d, run.address(first), place, (next - first) * run.bytes)) return false;
      first = next;
    }
  }
  return true;
}

bool dma_engine::issue_segment(work& of, const gen::dma_descriptor& d, std::uint64_t dram, std::uint64_t scratchpad,
                               std::uint64_t bytes) {
  const npu_config& config = parts().config;
  const std::uint64_t stored = stored_per_byte(d.header.tag_precision);
  std::uint64_t position = d.header.op == gen::opcode::dma_gather ? 0 : dram / stored;
  std::uint64_t longest = longest_piece(config, stored);
  while (bytes != 0) {
    const std::uint64_t n = burst_bytes(position, bytes, longest);
    const portion next{.dram = dram,
                       .data = parts().memory.bytes().subspan(scratchpad, n),
                       .block = piece_as_block(config, n, stored),
                       .cost = cost_of_piece(config, position, n)};
    if (n > config.dma_max_burst_bytes && !link_.is_in_one_place(access_of(next, d.header))) {
      longest = config.dma_max_burst_bytes;
      continue;
    }
    if (!issue(of, next, d.header)) return false;
    position += n;
    dram += n * stored;
    scratchpad += n;
    bytes -= n;
  }
  return true;
}

memory_access dma_engine::access_of(const portion& what, const gen::descriptor_header& as) const {
  const auto command = id() == engine_id::dma_store ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND;
  memory_access access{command, what.dram, what.data, as.tag_precision, as.bytes_purpose};
  access.view = as.function;
  access.block = what.block;
  return access;
}

bool dma_engine::issue(work& of, const portion& what, const gen::descriptor_header& as) {
  const npu_config& config = parts().config;
  const npu_clock& clock = parts().clock;
  const std::uint32_t bursts = slots_of(config, what.cost.bursts);
  const sc_core::sc_time slot = take_slots(bursts);
  if (!of.ok()) return false;
  const sc_core::sc_time ready = std::max({next_issue_, slot, sc_core::sc_time_stamp()});
  const sc_core::sc_time at = clock.time_of(clock.edge(ready));
  if (at > sc_core::sc_time_stamp() + clock.cycles(config.dma_quantum_cycles)) {
    parts().reset.wait(at - sc_core::sc_time_stamp());
  }
  in_flight_ += bursts;
  ++of.unanswered;
  link_.submit(access_of(what, as), at - sc_core::sc_time_stamp(),
               [w = &of, bursts](const memory_answer& answer) { w->engine->answered(*w, bursts, answer); });
  next_issue_ = at + clock.cycles(what.cost.cycles);
  return of.ok();
}

sc_core::sc_time dma_engine::take_slots(std::uint32_t bursts) {
  sc_core::sc_time free = sc_core::SC_ZERO_TIME;
  while (in_flight_ != 0 && in_flight_ + bursts > parts().config.dma_max_outstanding) {
    while (ends_.empty()) parts().reset.wait(answer_arrival_);
    free = ends_.front().end;
    in_flight_ -= ends_.front().bursts;
    ends_.pop_front();
  }
  return free;
}

void dma_engine::answered(work& of, std::uint32_t bursts, const memory_answer& answer) {
  auto place = ends_.end();
  while (place != ends_.begin() && answer.end < std::prev(place)->end) --place;
  ends_.insert(place, {answer.end, bursts});
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
