// Tells every command to several sinks.
#pragma once

#include <vector>

#include "tlm/lpddr5/device/command.h"

namespace dvp::platform {

class command_tee : public lpddr5::command_sink {
 public:
  void add(lpddr5::command_sink* sink) { sinks_.push_back(sink); }
  // What to give the memory: null when nobody listens, no detour when one does.
  lpddr5::command_sink* sink() { return sinks_.empty() ? nullptr : sinks_.size() == 1 ? sinks_[0] : this; }

  void issued(std::uint32_t channel, const lpddr5::issued_command& command) override {
    for (auto* sink : sinks_) sink->issued(channel, command);
  }

 private:
  std::vector<lpddr5::command_sink*> sinks_;
};

}  // namespace dvp::platform
