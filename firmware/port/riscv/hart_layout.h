// Where the parts of a hart_record lie (hart.h), for start.S too, which cannot read C++. hart.cpp checks every number
// against the structure.
#pragma once

#define HART_COUNT 4
#define HART_RECORD_BYTES 640

#define HART_FRAME_F 256
#define HART_FRAME_PC 512
#define HART_FRAME_CAUSE 520
#define HART_FRAME_VALUE 528
#define HART_FRAME_STATUS 536
#define HART_TRAP_STACK_TOP 544
#define HART_STACK_TOP 552
#define HART_TRAPS 560
#define HART_WATCHDOG_DEADLINE 568
#define HART_TIMER_COMPARE 576
#define HART_TIMER_SET 584
