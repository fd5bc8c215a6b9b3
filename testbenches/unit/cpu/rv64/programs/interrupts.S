// Interrupts: when they are taken, in which order, and what mret, wfi and masks do to them.
#include "test.inc"
#define SOFTWARE 0
#define TIMER 8
#define EXTERNAL 16

// Line takes a level after so many ns.
.macro drive line, level, ns
  li t0, (\ns << 1) | \level
  sw t0, \line(s3)
.endm

.macro handle_with name
  la t0, \name
  csrw mtvec, t0
.endm

.macro section number
  li t0, 0x5ec0000 + \number
  mark t0
.endm

start
  li s3, DEVICE

  // 1: direct, in a running loop.
section 1
  handle_with plain
  li t0, 1 << 7
  csrw mie, t0
  csrsi mstatus, MIE
  li a0, 0
  drive TIMER, 1, 500
1:
  addi a1, a1, 1
  beqz a0, 1b
  csrci mstatus, MIE

  // 2: all pending while masked; taken by priority once they may be.
section 2
  drive SOFTWARE, 1, 0
  drive TIMER, 1, 0
  drive EXTERNAL, 1, 0
  csrr t0, mip
  mark t0
  li t0, -1
  csrw mie, t0
  csrr t0, mie
  mark t0
  csrsi mstatus, MIE
after_enable:
  csrci mstatus, MIE
  csrr t0, mip
  mark t0

  // 3: vectored; an exception goes to the base.
section 3
  la t0, vectors
  addi t0, t0, 1
  csrw mtvec, t0
  csrsi mstatus, MIE
  drive EXTERNAL, 1, 0
  nop
  drive SOFTWARE, 1, 0
  nop
  drive TIMER, 1, 0
  nop
vectored_call:
  ecall
  csrci mstatus, MIE

  // 4: enabled by mie while mstatus.MIE is on.
section 4
  handle_with plain
  csrw mie, zero
  csrsi mstatus, MIE
  drive EXTERNAL, 1, 0
  nop
  nop
  li t0, 1 << 11
  csrs mie, t0
after_mie:
  csrci mstatus, MIE

  // 5: nested.
section 5
  handle_with nesting
  li t0, -1
  csrw mie, t0
  csrsi mstatus, MIE
  drive TIMER, 1, 0
  nop
  csrci mstatus, MIE

  // 6: pending in the handler, taken right after mret.
section 6
  handle_with refilling
  csrsi mstatus, MIE
  li s5, 1
  drive SOFTWARE, 1, 0
after_raise:
  nop
  csrci mstatus, MIE

  // 7: wfi without MIE goes on behind itself.
section 7
  handle_with plain
  li t0, 1 << 7
  csrw mie, t0
  drive TIMER, 1, 300
  csrr s6, minstret
  csrr s7, mcycle
  wfi
  csrr t0, time
  csrr t1, mcycle
  csrr t2, minstret
  sub t1, t1, s7
  sub t2, t2, s6
  mark t0
  mark t1
  mark t2
  // Pending already: no sleep.
  csrr t3, time
  wfi
  csrr t0, time
  sub t0, t0, t3
  mark t0
  drive TIMER, 0, 0

  // 8: wfi with MIE takes the interrupt; one that is not enabled does not wake.
section 8
  csrsi mstatus, MIE
  drive EXTERNAL, 1, 100
  drive TIMER, 1, 400
  wfi
after_wfi:
  csrci mstatus, MIE
  drive EXTERNAL, 0, 0
  // So long that no quantum hides it.
  li t0, 20000
1:
  addi t0, t0, -1
  bnez t0, 1b
  csrr t0, time
  mark t0
  csrr t0, minstret
  mark t0
  finish

  // Marks time, mcause and mepc, lowers the line that caused it, and says so in a0.
  .balign 4
plain:
  csrr t4, time
  mark t4
  csrr t4, mcause
  mark t4
  csrr t5, mepc
  mark t5
  li a0, 1
  // 3 -> +0, 7 -> +8, 11 -> +16
  andi t4, t4, 15
  addi t4, t4, -3
  slli t4, t4, 1
  add t4, t4, s3
  sw zero, 0(t4)
  mret

  .balign 4
vectors:
.option push
.option norvc
  j vector_exception
  j vector_bad
  j vector_bad
  j vector_software
  j vector_bad
  j vector_bad
  j vector_bad
  j vector_timer
  j vector_bad
  j vector_bad
  j vector_bad
  j vector_external
.option pop
vector_exception:
  li t5, 0xe
  mark t5
  csrr t5, mepc
  mark t5
  addi t5, t5, 4
  csrw mepc, t5
  mret
vector_software:
  li t5, 3
  mark t5
  sw zero, SOFTWARE(s3)
  mret
vector_timer:
  li t5, 7
  mark t5
  sw zero, TIMER(s3)
  mret
vector_external:
  li t5, 11
  mark t5
  sw zero, EXTERNAL(s3)
  mret
vector_bad:
  li t5, 0xbad
  mark t5
  finish

  // The timer's handler lets an external interrupt in; that one does not.
  .balign 4
nesting:
  csrr t4, mcause
  andi t4, t4, 15
  mark t4
  li t5, 11
  beq t4, t5, 1f
  sw zero, TIMER(s3)
  csrr s8, mepc
  csrr s10, mstatus
  mark s10
  drive EXTERNAL, 1, 0
  csrsi mstatus, MIE
inside:
  csrci mstatus, MIE
  csrw mepc, s8
  li t0, 1 << 7
  csrs mstatus, t0
  mret
1:
  csrr t4, mepc
  mark t4
  csrr t4, mstatus
  mark t4
  sw zero, EXTERNAL(s3)
  mret

  // Runs twice: the line stays high until the second time.
  .balign 4
refilling:
  csrr t4, mepc
  mark t4
  bnez s5, 1f
  sw zero, SOFTWARE(s3)
1:
  li s5, 0
  mret

trap_logger
