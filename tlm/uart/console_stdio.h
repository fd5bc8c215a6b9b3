// The program's own standard input and output. Output appears at once; the terminal's line editing stays as it is.
#pragma once

#include <deque>

#include "tlm/uart/console.h"

namespace dvp::uart {

class console_stdio : public console {
 public:
  void put(std::uint8_t byte) override;
  std::optional<std::uint8_t> poll() override;
  // Until the end of standard input.
  bool may_send() const override { return !ended_ || !read_ahead_.empty(); }

 private:
  std::deque<std::uint8_t> read_ahead_;
  bool ended_ = false;
};

}  // namespace dvp::uart
