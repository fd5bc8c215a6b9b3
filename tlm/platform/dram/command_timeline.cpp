#include "tlm/platform/dram/command_timeline.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace dvp::platform {

using lpddr5::command;
using lpddr5::cycles;
using lpddr5::issued_command;

command_timeline::command_timeline(const std::string& path, const lpddr5::device& d, std::uint32_t channels,
                                   std::uint64_t commands)
    : device_(d), path_(path), out_(path), left_(commands) {
  const auto& shape = d.shape;
  for (std::uint32_t channel = 0; channel < channels; ++channel) {
    const std::string process = "channel " + std::to_string(channel);
    channel_tracks tracks;
    tracks.commands = out_.track(process, "command bus");
    tracks.data = out_.track(process, "data bus");
    for (std::uint32_t rank = 0; rank < shape.ranks; ++rank) {
      const std::string in_rank = shape.ranks == 1 ? "" : "rank " + std::to_string(rank) + " ";
      tracks.refresh.push_back(out_.track(process, in_rank + "refresh"));
      for (std::uint32_t bank = 0; bank < shape.banks(); ++bank) {
        std::string name = in_rank;
        if (shape.bank_groups > 1) name += "group " + std::to_string(bank / shape.banks_per_group) + " ";
        name += "bank " + std::to_string(bank % shape.banks_per_group);
        tracks.banks.push_back({.track = out_.track(process, name)});
      }
    }
    channels_.push_back(std::move(tracks));
  }
}

command_timeline::~command_timeline() {
  if (!finished_) std::remove(path_.c_str());
}

void command_timeline::slice(std::uint32_t track, std::string_view name, cycles from, cycles to) {
  const auto time = [&](cycles at) {
    return sc_core::sc_time::from_value(static_cast<sc_dt::uint64>(lpddr5::to_ps(at, device_.times.tCK_fs)));
  };
  out_.slice(track, name, time(from), time(to));
}

void command_timeline::close_row(bank_track& bank, cycles at) {
  if (bank.opened < 0) return;
  slice(bank.track, "row " + std::to_string(bank.row), bank.opened, std::max(at, bank.opened));
  bank.opened = -1;
}

void command_timeline::draw_burst(const channel_tracks& tracks, const issued_command& c) {
  const auto& t = device_.times;
  const char* name = is_read(c.what) ? "read" : "write";
  const cycles from = c.at + (is_read(c.what) ? t.RL : t.WL) + c.late_cycles;
  const auto& shape = device_.shape;
  const cycles beats = (shape.burst_length + shape.beats_per_ck - 1) / shape.beats_per_ck;
  if (c.io_cycles == 0 && t.BL_n_min > beats) {
    // Two halves with a gap, into which another bank group's may fall.
    slice(tracks.data, name, from, from + beats / 2);
    slice(tracks.data, name, from + t.BL_n_min - beats / 2, from + t.BL_n_min);
  } else {
    slice(tracks.data, name, from, from + (c.io_cycles != 0 ? c.io_cycles : t.BL_n_min));
  }
}

void command_timeline::issued(std::uint32_t channel, const issued_command& c) {
  if (left_ == 0) return;
  last_ = std::max(last_, c.at);
  --left_;
  const auto& t = device_.times;
  const std::uint32_t banks = device_.shape.banks();
  channel_tracks& tracks = channels_[channel];
  bank_track* const rank_banks = tracks.banks.data() + std::size_t{c.rank} * banks;
  bank_track& bank = rank_banks[c.bank];
  slice(tracks.commands, name_of(c.what), c.at, c.at + 1);
  switch (c.what) {
    case command::act1:
      bank.opened = c.at;
      bank.row = c.row;
      break;
    case command::pre:
      close_row(bank, c.at);
      break;
    case command::pre_all:
      for (std::uint32_t i = 0; i < banks; ++i) close_row(rank_banks[i], c.at);
      break;
    case command::rd:
    case command::wr:
      draw_burst(tracks, c);
      break;
    case command::rda:
      draw_burst(tracks, c);
      close_row(bank, c.at + t.BL_n_min + t.RBTP);
      break;
    case command::wra:
      draw_burst(tracks, c);
      close_row(bank, c.at + t.WL + t.BL_n_min + 1 + t.WR);
      break;
    case command::ref_all:
      slice(tracks.refresh[c.rank], "REFab", c.at, c.at + t.RFCab);
      break;
    case command::ref_bank:
      slice(bank.track, "REFpb", c.at, c.at + t.RFCpb);
      if (device_.shape.pair_offset != 0) {
        slice(rank_banks[c.bank + device_.shape.pair_offset].track, "REFpb", c.at, c.at + t.RFCpb);
      }
      break;
    default:
      break;
  }
}

void command_timeline::finish(cycles end) {
  for (auto& tracks : channels_) {
    for (auto& bank : tracks.banks) close_row(bank, complete() ? end : last_);
  }
  finished_ = true;
  if (!out_.close()) throw std::runtime_error(path_ + ": could not be written whole; is the disk full?");
}

}  // namespace dvp::platform
