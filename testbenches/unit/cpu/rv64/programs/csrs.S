// CSRs: what reads back, counters, the state of the floating-point unit.
#include "test.inc"

.macro keeps register, value
  li t0, \value
  csrw \register, t0
  csrr t1, \register
  mark t1
.endm

.macro shows register
  csrr t1, \register
  mark t1
.endm

start
  // What a write of all ones leaves.
  keeps mstatus, -1
  csrw mstatus, zero
  shows mstatus
  keeps mie, -1
  csrw mie, zero
  keeps misa, 0
  keeps mscratch, -1
  keeps mepc, -1
  keeps mcause, -1
  keeps mtval, -1
  keeps mcounteren, -1
  keeps mip, -1
  keeps mcountinhibit, -1
  csrw mcountinhibit, zero
  keeps mhpmcounter3, -1
  shows hpmcounter31
  keeps mhpmevent31, -1
  shows mvendorid
  shows marchid
  shows mimpid
  shows mhartid
  shows 0xf15
  la t2, log_trap
  keeps mtvec, -1
  csrw mtvec, t2

  // Set and clear, by register and immediate; x0 writes nothing; the old value is read.
  li t0, 0xf0
  csrw mscratch, t0
  li t0, 0x3c
  csrrs t1, mscratch, t0
  mark t1
  csrrc t1, mscratch, t0
  mark t1
  csrrsi t1, mscratch, 3
  mark t1
  csrrci t1, mscratch, 1
  mark t1
  csrrwi t1, mscratch, 31
  mark t1
  csrr t1, mscratch
  mark t1
  csrrs t1, mhartid, zero
  mark t1

  // A counter that was written reads so in the next instruction.
  csrw minstret, zero
  csrr t1, minstret
  mark t1
  li t0, -1
  csrw minstret, t0
  csrr t1, minstret
  csrr t2, minstret
  mark t1
  mark t2
  li t0, 1000
  csrw mcycle, t0
  csrr t1, mcycle
  mul t3, t3, t3
  csrr t2, mcycle
  mark t1
  mark t2
  // Stopped.
  csrwi mcountinhibit, 5
  csrr t1, minstret
  csrr t3, mcycle
  nop
  csrr t2, minstret
  csrr t4, mcycle
  sub t2, t2, t1
  sub t4, t4, t3
  mark t2
  mark t4
  csrwi mcountinhibit, 0
  csrr t1, minstret
  csrr t2, instret
  sub t2, t2, t1
  mark t2
  csrr t1, mcycle
  csrr t2, cycle
  sub t2, t2, t1
  mark t2
  csrr t1, time
  mul t3, t3, t3
  csrr t2, time
  sub t2, t2, t1
  mark t2

  // Floating-point state: initial, dirty by a result, clean, dirty by a flag alone, dirty by fcsr.
  li s2, FS_MASK
  li s3, FS_INITIAL
  csrs mstatus, s3
  csrr t1, mstatus
  mark t1
  fmv.d.x f1, zero
  csrr t1, mstatus
  mark t1
  slli s4, s3, 1
  csrc mstatus, s2
  csrs mstatus, s4
  csrr t1, mstatus
  mark t1
  li t0, 0x7ff0000000000001
  fmv.d.x f1, t0
  csrc mstatus, s2
  csrs mstatus, s4
  feq.d t0, f1, f1
  csrr t1, mstatus
  mark t1
  csrr t1, fcsr
  mark t1
  csrc mstatus, s2
  csrs mstatus, s4
  csrwi frm, 2
  csrr t1, mstatus
  mark t1
  csrr t1, fcsr
  mark t1
  finish

trap_logger
