#include "tlm/lpddr5/data_bus_track.h"

#include <string>

namespace dvp::lpddr5 {

data_bus_track::data_bus_track(core::timeline& out, std::string_view name, const device& d, std::uint32_t channels,
                               const sc_core::sc_time& gap, command_sink* next)
    : device_(d), clock_(d.times.tCK_fs), next_(next) {
  if (!out.on()) return;
  for (std::uint32_t c = 0; c < channels; ++c) {
    const std::string track = std::string(name) + " channel " + std::to_string(c);
    tracks_.push_back(std::make_unique<core::merged_slices>(out, "system", track, "bytes", gap));
  }
}

void data_bus_track::issued(std::uint32_t channel, const issued_command& command) {
  if (next_ != nullptr) next_->issued(channel, command);
  if (tracks_.empty() || !is_column(command.what)) return;
  const bool read = is_read(command.what);
  const cycles begin = command.at + (read ? device_.times.RL : device_.times.WL) + command.late_cycles;
  const bool plain = command.io_cycles == 0;
  const cycles length = plain ? device_.times.BL_n_min : command.io_cycles;
  const std::uint64_t bytes =
      plain ? device_.shape.burst_bytes()
            : static_cast<std::uint64_t>(length) * device_.shape.beats_per_ck * device_.shape.width_bits / 8;
  tracks_[channel]->add(read ? "read" : "write", clock_.time(begin), clock_.time(begin + length), bytes);
}

void data_bus_track::flush() {
  for (const auto& track : tracks_) track->flush();
}

}  // namespace dvp::lpddr5
