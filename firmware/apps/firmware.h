// The whole firmware as one call: what both the native CPU seat and the RV64 image run.
#pragma once

#include <cstdint>

#include "dvp_gen/request.h"
#include "firmware/drivers/interrupts.h"
#include "firmware/drivers/mailbox.h"

namespace dvp::apps {

// Takes requests from the mailbox, one at a time, and answers them. One server is active at a time: the large state of
// a decode is one static object.
class server {
 public:
  // Opens mailbox and interrupt controller for the sources that gen::system gives mailbox and NPU. False without a
  // mailbox; then nobody can be told and serve_one() may not be called.
  [[nodiscard]] bool start(std::uint64_t mailbox_base, std::uint64_t npu_base, std::uint64_t plic_base);

  // Sleeps until there is a request; decodes, writes the result record and finishes through the mailbox. While it
  // decodes, the hart's watch-dog runs: progress and every move of the NPU's queue feed it. Every result_code.
  gen::result_code serve_one();

 private:
  drivers::interrupts controller_;
  drivers::mailbox mailbox_;
  std::uint64_t npu_base_ = 0;
};

// Serves request after request for ever. Returns only when there is no mailbox.
void serve(std::uint64_t mailbox_base, std::uint64_t npu_base, std::uint64_t plic_base);

}  // namespace dvp::apps
