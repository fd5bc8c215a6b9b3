// Something to debug: a function called in a loop, memory it writes, a register of a device, sleep.
#include "test.inc"
start
  li s3, DEVICE
  csrr s0, mhartid
  bnez s0, sleeper
  la s2, table
  li s4, 0
loop:
  mv a0, s4
  call square
stored:
  sd a0, 0(s2)
  addi s2, s2, 8
  addi s4, s4, 1
  li t0, 4
  bne s4, t0, loop
  ld a1, table
device_write:
  sw s4, 0x40(s3)
device_read:
  lw a2, 0x40(s3)
  la s10, table
  amoadd.d a3, s4, (s10)
after_amo:
  // Sleeps until the timer line rises.
  li t0, 1 << 7
  csrw mie, t0
  li t0, (200000 << 1) | 1
  sw t0, 8(s3)
asleep:
  wfi
awake:
  mark s4
  finish

square:
  mul a0, a0, a0
  ret

sleeper:
  csrw mie, zero
sleeper_wfi:
  wfi
  j sleeper_wfi

trap_logger
  .data
  .balign 8
table:
  .dword 0, 0, 0, 0, 0, 0
