// A hart with the plainest surroundings: memory, a read-only page, a device that logs, one that refuses, an end.
//
//   0x8000_0000  1 MiB of granted memory          0x1000  a granted page that cannot be written
//   0x1000_0000  2 KiB of storage, one transaction per access; refuses from 0x1000_0800 on
//   0x0010_0000  a write ends the run
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "testbenches/unit/cpu/rv64/program.h"
#include "tlm/core/host_pages.h"
#include "tlm/cpu/rv64/hart.h"

namespace dvp::test {

class flat_machine final : public cpu::rv64::hart_surroundings {
 public:
  static constexpr std::uint64_t ram_bytes = 1U << 20;
  static constexpr std::uint64_t forever = ~0ULL;

  program image;
  core::host_pages ram{ram_bytes};
  core::host_pages rom{4096};
  std::vector<std::string> log;    // "w4 0x10000000 = 0x7", "r8 ..."
  std::uint64_t device_units = 0;  // that a transaction takes
  std::uint64_t lines = 0;
  bool data_by_transaction = false;  // loads and stores of memory come as transactions too
  bool finished = false;
  cpu::rv64::hart hart;

  explicit flat_machine(const std::string& name, cpu::rv64::hart_config config = {})
      : image(name), hart((config.reset_pc = program::base, config), *this) {
    std::memcpy(ram.data(), image.bytes.data(), image.bytes.size());
  }

  // Until the program finishes or the hart stops for a reason that the caller did not ask for. limit: units per slice.
  cpu::rv64::slice_end go(std::uint64_t slice = forever, std::uint64_t instructions = 0) {
    using cpu::rv64::slice_end;
    for (;;) {
      const std::uint64_t now = hart.now();
      const slice_end end = hart.run(slice == forever ? forever : now + slice, instructions);
      if (finished) return slice_end::access;
      if (end == slice_end::synchronise || hart.interruptible()) hart.set_interrupts(lines);
      const bool goes_on = end == slice_end::access || end == slice_end::trap || end == slice_end::synchronise ||
                           (end == slice_end::limit && slice != forever) || end == slice_end::stepped;
      if (!goes_on) return end;
    }
  }
  void run_to_end() {
    EXPECT_EQ(go(), cpu::rv64::slice_end::access) << hart.fault();
    EXPECT_TRUE(finished);
  }

  std::uint64_t doubleword(std::uint64_t address) const {
    std::uint64_t value = 0;
    std::memcpy(&value, ram.data() + (address - program::base), sizeof value);
    return value;
  }
  // What the program marked, in order.
  std::vector<std::uint64_t> marks() const {
    std::vector<std::uint64_t> found;
    for (std::uint64_t at = image["marks"]; at < hart.x(25); at += 8) found.push_back(doubleword(at));
    return found;
  }

  bool read(std::uint64_t address, std::uint32_t bytes, std::uint64_t& value) override {
    if (data_by_transaction && in_ram(address, bytes)) {
      std::memcpy(&value, ram.data() + (address - program::base), bytes);
      return true;
    }
    note('r', address, bytes, 0);
    if (!in_device(address)) return false;
    std::memcpy(&value, device_ + (address - device_base), bytes);
    hart.advance_to(hart.now() + device_units);
    return true;
  }
  bool write(std::uint64_t address, std::uint32_t bytes, std::uint64_t value) override {
    if (address == finish_address) return finished = true;
    if (data_by_transaction && in_ram(address, bytes)) {
      std::memcpy(ram.data() + (address - program::base), &value, bytes);
      return true;
    }
    note('w', address, bytes, value);
    if (!in_device(address)) return false;
    std::memcpy(device_ + (address - device_base), &value, bytes);
    hart.advance_to(hart.now() + device_units);
    return true;
  }
  std::optional<cpu::rv64::granted_memory> grant(std::uint64_t address) override {
    if (address - program::base < ram_bytes) {
      return cpu::rv64::granted_memory{program::base, program::base + ram_bytes - 1, ram.data(), true, true, true};
    }
    if (address - rom_base < 4096) {
      return cpu::rv64::granted_memory{rom_base, rom_base + 4095, rom.data(), true, false, true};
    }
    return std::nullopt;
  }
  std::uint64_t time_ns() override { return hart.now() / cpu::rv64::units_per_cycle * 3; }
  void code_changed() override { hart.forget_code(); }

 private:
  static constexpr std::uint64_t device_base = 0x1000'0000;
  static constexpr std::uint64_t device_bytes = 0x800;
  static constexpr std::uint64_t finish_address = 0x0010'0000;
  static constexpr std::uint64_t rom_base = 0x1000;

  static bool in_ram(std::uint64_t address, std::uint32_t bytes) {
    return address >= program::base && address - program::base <= ram_bytes - bytes;
  }
  static bool in_device(std::uint64_t address) { return address - device_base < device_bytes; }
  void note(char what, std::uint64_t address, std::uint32_t bytes, std::uint64_t value) {
    char text[80];
    std::snprintf(text, sizeof text, "%c%u 0x%llx", what, bytes, static_cast<unsigned long long>(address));
    log.push_back(text);
    if (what != 'w') return;
    std::snprintf(text, sizeof text, " = 0x%llx", static_cast<unsigned long long>(value));
    log.back() += text;
  }

  std::uint8_t device_[device_bytes] = {};
};

}  // namespace dvp::test
