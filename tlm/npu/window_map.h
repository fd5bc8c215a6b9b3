// The map entries of the address window: which device addresses reach memory, and where.
//
//     device  0 ........ W          entry: pages [page, page + pages) -> bus [bus, bus + pages * page size)
//             |--e3--|  |--e0--|
//
// No two entries have a page in common. Pure; the time that commands take is not here.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "dvp_gen/npu_regs.h"
#include "tlm/npu/npu_config.h"

namespace dvp::npu {

// The operand registers when a command is written.
struct window_command {
  gen::npu::window_operation operation = gen::npu::window_operation::none;
  std::uint32_t entry = 0;
  std::uint64_t bus = 0;
  std::uint64_t page = 0;
  std::uint64_t pages = 0;
};

// Consecutive bytes on the bus behind consecutive device addresses.
struct window_span {
  std::uint64_t bus = 0;
  std::uint64_t bytes = 0;  // 0: the device address is not mapped
};

class window_map {
 public:
  explicit window_map(const window_config& config);

  // The first rule the command breaks, in the order that window_result states.
  gen::npu::window_result check(const window_command& command) const;

  // Both for a command that check() lets pass.
  void map(const window_command& command);
  void unmap(std::uint32_t entry);
  void clear();

  // From `device` to the end of its entry.
  window_span find(std::uint64_t device) const;
  // Whether every byte is mapped; if not, `device` becomes the first that is not. bytes is 1 or more.
  bool covers(std::uint64_t& device, std::uint64_t bytes) const;

  // Pages of an entry, 0 when it is free, and of all entries.
  std::uint64_t pages(std::uint32_t entry) const { return entries_[entry].pages; }
  std::uint64_t pages() const { return pages_; }

 private:
  struct mapping {
    std::uint64_t bus = 0;
    std::uint64_t page = 0;
    std::uint64_t pages = 0;  // 0: free
  };

  bool fits(const window_command& command) const;
  bool is_free(const window_command& command) const;

  std::uint64_t window_pages_;
  std::uint64_t page_bytes_;
  std::vector<mapping> entries_;
  std::map<std::uint64_t, std::uint32_t> by_page_;  // first page -> entry
  std::uint64_t pages_ = 0;
};

}  // namespace dvp::npu
