# One stimulus through Verilator and Icarus, and the results of both compared:
#   cmake -DSTIMULUS=<rtl_array_stimulus> -DCONFIG=<name> -DSEED=<n> -DCYCLES=<n> "-DPARAMETERS=-P...;-P..."
#         -DDEFINES=-D... "-DSOURCES=a.sv;b.sv" -DIVERILOG=<iverilog> -DVVP=<vvp> -DOUT=<directory>
#         -P two_simulators.cmake
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${CONFIG}, seed ${SEED}: failed with ${code}: ${command}")
  endif()
endfunction()

file(MAKE_DIRECTORY "${OUT}")
run("${STIMULUS}" ${CONFIG} ${SEED} ${CYCLES} "${OUT}/stimulus.txt" "${OUT}/verilator.txt")
run("${IVERILOG}" -g2012 -Wall -Wno-timescale ${DEFINES} ${PARAMETERS} -s array_replay -o "${OUT}/replay" ${SOURCES})
run("${VVP}" -N "${OUT}/replay" "+stimulus=${OUT}/stimulus.txt" "+results=${OUT}/icarus.txt")
run("${CMAKE_COMMAND}" -E compare_files "${OUT}/verilator.txt" "${OUT}/icarus.txt")
file(STRINGS "${OUT}/icarus.txt" lines)
list(LENGTH lines count)
if(NOT count EQUAL CYCLES)
  message(FATAL_ERROR "${CONFIG}, seed ${SEED}: ${count} cycles in the results, ${CYCLES} expected")
endif()
