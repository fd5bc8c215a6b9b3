#include "firmware/apps/firmware.h"

#include <limits>

#include "dvp_gen/system.h"
#include "firmware/dllm/decode.h"
#include "firmware/hal/hal.h"

namespace dvp::apps {
namespace {

class mailbox_observer final : public dllm::observer {
 public:
  explicit mailbox_observer(drivers::mailbox& mailbox) : mailbox_(mailbox) {}
  void progress() override {
    hal::feed_watchdog();
    mailbox_.post_progress();
  }

 private:
  drivers::mailbox& mailbox_;
};

constinit dllm::decode_memory memory;

// A request without a watch-dog time leaves this much to each piece of work.
constexpr std::uint32_t longest_silence_us = 60'000'000;

// Twice what the NPU's driver waits for its block: that one is to find its own faults first.
std::uint32_t silence_us(std::uint64_t request_address) {
  const auto requests = hal::objects<gen::request_record>(request_address, 1);
  if (requests.empty() || requests[0].watchdog_us == 0) {
    return longest_silence_us;
  }
  constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  return requests[0].watchdog_us > most / 2 ? most : requests[0].watchdog_us * 2;
}

}  // namespace

bool server::start(std::uint64_t mailbox_base, std::uint64_t npu_base, std::uint64_t plic_base) {
  npu_base_ = npu_base;
  if (mailbox_.probe(mailbox_base) != drivers::mailbox_code::ok) {
    return false;
  }
  constexpr std::uint32_t sources[] = {gen::system::mailbox_interrupt, gen::system::npu_interrupt};
  controller_.start(plic_base, sources);
  return true;
}

gen::result_code server::serve_one() {
  const std::uint64_t request = mailbox_.accept({controller_, gen::system::mailbox_interrupt});
  mailbox_observer observer(mailbox_);
  hal::start_watchdog(silence_us(request));
  const gen::result_code code = dllm::decode(request, npu_base_, {controller_, gen::system::npu_interrupt},
                                             gen::system::converter_base, memory, observer);
  hal::start_watchdog(0);
  mailbox_.finish(code);
  return code;
}

void serve(std::uint64_t mailbox_base, std::uint64_t npu_base, std::uint64_t plic_base) {
  server requests;
  if (!requests.start(mailbox_base, npu_base, plic_base)) {
    return;
  }
  for (;;) {
    static_cast<void>(requests.serve_one());
  }
}

}  // namespace dvp::apps
