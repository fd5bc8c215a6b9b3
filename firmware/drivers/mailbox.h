// Driver of the host mailbox: where the request is, progress events, the end of the run.
#pragma once

#include <cstdint>

#include "dvp_gen/request.h"

namespace dvp::drivers {

enum class mailbox_code : std::uint8_t {
  ok,
  absent,  // wrong identification; nothing was written
};

class mailbox {
 public:
  // Codes: ok, absent. After absent no other call may be made.
  [[nodiscard]] mailbox_code probe(std::uint64_t base);

  // Bus address of the request record.
  std::uint64_t request_address() const;

  // Tells the host that the progress record is valid; the host has read it when this returns. Events count from 0.
  void post_progress();

  // Tells the host that the run is over and the result record valid. The last call of a run.
  void finish(gen::result_code code);

 private:
  std::uint64_t base_ = 0;
  std::uint32_t posted_ = 0;
};

}  // namespace dvp::drivers
