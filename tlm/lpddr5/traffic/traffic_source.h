// A stream of requests in program order: a trace file or a generator.
#pragma once

#include <cstdint>
#include <stdexcept>

namespace dvp::lpddr5 {

enum class request_timing : std::uint8_t {
  at_once,        // as soon as the request before it was accepted
  absolute,       // ... and not before `time_ps`
  after_previous  // ... and not before `time_ps` after that
};

struct traffic_request {
  std::uint64_t address = 0;  // first byte
  std::uint64_t bytes = 0;    // 1 or more; of a tagged read: 8-bit elements
  std::int64_t time_ps = 0;
  request_timing timing = request_timing::at_once;
  bool write = false;
  std::uint8_t precision = 8;  // bits per element that cross the I/O: 8, 4, 2, 0
  bool tagged = false;         // carries a precision tag
};

// A trace or parameter that cannot be used; what() is one sentence that names file and line, or the parameter.
class traffic_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class traffic_source {
 public:
  virtual ~traffic_source() = default;
  // Fills in the next request; false at the end, and from then on.
  virtual bool next(traffic_request& request) = 0;
};

}  // namespace dvp::lpddr5
