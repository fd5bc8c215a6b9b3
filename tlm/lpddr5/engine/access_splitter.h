// Cuts an access into the bursts of its channels, precision-tagged reads into bursts that carry several column
// accesses.
//
// A plain access touches every burst that holds one of its bytes. A tagged read at p bits fills bursts of the I/O with
// p-bit elements: with layout `bytes` one burst carries up to 8/p column accesses of one row; with `nibble` the high
// nibbles have columns of their own, each of which holds twice the elements; with `bitplane` each column holds one bit
// of eight times the elements.
#pragma once

#include <cstdint>
#include <vector>

#include "tlm/lpddr5/engine/access.h"
#include "tlm/lpddr5/engine/address_mapping.h"
#include "tlm/lpddr5/engine/burst.h"
#include "tlm/lpddr5/engine/controller_config.h"
#include "tlm/lpddr5/engine/figures.h"

namespace dvp::lpddr5 {

class access_splitter {
 public:
  struct piece {
    std::uint32_t channel;
    burst what;
  };

  // Everything outlives the splitter.
  access_splitter(const device& d, const controller_config& config, const address_mapping& mapping);

  // The bursts in order of address, of a block row by row; valid until the next call. Counts elements and bits into
  // `figures`.
  const std::vector<piece>& split(const access& a, std::uint32_t slot, precision_figures& figures);

 private:
  struct run {  // column accesses of one row that may share a burst
    bool open = false;
    burst what;
    std::uint64_t elements = 0;
    bool leads = true;  // the first of the elements' planes, with which scales ride
  };

  void split_plain(const access& a, std::uint32_t slot, precision_figures& figures);
  void split_planes(const access& a, std::uint32_t slot, precision_figures& figures);
  void add_column(const location& where, std::uint64_t elements, bool leads, std::uint32_t slot, const access& a,
                  precision_figures& figures);
  void close(std::uint32_t channel, const access& a, precision_figures& figures);
  burst burst_at(const location& where, std::uint32_t slot, bool write) const;

  const device& device_;
  const tagged_read_config& tagged_;
  const address_mapping& mapping_;
  const std::uint64_t burst_bytes_;
  const std::uint32_t planes_;  // columns an element's bits are spread over
  std::vector<piece> pieces_;
  std::vector<run> runs_;  // per channel
};

}  // namespace dvp::lpddr5
