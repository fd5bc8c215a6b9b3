// One instruction of every kind of work, code that changes, and what an observer should be told of it all.
#include "test.inc"
start
  li s3, DEVICE
  li t0, FS_INITIAL
  csrs mstatus, t0
  la a4, cell
kinds:
  add a0, a0, a1
  mul a0, a0, a1
  div a0, a0, a1
  ld a0, 0(a4)
  sd a0, 0(a4)
  beq a0, a0, 1f
1:
  c.j 1f
1:
  fadd.d f0, f1, f2
  fmul.d f0, f1, f2
  fdiv.d f0, f1, f2
  fmv.d f0, f1
  amoadd.d a0, a1, (a4)
  csrr a0, fcsr
  csrr a0, mscratch
  fence
kinds_end:
  lw a0, 0(s3)
  fld f1, 8(s3)
  fsw f1, 4(s3)
  call leaf
  // The instruction behind the fence is a new one, again and again.
  la t0, changing
  lw t1, first_form
  lw t2, second_form
  li t3, 50
  li a0, 0
1:
  sw t1, 0(t0)
  fence.i
  call changing
  sw t2, 0(t0)
  fence.i
  call changing
  addi t3, t3, -1
  bnez t3, 1b
  mark a0
  finish

leaf:
  ret

  .balign 4
.option push
.option norvc
changing:
  nop
  ret
first_form:
  addi a0, a0, 1
second_form:
  addi a0, a0, 1000
.option pop

trap_logger
  .data
  .balign 8
cell:
  .dword 0
