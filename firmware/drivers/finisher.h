// Driver of the test finisher: ends the simulation.
#pragma once

#include <cstdint>

namespace dvp::drivers {

class finisher {
 public:
  constexpr explicit finisher(std::uint64_t base) : base_(base) {}

  // The simulation ends with exit code 0, or with `code` (1 to 65535). On a machine without finisher, or whose finisher
  // does not stop it, the call returns.
  void pass();
  void fail(std::uint32_t code);

 private:
  std::uint64_t base_;
};

}  // namespace dvp::drivers
