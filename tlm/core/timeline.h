// Timeline of a run in Chrome's trace-event JSON, which ui.perfetto.dev and chrome://tracing open.
//
// Tracks are threads grouped into processes; slices are complete events in simulated time. Events go to the file
// through a fixed buffer in the order they are told, so memory stays bounded and equal runs write equal files.
// Slices of one track must nest or be disjoint, and of two that begin together the outer one is told first.
// Times are microseconds with six decimals, that is picoseconds.
//
// A default-constructed timeline is off: every call returns at once. So does every call after close().
#pragma once

#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <systemc>
#include <variant>
#include <vector>

namespace dvp::core {

// One entry of an event's "args".
struct timeline_arg {
  std::string_view key;
  std::variant<std::uint64_t, double, std::string_view> value;
};

class timeline {
 public:
  timeline() = default;
  // Opens the file for writing; std::runtime_error with the path and the reason when that fails.
  explicit timeline(const std::string& path);
  timeline(const timeline&) = delete;
  timeline& operator=(const timeline&) = delete;
  ~timeline();

  bool on() const { return file_ != nullptr; }

  // The track of this process and name, made on first use; processes and tracks show in the order they were made.
  // 0 while off.
  std::uint32_t track(std::string_view process, std::string_view name);

  // begin <= end.
  void slice(std::uint32_t track, std::string_view name, const sc_core::sc_time& begin, const sc_core::sc_time& end,
             std::initializer_list<timeline_arg> args = {}) {
    if (on()) write_slice(track, name, begin, end, args);
  }
  void instant(std::uint32_t track, std::string_view name, const sc_core::sc_time& at,
               std::initializer_list<timeline_arg> args = {}) {
    if (on()) write_instant(track, name, at, args);
  }
  // A value over time, drawn as a graph of the track's process.
  void counter(std::uint32_t track, std::string_view name, const sc_core::sc_time& at, double value) {
    if (on()) write_counter(track, name, at, value);
  }

  // Completes the JSON and closes the file; the destructor does the same. False when any write to it failed.
  bool close();

 private:
  struct track_info {
    std::string process;
    std::string name;
    std::uint32_t pid = 0;
  };
  struct file_closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  void write_slice(std::uint32_t track, std::string_view name, const sc_core::sc_time& begin,
                   const sc_core::sc_time& end, std::initializer_list<timeline_arg> args);
  void write_instant(std::uint32_t track, std::string_view name, const sc_core::sc_time& at,
                     std::initializer_list<timeline_arg> args);
  void write_counter(std::uint32_t track, std::string_view name, const sc_core::sc_time& at, double value);
  void write_metadata(std::string_view kind, std::uint32_t pid, std::uint32_t tid, const timeline_arg& arg);
  void begin_event(char phase, std::string_view name, std::uint32_t pid, std::uint32_t tid);
  void end_event(std::initializer_list<timeline_arg> args);
  void flush();

  std::unique_ptr<std::FILE, file_closer> file_;
  std::vector<track_info> tracks_;  // the track number is the tid, starting at 1
  std::string buffer_;
  bool first_event_ = true;
  bool failed_ = false;
};

}  // namespace dvp::core
