# Verilated models as libraries.
#
#   dvp_verilate_module(<target> TOP <module> SOURCES a.sv b.sv [DEPENDS target...] [PARAMETERS Name=value...]
#                       [OPTIONS option...])
#       makes a static library <target> with the C++ model V<module>, tracing (FST) compiled in. OPTIONS go to Verilator.
#   dvp_verilate(<config>)
#       the array configuration gen/spec/arrays/<config>.json: dvp_verilated_<config> with Vsystolic_array_<config>.
#       The name goes into the global property DVP_VERILATED_CONFIGS, from which tlm/cosim makes its table.
#
# Generated code is compiled as one unit with full optimisation: -O3 lets the compiler vectorise the loops over the
# element planes, which is worth a factor of ten. --unroll-count keeps Verilator from unrolling those loops.
find_program(DVP_VERILATOR verilator REQUIRED)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
set(DVP_VERILATED_ARCH "-march=native" CACHE STRING
    "Architecture flags of Verilated code only; empty for binaries that move between machines")

execute_process(COMMAND "${DVP_VERILATOR}" --getenv VERILATOR_ROOT OUTPUT_VARIABLE DVP_VERILATOR_ROOT
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(DVP_VERILATE_UNITY "${CMAKE_CURRENT_LIST_DIR}/dvp_verilate_unity.cmake")

function(dvp_verilated_runtime)
  if(TARGET dvp_verilated_runtime)
    return()
  endif()
  set(include "${DVP_VERILATOR_ROOT}/include")
  add_library(dvp_verilated_runtime STATIC
    "${include}/verilated.cpp" "${include}/verilated_threads.cpp" "${include}/verilated_fst_c.cpp")
  target_include_directories(dvp_verilated_runtime SYSTEM PUBLIC "${include}" "${include}/vltstd")
  target_compile_definitions(dvp_verilated_runtime PUBLIC VM_TRACE=1 VM_TRACE_FST=1)
  target_compile_options(dvp_verilated_runtime PRIVATE -w -O2)
  target_link_libraries(dvp_verilated_runtime PUBLIC Threads::Threads ZLIB::ZLIB)
endfunction()

function(dvp_verilate_module target)
  cmake_parse_arguments(ARG "" "TOP" "SOURCES;DEPENDS;PARAMETERS;OPTIONS" ${ARGN})
  list(TRANSFORM ARG_PARAMETERS PREPEND "-G")
  dvp_verilated_runtime()
  set(dir "${CMAKE_CURRENT_BINARY_DIR}/${target}.dir")
  add_custom_command(
    OUTPUT "${dir}/all.cpp"
    BYPRODUCTS "${dir}/V${ARG_TOP}.h"
    COMMAND "${DVP_VERILATOR}" --cc -O3 --unroll-count 4 --x-assign unique --x-initial unique
            --trace-fst --trace-max-width 4096 --trace-max-array 64
            --top-module ${ARG_TOP} --prefix V${ARG_TOP} --Mdir "${dir}" ${ARG_PARAMETERS} ${ARG_OPTIONS}
            ${ARG_SOURCES}
    COMMAND "${CMAKE_COMMAND}" -DDIR=${dir} -DPREFIX=V${ARG_TOP} -P "${DVP_VERILATE_UNITY}"
    DEPENDS ${ARG_SOURCES} ${ARG_DEPENDS} "${DVP_VERILATE_UNITY}"
    COMMENT "Verilating ${ARG_TOP}"
    VERBATIM)
  add_library(${target} STATIC "${dir}/all.cpp")
  target_include_directories(${target} SYSTEM PUBLIC "${dir}")
  separate_arguments(arch UNIX_COMMAND "${DVP_VERILATED_ARCH}")
  target_compile_options(${target} PRIVATE -w -O3 -ffp-contract=off ${arch})
  target_link_libraries(${target} PUBLIC dvp_verilated_runtime)
endfunction()

function(dvp_verilate config)
  dvp_verilate_module(dvp_verilated_${config} TOP systolic_array_${config}
    SOURCES ${DVP_ARRAY_RTL} "${DVP_GENERATED_DIR}/sv/systolic_array_${config}.sv"
    DEPENDS dvp_generate_files)
  set_property(GLOBAL APPEND PROPERTY DVP_VERILATED_CONFIGS ${config})
endfunction()
