// Two harts that count together with amoadd and with lr/sc, and code that one writes for the other.
#include "test.inc"
#define ROUNDS 3000
start
  csrr s0, mhartid
  li s3, DEVICE
  la s2, counters
  bnez s0, other

  call count
  // Until the other one is through.
1:
  ld t0, 24(s2)
  beqz t0, 1b
  ld t0, 0(s2)
  mark t0
  ld t0, 8(s2)
  mark t0
  ld t0, 16(s2)
  mark t0

  // A function that both have executed is replaced; fence.i on this hart alone.
  call changing
  mark a0
  lw t0, new_code
  la t1, changing
  sw t0, 0(t1)
  fence.i
  call changing
  mark a0
  // Wakes the other hart by its software line.
  li t0, 1
  sw t0, 0x100(s3)
1:
  ld t0, 32(s2)
  beqz t0, 1b
  mark t0
  finish

other:
  call changing
  call count
  li t0, 1
  sd t0, 24(s2)
  csrwi mie, 8
  wfi
  call changing
  sd a0, 32(s2)
  csrw mie, zero
1:
  wfi
  j 1b

  // counters: amoadd, lr/sc, highest id (amomax).
count:
  li t0, ROUNDS
  li t1, 1
  addi t4, s2, 8
  addi t5, s2, 16
1:
  amoadd.d zero, t1, (s2)
2:
  lr.d t2, (t4)
  addi t2, t2, 1
  sc.d t3, t2, (t4)
  bnez t3, 2b
  amomax.w zero, s0, (t5)
  addi t0, t0, -1
  bnez t0, 1b
  ret

  .balign 4
.option push
.option norvc
changing:
  li a0, 1
  ret
new_code:
  li a0, 2
.option pop

trap_logger
  .data
  .balign 4096
counters:
  .dword 0, 0, 0, 0, 0
