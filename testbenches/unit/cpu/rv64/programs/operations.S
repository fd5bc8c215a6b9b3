// One operation, patched in by the test, over a table of operands.
//
// Row, doublewords: three operands (f1 to f3; x16 and x17; memory at t5), then the results f0, x6, fflags and memory.
#include "test.inc"
start
  li t0, FS_INITIAL
  csrs mstatus, t0
again:
  lw t0, rounding
  csrw frm, t0
  la a0, table
  ld a3, rows
  la t5, scratch
1:
  fld f1, 0(a0)
  fld f2, 8(a0)
  fld f3, 16(a0)
  ld x16, 0(a0)
  ld x17, 8(a0)
  sd x16, 0(t5)
  csrw fflags, zero
.option push
.option norvc
  .balign 4
operation:
  nop
.option pop
  csrr t4, fflags
  fsd f0, 24(a0)
  sd x6, 32(a0)
  sd t4, 40(a0)
  ld t2, 0(t5)
  sd t2, 48(a0)
  addi a0, a0, 56
  addi a3, a3, -1
  bnez a3, 1b
  finish

trap_logger
  .data
  .balign 8
rows:
  .dword 0
rounding:
  .dword 0
scratch:
  .dword 0, 0
  .balign 4096
table:
  .skip 0x20000
