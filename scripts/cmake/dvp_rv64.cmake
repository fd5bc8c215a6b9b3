# RV64 bare metal: how its sources are compiled and its images linked.
#
#   dvp_rv64_objects(<name> SOURCES a.cpp b.S)
#       compiles the sources and keeps the objects under <name>.
#   dvp_rv64_image(<target> OBJECTS <name>... [SOURCES c.cpp] [OUTPUT <elf>])
#       links an image, <build>/firmware/<target>.elf unless OUTPUT says another, and makes a target of that name. Its
#       property DVP_RV64_IMAGE is the path. The image is linked twice: the first link gives the addresses for the symbol
#       table that the second one carries (firmware/port/riscv/symbols.py), and nothing may have moved.
#
# Without the toolchain DVP_RV64 is OFF and there are no such functions.
#
# The bare-metal compiler has no C++ headers; those of the Linux cross compiler serve, with picolibc's C headers.
find_program(DVP_RV64_CXX riscv64-unknown-elf-g++)
set(DVP_RV64_CXX_HEADERS /usr/riscv64-linux-gnu/include/c++/12 CACHE PATH "C++ library headers for RV64")
set(DVP_RV64_PICOLIBC /usr/lib/picolibc/riscv64-unknown-elf CACHE PATH "picolibc for RV64")
if(NOT DVP_RV64_CXX OR NOT EXISTS "${DVP_RV64_CXX_HEADERS}/span" OR NOT EXISTS "${DVP_RV64_PICOLIBC}/include/string.h")
  set(DVP_RV64 OFF)
  set(missing "install gcc-riscv64-unknown-elf, picolibc-riscv64-unknown-elf and libstdc++-12-dev-riscv64-cross")
  if(DVP_FIRMWARE_ONLY)
    message(FATAL_ERROR "No RV64 toolchain: ${missing}")
  endif()
  message(STATUS "No RV64 toolchain: the firmware images are left out (${missing})")
  return()
endif()
set(DVP_RV64 ON)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
string(REGEX REPLACE "g\\+\\+$" "" DVP_RV64_TOOLS "${DVP_RV64_CXX}")

set(DVP_RV64_PORT "${CMAKE_SOURCE_DIR}/firmware/port/riscv")
set(DVP_RV64_TARGET -march=rv64gc -mabi=lp64d -mcmodel=medany)
# Frame pointers are what the trap handler's backtrace walks along.
set(DVP_RV64_FLAGS -std=c++20 ${DVP_RV64_TARGET} -O2 -g -ffunction-sections -fdata-sections -fno-omit-frame-pointer
  -ffreestanding -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-asynchronous-unwind-tables -ffp-contract=off
  -fno-trapping-math -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
  -nostdinc++ -isystem "${DVP_RV64_CXX_HEADERS}" -isystem "${DVP_RV64_CXX_HEADERS}/riscv64-linux-gnu"
  -isystem "${DVP_RV64_PORT}/include" -isystem "${DVP_RV64_PICOLIBC}/include"
  -I "${CMAKE_SOURCE_DIR}" -I "${DVP_GENERATED_DIR}")
if(DVP_WERROR)
  list(APPEND DVP_RV64_FLAGS -Werror)
endif()

# The image lies in the memory `firmware` of the address map.
file(READ "${DVP_SPEC_DIR}/system/reference.json" system_map)
string(JSON last LENGTH "${system_map}" memories)
math(EXPR last "${last} - 1")
foreach(i RANGE ${last})
  string(JSON memory GET "${system_map}" memories ${i} name)
  if(memory STREQUAL "firmware")
    string(JSON DVP_IMAGE_BASE GET "${system_map}" memories ${i} base)
    string(JSON DVP_IMAGE_BYTES GET "${system_map}" memories ${i} bytes)
  endif()
endforeach()
if(NOT DVP_IMAGE_BASE)
  message(FATAL_ERROR "gen/spec/system/reference.json: the RV64 image wants a memory named 'firmware'")
endif()
string(REPLACE "_" "" DVP_IMAGE_BASE "${DVP_IMAGE_BASE}")
string(REPLACE "_" "" DVP_IMAGE_BYTES "${DVP_IMAGE_BYTES}")
set(DVP_RV64_LAYOUT "${CMAKE_BINARY_DIR}/firmware/image.ld")
configure_file("${DVP_RV64_PORT}/image.ld.in" "${DVP_RV64_LAYOUT}" @ONLY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${DVP_SPEC_DIR}/system/reference.json")

function(dvp_rv64_objects name)
  cmake_parse_arguments(ARG "" "" "SOURCES" ${ARGN})
  set(objects "")
  foreach(source IN LISTS ARG_SOURCES)
    get_filename_component(source "${source}" ABSOLUTE)
    file(RELATIVE_PATH path "${CMAKE_SOURCE_DIR}" "${source}")
    set(object "${CMAKE_BINARY_DIR}/firmware/objects/${path}.o")
    get_filename_component(folder "${object}" DIRECTORY)
    file(MAKE_DIRECTORY "${folder}")
    if(source MATCHES "\\.S$")
      set(flags ${DVP_RV64_TARGET} -g -I "${CMAKE_SOURCE_DIR}")
    else()
      set(flags ${DVP_RV64_FLAGS})
    endif()
    add_custom_command(OUTPUT "${object}"
      COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} "${DVP_RV64_CXX}" ${flags} -MD -MF "${object}.d" -c "${source}" -o "${object}"
      DEPENDS "${source}" dvp_generate_files
      DEPFILE "${object}.d"
      COMMENT "RV64 ${path}"
      VERBATIM)
    list(APPEND objects "${object}")
  endforeach()
  set_property(GLOBAL PROPERTY DVP_RV64_OBJECTS_${name} "${objects}")
  # Images of several folders share objects: one target makes each of them.
  add_custom_target(dvp_rv64_${name} DEPENDS ${objects})
endfunction()

function(dvp_rv64_image target)
  cmake_parse_arguments(ARG "" "OUTPUT" "SOURCES;OBJECTS" ${ARGN})
  if(NOT ARG_OUTPUT)
    set(ARG_OUTPUT "${CMAKE_BINARY_DIR}/firmware/${target}.elf")
  endif()
  if(ARG_SOURCES)
    dvp_rv64_objects(${target} SOURCES ${ARG_SOURCES})
    list(APPEND ARG_OBJECTS ${target})
  endif()
  set(objects "")
  set(targets "")
  foreach(name IN LISTS ARG_OBJECTS)
    get_property(some GLOBAL PROPERTY DVP_RV64_OBJECTS_${name})
    list(APPEND objects ${some})
    list(APPEND targets dvp_rv64_${name})
  endforeach()

  set(first "${CMAKE_BINARY_DIR}/firmware/objects/${target}")
  set(link "${DVP_RV64_CXX}" ${DVP_RV64_TARGET} -nostartfiles -nostdlib -static -Wl,--gc-sections -Wl,--fatal-warnings
    -T "${DVP_RV64_LAYOUT}" "-L${DVP_RV64_PICOLIBC}/lib/rv64imafdc/lp64d" ${objects})
  set(symbols "${Python3_EXECUTABLE}" "${DVP_RV64_PORT}/symbols.py")
  get_filename_component(folder "${ARG_OUTPUT}" DIRECTORY)
  get_filename_component(name "${ARG_OUTPUT}" NAME_WE)
  file(MAKE_DIRECTORY "${folder}")
  add_custom_command(OUTPUT "${ARG_OUTPUT}"
    COMMAND ${link} -lc -lgcc -o "${first}.first.elf"
    COMMAND ${symbols} write --nm "${DVP_RV64_TOOLS}nm" --title "${name} ${PROJECT_VERSION}"
            "${first}.first.elf" "${first}.symbols.S"
    COMMAND "${DVP_RV64_CXX}" ${DVP_RV64_TARGET} -c "${first}.symbols.S" -o "${first}.symbols.o"
    COMMAND ${link} "${first}.symbols.o" -lc -lgcc -o "${first}.elf"
    COMMAND ${symbols} check --nm "${DVP_RV64_TOOLS}nm" "${first}.first.elf" "${first}.elf"
    COMMAND "${CMAKE_COMMAND}" -E rename "${first}.elf" "${ARG_OUTPUT}"
    DEPENDS ${objects} ${targets} "${DVP_RV64_LAYOUT}" "${DVP_RV64_PORT}/symbols.py"
    COMMENT "RV64 image ${target}"
    VERBATIM)
  add_custom_target(${target} ALL DEPENDS "${ARG_OUTPUT}")
  set_property(TARGET ${target} PROPERTY DVP_RV64_IMAGE "${ARG_OUTPUT}")
endfunction()
