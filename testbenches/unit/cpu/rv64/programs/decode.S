// Instructions to decode, not to run; the test lists what each is.
.option norelax
.section .text.start, "ax"
.globl _start
_start:
  c.lw a1, 124(a0)
  c.ld a2, 248(s1)
  c.fld fa3, 8(a5)
  c.sw a4, 64(s0)
  c.sd a5, 128(a2)
  c.fsd fs0, 240(a3)
  c.lwsp t0, 252(sp)
  c.ldsp s11, 504(sp)
  c.fldsp ft9, 328(sp)
  c.swsp t6, 196(sp)
  c.sdsp s7, 456(sp)
  c.fsdsp fs11, 80(sp)
  c.addi4spn a0, sp, 8
  c.addi a0, 1
  c.lui a0, 1
  c.mv a0, a1
  c.add a0, a1
  c.and a0, a1
  c.slli a0, 3
  c.j _start
  c.jr ra
  c.jr a5
  c.jr t0
  c.jalr a5
  c.beqz a0, _start
  c.bnez a0, _start
  c.ebreak
.option norvc
  lb a0, -2048(a1)
  lhu t3, 2047(t4)
  lw ra, -4(sp)
  lwu a0, 0(a1)
  ld a0, 16(a1)
  sb a0, -1(a1)
  sh t6, -2048(t5)
  sw zero, 2047(gp)
  sd a0, 8(a1)
  flw fa0, 4(a1)
  fld ft11, -8(a1)
  fsw fa0, 4(a1)
  fsd ft11, -8(a1)
  lr.w a0, (a1)
  sc.d a0, a2, (a1)
  amoswap.w a0, a2, (a1)
  amomaxu.d a0, a2, (a1)
  amominu.w a0, a2, (a1)
  lui a0, 1
  auipc a0, 1
  addi a0, a0, 1
  addw a0, a0, a1
  sra a0, a0, a1
  mul a0, a0, a1
  mulhsu a0, a0, a1
  mulw a0, a0, a1
  div a0, a0, a1
  remuw a0, a0, a1
  fadd.s fa0, fa0, fa1
  fsub.d fa0, fa0, fa1
  fmul.s fa0, fa0, fa1
  fnmadd.d fa0, fa0, fa1, fa2
  fdiv.d fa0, fa0, fa1
  fsqrt.s fa0, fa0
  fsgnj.d fa0, fa0, fa1
  fmax.s fa0, fa0, fa1
  fcvt.l.d a0, fa0
  fmv.x.w a0, fa0
  feq.d a0, fa0, fa1
  jal ra, _start
  jal t0, _start
  jal zero, _start
  jal a0, _start
  jalr ra, 0(a0)
  jalr zero, 0(ra)
  jalr zero, 4(t0)
  jalr zero, 0(a0)
  jalr t0, 0(t0)
  jalr a0, 0(ra)
  bltu a0, a1, _start
  fence
  fence.i
  ecall
  ebreak
  mret
  wfi
  csrrw a0, mstatus, a1
  csrrci a0, mie, 3
  csrr a0, fcsr
  csrwi fflags, 0
  sret
