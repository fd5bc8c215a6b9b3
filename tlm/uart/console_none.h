// Nobody: output is dropped, nothing ever comes.
#pragma once

#include "tlm/uart/console.h"

namespace dvp::uart {

class console_none : public console {
 public:
  void put(std::uint8_t) override {}
  std::optional<std::uint8_t> poll() override { return std::nullopt; }
  bool may_send() const override { return false; }
};

}  // namespace dvp::uart
