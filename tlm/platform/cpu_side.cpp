#include "tlm/platform/cpu_side.h"

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <vector>

#include "dvp_gen/system.h"
#include "tlm/platform/commands.h"
#include "tlm/platform/files.h"
#include "tlm/platform/interruption.h"
#include "tlm/platform/rv64_seat.h"
#include "tlm/uart/open_console.h"

namespace dvp::platform {

namespace map = gen::system;

namespace {

std::optional<program_image> image_of(const cpu_options& options, cpu_choice seat) {
  refuse_idle_cpu_options(options, seat);
  if (seat == cpu_choice::native) return std::nullopt;
  return program_image(options.firmware.empty() ? built_image() : options.firmware);
}

// Every window of the bus, so that GDB tells a wrong address from a device.
std::vector<cpu::debug::memory_range> debugged_memory(const core::address_map& windows) {
  std::vector<cpu::debug::memory_range> ranges;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    ranges.push_back({windows[i].base, windows[i].bytes, windows[i].base != map::boot_rom_base});
  }
  return ranges;
}

std::optional<cpu::debug::listener> port_of(const cpu_options& options) {
  if (!options.gdb) return std::nullopt;
  try {
    return cpu::debug::listener(*options.gdb);
  } catch (const std::runtime_error& error) {
    throw usage_error("--gdb " + std::to_string(*options.gdb) + ": " + error.what());
  }
}

// Fit for a terminal, whatever the program sent.
std::string visible(const std::string& line) {
  std::string text;
  for (const char c : line) {
    if (c == '\r') continue;
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\t' || (byte >= 0x20 && byte < 0x7f)) {
      text += c;
    } else {
      char code[8];
      std::snprintf(code, sizeof code, "\\x%02x", byte);
      text += code;
    }
  }
  return text;
}

}  // namespace

cpu_side::cpu_side(const cpu_options& options, const platform_config& config, const std::string& console,
                   std::ostream& told)
    : options_(options),
      image_(image_of(options, config.seat)),
      port_(port_of(options)),
      traces_(options, image_ ? &*image_ : nullptr, config.rv64.hart.clock_hz) {
  const std::string wanted = options.uart.empty() ? console : options.uart;
  if (wanted.empty()) return;
  try {
    opened_ = uart::open_console(wanted, told);
  } catch (const std::runtime_error& error) {
    throw usage_error(std::string("--uart ") + error.what());
  }
  console_ = opened_.get();
}

cpu_side::~cpu_side() = default;

std::uint64_t cpu_side::entry() const {
  return image_ ? image_->entry() : map::firmware_base;
}

const core::symbol_table& cpu_side::symbols() const {
  static const core::symbol_table none;
  return image_ ? image_->symbols() : none;
}

void cpu_side::attach(platform& chip, bool into_dram, core::timeline& timeline, std::ostream& told) {
  traces_.attach(chip, timeline);
  if (!image_) return;
  const auto bytes = [](std::uint8_t* data, std::uint64_t count) {
    return std::as_writable_bytes(std::span(data, count));
  };
  std::vector<program_memory> memories{{"firmware", map::firmware_base, bytes(chip.sram.data(), chip.sram.bytes())}};
  if (into_dram) {
    memories.push_back(
        {"dram", map::dram_base, bytes(chip.memory->data(), std::min(map::dram_bytes, chip.memory->bytes()))});
  }
  image_->load(memories);

  auto& cluster = chip.rv64->cluster();
  cluster.set_symbols(&image_->symbols());
  if (port_) {
    debugger_ = std::make_unique<cpu::debug::gdb_server>(cluster, std::move(*port_), debugged_memory(chip.bus.map()));
    debugger_->give_up_when(interruption::asked);
    told << "gdb: waiting on 127.0.0.1:" << debugger_->port() << " (gdb-multiarch " << image_->path()
         << " -ex 'target remote :" << debugger_->port() << "')" << std::endl;
    cluster.on_kill([this] {
      killed_ = !interruption::asked();
      sc_core::sc_stop();
    });
    cluster.attach(debugger_.get(), true);
  }
}

void cpu_side::finish(platform& chip, int exit_code, std::ostream& out) {
  if (debugger_) chip.rv64->cluster().exited(exit_code);
  debugger_.reset();
  traces_.finish(out);
  if (const std::string lost = console_->failure(); exit_code == exit_ok && !lost.empty()) {
    throw std::runtime_error(lost);
  }
}

std::string cpu_side::transcript() const {
  std::istringstream lines(record_.text());
  std::string text;
  for (std::string line; std::getline(lines, line);) text += "  uart | " + visible(line) + '\n';
  return text;
}

}  // namespace dvp::platform
