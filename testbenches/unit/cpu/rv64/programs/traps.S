// Every synchronous cause, each in the middle of a basic block, compressed and not.
#include "test.inc"
start
  li s2, NOTHING
  li s3, DEVICE
  li s4, REFUSED
  li s5, ROM
  la s6, cell
  li a1, 7

traps illegal_word, .word 0x0000000b
traps illegal_half, .half 0x0000
traps reserved_half, .half 0x4002
traps environment_call, ecall
.option norvc
traps break_word, ebreak
.option rvc
traps break_half, c.ebreak

  mv a0, s2
traps load_nothing, lw a2, 4(a0)
traps load_nothing_half, c.ld a2, 8(a0)
traps store_nothing, sb a1, -1(a0)
traps store_nothing_half, c.sw a1, 4(a0)
traps amo_nothing, amoadd.w a2, a1, (a0)
traps reserve_nothing, lr.d a2, (a0)
  lr.w a2, (s6)
traps store_rom, sw a1, 16(s5)
  mv a0, s4
traps load_refused, lhu a2, 2(a0)
traps store_refused, c.sd a1, 8(a0)
traps amo_device, amoswap.d a2, a1, (s3)
traps reserve_device, lr.w a2, (s3)
traps load_misaligned_device, lh a2, 1(s3)
traps store_misaligned_device, sd a1, 4(s3)
  addi a0, s6, 1
traps amo_misaligned, amoor.w a2, a1, (a0)
traps reserve_misaligned, lr.d a2, (a0)
traps no_such_csr, csrr a2, 0x123
traps supervisor_csr, csrw satp, a1
traps read_only_csr, csrw mhartid, a1
traps read_only_counter, csrrs a2, cycle, a1
traps supervisor_return, sret
traps supervisor_fence, sfence.vma
traps float_off, .word 0x02007053   // fadd.d f0, f0, f0
traps float_load_off, .word 0x00053007  // fld f0, 0(a0)
traps float_half_load_off, c.fld f8, 0(a0)
traps float_half_store_off, c.fsd f9, 8(a0)
traps float_half_pop_off, c.fldsp f3, 16(sp)
traps float_half_push_off, c.fsdsp f4, 24(sp)
traps float_flags_off, .word 0x00302673  // csrr a2, fcsr
  li t0, FS_INITIAL
  csrs mstatus, t0
  mv a0, s2
traps float_load_nothing, fld f0, 24(a0)
traps float_store_nothing, fsw f0, 28(a0)
traps float_misaligned_device, flw f0, 2(s3)
traps float_rounding, .word 0x02005053  // fadd.d f0, f0, f0 with rounding mode 5

  // Misaligned accesses to memory are served.
  ld a2, 1(s6)
  mark a2
  sw a1, 3(s6)
  ld a2, 0(s6)
  mark a2

  // One instruction with floating point on, off and on again.
  mv a0, s6
  la s11, toggle_next
  li s7, 3
toggle:
  li t0, FS_MASK
  csrc mstatus, t0
  andi t1, s7, 1
  beqz t1, toggled
  li t0, FS_INITIAL
  csrs mstatus, t0
toggled:
  c.fld f8, 0(a0)
  fmv.x.d t1, f8
  mark t1
toggle_next:
  addi s7, s7, -1
  bnez s7, toggle

  // Fetches. The pc is that of the target.
  la s11, 1f
  addi s1, s1, 1
  jr s2
1:
  la s11, 1f
  addi s1, s1, 1
  jr s3
1:
  // The last half word of memory starts a long instruction: what lies before it executes.
  la t0, last_page_code
  la t1, last_page_code_end
  li t2, 0x800ffff6
2:
  lhu t3, 0(t0)
  sh t3, 0(t2)
  addi t0, t0, 2
  addi t2, t2, 2
  bne t0, t1, 2b
  la s11, 1f
  addi s1, s1, 1
  li t2, 0x800ffff6
  jr t2
1:
  finish

  .balign 2
last_page_code:
  c.addi s1, 10
.option norvc
  addi s1, s1, 20
.option rvc
  c.addi s1, 1
  .half 0x0513
last_page_code_end:

trap_logger
  .data
  .balign 8
cell:
  .dword 0x1122334455667788, 0x99
