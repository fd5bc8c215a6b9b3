// Hart 0 counts until its timer interrupt, which hart 1 raises.
#include "test.inc"
start
  csrr s0, mhartid
  li s3, DEVICE
  bnez s0, other
  la t0, handler
  csrw mtvec, t0
  li t0, 1 << 7
  csrw mie, t0
  csrsi mstatus, MIE
  li s2, 0
1:
  addi s2, s2, 1
  j 1b

other:
  li t0, 5000
1:
  addi t0, t0, -1
  bnez t0, 1b
  li t0, 1
  sw t0, 8(s3)
2:
  wfi
  j 2b

  .balign 4
handler:
  csrr t0, time
  mark t0
  mark s2
  finish
trap_logger
