# SystemC as one imported target, dvp::systemc.
#
# Debian's library is built as C++17 and its headers encode the language standard in a link-time symbol. The
# headers let that macro be preset, so C++20 code links as long as every SystemC translation unit says 201703L.
find_package(PkgConfig REQUIRED)
pkg_check_modules(SYSTEMC REQUIRED IMPORTED_TARGET systemc)
add_library(dvp_systemc INTERFACE)
add_library(dvp::systemc ALIAS dvp_systemc)
target_link_libraries(dvp_systemc INTERFACE PkgConfig::SYSTEMC)
target_compile_definitions(dvp_systemc INTERFACE SC_CPLUSPLUS=201703L SC_INCLUDE_DYNAMIC_PROCESSES)
set_target_properties(PkgConfig::SYSTEMC PROPERTIES INTERFACE_COMPILE_OPTIONS "")

include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES PkgConfig::SYSTEMC)
set(CMAKE_REQUIRED_FLAGS "-std=c++20 -DSC_CPLUSPLUS=201703L")
check_cxx_source_compiles("#include <systemc>\nint sc_main(int, char**) { return 0; }" DVP_SYSTEMC_LINKS)
if(NOT DVP_SYSTEMC_LINKS)
  message(FATAL_ERROR "SystemC ${SYSTEMC_VERSION} does not link as a C++17 library; install Debian's libsystemc-dev "
                      "2.3.4 and unset CPATH and CPLUS_INCLUDE_PATH")
endif()
unset(CMAKE_REQUIRED_LIBRARIES)
unset(CMAKE_REQUIRED_FLAGS)
