// How a run of the image ends.
#pragma once

#include <cstdint>

namespace dvp::port {

// Exit codes for the finisher. The mailbox only knows that the CPU trapped, whatever the reason.
inline constexpr std::uint32_t watchdog_expired = 254;
inline constexpr std::uint32_t trapped = 255;

// The program is done: the finisher passes for 0, else fails with the low 16 bits of code. Then the hart sleeps.
[[noreturn]] void end_run(int code);

// Something happened that must not: tells the mailbox, as the end of the request, and then the finisher with `code`.
[[noreturn]] void end_run_badly(std::uint32_t code);

// The same without console and mailbox, which cannot be trusted any more.
[[noreturn]] void end_run_at_once(std::uint32_t code);

}  // namespace dvp::port
