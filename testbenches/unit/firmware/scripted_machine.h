// A machine that expects a list of register accesses in order and fails the test at the first that differs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "firmware/port/native/machine.h"
#include "gtest/gtest.h"

namespace dvp::testbench {

class scripted_machine final : public hal::machine {
 public:
  struct step {
    enum class kind { read, write, wait, spend } what;
    std::uint64_t address;  // spend: kind of work
    std::uint32_t value;    // read: what the register answers; wait: 1 interrupt, 0 timeout; spend: amount
  };

  scripted_machine() { hal::install(this); }
  ~scripted_machine() { EXPECT_TRUE(script_.empty()) << script_.size() << " expected accesses did not happen"; }

  scripted_machine& read(std::uint64_t address, std::uint32_t value) { return add({step::kind::read, address, value}); }
  scripted_machine& write(std::uint64_t address, std::uint32_t value) {
    return add({step::kind::write, address, value});
  }
  scripted_machine& waits(bool interrupt) { return add({step::kind::wait, 0, interrupt ? 1u : 0u}); }
  scripted_machine& spends(hal::work kind, std::uint32_t amount) {
    return add({step::kind::spend, static_cast<std::uint32_t>(kind), amount});
  }

  // Main memory for [address, address + bytes).
  std::byte* add_memory(std::uint64_t address, std::size_t bytes) {
    auto& block = blocks_[address];
    block.resize(bytes);
    return block.data();
  }

  std::uint32_t read32(std::uint64_t address) override { return next(step::kind::read, address).value; }
  void write32(std::uint64_t address, std::uint32_t value) override {
    EXPECT_EQ(next(step::kind::write, address).value, value) << "written to " << std::hex << address;
  }
  void* memory(std::uint64_t address, std::uint64_t bytes) override {
    for (auto& [base, block] : blocks_) {
      if (address >= base && bytes <= block.size() && address - base <= block.size() - bytes) {
        return block.data() + (address - base);
      }
    }
    return nullptr;
  }
  bool wait_for_interrupt(std::uint32_t timeout_us) override {
    last_timeout_us = timeout_us;
    return next(step::kind::wait, 0).value != 0;
  }
  std::uint64_t now_ns() override { return 0; }
  using hal::machine::spend;
  void spend(hal::work kind, std::uint64_t amount) override {
    EXPECT_EQ(next(step::kind::spend, static_cast<std::uint32_t>(kind)).value, amount) << "amount of work";
  }

  void feed_watchdog() override { ++feeds; }

  std::uint32_t last_timeout_us = 0;
  std::uint32_t feeds = 0;

 private:
  scripted_machine& add(step s) {
    script_.push_back(s);
    return *this;
  }

  step next(step::kind what, std::uint64_t address) {
    ++done_;
    if (script_.empty()) {
      ADD_FAILURE() << "access " << done_ << " to " << std::hex << address << " comes after the end of the script";
      return {what, address, 0};
    }
    const step expected = script_.front();
    script_.pop_front();
    EXPECT_TRUE(expected.what == what && expected.address == address)
        << "access " << done_ << ": kind " << static_cast<int>(what) << " at " << std::hex << address
        << ", expected kind " << static_cast<int>(expected.what) << " at " << expected.address;
    return expected;
  }

  std::deque<step> script_;
  std::map<std::uint64_t, std::vector<std::byte>> blocks_;
  std::size_t done_ = 0;
};

}  // namespace dvp::testbench
