// A trap handler that cannot run: its first instruction faults, and so on for ever.
#include "test.inc"
start
  li t0, NOTHING
  csrw mtvec, t0
origin:
  .word 0
trap_logger
