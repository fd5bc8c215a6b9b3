// How many million instructions per second of processor time a hart executes, alone and as a SystemC module: a dot
// product of floats and bytes, a hash over bytes and a pass of a sort over words, compiled for RV64.
//
//   rv64_bench [rounds]      rounds of the three loops, 20000 unless said
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "tlm/core/bus.h"
#include "tlm/core/host_pages.h"
#include "tlm/cpu/rv64/hart.h"
#include "tlm/cpu/rv64/rv64_cpu.h"
#include "tlm/memory/simple_memory.h"

namespace {

using namespace dvp;
using cpu::rv64::slice_end;

// The kernel prints its banner before sc_main, so it is told to be quiet before main.
[[maybe_unused]] const int quiet = setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);

constexpr std::uint64_t base = 0x8000'0000;
constexpr std::uint64_t ram_bytes = 1U << 20;
constexpr unsigned a0 = 10, a1 = 11;
constexpr std::uint64_t forever = ~0ULL;

double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

std::vector<char> image_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void print(const char* what, std::uint64_t instructions, double seconds) {
  std::printf("%-34s %8.1f MIPS  (%.1f M instructions in %.2f s)\n", what,
              static_cast<double>(instructions) / seconds / 1e6, static_cast<double>(instructions) / 1e6, seconds);
  std::fflush(stdout);
}

struct alone final : cpu::rv64::hart_surroundings {
  core::host_pages ram{ram_bytes};
  bool read(std::uint64_t, std::uint32_t, std::uint64_t&) override { return false; }
  bool write(std::uint64_t, std::uint32_t, std::uint64_t) override { return false; }
  std::optional<cpu::rv64::granted_memory> grant(std::uint64_t address) override {
    if (address - base >= ram_bytes) return std::nullopt;
    return cpu::rv64::granted_memory{base, base + ram_bytes - 1, ram.data(), true, true, true};
  }
  std::uint64_t time_ns() override { return 0; }
  void code_changed() override {}
};

struct nobody final : cpu::rv64::observer {
  std::uint64_t told = 0;
  void instruction(std::uint32_t, const cpu::rv64::executed_instruction&) override { ++told; }
  void trap(std::uint32_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t) override {}
};

void run_alone(const char* what, const std::vector<char>& image, std::uint64_t rounds, std::uint64_t slice,
               cpu::rv64::observer* watcher) {
  alone machine;
  std::memcpy(machine.ram.data(), image.data(), image.size());
  cpu::rv64::hart_config config;
  config.reset_pc = base;
  cpu::rv64::hart hart(config, machine);
  hart.set_x(a0, rounds);
  hart.observe(watcher);
  const double begin = processor_seconds();
  slice_end end = slice_end::limit;
  while (end != slice_end::sleep) {
    hart.set_interrupts(0);
    end = hart.run(slice == forever ? forever : hart.now() + slice);
    if (end == slice_end::fault) std::exit(2);
  }
  print(what, hart.figures().instructions, processor_seconds() - begin);
}

// The modules of one kernel, run one after another: the next starts when the one before sleeps.
class modules {
 public:
  modules(const std::vector<char>& image, std::uint64_t rounds) : image_(image), rounds_(rounds) {}

  void add(const std::string& what, const sc_core::sc_time& quantum) {
    const std::string number = std::to_string(machines_.size());
    machines_.push_back(std::make_unique<machine>(what, number, quantum));
    machine& m = *machines_.back();
    std::memcpy(m.ram.data(), image_.data(), image_.size());
    m.cpu.core().set_x(a1, cpu::rv64::software_interrupt);
  }
  void run() {
    // With no rounds to do all of them fall asleep at once; then each is sent back with rounds.
    sc_core::sc_start();
    for (const auto& m : machines_) {
      m->cpu.core().set_x(a0, rounds_);
      m->cpu.core().set_x(a1, 0);
      m->cpu.core().set_pc(base);
      const std::uint64_t before = m->cpu.core().figures().instructions;
      const double begin = processor_seconds();
      m->wake.write(true);
      sc_core::sc_start();
      print(m->what.c_str(), m->cpu.core().figures().instructions - before, processor_seconds() - begin);
    }
  }

 private:
  struct machine {
    std::string what;
    core::statistics figures;
    core::timeline timeline;
    cpu::rv64::rv64_cpu cpu;
    core::bus wires;
    memory::simple_memory ram;
    sc_core::sc_signal<bool> low, wake;

    machine(const std::string& title, const std::string& number, const sc_core::sc_time& quantum)
        : what(title),
          cpu(("cpu" + number).c_str(), config_of(quantum), figures, timeline),
          wires(("bus" + number).c_str(), {{"ram", base, ram_bytes}}, 1, sc_core::SC_ZERO_TIME),
          ram(("ram" + number).c_str(), {ram_bytes, {}, 1'000'000'000, 0, 0, true, {}}, figures, timeline) {
      cpu.socket.bind(wires.from_initiator(0));
      wires.to_target("ram").bind(ram.socket);
      cpu.software.bind(wake);
      cpu.timer.bind(low);
      cpu.external.bind(low);
    }
    static cpu::rv64::rv64_cpu_config config_of(const sc_core::sc_time& quantum) {
      cpu::rv64::rv64_cpu_config config;
      config.reset_pc = base;
      config.clock_hz = 1'000'000'000;
      config.quantum = quantum;
      return config;
    }
  };

  const std::vector<char>& image_;
  std::uint64_t rounds_;
  std::vector<std::unique_ptr<machine>> machines_;
};

}  // namespace

int sc_main(int argc, char* argv[]) {
  const std::vector<char> image = image_of(DVP_RV64_BENCH_PROGRAM);
  if (image.empty() || image.size() > ram_bytes) {
    std::fprintf(stderr, "%s cannot be read; build the target rv64_bench_program\n", DVP_RV64_BENCH_PROGRAM);
    return 2;
  }
  const std::uint64_t rounds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20'000;
  constexpr std::uint64_t cycle = cpu::rv64::units_per_cycle;
  run_alone("hart alone", image, rounds, forever, nullptr);
  run_alone("hart alone, slices of 10000 cycles", image, rounds, 10'000 * cycle, nullptr);
  run_alone("hart alone, slices of 100 cycles", image, rounds / 10, 100 * cycle, nullptr);
  nobody watcher;
  run_alone("hart alone, observed", image, rounds / 10, forever, &watcher);

  modules all(image, rounds / 2);
  all.add("module, quantum 1 ms", {1, sc_core::SC_MS});
  all.add("module, quantum 10 us", {10, sc_core::SC_US});
  all.add("module, quantum 1 us", {1, sc_core::SC_US});
  all.add("module, quantum 100 ns", {100, sc_core::SC_NS});
  all.run();
  return 0;
}
