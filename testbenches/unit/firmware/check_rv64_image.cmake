# Checks the RV64 image: cmake -DIMAGE=<elf> -DBASE=<address> -DTOOLS=<prefix of the binutils> -P check_rv64_image.cmake
#
# An executable for RV64 with double-float ABI that starts at the base of the memory `firmware`, complete (no undefined symbols),
# with nothing of a hosted run-time in it, and without fused multiply-adds, whose bits differ from the RTL's.
if(NOT EXISTS "${IMAGE}")
  message(FATAL_ERROR "${IMAGE} is missing: build the target firmware_rv64")
endif()

function(run result)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN} ended with ${code}")
  endif()
  set(${result} "${output}" PARENT_SCOPE)
endfunction()

run(header "${TOOLS}readelf" -h "${IMAGE}")
foreach(wanted "ELF64" "EXEC" "RISC-V" "double-float ABI" "Entry point address: +${BASE}\n")
  if(NOT header MATCHES "${wanted}")
    message(FATAL_ERROR "${IMAGE}: the ELF header does not say '${wanted}':\n${header}")
  endif()
endforeach()

run(undefined "${TOOLS}nm" -u "${IMAGE}")
if(NOT undefined STREQUAL "")
  message(FATAL_ERROR "${IMAGE}: undefined symbols:\n${undefined}")
endif()

run(symbols "${TOOLS}nm" -C "${IMAGE}")
foreach(needed "_start" "trap_entry" "report_trap" "dvp::apps::serve" "dvp::dllm::run_llada" "dvp::dllm::run_fast_dllm_v2")
  if(NOT symbols MATCHES " [Tt] ${needed}")
    message(FATAL_ERROR "${IMAGE}: no function ${needed}")
  endif()
endforeach()
foreach(forbidden malloc free printf abort "operator new" "operator delete" __cxa_throw _Unwind __cxa_atexit)
  if(symbols MATCHES " [TtWw] ${forbidden}[^\n]*")
    message(FATAL_ERROR "${IMAGE}: a hosted run-time came in: ${CMAKE_MATCH_0}")
  endif()
endforeach()

run(code "${TOOLS}objdump" -d --no-show-raw-insn "${IMAGE}")
if(code MATCHES "[^\n]*\tf(n?m(add|sub))\\.[^\n]*")
  message(FATAL_ERROR "${IMAGE}: a fused multiply-add: ${CMAKE_MATCH_0}")
endif()
