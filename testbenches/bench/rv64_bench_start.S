// Rounds in a0, the interrupts that end the sleep behind them in a1.
  .section .text.start, "ax"
  .globl _start
_start:
  li t0, 1 << 13
  csrs mstatus, t0
  la sp, _start
  li t0, 0x100000
  add sp, sp, t0
  mv s0, a1
  call run
  csrw mie, s0
1:
  wfi
  j 1b
