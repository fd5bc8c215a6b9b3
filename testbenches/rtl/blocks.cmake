# The blocks beside the array: converter, handshake blocks, and register files behind AXI4-Lite.
dvp_verilate_module(dvp_verilated_converter_functions TOP converter_functions
  SOURCES ${DVP_CONVERTER_RTL} "${CMAKE_CURRENT_SOURCE_DIR}/converter_functions.sv")
dvp_verilate_module(dvp_verilated_precision_converter TOP precision_converter SOURCES ${DVP_CONVERTER_RTL})
dvp_test(rtl_converter SOURCES converter_test.cpp DEPENDS numerics
  LIBS dvp_verilated_converter_functions dvp_verilated_precision_converter LABELS rtl)
set(recording "${CMAKE_CURRENT_BINARY_DIR}/converter_recording.txt")
target_compile_definitions(rtl_converter PRIVATE DVP_CONVERTER_RECORDING="${recording}")
set_tests_properties(rtl_converter PROPERTIES FIXTURES_SETUP converter_recording)
if(DVP_IVERILOG)
  set(replay "${CMAKE_CURRENT_BINARY_DIR}/converter_replay_tb")
  list(JOIN DVP_CONVERTER_RTL "' '" sources)
  set(bench "${CMAKE_CURRENT_SOURCE_DIR}/converter_replay_tb.sv")
  set(compile "'${DVP_IVERILOG}' -g2012 -o '${replay}' -s converter_replay_tb '${sources}' '${bench}'")
  add_test(NAME rtl_converter_icarus COMMAND sh -c "${compile} && '${replay}' '+recording=${recording}'")
  set_tests_properties(rtl_converter_icarus PROPERTIES TIMEOUT 120 LABELS rtl PASS_REGULAR_EXPRESSION "PASS"
    FIXTURES_REQUIRED converter_recording)
endif()

set(register_models)
foreach(block IN ITEMS npu mailbox uart)
  dvp_verilate_module(dvp_verilated_${block}_axi_lite TOP ${block}_axi_lite
    SOURCES ${DVP_PORT_RTL} "${DVP_GENERATED_DIR}/sv/${block}_regs.sv" "${DVP_GENERATED_DIR}/sv/${block}_axi_lite.sv"
    DEPENDS dvp_generate_files)
  list(APPEND register_models dvp_verilated_${block}_axi_lite)
endforeach()
dvp_test(rtl_registers SOURCES registers_test.cpp DEPENDS generated LIBS ${register_models} LABELS rtl)

# dvp_lint_block(<top> [PARAM <name> <value>] SOURCES ...): three tools, and synthesis without latch, loop or warning.
function(dvp_lint_block top)
  cmake_parse_arguments(ARG "" "" "PARAM;SOURCES" ${ARGN})
  set(suffix ${top})
  set(chparam)
  set(verilator_parameter)
  set(icarus_parameter)
  if(ARG_PARAM)
    list(GET ARG_PARAM 0 name)
    list(GET ARG_PARAM 1 value)
    set(suffix ${top}_${value})
    set(chparam -p "chparam -set ${name} ${value} ${top}")
    set(verilator_parameter -G${name}=${value})
    set(icarus_parameter -P${top}.${name}=${value})
  endif()
  list(JOIN ARG_SOURCES " " sources)
  dvp_lint(rtl_lint_verilator_${suffix}
    "${DVP_VERILATOR}" --lint-only -Wall ${verilator_parameter} --top-module ${top} ${ARG_SOURCES})
  if(DVP_IVERILOG)
    dvp_lint(rtl_lint_icarus_${suffix} "${DVP_IVERILOG}" -g2012 -Wall -Wno-timescale -t null ${icarus_parameter}
      -s ${top} ${ARG_SOURCES})
    set_tests_properties(rtl_lint_icarus_${suffix} PROPERTIES FAIL_REGULAR_EXPRESSION "warning:;error:;sorry:")
  endif()
  if(DVP_YOSYS)
    # -e: every warning is an error. A latch or a loop would be left as a cell or found by check.
    dvp_lint(rtl_synthesis_${suffix} "${DVP_YOSYS}" -q -e "."
      -p "read_verilog -sv -defer ${sources}" ${chparam} -p "hierarchy -check -top ${top}"
      -p "synth -top ${top}" -p "check -assert" -p "select -assert-none t:$_DLATCH* t:$_SR_* t:$_DLATCHSR*")
  endif()
endfunction()

foreach(depth IN ITEMS 1 2 3)
  dvp_lint_block(stream_fifo PARAM Depth ${depth} SOURCES ${DVP_FIFO_RTL})
endforeach()
dvp_lint_block(axi_lite_port SOURCES ${DVP_PORT_RTL})
foreach(bytes IN ITEMS 1 3 32)
  dvp_lint_block(precision_converter PARAM BurstBytes ${bytes} SOURCES ${DVP_CONVERTER_RTL})
endforeach()
foreach(block IN ITEMS npu mailbox uart)
  dvp_lint_block(${block}_axi_lite SOURCES ${DVP_PORT_RTL}
    "${DVP_GENERATED_DIR}/sv/${block}_regs.sv" "${DVP_GENERATED_DIR}/sv/${block}_axi_lite.sv")
endforeach()

# Illegal parameters stop elaboration with a message.
foreach(illegal IN ITEMS "stream_fifo Width" "stream_fifo Depth" "precision_converter BurstBytes")
  separate_arguments(illegal)
  list(GET illegal 0 top)
  list(GET illegal 1 name)
  dvp_lint(rtl_illegal_${top}_${name}
    "${DVP_VERILATOR}" --lint-only -G${name}=0 --top-module ${top} ${DVP_CONVERTER_RTL})
  set_tests_properties(rtl_illegal_${top}_${name} PROPERTIES PASS_REGULAR_EXPRESSION "${top}: ${name} must be")
endforeach()
