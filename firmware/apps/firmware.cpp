#include "firmware/apps/firmware.h"

#include "firmware/dllm/decode.h"
#include "firmware/drivers/mailbox.h"

namespace dvp::apps {
namespace {

class mailbox_observer final : public dllm::observer {
 public:
  explicit mailbox_observer(drivers::mailbox& mailbox) : mailbox_(mailbox) {}
  void progress() override { mailbox_.post_progress(); }

 private:
  drivers::mailbox& mailbox_;
};

constinit dllm::decode_memory memory;

}  // namespace

gen::result_code run_firmware(std::uint64_t mailbox_base, std::uint64_t npu_base) {
  drivers::mailbox mailbox;
  if (mailbox.probe(mailbox_base) != drivers::mailbox_code::ok) {
    return gen::result_code::bad_request;
  }
  mailbox_observer observer(mailbox);
  const gen::result_code code = dllm::decode(mailbox.request_address(), npu_base, memory, observer);
  mailbox.finish(code);
  return code;
}

}  // namespace dvp::apps
