// Machine access: the only way firmware reaches hardware.
//
// The back end is chosen at link time: port/riscv touches the bus itself, port/native forwards to a hal::machine that
// the platform or a test installs. None of these calls fails loudly: a register access that the bus refuses ends in
// the machine's own fault path (trap on RISC-V, a reported error natively).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dvp_gen/descriptor.h"

namespace dvp::hal {

// What the CPU spends time on. A cost model turns kinds and amounts into simulated time; on real hardware they cost
// what they cost and spend() is empty.
enum class work : std::uint32_t {
  descriptor = 0,  // one 64-byte descriptor composed and written to the ring
  token = 1,       // one {token, confidence} examined
  commit = 2,      // one token written into the sequence
  tensor = 3,      // one tensor of the image's directory checked
  mac = 4,         // one multiply-accumulate of a CPU kernel
  element = 5,     // one element through a row function of a CPU kernel: norm, rotation, softmax, activation, arg-max
  copy = 6,        // one byte moved from one place of main memory to another
  rank = 7,        // one thing sorted by a number
};

// Names of the kinds, indexed by work; cost models are configured by them.
inline constexpr const char* work_names[] = {"descriptor", "token",   "commit", "tensor",
                                             "mac",        "element", "copy",   "rank"};

// One 32-bit access to a device register; address is 4-byte aligned.
[[nodiscard]] std::uint32_t read32(std::uint64_t address);
void write32(std::uint64_t address, std::uint32_t value);

// Where the CPU sees `bytes` bytes of main memory that start at bus address `address`; null when they are not all
// main memory. The pointer stays valid for the whole run.
[[nodiscard]] void* memory(std::uint64_t address, std::uint64_t bytes);

// Blocks until the external interrupt input of this hart (the interrupt controller's output) is high; returns at once
// when it already is. The hart sleeps meanwhile. False after timeout_us of simulated time; 0 waits for ever.
[[nodiscard]] bool wait_for_interrupt(std::uint32_t timeout_us);

[[nodiscard]] std::uint64_t now_ns();

// Tells the cost model that the CPU did `amount` units of `kind`.
void spend(work kind, std::uint64_t amount);
// The same, and that it streamed `bytes` bytes of main memory from bus address `address` on meanwhile, by reading or by
// writing: the longer of the two passes, and the bytes compete with whoever else uses the memory. For what a CPU's
// caches do not hold; real hardware moves the bytes when the program touches them, and there the call is empty.
void spend(work kind, std::uint64_t amount, std::uint64_t address, std::uint64_t bytes, bool written,
           gen::purpose purpose);

// Whether main memory holds what kernels compute with. A machine that only tells time may have no data: CPU kernels
// then tell their cost and compute nothing. Real hardware always has.
[[nodiscard]] bool has_data();
// What for a CPU kernel predicts: in the place of the NPU, or to revise a token that is there.
enum class prediction : std::uint32_t { forward, revision };
// A CPU kernel predicted the token of the row at `position`, its only result that anything is decided by. For machines
// that look on; one without data says here what it is, and finds in the record of a revision the token that is there
// and its confidence. Real hardware does nothing.
void predicted(prediction kind, std::uint32_t position, gen::sample_record& record);

// Watch-dog of this hart. Started, it must be fed within timeout_us of simulated time again and again, or the machine's
// own fault path ends the run and says where the hart was; 0 stops it. Feeding a stopped one does nothing. Natively it
// is up to the installed machine; the platform's time limit stands in for it there.
void start_watchdog(std::uint32_t timeout_us);
void feed_watchdog();

// Lets hart `hart` (1 or more; 0 is the one that boots) run `function(argument)`; it sees everything that was written
// to memory before. False, and nothing runs, when there is no such hart or it has work already. A machine with one hart
// always answers false.
[[nodiscard]] bool start_hart(std::uint32_t hart, void (*function)(void*), void* argument);
// True when the hart's function has returned; the caller then sees everything it wrote.
[[nodiscard]] bool hart_idle(std::uint32_t hart);
// Returns when it has.
void wait_for_hart(std::uint32_t hart);

// Orders memory and device accesses before it against those after it.
void fence();

// `count` objects of type T in main memory; empty when count is 0, the address is not aligned for T, or the bytes are
// not all main memory.
template <class T>
[[nodiscard]] std::span<T> objects(std::uint64_t address, std::uint64_t count) {
  if (count == 0 || address % alignof(T) != 0 || count > UINT64_MAX / sizeof(T)) {
    return {};
  }
  void* first = memory(address, count * sizeof(T));
  return first == nullptr ? std::span<T>{} : std::span<T>{static_cast<T*>(first), static_cast<std::size_t>(count)};
}

}  // namespace dvp::hal
