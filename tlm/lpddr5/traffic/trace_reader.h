// Trace files of the DRAM simulators in use, read as a stream: memory stays bounded for files of any size.
//
//   stl        DRAMSys, absolute clocks:  "120: (64) read 0x1a40"   cycle, optional bytes, direction, address in
//                                         hexadecimal with or without 0x; write data after it is passed over
//   rstl       DRAMSys, relative clocks:  the same, the cycle counts from the acceptance of the request before
//   ramulator  Ramulator 2:               "LD 0x1a40", "ST 6720", "R 0,0,3,1,420,5" (channel, rank, bank group, bank,
//              row, burst of the row), and the older "R 0x1a40", "0x1a40 R": no times, as fast as accepted
//   dramsim3   DRAMsim3:                  "0x1a40 READ 120"         address in hexadecimal, direction, clock
//
// Keywords may have any letter case, lines end in LF or CRLF, empty lines and lines starting with # are passed over.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tlm/lpddr5/device/device.h"
#include "tlm/lpddr5/engine/address_mapping.h"
#include "tlm/lpddr5/traffic/line_file.h"
#include "tlm/lpddr5/traffic/traffic_source.h"

namespace dvp::lpddr5 {

enum class trace_format : std::uint8_t { stl, rstl, ramulator, dramsim3 };
constexpr std::string_view trace_format_names[] = {"stl", "rstl", "ramulator", "dramsim3"};

constexpr std::string_view name_of(trace_format format) {
  return trace_format_names[static_cast<std::size_t>(format)];
}
std::optional<trace_format> trace_format_named(std::string_view name);

struct trace_options {
  std::optional<trace_format> format;         // empty: by the file's extension, else by its first line
  std::uint64_t clock_period_fs = 1'250'000;  // of the clock that the trace counts
  std::uint64_t request_bytes = 32;           // where the line does not say
  std::uint64_t memory_bytes = 0;             // requests beyond are errors; 0: not checked
  std::uint64_t address_offset = 0;           // subtracted from addresses
  const address_mapping* mapping = nullptr;   // for address vectors; null: they are errors
  const organisation* shape = nullptr;        // with mapping
};

class trace_reader : public traffic_source {
 public:
  // traffic_error when the file cannot be read or its format is not to be told.
  trace_reader(const std::string& path, const trace_options& options);
  // Takes the file.
  trace_reader(const std::string& name, std::FILE* file, const trace_options& options);

  // traffic_error 'trace.stl line 4012: "raed": expected read or write' and the like.
  bool next(traffic_request& request) override;

  trace_format format() const { return format_; }

 private:
  struct cursor {
    const char* at;
    const char* end;
  };
  trace_reader(line_file lines, const trace_options& options);
  bool next_line(cursor& line);
  trace_format detect();
  trace_format form_of(cursor line);
  void read_dramsys(cursor line, traffic_request& request);
  void read_ramulator(cursor line, traffic_request& request);
  void read_dramsim3(cursor line, traffic_request& request);
  std::uint64_t vector_address(cursor word, cursor line);
  void set_address(traffic_request& request, std::uint64_t address);
  std::int64_t time_of(std::uint64_t cycle);
  std::uint64_t number(cursor& line, bool hexadecimal, const char* expected);
  void end_of_line(cursor line);
  [[noreturn]] void refuse(cursor rest, const char* expected);
  [[noreturn]] void refuse(const std::string& why);

  line_file lines_;
  trace_options options_;
  std::uint64_t plain_cycles_;  // up to here a cycle's time is found in 64 bits
  trace_format format_;
};

}  // namespace dvp::lpddr5
