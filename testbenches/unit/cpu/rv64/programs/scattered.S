// Loads from a thousand places where nothing is; the handler steps over each.
#include "test.inc"
start
  la t0, handler
  csrw mtvec, t0
  li s2, NOTHING
  li s3, 1000
  li s4, 0
1:
  lw t1, 0(s2)
  li t0, 4096
  add s2, s2, t0
  addi s3, s3, -1
  bnez s3, 1b
  finish
  .balign 4
handler:
  addi s4, s4, 1
  csrr t2, mepc
  addi t2, t2, 4
  csrw mepc, t2
  mret
trap_logger
