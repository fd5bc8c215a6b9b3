// Entry of the RV64 image after start-up.
#include "dvp_gen/system.h"
#include "firmware/apps/firmware.h"

int main() {
  return static_cast<int>(dvp::apps::run_firmware(dvp::gen::system::mailbox_base, dvp::gen::system::npu_base));
}
