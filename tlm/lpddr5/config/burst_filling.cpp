#include <algorithm>

#include "tlm/lpddr5/config/memory_config.h"

namespace dvp::lpddr5 {

// A burst of q4 or q2 elements carries the columns that follow each other in a row of its channel.
std::string why_bursts_stay_unfilled(const memory_config& config) {
  const data_layout layout = config.controller.tagged.layout;
  if (layout == data_layout::bitplane) return "";  // every column brings one bit of an element, for all of a burst
  const std::uint32_t columns = layout == data_layout::nibble ? 2 : 1;
  const organisation& shape = config.dev.shape;
  const address_mapping mapping(config.mapping, shape, config.channels);
  const std::uint64_t step = std::uint64_t{shape.burst_bytes()} * columns;
  const location first = mapping.decode(0);
  location next = first;
  for (std::uint64_t at = step; at < mapping.bytes(); at += step) {
    next = mapping.decode(at);
    if (next.channel == first.channel) break;
  }
  location expected = first;
  expected.column += shape.burst_length * columns;
  if (next == expected) return "";
  return "mapping: q4 and q2 reads cannot put two columns of a row in a burst, as addresses go to another " +
         std::string(next.bank_group != first.bank_group ? "bank group" : "bank or row") +
         " after each; use order row-bank-column-group-quad-channel, which saves energy of the I/O, and time where "
         "tagged.core_feed is above 1";
}

}  // namespace dvp::lpddr5
