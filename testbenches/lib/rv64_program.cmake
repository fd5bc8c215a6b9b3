# Small RV64 programs of tests and benchmarks: one file or a few, no libraries, linked to the start of memory.
#
#   rv64_program(<name> SOURCES a.S b.c [DEPENDS header.h])
#       <name>.elf, <name>.bin and <name>.sym (of nm) in <build of the folder>/programs. RV64_PROGRAM_FILES collects the
#       .bin files, for a target to depend on.
#
# RV64_PROGRAMS is ON when there is a compiler.
include_guard(DIRECTORY)
find_program(DVP_RV64_CC riscv64-unknown-elf-gcc)
find_program(DVP_RV64_OBJCOPY riscv64-unknown-elf-objcopy)
find_program(DVP_RV64_NM riscv64-unknown-elf-nm)
set(RV64_PROGRAMS OFF)
if(DVP_RV64_CC AND DVP_RV64_OBJCOPY AND DVP_RV64_NM)
  set(RV64_PROGRAMS ON)
endif()
set(RV64_PROGRAM_LAYOUT "${CMAKE_CURRENT_LIST_DIR}/rv64_program.ld")
set(RV64_PROGRAM_DIR "${CMAKE_CURRENT_BINARY_DIR}/programs")
set(RV64_PROGRAM_FILES "")

function(rv64_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  file(MAKE_DIRECTORY "${RV64_PROGRAM_DIR}")
  set(out "${RV64_PROGRAM_DIR}/${name}")
  list(TRANSFORM ARG_SOURCES PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" REGEX "^[^/]")
  add_custom_command(OUTPUT "${out}.bin" "${out}.sym"
    COMMAND "${DVP_RV64_CC}" -march=rv64gc -mabi=lp64d -mcmodel=medany -O2 -ffreestanding -ffp-contract=off
            -nostdlib -nostartfiles -static -Wl,--no-warn-rwx-segments -Wl,--no-relax -T "${RV64_PROGRAM_LAYOUT}"
            ${ARG_SOURCES} -o "${out}.elf"
    COMMAND "${DVP_RV64_OBJCOPY}" -O binary "${out}.elf" "${out}.bin"
    COMMAND "${DVP_RV64_NM}" "${out}.elf" > "${out}.sym"
    DEPENDS ${ARG_SOURCES} ${ARG_DEPENDS} "${RV64_PROGRAM_LAYOUT}"
    COMMENT "RV64 program ${name}"
    VERBATIM)
  list(APPEND RV64_PROGRAM_FILES "${out}.bin")
  set(RV64_PROGRAM_FILES "${RV64_PROGRAM_FILES}" PARENT_SCOPE)
endfunction()
