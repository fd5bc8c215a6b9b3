#include "testbenches/unit/lpddr5/controller/bench.h"

#include "tlm/lpddr5/config/builtin_device.h"

namespace dvp::lpddr5::test {

memory_config make_memory(const memory_shape& shape) {
  memory_config config;
  device_choice choice;
  choice.speed = "lpddr5-6400";
  config.dev = builtin_device(choice);
  config.rules = builtin_rules();
  config.channels = shape.channels;
  config.mapping = standard_mapping("row-bank-column-group-channel", config.dev.shape, shape.channels, 64, false);
  config.controller.refresh = shape.refresh;
  config.controller.scheduler = shape.scheduler;
  config.controller.read_queue = config.controller.write_queue = shape.queue;
  config.controller.write_high = shape.queue * 3 / 4;
  config.controller.write_low = shape.queue / 4;
  config.controller.posted_writes = shape.posted_writes;
  return config;
}

}  // namespace dvp::lpddr5::test
