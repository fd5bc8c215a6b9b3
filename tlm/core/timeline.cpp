#include "tlm/core/timeline.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <type_traits>

#include "tlm/core/sim_time.h"

namespace dvp::core {

namespace {

constexpr std::size_t buffer_bytes = 64 * 1024;

void append_number(std::string& out, std::uint64_t value) {
  char digits[24];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
  out.append(digits, end);
}

void append_number(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  char digits[40];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
  out.append(digits, end);
}

void append_string(std::string& out, std::string_view text) {
  const auto plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
  if (std::all_of(text.begin(), text.end(), plain)) {
    out += '"';
    out += text;
    out += '"';
  } else {
    using json = nlohmann::json;
    out += json(std::string(text)).dump(-1, ' ', false, json::error_handler_t::replace);
  }
}

// Picoseconds as microseconds with six decimals.
void append_time(std::string& out, std::uint64_t ps) {
  append_number(out, ps / 1'000'000);
  out += '.';
  const std::uint64_t fraction = ps % 1'000'000;
  for (std::uint64_t digit = 100'000; digit > 0; digit /= 10) out += static_cast<char>('0' + fraction / digit % 10);
}

void append_arg(std::string& out, const timeline_arg& arg) {
  append_string(out, arg.key);
  out += ':';
  std::visit(
      [&](auto value) {
        if constexpr (std::is_same_v<decltype(value), std::string_view>) {
          append_string(out, value);
        } else {
          append_number(out, value);
        }
      },
      arg.value);
}

}  // namespace

timeline::timeline(const std::string& path) : file_(std::fopen(path.c_str(), "wb")) {
  if (!file_) throw std::runtime_error("cannot write timeline '" + path + "': " + std::strerror(errno));
  std::setvbuf(file_.get(), nullptr, _IONBF, 0);  // buffer_ is the only buffer
  buffer_.reserve(buffer_bytes + 4096);
  buffer_ = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
}

timeline::~timeline() {
  close();
}

bool timeline::close() {
  if (file_) {
    buffer_ += "\n]}\n";
    flush();
    if (std::fclose(file_.release()) != 0) failed_ = true;
  }
  return !failed_;
}

std::uint32_t timeline::track(std::string_view process, std::string_view name) {
  if (!on()) return 0;
  std::uint32_t pid = 0;
  std::uint32_t processes = 0;
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    processes = std::max(processes, tracks_[i].pid);
    if (tracks_[i].process != process) continue;
    if (tracks_[i].name == name) return static_cast<std::uint32_t>(i + 1);
    pid = tracks_[i].pid;
  }
  const bool new_process = pid == 0;
  if (new_process) pid = processes + 1;
  tracks_.push_back({std::string(process), std::string(name), pid});
  const auto tid = static_cast<std::uint32_t>(tracks_.size());
  if (new_process) {
    write_metadata("process_name", pid, tid, {"name", process});
    write_metadata("process_sort_index", pid, tid, {"sort_index", std::uint64_t{pid}});
  }
  write_metadata("thread_name", pid, tid, {"name", name});
  write_metadata("thread_sort_index", pid, tid, {"sort_index", std::uint64_t{tid}});
  return tid;
}

void timeline::write_slice(std::uint32_t track, std::string_view name, const sc_core::sc_time& begin,
                           const sc_core::sc_time& end, std::initializer_list<timeline_arg> args) {
  begin_event('X', name, tracks_.at(track - 1).pid, track);
  const std::uint64_t begin_ps = picoseconds(begin);
  buffer_ += ",\"ts\":";
  append_time(buffer_, begin_ps);
  buffer_ += ",\"dur\":";
  append_time(buffer_, picoseconds(end) - begin_ps);
  end_event(args);
}

void timeline::write_instant(std::uint32_t track, std::string_view name, const sc_core::sc_time& at,
                             std::initializer_list<timeline_arg> args) {
  begin_event('i', name, tracks_.at(track - 1).pid, track);
  buffer_ += ",\"s\":\"t\",\"ts\":";
  append_time(buffer_, picoseconds(at));
  end_event(args);
}

void timeline::write_counter(std::uint32_t track, std::string_view name, const sc_core::sc_time& at, double value) {
  begin_event('C', name, tracks_.at(track - 1).pid, track);
  buffer_ += ",\"ts\":";
  append_time(buffer_, picoseconds(at));
  end_event({{"value", value}});
}

void timeline::write_metadata(std::string_view kind, std::uint32_t pid, std::uint32_t tid, const timeline_arg& arg) {
  begin_event('M', kind, pid, tid);
  end_event({arg});
}

void timeline::begin_event(char phase, std::string_view name, std::uint32_t pid, std::uint32_t tid) {
  buffer_ += first_event_ ? "\n{\"ph\":\"" : ",\n{\"ph\":\"";
  first_event_ = false;
  buffer_ += phase;
  buffer_ += "\",\"name\":";
  append_string(buffer_, name);
  buffer_ += ",\"pid\":";
  append_number(buffer_, std::uint64_t{pid});
  buffer_ += ",\"tid\":";
  append_number(buffer_, std::uint64_t{tid});
}

void timeline::end_event(std::initializer_list<timeline_arg> args) {
  if (args.size() != 0) {
    buffer_ += ",\"args\":{";
    const char* separator = "";
    for (const timeline_arg& arg : args) {
      buffer_ += separator;
      append_arg(buffer_, arg);
      separator = ",";
    }
    buffer_ += '}';
  }
  buffer_ += '}';
  if (buffer_.size() >= buffer_bytes) flush();
}

void timeline::flush() {
  if (std::fwrite(buffer_.data(), 1, buffer_.size(), file_.get()) != buffer_.size()) failed_ = true;
  buffer_.clear();
}

}  // namespace dvp::core
