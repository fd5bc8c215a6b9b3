// A machine without time: main memory and its converter, the mailbox, an interrupt controller, and an NPU that executes
// its queue whenever the firmware waits, or before it does anything else.
//
// Every descriptor goes through the NPU's own checks and the hazard checker, then does its work on the scratchpad at
// once, in queue order. The ring is respected: a doorbell that overtakes it fails the test.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dvp_gen/npu_regs.h"
#include "firmware/port/native/machine.h"
#include "testbenches/unit/firmware/hazard_checker.h"
#include "tlm/array/model_array.h"
#include "tlm/npu/execute_compressed.h"
#include "tlm/npu/execute_gemm.h"
#include "tlm/npu/window_map.h"
#include "tlm/numerics/view_table.h"

namespace dvp::testbench {

struct functional_options {
  std::uint32_t scratchpad_bytes = 1u << 20;
  std::uint32_t scratchpad_banks = 16;
  std::uint32_t accumulator_vectors = 512;
  std::uint32_t memory_bytes = 8u << 20;
  bool npu_present = true;
  bool converts = true;  // the memory has a view table; without one only view 0 is there
  bool eager = false;    // the queue is executed at the doorbell, not when the firmware waits
  // Address window of the NPU; bytes 0: none. Commands take no time, so none is ever under way.
  npu::window_config window{};
};

class functional_machine final : public hal::machine {
 public:
  explicit functional_machine(const functional_options& options);

  // Main memory from gen::system::dram_base on.
  std::span<std::byte> dram() { return dram_; }
  template <class T>
  T* at(std::uint64_t address) {
    return static_cast<T*>(memory(address, sizeof(T)));
  }

  // The host sets a request: the mailbox has it pending until the firmware accepts it.
  void set_request(std::uint64_t address);
  bool request_pending() const { return request_pending_; }
  std::function<void()> on_progress = [] {};
  // Called with the finish code; may set the next request.
  std::function<void(int)> on_finish = [](int) {};
  int finish_code = -1;
  // May change a descriptor before it is looked at; for tests of the checks themselves.
  std::function<void(npu::descriptor_view&)> tamper = [](npu::descriptor_view&) {};
  // May change a completion record before it is written.
  std::function<void(gen::completion_record&)> tamper_record = [](gen::completion_record&) {};
  // May change a command of the address window before it is carried out.
  std::function<void(npu::window_command&)> tamper_window = [](npu::window_command&) {};
  // Whether a rise of the NPU's line is lost: nobody hears of it until the causes are cleared.
  std::function<bool()> lose_interrupt = [] { return false; };
  // The other harts; there are none.
  std::function<bool(std::uint32_t, void (*)(void*), void*)> on_start_hart = [](auto...) { return false; };
  std::function<bool(std::uint32_t)> on_hart_idle = [](std::uint32_t) { return true; };
  std::function<void(std::uint32_t)> on_wait_for_hart = [](std::uint32_t) {};
  // From this index on nothing completes any more.
  std::uint64_t stuck_at = ~std::uint64_t{0};

  const std::vector<std::string>& hazards() const { return hazards_; }
  std::uint64_t descriptors() const { return head_; }
  std::uint64_t waits() const { return checker_.waits(); }
  std::uint64_t fences() const { return checker_.fences(); }
  // Bytes that reads brought to the scratchpad, as delivered; lists of gathers apart, under purpose other.
  std::uint64_t moved(gen::purpose purpose, gen::precision tag) const {
    const auto found = moved_.find({purpose, tag});
    return found == moved_.end() ? 0 : found->second;
  }
  // The converter of view `number` as the firmware set it; null when it did not, or with another precision (4 or 2).
  const numerics::converter* view(std::uint32_t precision, std::uint16_t number) const {
    return views_.find(precision, number);
  }
  // As mapped now.
  const npu::window_map& window() const { return window_; }
  // Commands that were carried out.
  std::uint64_t window_commands(gen::npu::window_operation operation) const {
    return window_commands_[static_cast<std::size_t>(operation)];
  }
  // Periods that the watch-dog was started with, 0 for each stop, in order; and how often it was fed.
  const std::vector<std::uint32_t>& watchdog_starts() const { return watchdog_starts_; }
  std::uint64_t watchdog_feeds() const { return watchdog_feeds_; }
  std::uint64_t spent(hal::work kind) const {
    const auto found = spent_.find(kind);
    return found == spent_.end() ? 0 : found->second;
  }

  // Bytes of main memory that the CPU said it streamed.
  std::uint64_t streamed(gen::purpose purpose) const {
    const auto found = streamed_.find(purpose);
    return found == streamed_.end() ? 0 : found->second;
  }

  std::uint32_t read32(std::uint64_t address) override;
  void write32(std::uint64_t address, std::uint32_t value) override;
  void* memory(std::uint64_t address, std::uint64_t bytes) override;
  bool wait_for_interrupt(std::uint32_t timeout_us) override;
  std::uint64_t now_ns() override { return 0; }
  void spend(hal::work kind, std::uint64_t amount) override { spent_[kind] += amount; }
  // What is not main memory fails the test.
  void spend(hal::work kind, std::uint64_t amount, std::uint64_t address, std::uint64_t bytes, bool written,
             gen::purpose purpose) override;
  void start_watchdog(std::uint32_t timeout_us) override { watchdog_starts_.push_back(timeout_us); }
  void feed_watchdog() override { ++watchdog_feeds_; }
  bool start_hart(std::uint32_t hart, void (*function)(void*), void* argument) override {
    return on_start_hart(hart, function, argument);
  }
  bool hart_idle(std::uint32_t hart) override { return on_hart_idle(hart); }
  void wait_for_hart(std::uint32_t hart) override { on_wait_for_hart(hart); }

 private:
  void reset();
  std::uint32_t asking();
  std::uint32_t claim();
  bool npu_level();
  void execute_one();
  void write_record(const npu::descriptor_view& d, std::uint32_t size);
  gen::npu::error_code run(const npu::descriptor_view& d);
  gen::npu::error_code move(const gen::dma_descriptor& d, gen::opcode op);
  gen::npu::error_code stage(const gen::dma_descriptor& d);
  // `bytes` between a device address and the scratchpad, converted when the tag says so.
  gen::npu::error_code transfer(const gen::dma_descriptor& d, std::uint64_t device, std::uint64_t inside,
                                std::uint64_t bytes);
  std::uint32_t read_converter(std::uint64_t offset);
  void write_converter(std::uint64_t offset, std::uint32_t value);
  // Calls visit(bus memory, offset, bytes) for the consecutive pieces behind device addresses. Window faults come first
  // and leave everything as it was.
  template <class Visit>
  gen::npu::error_code reach(std::uint64_t device, std::uint64_t bytes, Visit visit);
  std::uint64_t bus_of(std::uint64_t device) const;
  hazard_checker new_checker();
  void window_written();

  functional_options options_;
  std::vector<std::byte> dram_;
  std::vector<std::byte> scratchpad_;
  array::model_array array_;
  npu::gemm_executor gemm_;
  npu::compressed_executor compressed_;
  hazard_checker checker_;
  std::vector<std::string> hazards_;
  std::map<hal::work, std::uint64_t> spent_;
  std::map<gen::purpose, std::uint64_t> streamed_;
  std::map<std::uint64_t, std::uint32_t> registers_;  // as written
  std::uint64_t request_address_ = 0;
  bool request_pending_ = false;
  std::uint32_t requests_ = 0;  // of the gateways, by source number
  std::uint32_t claimed_ = 0;
  std::uint32_t enabled_ = 0;
  std::vector<std::uint32_t> watchdog_starts_;
  std::uint64_t watchdog_feeds_ = 0;
  std::uint32_t irq_status_ = 0;
  bool unheard_ = false;
  std::uint32_t head_ = 0;
  gen::npu::error_code error_ = gen::npu::error_code::none;
  std::uint64_t fault_address_ = 0;
  npu::window_map window_;
  numerics::view_table views_;
  std::map<std::pair<gen::purpose, gen::precision>, std::uint64_t> moved_;
  gen::npu::window_result window_result_ = gen::npu::window_result::ok;
  std::array<std::uint64_t, 4> window_commands_{};
};

}  // namespace dvp::testbench
