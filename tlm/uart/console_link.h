// What consoles over a file descriptor share: output that waits for a reader, bounded, and input without blocking.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

namespace dvp::uart {

// Owns a file descriptor; -1: none.
class descriptor {
 public:
  explicit descriptor(int number = -1) : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor() { reset(); }

  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  void reset() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_;
};

// Output for a reader that may be slow or not there yet. Of more than most_waiting bytes the oldest are dropped.
class waiting_output {
 public:
  static constexpr std::size_t most_waiting = 64 << 10;

  void put(std::uint8_t byte);
  // Writes what the descriptor, which must not block, takes now. False: it takes nothing ever again.
  bool write_to(int number);
  bool empty() const { return bytes_.empty(); }
  std::uint64_t dropped() const { return dropped_; }

 private:
  std::deque<std::uint8_t> bytes_;
  std::uint64_t dropped_ = 0;
};

// Input from a descriptor that must not block.
class ready_input {
 public:
  // Reads on if nothing is there any more. False: the other side is gone.
  bool read_from(int number);
  std::optional<std::uint8_t> take();

 private:
  std::deque<std::uint8_t> bytes_;
};

}  // namespace dvp::uart
