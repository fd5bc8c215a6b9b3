// Many short activities on one timeline track, told as few slices.
//
// Consecutive activities of the same name whose distance is at most the gap become one slice from the first begin to
// the last end, with args {count, amount}: how many there were and the sum of their amounts. Activities come in
// ascending order of begin. The last slice is written by flush() or the destructor; the timeline outlives this object.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <systemc>

#include "tlm/core/timeline.h"

namespace dvp::core {

class merged_slices {
 public:
  // amount_name is the key of the summed amount, e.g. "bytes".
  merged_slices(timeline& out, std::string_view process, std::string_view name, std::string_view amount_name,
                const sc_core::sc_time& gap);
  merged_slices(const merged_slices&) = delete;
  merged_slices& operator=(const merged_slices&) = delete;
  ~merged_slices() { flush(); }

  void add(std::string_view name, const sc_core::sc_time& begin, const sc_core::sc_time& end, std::uint64_t amount);
  void flush();

 private:
  timeline& out_;
  std::uint32_t track_;
  std::string amount_name_;
  sc_core::sc_time gap_;
  std::string name_;
  sc_core::sc_time begin_;
  sc_core::sc_time end_;
  std::uint64_t count_ = 0;
  std::uint64_t amount_ = 0;
};

}  // namespace dvp::core
