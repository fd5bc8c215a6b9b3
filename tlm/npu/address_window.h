// The address window's commands in time, and its figures. What a command means is window_map's.
//
// One command is under way at a time. It begins at the first edge at or after the write and ends at the first edge at
// or after
//     map     map_call + pages * map_page         the pages are mapped from its end on
//     unmap   unmap_call + pages * unmap_page     the pages are lost from its write on
//     flush   flush_call + bytes / flush rate
// A command that breaks a rule ends at once. Main memory is coherent here: what the CPU writes, the NPU reads, also the
// ring of descriptors, for which no flush is needed. A flush models the cost of the cache maintenance that a device
// without coherence takes for pages whose content the CPU changed: it takes time and changes no byte, and one left out
// is not found out.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <systemc>

#include "tlm/core/statistics.h"
#include "tlm/core/timeline.h"
#include "tlm/npu/npu_clock.h"
#include "tlm/npu/npu_config.h"
#include "tlm/npu/reset_line.h"
#include "tlm/npu/window_map.h"

namespace dvp::npu {

class address_window : public sc_core::sc_module {
 public:
  // Everything outlives the module. done: a command ended, or was refused with a result.
  address_window(const sc_core::sc_module_name& name, const window_config& config, const npu_clock& clock,
                 reset_line& reset, core::timeline& timeline, std::function<void()> done);

  bool is_present() const { return config_.bytes != 0; }
  const window_map& map() const { return map_; }

  void command(const window_command& wanted);
  // As the register shows it.
  std::uint32_t status() const;

  // Everything free and no command under way; the block pulses the reset line.
  void clear();

  // An access met no map entry.
  void count_fault() { ++faults_; }
  // Writes map_calls, unmap_calls, flush_calls, pages_mapped, faults and busy_ps below `base`. They count from
  // power-on: a reset after a fault does not hide it.
  void update_figures(core::statistics& figures, const std::string& base) const;

 private:
  void process();
  void carry_out();
  sc_core::sc_time duration() const;
  void draw(const sc_core::sc_time& begin);
  void draw_mapped_bytes();

  const window_config& config_;
  const npu_clock& clock_;
  reset_line& reset_;
  core::timeline& timeline_;
  std::function<void()> done_;
  window_map map_;
  window_command current_;
  std::uint64_t current_pages_ = 0;  // unmap: of the entry
  bool busy_ = false;
  bool refused_ = false;
  gen::npu::window_result result_ = gen::npu::window_result::ok;
  sc_core::sc_event accepted_;
  std::uint32_t track_;

  std::uint64_t map_calls_ = 0;
  std::uint64_t unmap_calls_ = 0;
  std::uint64_t flush_calls_ = 0;
  std::uint64_t pages_mapped_ = 0;
  std::uint64_t faults_ = 0;
  sc_core::sc_time busy_time_;
};

}  // namespace dvp::npu
