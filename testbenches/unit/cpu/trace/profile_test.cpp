// Costs of streams added up by hand, and of random call trees that the test adds up itself as it makes them.
#include "tlm/cpu/trace/profile.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <random>

#include "testbenches/lib/scratch_file.h"
#include "testbenches/unit/cpu/trace/instruction_stream.h"
#include "tlm/cpu/trace/callgrind_file.h"

namespace dvp::cpu::trace {

inline void PrintTo(const cost& c, std::ostream* out) {
  *out << c.instructions << " " << c.cycles << " " << c.waiting;
}

namespace {

// main: 2 + 1 cycles, calls f twice. f: 5 cycles, calls itself once, waits 10 in the inner one. A timer interrupt in
// main takes 4 cycles and its entry 6.
void example(instruction_stream& run) {
  run.at(main_at, flow::call, 2);
  run.at(f_at, flow::straight, 2).at(f_at + 4, flow::call, 3);
  run.at(f_at, flow::straight, 2).at(f_at + 8, flow::ret, 3);
  run.cycle += 10;
  run.at(f_at + 8, flow::ret, 1);
  run.at(main_at + 4, flow::straight, 1).trap(timer_cause, main_at + 8, handler_at);
  run.cycle += 6;
  run.at(handler_at, flow::trap_return, 4).at(main_at + 8, flow::jump, 1);
}

TEST(profile, costs_by_hand) {
  const core::symbol_table symbols = example_symbols();
  profile data(symbols);
  instruction_stream run(data);
  example(run);
  data.finish();
  EXPECT_EQ(data.total(), (cost{9, 19, 16}));
  EXPECT_EQ(data.by_address().get(f_at), (cost{2, 4, 0}));
  EXPECT_EQ(data.by_address().get(f_at + 8), (cost{2, 4, 10}));
  EXPECT_EQ(data.by_address().get(main_at + 4), (cost{1, 1, 6}));
  const auto rows = data.by_function();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].name, "f(int)");
  EXPECT_EQ(rows[0].calls, 2U);
  EXPECT_EQ(rows[0].self, (cost{5, 11, 10}));
  EXPECT_EQ(rows[0].inclusive, (cost{5, 11, 10}));  // not twice for the recursion
  EXPECT_EQ(rows[1].name, "main");
  EXPECT_EQ(rows[1].self, (cost{3, 4, 6}));
  EXPECT_EQ(rows[1].inclusive, (cost{9, 19, 16}));
  EXPECT_EQ(rows[2].name, "handler");
  EXPECT_EQ(rows[2].inclusive, (cost{1, 4, 0}));
  EXPECT_EQ(data.edges().at({main_at, main_at, f_at}).inclusive, (cost{5, 11, 10}));
  EXPECT_EQ(data.edges().at({f_at, f_at + 4, f_at}).inclusive, (cost{2, 5, 10}));
  EXPECT_EQ(data.edges().at({main_at, main_at + 8, handler_at}).calls, 1U);
  EXPECT_EQ(data.flat(2),
            "     cycles       %  incl. %  instructions       %     waiting      calls  function\n"
            "         11   57.89    57.89             5   55.56          10          2  f(int)\n"
            "          4   21.05   100.00             3   33.33           6          1  main\n"
            "  and 1 more\n");
}

TEST(profile, later_calls_count_again) {
  const core::symbol_table symbols = example_symbols();
  profile data(symbols);
  instruction_stream run(data);
  example(run);
  example(run);
  data.finish();
  const auto rows = data.by_function();
  EXPECT_EQ(rows[0].name, "f(int)");
  EXPECT_EQ(rows[0].calls, 4U);
  EXPECT_EQ(rows[0].inclusive, (cost{10, 22, 20}));
  EXPECT_EQ(data.edges().at({main_at, main_at, f_at}).inclusive, (cost{10, 22, 20}));
}

TEST(profile, an_instruction_that_faults_is_not_counted) {
  const core::symbol_table symbols = example_symbols();
  profile data(symbols);
  instruction_stream run(data);
  run.at(main_at).at(main_at + 4).trap(illegal_cause, main_at + 4, handler_at).at(handler_at, flow::trap_return);
  run.at(main_at + 8).trap(timer_cause, main_at + 8, handler_at);
  data.finish();
  EXPECT_EQ(data.total(), (cost{3, 4, 0}));
}

TEST(profile, nothing_executed) {
  const core::symbol_table symbols;
  profile data(symbols);
  data.finish();
  EXPECT_EQ(data.total(), cost());
  EXPECT_TRUE(data.by_function().empty());
}

// A call tree made at random; knows its own costs because it recurses itself.
class random_tree {
 public:
  random_tree(unsigned seed, rv64::observer& watcher) : random_(seed), run_(watcher) {}

  // The function's body up to its return, or that of what it ends with a jump to.
  cost body(std::uint64_t begin, unsigned depth) {
    auto& mine = self[begin];
    ++calls[begin];
    cost all;
    const auto spend = [&](std::uint64_t offset, flow control) {
      const auto cycles = static_cast<std::uint32_t>(random_() % 4);
      run_.at(begin + offset, control, cycles);
      const std::uint64_t waited = random_() % 5 == 0 ? random_() % 7 : 0;
      run_.cycle += waited;
      mine += cost{1, cycles, waited};
      all += cost{1, cycles, waited};
    };
    spend(0, flow::straight);
    for (std::uint64_t offset = 4; offset < 0x40; offset += 4) {
      if (depth > 0 && random_() % 4 == 0) {
        spend(offset, flow::call);
        const std::uint64_t callee = pick();
        const cost inner = body(callee, depth - 1);
        edges[{begin, begin + offset, callee}] += inner;
        all += inner;
      } else {
        spend(offset, flow::straight);
      }
    }
    if (depth > 0 && random_() % 3 == 0) {
      spend(0x40, flow::jump);
      // Into the handler, which nothing else enters, so that it cannot be a jump within a chain.
      const cost inner = leaf(handler_at);
      edges[{begin, begin + 0x40, handler_at}] += inner;
      return all += inner;
    }
    spend(0x40, flow::ret);
    return all;
  }

  std::map<std::uint64_t, cost> self;
  std::map<std::uint64_t, std::uint64_t> calls;
  std::map<profile::edge_key, cost> edges;

 private:
  std::uint64_t pick() { return f_at + random_() % 3 * 0x100; }
  cost leaf(std::uint64_t begin) {
    ++calls[begin];
    run_.at(begin, flow::ret, 2);
    self[begin] += cost{1, 2, 0};
    return {1, 2, 0};
  }

  std::mt19937 random_;
  instruction_stream run_;
};

TEST(profile, random_trees) {
  constexpr unsigned seed = 2026;
  std::printf("seeds from %u\n", seed);
  const core::symbol_table symbols = example_symbols();
  for (unsigned i = 0; i < 20; ++i) {
    profile data(symbols);
    random_tree tree(seed + i, data);
    const cost all = tree.body(main_at, 5);
    data.finish();
    EXPECT_GT(all.instructions, 17U);
    for (const function_cost& row : data.by_function()) {
      EXPECT_EQ(row.self.instructions, tree.self[row.begin].instructions) << "seed " << seed + i << " " << row.name;
      EXPECT_EQ(row.self.cycles, tree.self[row.begin].cycles) << "seed " << seed + i << " " << row.name;
      EXPECT_EQ(row.calls, tree.calls[row.begin]) << "seed " << seed + i << " " << row.name;
    }
    ASSERT_EQ(data.edges().size(), tree.edges.size()) << "seed " << seed + i;
    for (const auto& [key, edge] : data.edges()) {
      EXPECT_EQ(edge.inclusive.instructions, tree.edges[key].instructions) << "seed " << seed + i;
      EXPECT_EQ(edge.inclusive.cycles, tree.edges[key].cycles) << "seed " << seed + i;
    }
  }
}

source_lines example_lines() {
  source_lines lines;
  lines.add(main_at, "/src/main.cpp", 3);
  lines.add(main_at + 4, "/src/main.cpp", 4);
  lines.add(main_at + 8, "/src/inline.h", 9);
  lines.add(f_at, "/src/f.cpp", 1);
  lines.add(f_at + 4, "/src/f.cpp", 2);
  lines.add(f_at + 8, "/src/f.cpp", 3);
  return lines;
}

TEST(callgrind_file, text) {
  const core::symbol_table symbols = example_symbols();
  profile data(symbols);
  instruction_stream run(data);
  example(run);
  data.finish();
  const test::scratch_file file("callgrind.out");
  output_file out(file.path());
  write_callgrind(out, "image.elf", data, example_lines());
  EXPECT_EQ(file.text(),
            "# callgrind format\nversion: 1\ncreator: dllm-vp\ncmd: image.elf\npositions: instr line\n"
            "events: Instructions Cycles Waiting\nsummary: 9 19 16\n"
            "\nfl=(1) /src/main.cpp\nfn=(1) main\n"
            "0x1000 3 1 2 0\n0x1004 4 1 1 6\nfi=(2) /src/inline.h\n0x1008 9 1 1 0\n"
            "fi=(1)\ncfi=(3) /src/f.cpp\ncfn=(2) f(int)\ncalls=1 0x1100 1\n0x1000 3 5 11 10\n"
            "fi=(2)\ncfi=(4) ???\ncfn=(3) handler\ncalls=1 0x2000 0\n0x1008 9 1 4 0\n"
            "\nfl=(3)\nfn=(2)\n0x1100 1 2 4 0\n0x1104 2 1 3 0\n0x1108 3 2 4 10\n"
            "cfi=(3)\ncfn=(2)\ncalls=1 0x1100 1\n0x1104 2 2 5 10\n"
            "\nfl=(4)\nfn=(3)\n0x2000 0 1 4 0\n");
}

// Valgrind's own reader adds the file up to the same figures.
TEST(callgrind_file, callgrind_annotate_reads_it) {
  if (std::system("command -v callgrind_annotate >/dev/null") != 0) GTEST_SKIP() << "valgrind is not installed";
  const core::symbol_table symbols = example_symbols();
  profile data(symbols);
  instruction_stream run(data);
  for (int i = 0; i < 100; ++i) example(run);
  data.finish();
  const test::scratch_file file("callgrind.out");
  output_file out(file.path());
  write_callgrind(out, "image.elf", data, example_lines());
  std::string said;
  const std::string command = "callgrind_annotate --auto=no --threshold=100 --show-percs=no " + file.path() + " 2>&1";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  for (int c = std::fgetc(pipe.get()); c != EOF; c = std::fgetc(pipe.get())) {
    if (c != ' ' && c != ',') said += static_cast<char>(c);
  }
  for (const char* expected : {"Instructions", "90019001600PROGRAMTOTALS",
                               "5001100100"
                               "0/src/f.cpp:f(int)"}) {
    EXPECT_NE(said.find(expected), std::string::npos) << expected << "\n" << said;
  }
}

}  // namespace
}  // namespace dvp::cpu::trace
