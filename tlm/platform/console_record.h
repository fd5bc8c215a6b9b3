// A console that nobody reads unless something went wrong: keeps what was said last.
#pragma once

#include <cstddef>
#include <string>

#include "tlm/uart/console.h"

namespace dvp::platform {

class console_record final : public uart::console {
 public:
  static constexpr std::size_t most_bytes = 16 << 10;

  void put(std::uint8_t byte) override {
    if (text_.size() == 2 * most_bytes) text_.erase(0, most_bytes);
    text_ += static_cast<char>(byte);
  }
  std::optional<std::uint8_t> poll() override { return std::nullopt; }
  bool may_send() const override { return false; }

  // The last lines, most_bytes at least if so much was said.
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace dvp::platform
