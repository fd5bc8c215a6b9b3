// Asks for a device that is not there a hundred times, working in between; the handler leaves by a jump. Two kinds of
// work: instructions, and one trap that is handled and left by mret.
#include "test.inc"
#define ROUNDS 100
start
  li s2, NOTHING
  li s3, ROUNDS
  la t0, handler
  csrw mtvec, t0
again:
  li t0, 200
1:
  addi t0, t0, -1
  bnez t0, 1b
  lw t1, 0(s2)
resume:
  addi s3, s3, -1
  bnez s3, again
  mark s3

  la t0, log_nothing
  csrw mtvec, t0
  li s3, ROUNDS
2:
  lw t1, 0(s2)
  addi s3, s3, -1
  bnez s3, 2b
  mark s3
  finish
  .balign 4
handler:
  j resume
  .balign 4
log_nothing:
  csrr t2, mepc
  addi t2, t2, 4
  csrw mepc, t2
  mret
trap_logger
