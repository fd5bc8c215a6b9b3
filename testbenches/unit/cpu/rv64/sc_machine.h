// Harts in a SystemC platform of plain parts: memory, a device that drives their interrupt lines, an end.
//
//   0x8000_0000  1 MiB of memory
//   0x1000_0000  line device; per hart h at 0x100 h, accesses of 4 bytes, 3 ns each beside the bus's 2 ns:
//                +0 software, +8 timer, +16 external: bit 0 is the level that the line takes, bits 31..1 after how many
//                ns +0x40 storage
//   0x0010_0000  the end: a write stops this hart's run at 1000 ns later boundaries of the kernel; value recorded
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "testbenches/unit/cpu/rv64/program.h"
#include "tlm/core/bus.h"
#include "tlm/core/protocol_checker.h"
#include "tlm/core/sim_time.h"
#include "tlm/cpu/rv64/rv64_cluster.h"
#include "tlm/cpu/rv64/rv64_cpu.h"
#include "tlm/memory/simple_memory.h"
#include "tlm_utils/simple_target_socket.h"

namespace dvp::test {

class line_device : public sc_core::sc_module {
 public:
  static constexpr std::size_t lines_per_hart = 3;

  tlm_utils::simple_target_socket<line_device> socket;
  sc_core::sc_vector<sc_core::sc_signal<bool>> lines;  // software, timer, external of hart 0, then of hart 1 ...
  std::vector<std::uint64_t> changes_ns;               // of any line, in order
  std::vector<std::string> accesses;                   // "12 ns w +0x8"

  line_device(const sc_core::sc_module_name& name, std::size_t harts)
      : sc_module(name), socket("socket"), lines("line", lines_per_hart * harts), due_(lines.size()) {
    socket.register_b_transport(this, &line_device::b_transport);
    socket.register_transport_dbg(this, &line_device::transport_dbg);
    SC_HAS_PROCESS(line_device);
    for (std::size_t i = 0; i < due_.size(); ++i) {
      sc_core::sc_spawn_options options;
      options.spawn_method();
      options.dont_initialize();
      options.set_sensitivity(&due_[i].event);
      sc_core::sc_spawn([this, i] { drive(i); }, sc_core::sc_gen_unique_name("drive"), &options);
    }
  }

  // When a line rises next by what has been written.
  sc_core::sc_time next_rise(std::size_t line) const {
    const change& next = due_[line];
    return next.level && next.at > sc_core::SC_ZERO_TIME && !lines[line].read() ? next.at : sc_core::sc_max_time();
  }

 private:
  struct change {
    sc_core::sc_event event;
    sc_core::sc_time at;
    bool level = false;
  };

  void drive(std::size_t i) {
    if (lines[i].read() != due_[i].level) {
      changes_ns.push_back(core::picoseconds(sc_core::sc_time_stamp()) / 1000);
    }
    lines[i].write(due_[i].level);
  }
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const std::uint64_t address = payload.get_address();
    char text[64];
    std::snprintf(text, sizeof text, "%llu ns %c +0x%llx",
                  static_cast<unsigned long long>(core::picoseconds(sc_core::sc_time_stamp()) / 1000),
                  payload.is_write() ? 'w' : 'r', static_cast<unsigned long long>(address));
    accesses.push_back(text);
    delay += sc_core::sc_time(3, sc_core::SC_NS);
    payload.set_response_status(serve(payload, address) ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
  bool serve(tlm::tlm_generic_payload& payload, std::uint64_t address) {
    const std::size_t hart = address / 0x100;
    const std::size_t offset = address % 0x100;
    if (payload.get_data_length() != 4 || hart * lines_per_hart >= due_.size()) return false;
    std::uint32_t value = 0;
    std::memcpy(&value, payload.get_data_ptr(), sizeof value);
    if (offset == 0x40) {
      if (payload.is_write()) {
        storage_ = value;
      } else {
        std::memcpy(payload.get_data_ptr(), &storage_, sizeof storage_);
      }
      return true;
    }
    if (offset % 8 != 0 || offset / 8 >= lines_per_hart || payload.is_read()) return false;
    change& next = due_[hart * lines_per_hart + offset / 8];
    next.level = (value & 1U) != 0;
    next.at = sc_core::sc_time_stamp() + sc_core::sc_time(value >> 1, sc_core::SC_NS);
    next.event.cancel();
    next.event.notify(sc_core::sc_time(value >> 1, sc_core::SC_NS));
    return true;
  }
  unsigned int transport_dbg(tlm::tlm_generic_payload& payload) {
    if (payload.get_address() != 0x40 || payload.get_data_length() != 4) return 0;
    std::memcpy(payload.get_data_ptr(), &storage_, sizeof storage_);
    return 4;
  }

  std::vector<change> due_;
  std::uint32_t storage_ = 0;
};

class end_device : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<end_device> socket;
  std::function<void(std::uint32_t)> ended;

  explicit end_device(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
    socket.register_b_transport(this, &end_device::b_transport);
  }

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    std::uint32_t value = 0;
    std::memcpy(&value, payload.get_data_ptr(), sizeof value);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (payload.is_write()) ended(value);
  }
};

// What a run came to when its program ended.
struct run_result {
  std::uint64_t time_ns = 0;
  std::vector<std::uint64_t> marks;
  std::vector<std::uint64_t> instructions;  // per hart
  std::vector<std::uint64_t> cycles;
  std::vector<std::uint64_t> changes_ns;
  std::vector<std::string> accesses;
  friend bool operator==(const run_result&, const run_result&) = default;
};

class sc_machine : public sc_core::sc_module {
 public:
  static constexpr std::uint64_t ram_bytes = 1U << 20;

  program image;
  core::statistics figures;
  core::timeline timeline;
  std::vector<std::unique_ptr<cpu::rv64::rv64_cpu>> harts;
  std::vector<std::unique_ptr<core::protocol_checker>> checkers;
  core::bus wires;
  line_device device;
  end_device end;
  memory::simple_memory ram;
  std::unique_ptr<cpu::rv64::rv64_cluster> cluster;
  run_result result;
  bool finished = false;
  std::function<void()> on_finish = [] { sc_core::sc_stop(); };

  sc_machine(const sc_core::sc_module_name& name, const std::string& program_name, cpu::rv64::rv64_cpu_config config,
             std::size_t count = 1, const std::string& timeline_path = "/dev/null")
      : sc_module(name),
        image(program_name),
        timeline(timeline_path),
        wires("wires",
              {{"device", 0x1000'0000, 0x1000}, {"end", 0x0010'0000, 0x1000}, {"ram", program::base, ram_bytes}}, count,
              sc_core::sc_time(2, sc_core::SC_NS)),
        device("device", count),
        end("end"),
        ram("ram", {ram_bytes, sc_core::SC_ZERO_TIME, 1'000'000'000'000, 0, 0, true, {}}, figures, timeline) {
    std::memcpy(ram.data(), image.bytes.data(), image.bytes.size());
    config.reset_pc = program::base;
    if (config.clock_hz == 0) config.clock_hz = 1'000'000'000;
    std::vector<cpu::rv64::rv64_cpu*> all;
    for (std::size_t i = 0; i < count; ++i) {
      config.hart = static_cast<std::uint32_t>(i);
      harts.push_back(
          std::make_unique<cpu::rv64::rv64_cpu>(("hart" + std::to_string(i)).c_str(), config, figures, timeline));
      checkers.push_back(std::make_unique<core::protocol_checker>(("checker" + std::to_string(i)).c_str()));
      harts[i]->socket.bind(checkers[i]->from_initiator);
      checkers[i]->to_target.bind(wires.from_initiator(i));
      harts[i]->software.bind(device.lines[line_device::lines_per_hart * i]);
      harts[i]->timer.bind(device.lines[line_device::lines_per_hart * i + 1]);
      harts[i]->external.bind(device.lines[line_device::lines_per_hart * i + 2]);
      all.push_back(harts[i].get());
    }
    cluster = std::make_unique<cpu::rv64::rv64_cluster>("cluster", all);
    wires.to_target("device").bind(device.socket);
    wires.to_target("end").bind(end.socket);
    wires.to_target("ram").bind(ram.socket);
    end.ended = [this](std::uint32_t) { finish(); };
  }
  ~sc_machine() override {
    for (const auto& checker : checkers) EXPECT_EQ(checker->violations(), std::vector<std::string>{});
  }

  std::uint64_t doubleword(std::uint64_t address) const {
    std::uint64_t value = 0;
    std::memcpy(&value, const_cast<memory::simple_memory&>(ram).data() + (address - program::base), sizeof value);
    return value;
  }

 private:
  void finish() {
    if (finished) return;
    finished = true;
    result.time_ns = core::picoseconds(sc_core::sc_time_stamp()) / 1000;
    for (std::uint64_t at = image["marks"]; at < harts[0]->core().x(25); at += 8) {
      result.marks.push_back(doubleword(at));
    }
    for (const auto& hart : harts) {
      hart->update_figures();
      result.instructions.push_back(hart->core().figures().instructions);
      result.cycles.push_back(figures.count_of(std::string(hart->basename()) + ".cycles"));
    }
    result.changes_ns = device.changes_ns;
    result.accesses = device.accesses;
    on_finish();
  }
};

}  // namespace dvp::test
