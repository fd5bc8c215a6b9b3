#include "tlm/platform/html_report/timeline_view.h"

#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "tlm/platform/files.h"
#include "tlm/platform/html_report/time_bins.h"

namespace dvp::platform {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t most_tracks = 64;
constexpr std::size_t most_operators = 256;
constexpr std::size_t most_forwards = 2000;
// Times of the file have six decimals; a slice that begins so little before the last one ended does not overlap it.
constexpr double rounding_us = 2e-6;
constexpr double longest_us = 1e15;  // thirty years

struct event {
  std::string phase, name, thread_or_process, operator_name;
  double begin_us = 0, duration_us = 0, bytes = 0;
  std::uint64_t process = 0, track = 0;
};

// "gemm 32x64x128": the product of the three; 0 for other names.
double macs_of(std::string_view name) {
  constexpr std::string_view prefix = "gemm ";
  if (!name.starts_with(prefix)) return 0;
  name.remove_prefix(prefix.size());
  double product = 1;
  for (int factor = 0; factor < 3; ++factor) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
    if (error != std::errc()) return 0;
    product *= value;
    name.remove_prefix(static_cast<std::size_t>(end - name.data()));
    if (name.starts_with('x')) name.remove_prefix(1);
  }
  return product;
}

class collector {
 public:
  collector() : channel_bytes_(bins_.add_row()), dma_bytes_(bins_.add_row()) {}

  void take(const event& e) {
    if (e.phase == "M" && e.name == "process_name") processes_[e.process] = e.thread_or_process;
    if (e.phase == "M" && e.name == "thread_name") names_[e.track] = e.thread_or_process;
    if (e.phase != "X" || !(e.begin_us >= 0) || !(e.duration_us >= 0)) return;
    if (e.begin_us + e.duration_us > longest_us) return;
    track* t = track_of(e);
    if (t == nullptr) return;
    const double end_us = e.begin_us + e.duration_us;
    t->nested = t->nested || e.begin_us < t->end_us - rounding_us;
    t->end_us = std::max(t->end_us, end_us);
    end_us_ = std::max(end_us_, end_us);
    if (e.name != "wait" && e.name != "sleep") bins_.add(t->row, e.begin_us, end_us, e.duration_us);
    if (is_channel(*t)) bins_.add(channel_bytes_, e.begin_us, end_us, e.bytes);
    if (is_dma(*t)) bins_.add(dma_bytes_, e.begin_us, end_us, e.bytes);
    if (e.operator_name.empty()) return;
    if (e.operator_name == "embedding" && (forwards_.empty() || forwards_.back().macs > 0)) begin_forward(e);
    take_operator(e, *t);
  }

  ordered_json result() const {
    ordered_json view;
    view["end_us"] = end_us_;
    view["bin_us"] = bins_.width_us();
    const auto used = std::min(static_cast<std::size_t>(std::ceil(end_us_ / bins_.width_us())), time_bins::count);
    const auto scaled = [&](std::size_t row, double factor) {
      ordered_json values = ordered_json::array();
      // Four digits are more than a chart shows.
      for (std::size_t i = 0; i < used; ++i) values.push_back(std::round(bins_.row(row)[i] * factor * 1e4) / 1e4);
      return values;
    };
    const bool channels = channels_are_whole();
    view["tracks"] = ordered_json::array();
    for (const auto& [number, t] : tracks_) {
      if (t.nested || (is_channel(t) && !channels)) continue;
      const auto process = processes_.find(t.process);
      view["tracks"].push_back({{"process", process == processes_.end() ? "" : process->second},
                                {"name", t.name},
                                {"busy", scaled(t.row, 1 / bins_.width_us())}});
    }
    view["memory_bytes_per_second"] = scaled(channels ? channel_bytes_ : dma_bytes_, 1e6 / bins_.width_us());
    view["memory_bytes_of"] = channels ? "channels" : "dmas";
    view["operators"] = ordered_json::array();
    for (const auto& [name, o] : operators_) {
      view["operators"].push_back({{"name", name},
                                   {"macs", o.macs},
                                   {"bytes", o.bytes},
                                   {"array_us", o.array_us},
                                   {"transfer_us", o.transfer_us}});
    }
    view["forwards"] = ordered_json::array();
    for (const auto& f : forwards_) {
      if (forwards_.size() > most_forwards) break;
      view["forwards"].push_back(
          {{"macs", f.macs}, {"bytes", f.bytes}, {"begin_us", f.begin_us}, {"end_us", f.end_us}});
    }
    return view;
  }

 private:
  struct track {
    std::string name;
    std::uint64_t process = 0;
    std::size_t row = 0;
    double end_us = 0;
    bool nested = false;
  };
  struct work {
    double macs = 0, bytes = 0, array_us = 0, transfer_us = 0;
  };
  struct forward {
    double macs = 0, bytes = 0, begin_us = 0, end_us = 0;
  };

  static bool is_channel(const track& t) { return t.name.starts_with("memory"); }
  static bool is_dma(const track& t) { return t.name == "dma_load" || t.name == "dma_store"; }

  // Every byte that a DMA moves crosses a channel, unless the memory served it without simulating its bursts.
  bool channels_are_whole() const {
    const auto total = [&](std::size_t row) {
      return std::accumulate(bins_.row(row).begin(), bins_.row(row).end(), 0.0);
    };
    constexpr double rounding = 1e-6;
    return total(channel_bytes_) >= total(dma_bytes_) * (1 - rounding);
  }

  // One more than are shown, so that it is seen that there are too many.
  void begin_forward(const event& e) {
    if (forwards_.size() <= most_forwards) forwards_.push_back({.begin_us = e.begin_us});
  }

  track* track_of(const event& e) {
    const auto known = tracks_.find(e.track);
    if (known != tracks_.end()) return &known->second;
    if (tracks_.size() == most_tracks) return nullptr;
    const auto name = names_.find(e.track);
    track made{name == names_.end() ? "track " + std::to_string(e.track) : name->second, e.process, bins_.add_row()};
    return &tracks_.emplace(e.track, std::move(made)).first->second;
  }

  void take_operator(const event& e, const track& t) {
    work done;
    if (t.name == "array") {
      done.macs = macs_of(e.name);
      done.array_us = e.duration_us;
    } else if (is_dma(t)) {
      done.bytes = e.bytes;
      done.transfer_us = e.duration_us;
    }
    if (!forwards_.empty()) {
      forward& f = forwards_.back();
      f.macs += done.macs;
      f.bytes += done.bytes;
      f.end_us = std::max(f.end_us, e.begin_us + e.duration_us);
    }
    if (operators_.size() == most_operators && !operators_.contains(e.operator_name)) return;
    work& o = operators_[e.operator_name];
    o.macs += done.macs;
    o.bytes += done.bytes;
    o.array_us += done.array_us;
    o.transfer_us += done.transfer_us;
  }

  time_bins bins_;
  std::size_t channel_bytes_, dma_bytes_;
  double end_us_ = 0;
  std::map<std::uint64_t, std::string> processes_, names_;
  std::map<std::uint64_t, track> tracks_;
  std::map<std::string, work> operators_;
  std::vector<forward> forwards_;
};

// {"traceEvents": [{..., "args": {...}}, ...]}, object by object; what else there is goes by.
class event_reader : public nlohmann::json_sax<ordered_json> {
 public:
  explicit event_reader(collector& to) : to_(to) {}
  std::string fault;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t value) override { return number(static_cast<double>(value)); }
  bool number_unsigned(number_unsigned_t value) override { return number(static_cast<double>(value)); }
  bool number_float(number_float_t value, const string_t&) override { return number(value); }
  bool binary(binary_t&) override { return true; }
  bool key(string_t& value) override {
    key_ = value;
    if (depth_ == 1) in_events_ = value == "traceEvents";
    if (depth_ == 3) in_args_ = value == "args";
    return true;
  }
  bool string(string_t& value) override {
    if (at_event()) {
      if (key_ == "ph") event_.phase = value;
      if (key_ == "name") event_.name = value;
    } else if (at_args()) {
      if (key_ == "name") event_.thread_or_process = value;
      if (key_ == "operator") event_.operator_name = value;
    }
    return true;
  }
  bool start_object(std::size_t) override {
    if (++depth_ == 3) event_ = event();
    return true;
  }
  bool end_object() override {
    if (depth_-- == 3 && in_events_) to_.take(event_);
    return true;
  }
  bool start_array(std::size_t) override {
    ++depth_;
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    fault = "is not JSON at byte " + std::to_string(position);
    return false;
  }

 private:
  bool at_event() const { return in_events_ && depth_ == 3; }
  bool at_args() const { return in_events_ && in_args_ && depth_ == 4; }

  bool number(double value) {
    if (at_event()) {
      if (key_ == "ts") event_.begin_us = value;
      if (key_ == "dur") event_.duration_us = value;
      if (key_ == "pid") event_.process = identity(value);
      if (key_ == "tid") event_.track = identity(value);
    } else if (at_args() && key_ == "bytes") {
      event_.bytes = value;
    }
    return true;
  }
  static std::uint64_t identity(double value) {
    return value >= 0 && value < 1e15 ? static_cast<std::uint64_t>(value) : 0;
  }

  collector& to_;
  event event_;
  std::string key_;
  std::size_t depth_ = 0;
  bool in_events_ = false, in_args_ = false;
};

}  // namespace

ordered_json view_timeline(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw usage_error(file.string() + ": cannot be read; remove it to report without a timeline");
  collector collected;
  event_reader reader(collected);
  if (!ordered_json::sax_parse(in, &reader)) {
    throw usage_error(file.string() + ": " + reader.fault + "; run again, or remove it to report without a timeline");
  }
  return collected.result();
}

}  // namespace dvp::platform
