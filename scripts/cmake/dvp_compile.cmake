# Compile options shared by every target.
#
# -ffp-contract=off is part of the numerics contract: a fused multiply-add has other bits than the RTL.
# SystemC from Debian is built as C++17; dvp_systemc.cmake tells its headers so, the project itself is C++20.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

option(DVP_WERROR "Treat warnings as errors" ON)
option(DVP_COVERAGE "Instrument for gcov" OFF)
set(DVP_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined")

add_library(dvp_options INTERFACE)
# Who uses an installed library has warnings of their own.
set(build_only
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
  -Wno-restrict  # GCC 12 sees overlapping copies in "literal" + string where there are none (GCC bug 105651)
  $<$<BOOL:${DVP_WERROR}>:-Werror>)
target_compile_options(dvp_options INTERFACE "$<BUILD_INTERFACE:${build_only}>" -ffp-contract=off)
target_compile_features(dvp_options INTERFACE cxx_std_20)
target_include_directories(dvp_options INTERFACE
  "$<BUILD_INTERFACE:${CMAKE_SOURCE_DIR};${CMAKE_BINARY_DIR}/generated>" $<INSTALL_INTERFACE:include/dllm-vp>)
if(DVP_SANITIZE)
  # Instrumented code hides initialisations from GCC 12, which then warns inside <regex>.
  target_compile_options(dvp_options INTERFACE -fsanitize=${DVP_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all -Wno-maybe-uninitialized)
  target_link_options(dvp_options INTERFACE -fsanitize=${DVP_SANITIZE})
endif()
if(DVP_COVERAGE)
  target_compile_options(dvp_options INTERFACE --coverage)
  target_link_options(dvp_options INTERFACE --coverage)
endif()

find_program(DVP_CCACHE ccache)
if(DVP_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${DVP_CCACHE}")
endif()
find_program(DVP_MOLD mold)
if(DVP_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
