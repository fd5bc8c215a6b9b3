// What a channel did, drawn: open rows and refreshes of each bank, bursts on the data bus, the command bus.
//
// Opens in ui.perfetto.dev. A process per channel; its tracks are the command bus, the data bus, the refreshes of each
// rank and every bank. Row slices run from ACT-1 to the precharge, auto precharge included; bursts lie where their data
// is. Only the first commands are drawn, because a file of many millions opens nowhere.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tlm/core/timeline.h"
#include "tlm/lpddr5/device/device.h"

namespace dvp::platform {

class command_timeline : public lpddr5::command_sink {
 public:
  // std::runtime_error when the file cannot be written.
  command_timeline(const std::string& path, const lpddr5::device& d, std::uint32_t channels, std::uint64_t commands);

  command_timeline(const command_timeline&) = delete;
  command_timeline& operator=(const command_timeline&) = delete;
  // Removes the file unless finish() completed it.
  ~command_timeline() override;

  void issued(std::uint32_t channel, const lpddr5::issued_command& command) override;
  // Ends the rows that are open. std::runtime_error when the file could not be written whole.
  void finish(lpddr5::cycles end);

  bool complete() const { return left_ != 0; }  // every command is drawn
  lpddr5::cycles drawn_until() const { return last_; }

 private:
  struct bank_track {
    std::uint32_t track = 0;
    lpddr5::cycles opened = -1;  // -1: closed
    std::uint32_t row = 0;
  };
  struct channel_tracks {
    std::uint32_t commands = 0, data = 0;
    std::vector<std::uint32_t> refresh;  // per rank
    std::vector<bank_track> banks;       // rank * banks + bank
  };
  void slice(std::uint32_t track, std::string_view name, lpddr5::cycles from, lpddr5::cycles to);
  void close_row(bank_track& bank, lpddr5::cycles at);
  void draw_burst(const channel_tracks& tracks, const lpddr5::issued_command& c);

  lpddr5::device device_;
  std::string path_;
  bool finished_ = false;
  core::timeline out_;
  std::vector<channel_tracks> channels_;
  std::uint64_t left_;
  lpddr5::cycles last_ = 0;
};

}  // namespace dvp::platform
