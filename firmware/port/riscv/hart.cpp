// Start of each hart behind start.S, and work that one hart gives another.
#include "firmware/port/riscv/hart.h"

#include <cstddef>

#include "dvp_gen/clint_regs.h"
#include "dvp_gen/system.h"
#include "firmware/hal/hal.h"
#include "firmware/port/riscv/boot_message.h"
#include "firmware/port/riscv/end_run.h"
#include "firmware/port/riscv/protection.h"
#include "firmware/port/riscv/stacks.h"

int main();

namespace dvp::port {
namespace {

static_assert(HART_COUNT == gen::system::most_harts);
static_assert(HART_RECORD_BYTES == sizeof(hart_record));
static_assert(HART_FRAME_F == offsetof(hart_record, frame.f));
static_assert(HART_FRAME_PC == offsetof(hart_record, frame.pc));
static_assert(HART_FRAME_CAUSE == offsetof(hart_record, frame.cause));
static_assert(HART_FRAME_VALUE == offsetof(hart_record, frame.value));
static_assert(HART_FRAME_STATUS == offsetof(hart_record, frame.status));
static_assert(HART_TRAP_STACK_TOP == offsetof(hart_record, trap_stack_top));
static_assert(HART_STACK_TOP == offsetof(hart_record, stack_top));
static_assert(HART_TRAPS == offsetof(hart_record, traps));
static_assert(HART_WATCHDOG_DEADLINE == offsetof(hart_record, watchdog_deadline));
static_assert(HART_TIMER_COMPARE == offsetof(hart_record, timer_compare));
static_assert(HART_TIMER_SET == offsetof(hart_record, timer_set));

// How long a hart that is asked to work may take to answer: it may be starting still. One that took longer is not asked
// again.
constexpr std::uint64_t answer_ns = 1'000'000;

std::uint64_t software_interrupt_register(std::uint32_t hart) {
  return gen::system::clint_base + gen::clint::msip::state::at(hart);
}

bool change(job_state& state, job_state from, job_state to) {
  return __atomic_compare_exchange_n(&state, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

[[noreturn]] void work_for_others(hart_record& self) {
  for (;;) {
    set_csr(mie, software_interrupt);
    while ((read_csr(mip) & software_interrupt) == 0) {
      asm volatile("wfi");
    }
    // A job with a watch-dog takes interrupts: a ring that comes meanwhile would be a trap in it.
    clear_csr(mie, software_interrupt);
    // Taken back before the look: an offer after the look raises it again.
    hal::write32(software_interrupt_register(self.number), 0);
    hal::fence();
    if (change(self.state, job_state::offered, job_state::running)) {
      self.function(self.argument);
      __atomic_store_n(&self.state, job_state::idle, __ATOMIC_RELEASE);
    }
  }
}

constexpr hart_record first_record(std::uint32_t hart) {
  hart_record record = {};
  record.trap_stack_top = stacks[hart].trap_stack + sizeof(hart_stacks::trap_stack);
  record.stack_top = stacks[hart].stack + sizeof(hart_stacks::stack);
  record.watchdog_deadline = never;
  record.timer_set = never;
  record.timer_compare = gen::system::clint_base + gen::clint::mtimecmp::lo::at(hart);
  record.number = hart;
  return record;
}

}  // namespace

extern "C" {
[[gnu::section(".noinit.stacks")]] hart_stacks stacks[HART_COUNT];

// Constants of the image, not written at start: no hart has to wait for another one's.
constinit hart_record hart_records[HART_COUNT] = {first_record(0), first_record(1), first_record(2), first_record(3)};

// Where start.S goes on, on the hart's own stack.
[[noreturn]] void start_hart_here(std::uint32_t number) {
  protect_memory(number);
  if (number != 0) {
    work_for_others(this_hart());
  }
  print_boot_message();
  end_run(main());
}
}

}  // namespace dvp::port

namespace dvp::hal {

bool start_hart(std::uint32_t hart, void (*function)(void*), void* argument) {
  using port::job_state;
  if (hart == 0 || hart >= HART_COUNT) {
    return false;
  }
  port::hart_record& other = port::hart_records[hart];
  if (other.absent || !port::change(other.state, job_state::idle, job_state::reserved)) {
    return false;
  }
  other.function = function;
  other.argument = argument;
  __atomic_store_n(&other.state, job_state::offered, __ATOMIC_RELEASE);
  write32(port::software_interrupt_register(hart), 1);
  const std::uint64_t begin = now_ns();
  while (__atomic_load_n(&other.state, __ATOMIC_ACQUIRE) == job_state::offered) {
    // Nobody took it: the offer is withdrawn, unless that is the moment in which it is taken.
    if (now_ns() - begin >= port::answer_ns && port::change(other.state, job_state::offered, job_state::idle)) {
      write32(port::software_interrupt_register(hart), 0);
      other.absent = true;
      return false;
    }
  }
  return true;
}

bool hart_idle(std::uint32_t hart) {
  return hart >= HART_COUNT ||
         __atomic_load_n(&port::hart_records[hart].state, __ATOMIC_ACQUIRE) == port::job_state::idle;
}

// The other hart rings nobody when it is done. What it may take is up to its own watch-dog; this one is fed now and
// then, since looking at the clock takes longer than looking at the other hart.
void wait_for_hart(std::uint32_t hart) {
  for (std::uint32_t looks = 0; !hart_idle(hart); ++looks) {
    if (looks % 1024 == 0) {
      feed_watchdog();
    }
  }
}

}  // namespace dvp::hal
