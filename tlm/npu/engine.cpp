#include "tlm/npu/engine.h"

#include <string>

#include "tlm/npu/dma_segments.h"

namespace dvp::npu {

engine::engine(const sc_core::sc_module_name& name, engine_id id, npu_parts& parts)
    : sc_module(name), id_(id), parts_(parts), track_(parts.timeline.track("npu", name_of(id))) {}

void engine::push(in_flight& item) {
  fifo_.push_back(&item);
  arrival_.notify();
}

void engine::clear() {
  fifo_.clear();
  parts_.counts.enter(id_, engine_state::idle, parts_.clock.now());
}

void engine::forget_dropped() {
  while (!fifo_.empty() && fifo_.front()->dropped) {
    fifo_.pop_front();
    room_.notify();
  }
}

in_flight& engine::take() {
  for (;;) {
    forget_dropped();
    if (fifo_.empty()) {
      show(engine_state::idle);
      parts_.reset.wait(arrival_);
      continue;
    }
    in_flight& head = *fifo_.front();
    if (head.queue->is_ready(head)) {
      fifo_.pop_front();
      room_.notify();
      return head;
    }
    show(engine_state::waiting);
    head.queue->tell_when_ready(head, ready_);
    parts_.reset.wait(ready_);
  }
}

void engine::acquire(bank_set banks) {
  if (!parts_.memory.is_free(banks, id_)) show(engine_state::blocked);
  parts_.memory.acquire(banks, id_);
}

void engine::draw(const descriptor_view& descriptor, const sc_core::sc_time& begin, const sc_core::sc_time& end) {
  if (!parts_.timeline.on()) return;
  const gen::descriptor_header header = descriptor.header();
  const core::timeline_arg labels[] = {{"operator", name_of(static_cast<gen::operator_label>(header.label & 0xffffU))},
                                       {"layer", std::uint64_t{header.label >> 16}}};
  switch (header.op) {
    case gen::opcode::gemm: {
      const auto d = descriptor.as<gen::gemm_descriptor>();
      const std::string name =
          "gemm " + std::to_string(d.tokens) + "x" + std::to_string(d.vectors) + "x" + std::to_string(d.reduction);
      parts_.timeline.slice(track_, name, begin, end,
                            {labels[0], labels[1], {"format", name_of(header.tag_precision)}});
      break;
    }
    case gen::opcode::vector: {
      const auto d = descriptor.as<gen::vector_descriptor>();
      parts_.timeline.slice(
          track_, name_of(static_cast<gen::vector_function>(header.function)), begin, end,
          {labels[0], labels[1], {"rows", std::uint64_t{d.rows}}, {"columns", std::uint64_t{d.columns}}});
      break;
    }
    case gen::opcode::rebuild: {
      const auto d = descriptor.as<gen::rebuild_descriptor>();
      parts_.timeline.slice(track_, name_of(header.op), begin, end,
                            {labels[0],
                             labels[1],
                             {"rows", std::uint64_t{d.rows}},
                             {"columns", std::uint64_t{d.columns}},
                             {"format", name_of(header.tag_precision)}});
      break;
    }
    case gen::opcode::update: {
      const auto d = descriptor.as<gen::update_descriptor>();
      parts_.timeline.slice(
          track_, name_of(header.op), begin, end,
          {labels[0], labels[1], {"rows", std::uint64_t{d.rows}}, {"columns", std::uint64_t{d.columns}}});
      break;
    }
    case gen::opcode::sample: {
      const auto d = descriptor.as<gen::sample_descriptor>();
      parts_.timeline.slice(
          track_, name_of(header.op), begin, end,
          {labels[0], labels[1], {"rows", std::uint64_t{d.rows}}, {"columns", std::uint64_t{d.columns}}});
      break;
    }
    default: {
      const auto d = descriptor.as<gen::dma_descriptor>();
      std::string name = name_of(header.bytes_purpose);
      if (stored_per_byte(header.tag_precision) != 1) name += std::string(" ") + name_of(header.tag_precision);
      parts_.timeline.slice(track_, name, begin, end,
                            {labels[0],
                             labels[1],
                             {"bytes", std::uint64_t{d.row_bytes} * d.rows * d.planes},
                             {"precision", name_of(header.tag_precision)}});
      break;
    }
  }
}

compute_engine::compute_engine(const sc_core::sc_module_name& name, engine_id id, npu_parts& parts, worker work,
                               failure_handler failed)
    : engine(name, id, parts), work_(std::move(work)), failed_(std::move(failed)) {
  SC_HAS_PROCESS(compute_engine);
  SC_THREAD(process);
}

void compute_engine::process() {
  for (;;) {
    try {
      serve();
    } catch (const restarted&) {
    }
  }
}

void compute_engine::serve() {
  in_flight& item = take();
  const bank_set banks = parts().memory.banks_of(operands_of(item.descriptor));
  acquire(banks);
  show(engine_state::busy);
  const sc_core::sc_time begin = sc_core::sc_time_stamp();
  std::uint64_t cycles = 0;
  try {
    cycles = work_(item.descriptor, parts().memory.bytes());
  } catch (const std::exception& problem) {
    parts().memory.release(banks, id());
    item.queue->fail(item, gen::npu::error_code::lockstep, parts().clock.now());
    failed_(problem);
    return;
  }
  parts().wait_cycles(cycles);
  parts().memory.release(banks, id());
  draw(item.descriptor, begin, sc_core::sc_time_stamp());
  item.queue->complete(item, parts().clock.now());
}

}  // namespace dvp::npu
