// How fast a memory delivers codes of each precision, as graphs on the timeline: "<memory> read q4 GB/s" and so on.
//
// One value per period and precision: bytes delivered in it by reads tagged bf16, q8, q4 or q2, counted where they
// begin, over its length. A graph has a point where its value changes, at the start of the period. Reads come in about
// ascending order; one for a period that is over counts into the latest. Others, and writes, are not drawn.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <systemc>

#include "tlm/core/access_tag.h"
#include "tlm/core/timeline.h"

namespace dvp::core {

class read_rates {
 public:
  static constexpr std::uint64_t period_ps = 10'000'000;

  // The timeline outlives this object.
  read_rates(timeline& out, std::string_view process, std::string_view memory);
  read_rates(const read_rates&) = delete;
  read_rates& operator=(const read_rates&) = delete;
  ~read_rates() { flush(); }

  void add(gen::precision precision, const sc_core::sc_time& begin, std::uint64_t bytes);
  // Ends the period under way, as if nothing more came in it.
  void flush();

 private:
  struct graph {
    std::string name;
    std::uint64_t bytes = 0;  // of the period under way
    std::uint64_t drawn = 0;  // of the last point
  };

  void draw();

  timeline& out_;
  std::uint32_t track_;
  std::uint64_t period_ = 0;  // number of the one under way
  std::array<graph, 4> graphs_;
};

}  // namespace dvp::core
