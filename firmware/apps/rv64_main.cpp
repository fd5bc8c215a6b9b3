// Entry of the RV64 image after start-up.
#include "dvp_gen/system.h"
#include "firmware/apps/firmware.h"

int main() {
  namespace map = dvp::gen::system;
  dvp::apps::serve(map::mailbox_base, map::npu_base, map::plic_base);
  return 1;  // no mailbox, nobody to serve
}
