// Reset entry of every hart, and the trap entry. No operating system, machine mode only.
#include "firmware/port/riscv/hart_layout.h"

    .section .text.start, "ax"
    .globl _start
    .type _start, @function
_start:
    // First: the linker may turn any later la into an offset from gp.
    .option push
    .option norelax
    la      gp, __global_pointer$
    .option pop
    csrw    mie, zero
    csrci   mstatus, 8
    csrr    a0, mhartid
    li      t0, HART_COUNT
    bgeu    a0, t0, asleep
    la      tp, hart_records
    li      t0, HART_RECORD_BYTES
    mul     t0, t0, a0
    add     tp, tp, t0
    csrw    mscratch, tp
    la      t0, trap_entry
    csrw    mtvec, t0
    // Floating point is off after reset; mstatus.FS = initial turns it on.
    li      t0, 1 << 13
    csrs    mstatus, t0
    csrw    fcsr, zero
    ld      sp, HART_STACK_TOP(tp)
    li      s0, 0                       // the first frame: backtraces end here
    bnez    a0, 2f

    la      t0, bss_start
    la      t1, bss_end
1:  bgeu    t0, t1, 2f
    sd      zero, 0(t0)
    addi    t0, t0, 8
    j       1b
2:  li      ra, 0
    call    start_hart_here             // protects memory; hart 0 goes on to main, the others wait for work
asleep:
    wfi
    j       asleep
    .size _start, . - _start

// Every trap and interrupt of a hart. Only the timer interrupt returns.
    .balign 4
    .globl trap_entry
    .type trap_entry, @function
trap_entry:
    csrrw   tp, mscratch, tp
    beqz    tp, trap_in_trap
    sd      t0, 40(tp)
    csrr    t0, mcause
    bltz    t0, interrupt
report:
    sd      ra, 8(tp)
    sd      sp, 16(tp)
    sd      gp, 24(tp)
    sd      t1, 48(tp)
    sd      t2, 56(tp)
    sd      s0, 64(tp)
    sd      s1, 72(tp)
    sd      a0, 80(tp)
    sd      a1, 88(tp)
    sd      a2, 96(tp)
    sd      a3, 104(tp)
    sd      a4, 112(tp)
    sd      a5, 120(tp)
    sd      a6, 128(tp)
    sd      a7, 136(tp)
    sd      s2, 144(tp)
    sd      s3, 152(tp)
    sd      s4, 160(tp)
    sd      s5, 168(tp)
    sd      s6, 176(tp)
    sd      s7, 184(tp)
    sd      s8, 192(tp)
    sd      s9, 200(tp)
    sd      s10, 208(tp)
    sd      s11, 216(tp)
    sd      t3, 224(tp)
    sd      t4, 232(tp)
    sd      t5, 240(tp)
    sd      t6, 248(tp)
    csrr    t0, mepc
    sd      t0, HART_FRAME_PC(tp)
    csrr    t0, mcause
    sd      t0, HART_FRAME_CAUSE(tp)
    csrr    t0, mtval
    sd      t0, HART_FRAME_VALUE(tp)
    csrr    t0, mstatus
    sd      t0, HART_FRAME_STATUS(tp)
    li      t1, 3 << 13
    and     t1, t0, t1
    beqz    t1, 3f
    .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    fsd     f\n, HART_FRAME_F + 8 * \n(tp)
    .endr
3:  csrrw   t0, mscratch, zero          // from here on a trap is a trap in the handler
    sd      t0, 32(tp)
    .option push
    .option norelax
    la      gp, __global_pointer$
    .option pop
    ld      sp, HART_TRAP_STACK_TOP(tp)
    li      s0, 0
    mv      a0, tp
    call    report_trap
4:  wfi
    j       4b

// The watch-dog's timer, the only interrupt that is ever taken: it looks whether the deadline has moved since.
interrupt:
    sd      t1, 48(tp)
    slli    t0, t0, 1
    li      t1, 7 << 1
    bne     t0, t1, 5f
    csrr    t0, time
    ld      t1, HART_WATCHDOG_DEADLINE(tp)
    bgeu    t0, t1, 5f
    ld      t0, HART_TIMER_COMPARE(tp)
    sd      t1, 0(t0)
    sd      t1, HART_TIMER_SET(tp)
    ld      t0, 40(tp)
    ld      t1, 48(tp)
    csrrw   tp, mscratch, tp
    mret
5:  ld      t1, 48(tp)
    j       report

// The handler itself trapped: tp was the record and is now in mscratch. The first time says so; a trap in that goes to
// the finisher at once; a trap there too leaves only sleep.
trap_in_trap:
    csrrw   tp, mscratch, tp
    csrw    mscratch, zero
    ld      t0, HART_TRAPS(tp)
    addi    t0, t0, 1
    sd      t0, HART_TRAPS(tp)
    li      t1, 3
    bgeu    t0, t1, 4b
    ld      sp, HART_TRAP_STACK_TOP(tp)
    li      s0, 0
    mv      a0, t0
    call    report_trap_in_trap
    j       4b
    .size trap_entry, . - trap_entry
