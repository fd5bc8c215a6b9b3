// The text of the instruction and function traces, of coverage, and what filters let through.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "testbenches/lib/scratch_file.h"
#include "testbenches/unit/cpu/trace/instruction_stream.h"
#include "tlm/cpu/trace/coverage.h"
#include "tlm/cpu/trace/fan_out.h"
#include "tlm/cpu/trace/function_trace.h"
#include "tlm/cpu/trace/instruction_trace.h"
#include "tlm/cpu/trace/trace_text.h"

namespace dvp::cpu::trace {
namespace {

constexpr std::uint64_t clock_hz = 2'000'000'000;
constexpr std::uint32_t addi_a0 = 0x0015'0513, jal_f = 0x0fc0'00ef, ret = 0x0000'8067, mret = 0x3020'0073;

// main adds, calls f, which returns; an illegal instruction in main.
void example(instruction_stream& run) {
  run.at(main_at, flow::straight, 3, addi_a0).at(main_at + 4, flow::call, 2, jal_f).at(f_at, flow::ret, 1, ret);
  run.at(main_at + 8, flow::straight, 1, 0).trap(illegal_cause, main_at + 8, handler_at, 0xbad);
  run.at(handler_at, flow::trap_return, 1, mret).at(main_at + 12, flow::straight, 1);
}

TEST(instruction_trace, text) {
  const core::symbol_table symbols = example_symbols();
  const test::scratch_file file("trace.txt");
  instruction_trace trace(file.path(), clock_hz, symbols);
  instruction_stream run(trace, 1);
  example(run);
  trace.finish();
  EXPECT_EQ(file.text(),
            "#             ns hart pc         where and what\n"
            "           0.000    1 0x00001000 main: addi a0,a0,1\n"
            "           1.500    1 0x00001004 main+0x4: jal f(int)\n"
            "           2.500    1 0x00001100 f(int): ret\n"
            "           3.000    1 0x00001008 main+0x8: unimp\n"
            "           3.000    1 trap: illegal instruction at main+0x8, value 0xbad\n"
            "           3.500    1 0x00002000 handler: mret\n"
            "           4.000    1 0x0000100c main+0xc: nop\n");
}

TEST(instruction_trace, filter) {
  const core::symbol_table symbols = example_symbols();
  const test::scratch_file file("trace.txt");
  instruction_trace trace(file.path(), clock_hz, symbols, address_filter("f", symbols));
  instruction_stream run(trace);
  example(run);
  trace.finish();
  EXPECT_EQ(file.text(),
            "#             ns hart pc         where and what\n           2.500    0 0x00001100 f(int): ret\n");
}

TEST(function_trace, text) {
  const core::symbol_table symbols = example_symbols();
  const test::scratch_file file("trace.txt");
  function_trace trace(file.path(), clock_hz, symbols);
  instruction_stream run(trace);
  example(run);
  run.slept = 100;
  run.at(main_at + 16, flow::jump).at(h_at);
  trace.finish();
  EXPECT_EQ(file.text(),
            "#             ns hart\n"
            "           0.000    0 > main\n"
            "           2.500    0   > f(int)\n"
            "           3.000    0   < f(int)\n"
            "           3.000    0   > handler  (trap: illegal instruction at main+0x8, value 0xbad)\n"
            "           4.000    0   < handler\n"
            "          55.000    0   > h  (tail call)\n"
            "          55.500    0   < h\n"
            "          55.500    0 < main\n");
}

TEST(fan_out, tells_everybody) {
  coverage one;
  coverage two;
  fan_out all;
  EXPECT_TRUE(all.empty());
  all.add(one);
  all.add(two);
  EXPECT_FALSE(all.empty());
  instruction_stream run(all);
  example(run);
  EXPECT_EQ(one.count(main_at), 1U);
  EXPECT_EQ(two.count(main_at), 1U);
  EXPECT_EQ(two.count(g_at), 0U);
}

TEST(trace_text, times) {
  EXPECT_EQ(at_time(0, 1), "           0.000");
  EXPECT_EQ(at_time(128, 1'000'000'000), "           0.500");
  EXPECT_EQ(at_time(256, 3'000'000'000), "           0.333");
  EXPECT_EQ(at_time(256'000'000'000'000, 1'500'000'000), "666666666666.666");
}

TEST(trace_text, causes) {
  EXPECT_EQ(cause_name(timer_cause), "machine timer interrupt");
  EXPECT_EQ(cause_name(timer_cause + 4), "machine external interrupt");
  EXPECT_EQ(cause_name(timer_cause + 5), "interrupt 12");
  EXPECT_EQ(cause_name(5), "load access fault");
  EXPECT_EQ(cause_name(10), "cause 10");
  EXPECT_EQ(cause_name(24), "cause 24");
}

TEST(address_filter, addresses) {
  const core::symbol_table symbols = example_symbols();
  const address_filter filter("0x1000-1005", symbols);
  EXPECT_FALSE(filter.passes(0xfff));
  EXPECT_TRUE(filter.passes(0x1000));
  EXPECT_TRUE(filter.passes(0x1004));
  EXPECT_FALSE(filter.passes(0x1006));
  EXPECT_TRUE(address_filter().passes(0));
  const address_filter bare("80001000-800010fe", symbols);
  EXPECT_TRUE(bare.passes(0x8000'1000) && bare.passes(0x8000'10fe));
  EXPECT_FALSE(bare.passes(0x8000'10ff));
  EXPECT_TRUE(address_filter("a0-ff", symbols).passes(0xa0));
  for (const char* bad :
       {"0x1000", "0x1000-", "0x1000-0xfff", "0x1000-0x2000x", "0xg-0x2000", "0x10000000000000000-0x2", "1-2-3"}) {
    EXPECT_THROW(address_filter(bad, symbols), std::invalid_argument) << bad;
  }
}

TEST(address_filter, functions) {
  const core::symbol_table symbols({{0x100, 0x10, "run()", true},
                                    {0x110, 0x10, "run(int)", true},
                                    {0x120, 0, "start", true},
                                    {0x140, 0x10, "table", false}});
  const address_filter both("run", symbols);
  EXPECT_TRUE(both.passes(0x100) && both.passes(0x11f));
  EXPECT_FALSE(both.passes(0x120));
  const address_filter one("run(int)", symbols);
  EXPECT_FALSE(one.passes(0x100));
  EXPECT_TRUE(one.passes(0x110));
  EXPECT_TRUE(address_filter("start", symbols).passes(0x13e));  // up to the next symbol
  try {
    address_filter("strat", symbols);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "trace filter strat: the image has no function of that name; did you mean start?");
  }
  EXPECT_THROW(address_filter("table", symbols), std::invalid_argument);
  EXPECT_THROW(address_filter("", symbols), std::invalid_argument);
}

TEST(address_filter, last_part_of_a_name) {
  const core::symbol_table symbols({{0x100, 0x10, "dvp::npu::run(int)", true},
                                    {0x110, 0x10, "dvp::npu::run(long)", true},
                                    {0x120, 0x10, "dvp::npu::(anonymous namespace)::stop()", true},
                                    {0x130, 0x10, "dvp::uart::go()", true},
                                    {0x140, 0x10, "dvp::npu::go()", true}});
  const address_filter run("run", symbols);
  EXPECT_TRUE(run.passes(0x100) && run.passes(0x110));
  EXPECT_FALSE(run.passes(0x120));
  EXPECT_TRUE(address_filter("stop", symbols).passes(0x120));
  EXPECT_TRUE(address_filter("dvp::npu::(anonymous namespace)::stop", symbols).passes(0x120));
  try {
    address_filter("go", symbols);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "trace filter go: may be any of dvp::npu::go, dvp::uart::go; write one of them");
  }
}

TEST(function_trace, a_function_without_symbol_is_named_by_its_entry) {
  const core::symbol_table none;
  const test::scratch_file file("trace.txt");
  function_trace trace(file.path(), clock_hz, none);
  instruction_stream run(trace);
  run.at(main_at, flow::call, 1, jal_f).at(f_at, flow::ret, 1, ret).at(main_at + 4, flow::straight, 1);
  trace.finish();
  EXPECT_EQ(file.text(),
            "#             ns hart\n"
            "           0.000    0 > 0x1000\n"
            "           0.500    0   > 0x1100\n"
            "           1.000    0   < 0x1100\n"
            "           1.500    0 < 0x1000\n");
}

TEST(coverage, text) {
  const core::symbol_table symbols = example_symbols();
  source_lines lines;
  lines.add(main_at, "/src/main.cpp", 3);
  lines.add(main_at + 4, "/src/main.cpp", 4);
  lines.add(main_at + 8, "/src/main.cpp", 4);
  lines.add(g_at, "/src/main.cpp", 10);
  lines.add(f_at, "/src/f.h", 2);
  lines.add(h_at, "/elsewhere/libgcc.c", 7);
  coverage data;
  instruction_stream run(data);
  run.at(main_at).at(main_at + 4).at(main_at + 8).at(main_at + 8).at(f_at);
  const test::scratch_file file("coverage.info");
  output_file out(file.path());
  const auto known = [](const std::string& source) { return source != "/elsewhere/libgcc.c"; };
  EXPECT_EQ(data.write(out, symbols, lines, known), 1U);
  EXPECT_EQ(file.text(),
            "TN:\nSF:/src/f.h\nFN:2,f(int)\nFNDA:1,f(int)\nFNF:1\nFNH:1\nDA:2,1\nLF:1\nLH:1\nend_of_record\n"
            "TN:\nSF:/src/main.cpp\nFN:10,g\nFN:3,main\nFNDA:0,g\nFNDA:1,main\nFNF:2\nFNH:1\n"
            "DA:3,1\nDA:4,2\nDA:10,0\nLF:3\nLH:2\nend_of_record\n");
}

TEST(source_lines, of_an_image) {
  if (std::system("riscv64-unknown-elf-gcc --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no RISC-V compiler";
  const test::scratch_file source("lines.S");
  const test::scratch_file image("lines.elf");
  std::ofstream(source.path()) << ".option norvc\none:\n\n  li a0, 1\n  ret\ntwo:  addi a0, a0, 2\n  ret\n";
  const std::string command = "riscv64-unknown-elf-gcc -g -nostdlib -Wl,-Ttext=0x80000000 -Wl,-e,0x80000000 -o '" +
                              image.path() + "' '" + source.path() + "'";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const core::symbol_table symbols({{0x8000'0000, 8, "one", true}, {0x8000'0008, 8, "two", true}});
  const source_lines lines(image.path(), symbols);
  EXPECT_EQ(lines.file(lines.at(0x8000'0000).file), source.path());
  EXPECT_EQ(lines.at(0x8000'0000).line, 4U);
  EXPECT_EQ(lines.at(0x8000'0004).line, 5U);
  EXPECT_EQ(lines.at(0x8000'0008).line, 6U);
  EXPECT_EQ(lines.at(0x8000'000c).line, 7U);
  EXPECT_EQ(lines.at(0x8000'0010).line, 0U);
}

TEST(source_lines, an_image_that_is_none) {
  if (std::system("riscv64-unknown-elf-addr2line --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no addr2line";
  const core::symbol_table symbols({{0x8000'0000, 4, "one", true}});
  try {
    source_lines("/nowhere/image.elf", symbols);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("/nowhere/image.elf"), std::string::npos);
  }
}

TEST(output_file, an_old_file_stays_until_the_new_one_is_complete) {
  const test::scratch_file file("trace.txt");
  std::ofstream(file.path()) << "old";
  {
    output_file dropped(file.path());
    dropped.write("half");
    EXPECT_EQ(file.text(), "old");
  }
  EXPECT_EQ(file.text(), "old");
  EXPECT_FALSE(std::filesystem::exists(file.path() + ".part"));
  output_file whole(file.path());
  whole.write("new");
  whole.finish();
  EXPECT_EQ(file.text(), "new");
  EXPECT_FALSE(std::filesystem::exists(file.path() + ".part"));
}

TEST(output_file, says_what_cannot_be_written) {
  const core::symbol_table symbols;
  EXPECT_THROW(instruction_trace("/nowhere/trace.txt", clock_hz, symbols), std::runtime_error);
  function_trace full("/dev/full", clock_hz, symbols);
  EXPECT_THROW(full.finish(), std::runtime_error);
}

}  // namespace
}  // namespace dvp::cpu::trace
