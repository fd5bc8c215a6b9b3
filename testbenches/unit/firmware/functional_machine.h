// A machine without time: main memory, the mailbox, an interrupt controller, and an NPU that executes its queue
// whenever the firmware waits.
//
// Every descriptor goes through the NPU's own checks and the hazard checker, then does its work on the scratchpad at
// once, in queue order. The ring is respected: a doorbell that overtakes it fails the test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "dvp_gen/npu_regs.h"
#include "firmware/port/native/machine.h"
#include "testbenches/unit/firmware/hazard_checker.h"
#include "tlm/array/model_array.h"
#include "tlm/npu/execute_gemm.h"

namespace dvp::testbench {

struct functional_options {
  std::uint32_t scratchpad_bytes = 1u << 20;
  std::uint32_t scratchpad_banks = 16;
  std::uint32_t accumulator_vectors = 512;
  std::uint32_t memory_bytes = 8u << 20;
  bool npu_present = true;
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
  // From this index on nothing completes any more.
  std::uint64_t stuck_at = ~std::uint64_t{0};

  const std::vector<std::string>& hazards() const { return hazards_; }
  std::uint64_t descriptors() const { return head_; }
  std::uint64_t waits() const { return checker_.waits(); }
  std::uint64_t fences() const { return checker_.fences(); }
  // Periods that the watch-dog was started with, 0 for each stop, in order; and how often it was fed.
  const std::vector<std::uint32_t>& watchdog_starts() const { return watchdog_starts_; }
  std::uint64_t watchdog_feeds() const { return watchdog_feeds_; }
  std::uint64_t spent(hal::work kind) const {
    const auto found = spent_.find(kind);
    return found == spent_.end() ? 0 : found->second;
  }

  std::uint32_t read32(std::uint64_t address) override;
  void write32(std::uint64_t address, std::uint32_t value) override;
  void* memory(std::uint64_t address, std::uint64_t bytes) override;
  bool wait_for_interrupt(std::uint32_t timeout_us) override;
  std::uint64_t now_ns() override { return 0; }
  void spend(hal::work kind, std::uint32_t amount) override { spent_[kind] += amount; }
  void start_watchdog(std::uint32_t timeout_us) override { watchdog_starts_.push_back(timeout_us); }
  void feed_watchdog() override { ++watchdog_feeds_; }

 private:
  void reset();
  std::uint32_t asking();
  std::uint32_t claim();
  bool npu_level();
  void execute_one();
  gen::npu::error_code run(const npu::descriptor_view& d);
  bool move(const gen::dma_descriptor& d, gen::opcode op);

  functional_options options_;
  std::vector<std::byte> dram_;
  std::vector<std::byte> scratchpad_;
  array::model_array array_;
  npu::gemm_executor gemm_;
  hazard_checker checker_;
  std::vector<std::string> hazards_;
  std::map<hal::work, std::uint64_t> spent_;
  std::map<std::uint64_t, std::uint32_t> registers_;  // as written
  std::uint64_t request_address_ = 0;
  bool request_pending_ = false;
  std::uint32_t requests_ = 0;  // of the gateways, by source number
  std::uint32_t claimed_ = 0;
  std::uint32_t enabled_ = 0;
  std::vector<std::uint32_t> watchdog_starts_;
  std::uint64_t watchdog_feeds_ = 0;
  std::uint32_t irq_status_ = 0;
  std::uint32_t head_ = 0;
  gen::npu::error_code error_ = gen::npu::error_code::none;
};

}  // namespace dvp::testbench
