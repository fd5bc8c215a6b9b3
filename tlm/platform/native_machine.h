// Lets natively compiled firmware reach the platform: the HAL's machine over the harts of the CPU seat.
#pragma once

#include <array>
#include <bit>
#include <cstdio>
#include <stdexcept>

#include "firmware/port/native/machine.h"
#include "tlm/cpu/native_harts.h"
#include "tlm/npu/decisions.h"

namespace dvp::platform {

class native_machine final : public hal::machine {
 public:
  // Without has_data kernels of the firmware compute nothing.
  native_machine(cpu::native_harts& harts, bool has_data) : harts_(harts), has_data_(has_data) {}

  // Told of the predictions of CPU kernels, or asked for them where there is no data; null: nobody is, and they stay
  // what memory holds. It outlives this object.
  void set_decisions(npu::decision_port* port) { decisions_ = port; }

  // Firmware compiled for the host has no trap handler: a refused access ends it, and the run with its message.
  std::uint32_t read32(std::uint64_t address) override {
    cpu::native_cpu& hart = harts_.calling();
    const std::uint32_t value = hart.read32(address);
    require_answer(hart, "load", address);
    return value;
  }
  void write32(std::uint64_t address, std::uint32_t value) override {
    cpu::native_cpu& hart = harts_.calling();
    hart.write32(address, value);
    require_answer(hart, "store", address);
  }
  void* memory(std::uint64_t address, std::uint64_t bytes) override { return harts_.calling().memory(address, bytes); }
  bool wait_for_interrupt(std::uint32_t timeout_us) override {
    cpu::native_cpu& hart = harts_.calling();
    return timeout_us == 0 ? hart.wait_for_interrupt()
                           : hart.wait_for_interrupt(sc_core::sc_time(timeout_us, sc_core::SC_US));
  }
  std::uint64_t now_ns() override { return harts_.calling().now_ns(); }
  void spend(hal::work kind, std::uint64_t amount) override {
    harts_.calling().spend(static_cast<std::uint32_t>(kind), amount);
  }
  void spend(hal::work kind, std::uint64_t amount, std::uint64_t address, std::uint64_t bytes, bool written,
             gen::purpose purpose) override {
    cpu::native_cpu& hart = harts_.calling();
    hart.spend(static_cast<std::uint32_t>(kind), amount, {address, bytes, written, purpose});
    if (bytes != 0) require_answer(hart, written ? "store" : "load", address);
  }
  bool has_data() override { return has_data_; }
  void predicted(hal::prediction what, std::uint32_t position, gen::sample_record& record) override {
    if (decisions_ == nullptr) return;
    const auto kind = what == hal::prediction::revision ? npu::decision::revision : npu::decision::sample;
    std::array<std::uint32_t, 2> words{record.token, std::bit_cast<std::uint32_t>(record.confidence)};
    if (has_data_) {
      decisions_->made(kind, words);
    } else {
      decisions_->give(kind, position, words);
      record = {words[0], std::bit_cast<float>(words[1])};
    }
  }
  bool start_hart(std::uint32_t hart, void (*function)(void*), void* argument) override {
    return harts_.start(hart, [=] { function(argument); });
  }
  bool hart_idle(std::uint32_t hart) override { return harts_.idle(hart); }
  void wait_for_hart(std::uint32_t hart) override { harts_.wait_for(hart); }

 private:
  static void require_answer(const cpu::native_cpu& hart, const char* access, std::uint64_t address) {
    if (!hart.last_access_failed()) return;
    char text[64];
    std::snprintf(text, sizeof(text), "%s access fault at 0x%llx", access, static_cast<unsigned long long>(address));
    throw std::runtime_error(text);
  }

  cpu::native_harts& harts_;
  bool has_data_;
  npu::decision_port* decisions_ = nullptr;
};

}  // namespace dvp::platform
