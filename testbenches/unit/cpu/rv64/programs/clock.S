// The time before and after a device changed it.
#include "test.inc"
start
  li s3, DEVICE
  csrr t0, time
  mark t0
  sw zero, 0x40(s3)
  csrr t0, time
  mark t0
  finish
trap_logger
