#include "tlm/npu/sequencer.h"

#include <algorithm>

#include "tlm/npu/descriptor_check.h"

namespace dvp::npu {

using gen::npu::error_code;

namespace {

engine_id engine_of(gen::opcode op) {
  switch (op) {
    case gen::opcode::dma_store:
      return engine_id::dma_store;
    case gen::opcode::gemm:
      return engine_id::array;
    case gen::opcode::vector:
    case gen::opcode::rebuild:
    case gen::opcode::update:
      return engine_id::vector;
    case gen::opcode::sample:
      return engine_id::sampling;
    case gen::opcode::stage:
      return engine_id::stage;
    default:
      return engine_id::dma_load;
  }
}

}  // namespace

sequencer::sequencer(const sc_core::sc_module_name& name, npu_parts& parts, command_queue& queue,
                     const std::array<engine*, engine_count>& engines, memory_link& memory)
    : sc_module(name),
      parts_(parts),
      queue_(queue),
      engines_(engines),
      fetch_port_(memory),
      record_port_(memory),
      batch_(parts.config.prefetch_descriptors) {
  SC_HAS_PROCESS(sequencer);
  SC_THREAD(dispatch_process);
  SC_THREAD(notice_process);
}

void sequencer::allow_fetch(bool allowed) {
  fetch_allowed_ = allowed;
  if (allowed) queue_.work.notify();
}

void sequencer::dispatch_process() {
  for (;;) {
    try {
      serve_batch();
    } catch (const restarted&) {
    }
  }
}

void sequencer::serve_batch() {
  while (!fetch_allowed_ || !queue_.has_backlog()) parts_.reset.wait(queue_.work);
  parts_.wait_until(sc_core::SC_ZERO_TIME);

  const ring_setup& ring = queue_.ring_in_use();
  const std::uint64_t first = queue_.dispatched();
  const std::uint64_t slot = first % ring.entries;
  const std::uint64_t count =
      std::min({queue_.tail() - first, ring.entries - slot, std::uint64_t{parts_.config.prefetch_descriptors}});
  const memory_answer fetched =
      fetch_port_.read(ring.base + slot * gen::descriptor_bytes, std::as_writable_bytes(std::span(batch_).first(count)),
                       gen::precision::raw, gen::purpose::commands);
  parts_.wait_until(fetched.end);
  if (!fetched.ok()) {
    queue_.fail(first, {}, fetched.error, parts_.clock.now(), fetched.address);
    return;
  }
  for (std::uint64_t i = 0; i < count; ++i) queue_.count_fetched(batch_[i]);
  for (std::uint64_t i = 0; i < count && !queue_.stopped(); ++i) {
    parts_.wait_cycles(parts_.config.dispatch_cycles);
    if (!dispatch(batch_[i])) return;
  }
}

bool sequencer::dispatch(const descriptor_view& descriptor) {
  if (queue_.stopped()) return false;
  const std::uint64_t index = queue_.dispatched();
  const check_limits limits{parts_.config.scratchpad_bytes, parts_.config.array.accumulator_vectors,
                            queue_.ring_in_use().with_check_byte};
  const error_code code = check(descriptor, index, limits);
  if (code != error_code::none) {
    queue_.fail(index, descriptor.header(), code, parts_.clock.now());
    return false;
  }
  if (descriptor.op() == gen::opcode::fence) {
    queue_.append_fence(descriptor, parts_.clock.now());
    return true;
  }
  engine& target = *engines_[static_cast<std::size_t>(engine_of(descriptor.op()))];
  while (!target.has_room()) {
    parts_.reset.wait(target.room(), queue_.stop());
    if (queue_.stopped()) return false;
  }
  target.push(queue_.append(descriptor));
  return true;
}

void sequencer::notice_process() {
  for (;;) {
    try {
      while (!queue_.has_notice()) parts_.reset.wait(queue_.notice_due());
      const notice item = queue_.take_notice();
      const std::optional<memory_answer> written = write_record(item);
      if (!written || written->ok()) {
        queue_.settle(item, parts_.clock.now());
      } else {
        queue_.refuse(item, written->error, parts_.clock.now(), written->address);
      }
    } catch (const restarted&) {
    }
  }
}

std::optional<memory_answer> sequencer::write_record(const notice& item) {
  const ring_setup& ring = queue_.ring_in_use();
  const bool wanted = (item.header.flags & gen::descriptor_flag::record) != 0 && ring.completion_base != 0;
  if (!wanted) return {};
  gen::completion_record record{static_cast<std::uint32_t>(item.index), static_cast<std::uint16_t>(item.error),
                                static_cast<std::uint16_t>(item.header.op), parts_.counts.cycles(item.end_edge)};
  const std::uint64_t slot = item.index % ring.entries;
  const memory_answer written =
      record_port_.write(ring.completion_base + slot * sizeof record, std::as_bytes(std::span(&record, 1)),
                         gen::precision::raw, gen::purpose::commands);
  parts_.wait_until(written.end);
  return written;
}

}  // namespace dvp::npu
