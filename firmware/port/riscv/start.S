// Reset entry of the RV64 image: one hart, machine mode, no operating system.
    .section .text.start, "ax"
    .globl _start
_start:
    // First: the linker may turn any later la into an offset from gp.
    .option push
    .option norelax
    la      gp, __global_pointer$
    .option pop
    csrw    mie, zero
    la      t0, trap_entry
    csrw    mtvec, t0
    // Floating point is off after reset; mstatus.FS = initial turns it on.
    li      t0, 1 << 13
    csrs    mstatus, t0
    csrw    fcsr, zero
    la      sp, stack_top
    la      t0, bss_start
    la      t1, bss_end
1:  bgeu    t0, t1, 2f
    sd      zero, 0(t0)
    addi    t0, t0, 8
    j       1b
2:  call    main
3:  wfi
    j       3b

// Nothing in the firmware expects a trap: report it on the boot stack and stop.
    .balign 4
    .globl trap_entry
trap_entry:
    la      sp, stack_top
    csrr    a0, mcause
    csrr    a1, mepc
    csrr    a2, mtval
    call    report_trap
4:  wfi
    j       4b
