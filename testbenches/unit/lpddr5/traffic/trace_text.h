// A trace from text, read to its end.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "tlm/lpddr5/traffic/trace_reader.h"

namespace dvp::testbenches {

// The bytes as a file; they live longer.
inline std::FILE* file_of(const std::string& text) {
  std::FILE* file = fmemopen(const_cast<char*>(text.data()), text.size(), "rb");
  if (file == nullptr) std::abort();
  return file;
}

struct trace_outcome {
  std::vector<lpddr5::traffic_request> requests;
  std::string error;  // empty: read to the end
};

inline trace_outcome read_trace(const std::string& name, const std::string& text,
                                const lpddr5::trace_options& options = {}) {
  trace_outcome outcome;
  try {
    lpddr5::trace_reader reader(name, file_of(text), options);
    lpddr5::traffic_request request;
    while (reader.next(request)) outcome.requests.push_back(request);
  } catch (const lpddr5::traffic_error& error) {
    outcome.error = error.what();
  }
  return outcome;
}

}  // namespace dvp::testbenches
