// Fetches the descriptors of one queue, checks them, and hands them to the engines in order; writes what is due back.
//
// Fetch: up to prefetch_descriptors per read, never past the tail or the end of the ring, when everything fetched
// before is dispatched. Dispatch: dispatch_cycles per descriptor, then it waits for room in its engine's FIFO; later
// ones wait behind it. A fence passes without an engine. A descriptor that fails check() stops the queue.
// Notices: completion records are written one after another through the memory socket, each in its own time; the
// interrupt comes when the record is in memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <systemc>
#include <vector>

#include "tlm/npu/command_queue.h"
#include "tlm/npu/engine.h"
#include "tlm/npu/memory_port.h"
#include "tlm/npu/npu_parts.h"

namespace dvp::npu {

class sequencer : public sc_core::sc_module {
 public:
  // engines: by engine_id.
  sequencer(const sc_core::sc_module_name& name, npu_parts& parts, command_queue& queue,
            const std::array<engine*, engine_count>& engines, memory_link& memory);

  // Whether fetching is allowed (control.enable). Allowing it wakes the sequencer.
  void allow_fetch(bool allowed);

 private:
  void dispatch_process();
  void notice_process();
  void serve_batch();
  bool dispatch(const descriptor_view& descriptor);
  // What memory said; nothing without a record to write.
  std::optional<memory_answer> write_record(const notice& item);

  npu_parts& parts_;
  command_queue& queue_;
  std::array<engine*, engine_count> engines_;
  memory_port fetch_port_;
  memory_port record_port_;
  std::vector<descriptor_view> batch_;
  bool fetch_allowed_ = false;
};

}  // namespace dvp::npu
