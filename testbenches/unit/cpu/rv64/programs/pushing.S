// A trap handler that pushes onto a stack that is not there: each fault has another address.
#include "test.inc"
start
  la t0, handler
  csrw mtvec, t0
  li sp, NOTHING
origin:
  sd ra, 0(sp)
  finish
  .balign 4
handler:
  addi sp, sp, -256
pushing:
  sd ra, 8(sp)
  mret
trap_logger
