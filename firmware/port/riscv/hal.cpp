// The RV64 bare-metal back end of firmware/hal/hal.h: physical addresses, volatile access, machine-mode CSRs.
#include "firmware/hal/hal.h"

#include "dvp_gen/system.h"

namespace dvp::hal {
namespace {

// mip and mie: machine external interrupt. The NPU's line is the only source.
constexpr std::uint64_t external_interrupt = 1u << 11;

volatile std::uint32_t* device(std::uint64_t address) {
  return reinterpret_cast<volatile std::uint32_t*>(address);
}

bool interrupt_pending() {
  std::uint64_t pending;
  asm volatile("csrr %0, mip" : "=r"(pending));
  return (pending & external_interrupt) != 0;
}

}  // namespace

std::uint32_t read32(std::uint64_t address) {
  return *device(address);
}
void write32(std::uint64_t address, std::uint32_t value) {
  *device(address) = value;
}

void* memory(std::uint64_t address, std::uint64_t bytes) {
  namespace map = gen::system;
  const bool inside = address >= map::dram_base && address - map::dram_base <= map::dram_bytes &&
                      bytes <= map::dram_bytes - (address - map::dram_base);
  return inside ? reinterpret_cast<void*>(address) : nullptr;
}

// mie lets wfi wake; mstatus.MIE stays 0, so no trap is taken. With a timeout the hart polls: the platform has no timer
// that could wake it.
bool wait_for_interrupt(std::uint32_t timeout_us) {
  asm volatile("csrs mie, %0" ::"r"(external_interrupt));
  const std::uint64_t begin = timeout_us == 0 ? 0 : now_ns();
  while (!interrupt_pending()) {
    if (timeout_us == 0) {
      asm volatile("wfi");
    } else if (now_ns() - begin >= std::uint64_t{timeout_us} * 1000) {
      return false;
    }
  }
  return true;
}

// The time CSR counts nanoseconds.
std::uint64_t now_ns() {
  std::uint64_t now;
  asm volatile("csrr %0, time" : "=r"(now));
  return now;
}

// Instructions take their own time.
void spend(work, std::uint32_t) {}

void fence() {
  asm volatile("fence iorw, iorw" ::: "memory");
}

}  // namespace dvp::hal
