// Every form of trace, and what is said about files that are none.
#include "tlm/lpddr5/traffic/trace_reader.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "testbenches/unit/lpddr5/traffic/trace_text.h"

namespace dvp::testbenches {
namespace {

using namespace dvp::lpddr5;

struct expected_request {
  std::uint64_t address, bytes;
  std::int64_t time_ps;
  bool write;
};

void expect(const trace_outcome& got, request_timing timing, const std::vector<expected_request>& wanted) {
  ASSERT_EQ(got.error, "");
  ASSERT_EQ(got.requests.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const traffic_request& r = got.requests[i];
    EXPECT_EQ(r.address, wanted[i].address) << i;
    EXPECT_EQ(r.bytes, wanted[i].bytes) << i;
    EXPECT_EQ(r.time_ps, wanted[i].time_ps) << i;
    EXPECT_EQ(r.write, wanted[i].write) << i;
    EXPECT_EQ(r.timing, timing) << i;
    EXPECT_EQ(r.precision, 8);
    EXPECT_FALSE(r.tagged);
  }
}

TEST(trace_reader, reads_dramsys_absolute_and_relative) {
  const std::string text =
      "# comment\r\n\r\n\n"
      "0:\twrite\t0x0\r\n"
      "7 READ 1a40\n"
      "8: (128) Read 0xFFFFffff0\n"
      "  9:   (1)   wRiTe   0X10   0x0123456789abcdef\n"
      "18446744073:read 0\n";
  const std::vector<expected_request> wanted = {{0, 64, 0, true},
                                                {0x1a40, 64, 8750, false},
                                                {0xffffffff0, 128, 10000, false},
                                                {0x10, 1, 11250, true},
                                                {0, 64, 23058430091250, false}};
  trace_options options;
  options.request_bytes = 64;
  expect(read_trace("t.stl", text, options), request_timing::absolute, wanted);
  expect(read_trace("t.rstl", text, options), request_timing::after_previous, wanted);
  // Extensions decide only when nobody does; without them the first line tells.
  expect(read_trace("t.txt", text, options), request_timing::absolute, wanted);
  options.format = trace_format::rstl;
  expect(read_trace("t.stl", text, options), request_timing::after_previous, wanted);
}

TEST(trace_reader, counts_the_clock_it_is_given) {
  trace_options options;
  options.clock_period_fs = 3'333'333;  // 300 MHz
  expect(read_trace("t.stl", "3: read 0\n1000000: read 20", options), request_timing::absolute,
         {{0, 32, 9999, false}, {0x20, 32, 3333333000, false}});
  // 2^60 ps is the last time; the product of cycle and period needs more than 64 bits here.
  EXPECT_EQ(read_trace("t.stl", "300000000000000: read 0", options).requests.at(0).time_ps, 999999900000000000);
  EXPECT_EQ(read_trace("t.stl", "\n400000000000000: read 0", options).error,
            "t.stl line 2: cycle 400000000000000 is more than 13 days away");
}

TEST(trace_reader, reads_ramulator) {
  expect(read_trace("t.trace", "LD 0x1a40\nst 6720\nR 0X20\nw 64\r\n\n# end\n0x80 R\n160 w"), request_timing::at_once,
         {{0x1a40, 32, 0, false},
          {6720, 32, 0, true},
          {0x20, 32, 0, false},
          {64, 32, 0, true},
          {0x80, 32, 0, false},
          {160, 32, 0, true}});
}

TEST(trace_reader, reads_address_vectors) {
  organisation shape;
  shape.ranks = 2;
  const mapping_bits bits = standard_mapping("row-bank-column-channel", shape, 4, 32, false);
  const address_mapping mapping(bits, shape, 4);
  trace_options options;
  options.mapping = &mapping;
  options.shape = &shape;
  const auto got = read_trace("t", "R 3,1,2,1,32767,63\nW 0,0,0,0,0,1\n", options);
  ASSERT_EQ(got.error, "");
  ASSERT_EQ(got.requests.size(), 2u);
  const location where = mapping.decode(got.requests[0].address);
  EXPECT_EQ(where, (location{.channel = 3, .rank = 1, .bank_group = 2, .bank = 1, .row = 32767, .column = 1008}));
  EXPECT_EQ(got.requests[1].address, mapping.encode({.column = 16}));
  EXPECT_TRUE(got.requests[1].write);

  const auto refused = [&](const char* vector) { return read_trace("t", vector, options).error; };
  EXPECT_EQ(refused("R 4,0,0,0,0,0"), "t line 1: \"4,0,0,0,0,0\": channel 4 is not one of 4");
  EXPECT_EQ(refused("R 0,0,0,0,32768,0"), "t line 1: \"0,0,0,0,32768,0\": row 32768 is not one of 32768");
  EXPECT_EQ(refused("R 0,0,0,0,0"), "t line 1: \"0,0,0,0,0\": expected six numbers: channel,rank,group,bank,row,burst");
  EXPECT_EQ(refused("R 0,0,0,0,0,0,0"),
            "t line 1: \"0,0,0,0,0,0,0\": expected six numbers: channel,rank,group,bank,row,burst");
  EXPECT_NE(refused("R 0,-1,0,0,0,0"), "");
  EXPECT_NE(read_trace("t", "R 0,0,0,0,0,0").error.find("need a memory configuration"), std::string::npos);
}

TEST(trace_reader, reads_dramsim3) {
  trace_options options;
  options.clock_period_fs = 1'000'000;
  const auto wanted =
      std::vector<expected_request>{{0x1a40, 32, 0, false}, {0xbeef, 32, 7000, true}, {0x40, 32, 8000, false}};
  expect(read_trace("t", "0x1a40 READ 0\nbeef write 7\n0x40\tP_MEM_RD  8  \n", options), request_timing::absolute,
         wanted);
}

TEST(trace_reader, tells_forms_apart) {
  const auto form = [](const char* text) {
    const std::string kept = text;
    return trace_reader("t", file_of(kept), {}).format();
  };
  EXPECT_EQ(form("0x40 READ 7\n"), trace_format::dramsim3);
  EXPECT_EQ(form("0: read 40"), trace_format::stl);
  EXPECT_EQ(form("0 (32) read 40"), trace_format::stl);
  EXPECT_EQ(form("0 read 0x40"), trace_format::stl);
  EXPECT_EQ(form("\n# x\nLD 3"), trace_format::ramulator);
  EXPECT_EQ(form("0x40 W"), trace_format::ramulator);
  EXPECT_EQ(read_trace("t", "40 read 40").error,
            "t line 1: its form is that of several traces; say which with --format stl, rstl, ramulator or dramsim3");
  // A reader that was told the form starts at the first line all the same.
  EXPECT_EQ(read_trace("t", "0x40 READ 7\n0x80 READ 8\n").requests.size(), 2u);
}

TEST(trace_reader, names_line_word_and_remedy) {
  struct row {
    const char* name;
    const char* text;
    const char* error;
  };
  const row rows[] = {
      {"t.stl", "0: read 0\n#\n1: raed 0x20\n", "t.stl line 3: \"raed\": expected read or write"},
      {"t.stl", "x: read 0", "t.stl line 1: \"x:\": expected a cycle"},
      {"t.stl", "-1: read 0", "t.stl line 1: \"-1:\": expected a cycle"},
      {"t.stl", "0x10: read 0", "t.stl line 1: \"0x10:\": expected a cycle"},
      {"t.stl", "12", "t.stl line 1: ends too soon: expected read or write"},
      {"t.stl", "12 read", "t.stl line 1: ends too soon: expected an address"},
      {"t.stl", "12 read 0x", "t.stl line 1: \"0x\": expected an address"},
      {"t.stl", "12 read 12g", "t.stl line 1: \"12g\": expected an address"},
      {"t.stl", "12 (64 read 0", "t.stl line 1: \"(64\": expected a number of bytes such as (64)"},
      {"t.stl", "12 (0) read 0", "t.stl line 1: \"(0)\": expected a number of bytes such as (64)"},
      {"t.stl", "12 () read 0", "t.stl line 1: \")\": expected a number of bytes such as (64)"},
      {"t.stl", "99999999999999999999 read 0", "t.stl line 1: \"99999999999999999999\": expected a number below 2^64"},
      {"t.stl", "0 read 10000000000000000", "t.stl line 1: \"10000000000000000\": expected a number below 2^64"},
      {"t", "LD", "t line 1: ends too soon: expected an address, decimal or with 0x"},
      {"t", "LD 1f", "t line 1: \"1f\": expected an address, decimal or with 0x"},
      {"t", "LD 4 5", "t line 1: \"5\": expected the end of the line"},
      {"t", "LD 4\nLOAD 5", "t line 2: \"LOAD\": expected LD, ST, R or W"},
      {"t", "0x40 R\n0x40 X", "t line 2: \"X\": expected R or W"},
      {"t", "0x40 READ 7\n0x40 RAED 8", "t line 2: \"RAED\": expected READ or WRITE"},
      {"t", "0x40 READ 7\n0x40 READ", "t line 2: ends too soon: expected a cycle"},
      {"t", "0x40 READ 7 8", "t line 1: \"8\": expected the end of the line"},
      {"t", "\x01\x02\x03", "t line 1: \"???\": expected LD, ST, R or W"},
  };
  for (const row& r : rows) EXPECT_EQ(read_trace(r.name, r.text).error, r.error) << r.text;
}

TEST(trace_reader, holds_requests_to_the_memory) {
  trace_options options;
  options.memory_bytes = 1024;
  options.address_offset = 0x1000;
  EXPECT_EQ(read_trace("t.stl", "0 read 13e0", options).requests.at(0).address, 0x3e0u);
  EXPECT_EQ(read_trace("t.stl", "0 read 13e1", options).error,
            "t.stl line 1: address 0x13e1: the memory has only 1024 bytes");
  EXPECT_EQ(read_trace("t.stl", "0 read fff", options).error, "t.stl line 1: address 0xfff is below the offset 0x1000");
  EXPECT_NE(read_trace("t.stl", "0 (18446744073709551615) read 1000", options).error, "");
}

TEST(trace_reader, empty_files_hold_no_requests) {
  for (const char* text : {"", "\n", "\r\n", "# only a comment", "\n\n  \n"}) {
    const auto got = read_trace("t", text);
    EXPECT_EQ(got.error, "");
    EXPECT_TRUE(got.requests.empty());
  }
}

TEST(trace_reader, bounds_the_length_of_lines) {
  const std::string longest = "0: write 20 0x" + std::string(line_file::longest_line - 14, 'a');
  EXPECT_EQ(read_trace("t.stl", longest).requests.size(), 1u);
  EXPECT_EQ(read_trace("t.stl", longest + "\r\n").error, "t.stl line 1: longer than 65536 bytes; is this a trace?");
  EXPECT_EQ(read_trace("t.stl", "0 read 0\n" + std::string(3 << 20, 'x')).error,
            "t.stl line 2: longer than 65536 bytes; is this a trace?");
}

// Lines of every length across the ends of the buffer; the oracle is the list they were written from.
TEST(trace_reader, streams_files_longer_than_its_buffer) {
  std::string text;
  std::vector<expected_request> wanted;
  for (std::uint64_t i = 0; i < 150'000; ++i) {
    char line[64];
    std::snprintf(line, sizeof line, "%llu:%*sread 0x%llx\n", static_cast<unsigned long long>(i),
                  static_cast<int>(1 + i % 13), "", static_cast<unsigned long long>(i * i));
    text += line;
    wanted.push_back({i * i, 32, static_cast<std::int64_t>(i * 1250), false});
  }
  expect(read_trace("t.stl", text), request_timing::absolute, wanted);
}

TEST(trace_reader, opens_files) {
  const auto folder = std::filesystem::temp_directory_path() / ("dvp-traces-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "a.rstl") << "5: read 40";
  traffic_request request;
  trace_reader reader((folder / "a.rstl").string(), {});
  ASSERT_TRUE(reader.next(request));
  EXPECT_EQ(request.timing, request_timing::after_previous);
  EXPECT_FALSE(reader.next(request));
  EXPECT_FALSE(reader.next(request));
  const auto error_of = [](const std::string& path) -> std::string {
    try {
      trace_reader(path, {});
    } catch (const traffic_error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_of(folder.string()), folder.string() + ": is a directory; give a trace file");
  EXPECT_EQ(error_of("/nowhere.stl"), "/nowhere.stl: cannot be read: No such file or directory");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace dvp::testbenches
