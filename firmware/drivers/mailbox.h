// Driver of the host mailbox: where the request is, progress events, the end of the request.
#pragma once

#include <cstdint>

#include "dvp_gen/request.h"
#include "firmware/drivers/interrupts.h"

namespace dvp::drivers {

enum class mailbox_code : std::uint8_t {
  ok,
  absent,  // wrong identification; nothing was written
};

class mailbox {
 public:
  // Codes: ok, absent. After absent no other call may be made.
  [[nodiscard]] mailbox_code probe(std::uint64_t base);

  // Blocks, asleep, until the host has set a request; accepts it and returns the bus address of its record. Progress
  // counts from 0 again.
  [[nodiscard]] std::uint64_t accept(interrupt_line line);

  // Tells the host that the progress record is valid; the host has read it when this returns. Events count from 0.
  void post_progress();

  // Tells the host that the request is done and the result record valid. The host may set the next request meanwhile.
  void finish(gen::result_code code);

 private:
  std::uint64_t base_ = 0;
  std::uint32_t posted_ = 0;
};

}  // namespace dvp::drivers
