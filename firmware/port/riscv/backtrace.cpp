#include "firmware/port/riscv/backtrace.h"

#include <cstring>

namespace dvp::port {
namespace {

template <class T>
T load(std::uint64_t address) {
  T value;
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof(value));
  return value;
}

// addi s0, sp, n in its two encodings: from then on s0 is this function's.
bool sets_frame(std::uint64_t address) {
  const std::uint16_t half = load<std::uint16_t>(address);
  if ((half & 3) != 3) {
    return half != 0 && (half & 0xe01f) == 0;
  }
  return (load<std::uint32_t>(address) & 0xf'ffff) == 0x1'0413;
}

bool has_frame(const symbol_table& symbols, std::uint64_t pc) {
  const location function = symbols.find(pc);
  if (function.function == nullptr) {
    return false;
  }
  for (std::uint64_t at = function.start; at < pc; at += (load<std::uint16_t>(at) & 3) == 3 ? 4 : 2) {
    if (sets_frame(at)) {
      return true;
    }
  }
  return false;
}

bool frame_inside(std::uint64_t s0, const stack_range& stack) {
  return s0 % 8 == 0 && s0 >= stack.first + 16 && s0 <= stack.end;
}

// Whose frame s0 points to when the program stops in the middle of a function.
enum class frame_of { none, caller, leaf, function };

frame_of innermost_frame(const symbol_table& symbols, const stopped_at& where, const stack_range& stack) {
  if (!frame_inside(where.s0, stack)) {
    return frame_of::none;
  }
  if (!has_frame(symbols, where.pc)) {
    return frame_of::caller;
  }
  const std::uint64_t saved = load<std::uint64_t>(where.s0 - 8);
  if (frame_inside(saved, stack)) {
    return frame_of::leaf;
  }
  // While the frame is the function's own, ra is what was saved or comes from one of its calls. Otherwise it is put
  // away again, or this path never had it.
  const bool own_call = symbols.find(where.ra - 1).start == symbols.find(where.pc).start;
  return where.ra == saved || own_call ? frame_of::function : frame_of::caller;
}

}  // namespace

std::size_t backtrace(const symbol_table& symbols, const stopped_at& where, const stack_range& stack,
                      std::span<std::uint64_t> callers) {
  std::size_t count = 0;
  std::uint64_t s0 = where.s0;
  const frame_of innermost = innermost_frame(symbols, where, stack);
  if (innermost != frame_of::function) {
    if (callers.empty() || !symbols.code(where.ra)) {
      return 0;
    }
    callers[count++] = where.ra;
    s0 = innermost == frame_of::leaf ? load<std::uint64_t>(s0 - 8) : s0;
  }
  while (count < callers.size() && frame_inside(s0, stack)) {
    const std::uint64_t caller = load<std::uint64_t>(s0 - 8);
    if (!symbols.code(caller)) {
      break;
    }
    callers[count++] = caller;
    const std::uint64_t above = load<std::uint64_t>(s0 - 16);
    if (above <= s0) {
      break;  // the first frame, or a ruined stack: frames only lie higher and higher
    }
    s0 = above;
  }
  return count;
}

}  // namespace dvp::port
