#include "tlm/npu/stage_engine.h"

#include <algorithm>
#include <iterator>

#include "tlm/npu/dma_blocks.h"

namespace dvp::npu {

namespace {

std::uint32_t buffers_of(const npu_config& config) {
  return static_cast<std::uint32_t>(config.dma_max_outstanding * config.dma_max_burst_bytes / longest_piece(config, 1));
}

}  // namespace

stage_engine::stage_engine(const sc_core::sc_module_name& name, npu_parts& parts, memory_link& memory)
    : engine(name, engine_id::stage, parts), link_(memory), buffers_(buffers_of(parts.config)) {
  for (burst& each : buffers_) each.data.resize(longest_piece(parts.config, 1));
  SC_HAS_PROCESS(stage_engine);
  SC_THREAD(process);
}

void stage_engine::clear() {
  engine::clear();
  unanswered_ = 0;
}

void stage_engine::process() {
  for (;;) {
    try {
      serve();
    } catch (const restarted&) {
    }
  }
}

void stage_engine::serve() {
  in_flight& item = take();
  show(engine_state::busy);
  const sc_core::sc_time start = sc_core::sc_time_stamp();
  begin(item.descriptor.as<gen::dma_descriptor>());
  run();
  parts().wait_until(copy_.end);
  draw(item.descriptor, start, sc_core::sc_time_stamp());
  if (copy_.ok()) {
    item.queue->complete(item, parts().clock.now());
  } else {
    item.queue->fail(item, copy_.error, parts().clock.now(), copy_.fault_address);
  }
}

void stage_engine::begin(const gen::dma_descriptor& d) {
  const sc_core::sc_time now = sc_core::sc_time_stamp();
  copy_ = {};
  copy_.d = d;
  copy_.end = now;
  next_read_ = next_write_ = now;
  arrived_.clear();
  free_.clear();
  for (burst& each : buffers_) {
    each.since = now;
    free_.push_back(&each);
  }
}

void stage_engine::run() {
  for (;;) {
    const auto reads = next_read_time();
    const auto writes = next_write_time();
    if (writes && (!reads || *writes <= *reads)) {
      write(*writes);
    } else if (reads) {
      read(*reads);
    } else if (unanswered_ != 0) {
      parts().reset.wait(answer_arrival_);
    } else {
      return;
    }
  }
}

std::optional<sc_core::sc_time> stage_engine::next_read_time() const {
  if (!copy_.ok() || copy_.asked == copy_.d.row_bytes || free_.empty()) return {};
  return std::max(next_read_, free_.front()->since);
}

std::optional<sc_core::sc_time> stage_engine::next_write_time() const {
  if (!copy_.ok() || arrived_.empty()) return {};
  return std::max(next_write_, arrived_.front()->since);
}

void stage_engine::read(const sc_core::sc_time& ready) {
  burst& next = *free_.front();
  free_.pop_front();
  const gen::dma_descriptor& d = copy_.d;
  const std::uint64_t source = d.list_address + copy_.asked;
  const std::uint64_t left = d.row_bytes - copy_.asked;
  next.destination = d.dram_address + copy_.asked;
  const auto access_to = [&](std::uint64_t largest) {
    next.bytes = std::min(burst_bytes(source, left, largest), burst_bytes(next.destination, left, largest));
    return memory_access{tlm::TLM_WRITE_COMMAND, next.destination, std::span(next.data).first(next.bytes),
                         d.header.tag_precision, d.header.bytes_purpose};
  };
  const npu_config& config = parts().config;
  if (!link_.is_in_one_place(access_to(longest_piece(config, 1)))) access_to(config.dma_max_burst_bytes);
  copy_.asked += next.bytes;
  memory_access access{tlm::TLM_READ_COMMAND,
                       source,
                       std::span(next.data).first(next.bytes),
                       d.header.tag_precision,
                       d.header.bytes_purpose,
                       address_space::bus};
  access.block = piece_as_block(parts().config, next.bytes, 1);
  issue(next, access, ready, next_read_, arrived_);
}

void stage_engine::write(const sc_core::sc_time& ready) {
  burst& oldest = *arrived_.front();
  arrived_.pop_front();
  const gen::descriptor_header& header = copy_.d.header;
  memory_access access{tlm::TLM_WRITE_COMMAND, oldest.destination, std::span(oldest.data).first(oldest.bytes),
                       header.tag_precision, header.bytes_purpose};
  access.block = piece_as_block(parts().config, oldest.bytes, 1);
  issue(oldest, access, ready, next_write_, free_);
}

void stage_engine::issue(burst& of, const memory_access& access, const sc_core::sc_time& ready, sc_core::sc_time& port,
                         std::deque<burst*>& next) {
  const npu_config& config = parts().config;
  const npu_clock& clock = parts().clock;
  const sc_core::sc_time at = clock.time_of(clock.edge(std::max(ready, sc_core::sc_time_stamp())));
  if (at > sc_core::sc_time_stamp() + clock.cycles(config.dma_quantum_cycles)) {
    parts().reset.wait(at - sc_core::sc_time_stamp());
  }
  port = at + clock.cycles(cost_of_piece(config, 0, access.data.size()).cycles);
  ++unanswered_;
  link_.submit(access, at - sc_core::sc_time_stamp(),
               [this, &of, &next](const memory_answer& answer) { answered(of, answer, next); });
}

void stage_engine::answered(burst& of, const memory_answer& answer, std::deque<burst*>& next) {
  --unanswered_;
  of.since = answer.end;
  auto place = next.end();
  while (place != next.begin() && of.since < (*std::prev(place))->since) --place;
  next.insert(place, &of);
  copy_.end = std::max(copy_.end, answer.end);
  if (copy_.ok() && !answer.ok()) {
    copy_.error = answer.error;
    copy_.fault_address = answer.address;
  }
  answer_arrival_.notify();
}

}  // namespace dvp::npu
