// Bytes that a memory moved, by direction, purpose and precision of the access tag.
//
// Figures, below the owner's path: accesses, bytes_read, bytes_written, and for the tags that occurred
// traffic.{read,write}.<purpose>.<precision>_bytes. Bytes are those of the payload, as delivered.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "tlm/core/access_tag.h"
#include "tlm/core/statistics.h"

namespace dvp::core {

class traffic_figures {
 public:
  // The statistics outlive this object.
  traffic_figures(statistics& figures, std::string owner);
  traffic_figures(const traffic_figures&) = delete;
  traffic_figures& operator=(const traffic_figures&) = delete;

  void count(bool write, const access_tag& tag, std::uint64_t bytes);

 private:
  static constexpr std::size_t purposes = 16;
  static constexpr std::size_t precisions = 8;

  statistics& figures_;
  std::string owner_;
  std::array<std::uint64_t*, 2 * purposes * precisions> traffic_{};
  std::uint64_t& accesses_;
  std::uint64_t& bytes_read_;
  std::uint64_t& bytes_written_;
};

}  // namespace dvp::core
