// Physical memory protection: locked entries bind machine mode, to the page.
#include "test.inc"
#define LOCKED 0x80
#define NAPOT 0x18
#define TOR 0x08
#define READ 1
#define WRITE 2
#define EXECUTE 4

start
  la s2, read_only
  la s3, guard
  la s4, data_only
  la s5, shadowed
  li s6, DEVICE
  li a1, 7

  // All can be used before, and is: nothing that was translated or cached may survive.
  sd a1, 0(s2)
  sd a1, 8(s3)
  sd a1, 8(s4)
  sd a1, 0(s5)
  sw a1, 0(s6)
  jalr s4
  jalr s3

  // 0, 1: read-only page by top of range. 2: guard page. 3: data only. 4: unlocked, in front of 5: no access.
  // 6: the device's page. 7: locked, but off.
  srli t0, s2, 2
  csrw pmpaddr0, t0
  addi t0, t0, 0x400
  csrw pmpaddr1, t0
  srli t0, s3, 2
  ori t0, t0, 0x1ff
  csrw pmpaddr2, t0
  srli t0, s4, 2
  ori t0, t0, 0x1ff
  csrw pmpaddr3, t0
  srli t0, s5, 2
  ori t0, t0, 0x1ff
  csrw pmpaddr4, t0
  csrw pmpaddr5, t0
  srli t0, s6, 2
  ori t0, t0, 0x1ff
  csrw pmpaddr6, t0
  li t0, (NAPOT << 32)
  csrw pmpcfg0, t0
  sd a1, 8(s2)       // not locked yet
  li t0, (LOCKED | TOR | READ) << 8 | (LOCKED | NAPOT) << 16 | (LOCKED | NAPOT | READ | WRITE) << 24
  li t1, (NAPOT << 32) | (LOCKED | NAPOT) << 40 | (LOCKED | NAPOT) << 48 | (LOCKED << 56)
  or t0, t0, t1
  csrw pmpcfg0, t0

traps store_read_only, sd a1, 0(s2)
  ld a2, 0(s2)
  mark a2
traps amo_read_only, amoadd.d a2, a1, (s2)
traps extreme_read_only, amomax.w a2, a1, (s2)
traps load_guard, lb a2, 8(s3)
traps store_guard, sd a1, 8(s3)
  addi a0, s3, -4
traps load_into_guard, ld a2, 0(a0)
  lw a2, 0(a0)
  mark a2
traps store_into_guard, sd a1, 0(a0)
  sd a1, 16(s4)
  ld a2, 16(s4)
  mark a2
  sd a1, 24(s5)
  ld a2, 24(s5)
  mark a2
traps load_device, lw a2, 0(s6)
traps store_device, sw a1, 0(s6)
  la s11, 1f
  addi s1, s1, 1
  jr s4
1:
  la s11, 1f
  addi s1, s1, 1
  jr s3
1:
  fence.i

  // What the registers hold: the grain is a page, locked ones keep what they have, and so does the start of a range.
  csrr t1, pmpcfg0
  mark t1
  li t0, -1
  csrw pmpcfg0, t0
  csrr t1, pmpcfg0
  mark t1
  csrw pmpaddr0, zero
  csrw pmpaddr2, zero
  csrr t1, pmpaddr0
  mark t1
  csrr t1, pmpaddr2
  mark t1
  csrw pmpaddr15, t0
  csrr t1, pmpaddr15
  mark t1
  // NA4 cannot be chosen, write without read is stored as neither.
  li t0, 0x10 << 56
  csrw pmpcfg2, t0
  csrr t1, pmpcfg2
  mark t1
  li t0, (NAPOT | WRITE | EXECUTE) << 48
  csrw pmpcfg2, t0
  csrr t1, pmpcfg2
  mark t1
  finish

trap_logger
  .data
  .balign 4096
read_only:
  .skip 4096
  .skip 4088
before_guard:
  .dword 0x1234567800000000
guard:
  .option norvc
  ret
  .option rvc
  .skip 4092
data_only:
  ret
  .skip 4094
shadowed:
  .skip 4096
