// A pseudo terminal that any terminal program can open (`screen /dev/pts/5`, `picocom`), in raw mode, so that bytes
// pass as they are. Output before somebody reads it waits, bounded (waiting_output), at the end for a stated time.
#pragma once

#include <chrono>
#include <string>

#include "tlm/uart/console.h"
#include "tlm/uart/console_link.h"

namespace dvp::uart {

class console_pty : public console {
 public:
  // std::runtime_error where the host gives none.
  explicit console_pty(std::chrono::milliseconds last_chance = std::chrono::seconds(1));
  // Gives whoever reads, or comes to read, up to `last_chance` to take what waits.
  ~console_pty() override;

  // What to open on the other side.
  const std::string& path() const { return path_; }

  void put(std::uint8_t byte) override;
  std::optional<std::uint8_t> poll() override;
  bool may_send() const override { return true; }

 private:
  descriptor master_;
  descriptor slave_;  // held open, so that the line does not hang up between readers
  std::string path_;
  std::chrono::milliseconds last_chance_;
  waiting_output output_;
  ready_input input_;
};

}  // namespace dvp::uart
