#include "firmware/port/native/machine.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace dvp::hal {
namespace {

machine* installed = nullptr;

machine& current() {
  if (installed == nullptr) {
    std::fputs("firmware: the HAL was called before a machine was installed\n", stderr);
    std::abort();
  }
  return *installed;
}

}  // namespace

void install(machine* target) {
  installed = target;
}

std::uint32_t read32(std::uint64_t address) {
  return current().read32(address);
}
void write32(std::uint64_t address, std::uint32_t value) {
  current().write32(address, value);
}
void* memory(std::uint64_t address, std::uint64_t bytes) {
  return current().memory(address, bytes);
}
bool wait_for_interrupt(std::uint32_t timeout_us) {
  return current().wait_for_interrupt(timeout_us);
}
std::uint64_t now_ns() {
  return current().now_ns();
}
void spend(work kind, std::uint64_t amount) {
  current().spend(kind, amount);
}
void spend(work kind, std::uint64_t amount, std::uint64_t address, std::uint64_t bytes, bool written,
           gen::purpose purpose) {
  current().spend(kind, amount, address, bytes, written, purpose);
}
bool has_data() {
  return current().has_data();
}
void predicted(prediction kind, std::uint32_t position, gen::sample_record& record) {
  current().predicted(kind, position, record);
}
void start_watchdog(std::uint32_t timeout_us) {
  current().start_watchdog(timeout_us);
}
void feed_watchdog() {
  current().feed_watchdog();
}

bool start_hart(std::uint32_t hart, void (*function)(void*), void* argument) {
  return current().start_hart(hart, function, argument);
}
bool hart_idle(std::uint32_t hart) {
  return current().hart_idle(hart);
}
void wait_for_hart(std::uint32_t hart) {
  current().wait_for_hart(hart);
}

// The simulated bus is called in program order, so only the compiler has to keep it.
void fence() {
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

}  // namespace dvp::hal
