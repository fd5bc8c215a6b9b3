# One library per folder, one test per executable.
#
#   dvp_library(numerics SOURCES a.cpp b.cpp DEPENDS core loader LIBS Some::lib)
#       makes dvp_numerics with alias dvp::numerics; DEPENDS names other dvp libraries. A library without
#       SOURCES is header-only.
#   dvp_test(unit_bf16 SOURCES bf16_test.cpp DEPENDS numerics [LABELS unit] [TIMEOUT 60] [ARGS ...])
#       makes a GoogleTest executable and one CTest case of that name.
#   dvp_sc_test(core_bus SOURCES bus_test.cpp DEPENDS core [LABELS unit] [TIMEOUT 60])
#       the same for tests that link SystemC: every TEST is a CTest case core_bus.<suite>.<test> in a process of its
#       own, because the kernel elaborates once per process.
include(GoogleTest)

function(dvp_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LIBS" ${ARGN})
  set(target dvp_${name})
  if(ARG_SOURCES)
    add_library(${target} STATIC ${ARG_SOURCES})
    set(scope PUBLIC)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(dvp::${name} ALIAS ${target})
  target_link_libraries(${target} ${scope} dvp_options)
  foreach(dep IN LISTS ARG_DEPENDS)
    target_link_libraries(${target} ${scope} dvp::${dep})
  endforeach()
  target_link_libraries(${target} ${scope} ${ARG_LIBS})
endfunction()

function(dvp_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPENDS;LIBS;LABELS;ARGS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE dvp_options ${ARG_LIBS} GTest::gtest GTest::gtest_main)
  foreach(dep IN LISTS ARG_DEPENDS)
    target_link_libraries(${name} PRIVATE dvp::${dep})
  endforeach()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_test(NAME ${name} COMMAND ${name} ${ARG_ARGS} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
endfunction()

function(dvp_sc_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPENDS;LIBS;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE dvp::sc_gtest_main dvp_options ${ARG_LIBS})
  foreach(dep IN LISTS ARG_DEPENDS)
    target_link_libraries(${name} PRIVATE dvp::${dep})
  endforeach()
  gtest_discover_tests(${name}
    DISCOVERY_MODE PRE_TEST
    TEST_PREFIX "${name}."
    WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}"
    PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
endfunction()
