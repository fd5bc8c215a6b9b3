# cmake --install: what other projects may use, as the CMake package dllm-vp. Component lpddr5: the memory model.
#
#   find_package(dllm-vp REQUIRED)
#   target_link_libraries(mine PRIVATE dvp::lpddr5)
#
# Headers keep their paths below include/dllm-vp, so #include "tlm/lpddr5/controller.h" reads the same everywhere.
include(CMakePackageConfigHelpers)

set(DVP_INSTALLED options generated systemc core_text core numerics lpddr5_device lpddr5_engine lpddr5_config lpddr5)
foreach(name IN LISTS DVP_INSTALLED)
  set_target_properties(dvp_${name} PROPERTIES EXPORT_NAME ${name})
  install(TARGETS dvp_${name} EXPORT dllm-vp-targets ARCHIVE DESTINATION lib/dllm-vp COMPONENT lpddr5)
endforeach()
install(EXPORT dllm-vp-targets NAMESPACE dvp:: DESTINATION lib/cmake/dllm-vp COMPONENT lpddr5)

foreach(folder core numerics lpddr5)
  install(DIRECTORY "${CMAKE_SOURCE_DIR}/tlm/${folder}" DESTINATION include/dllm-vp/tlm COMPONENT lpddr5
    FILES_MATCHING PATTERN "*.h" PATTERN check EXCLUDE PATTERN traffic EXCLUDE)
endforeach()
install(DIRECTORY "${DVP_GENERATED_DIR}/dvp_gen" DESTINATION include/dllm-vp COMPONENT lpddr5
  FILES_MATCHING PATTERN "*.h")

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/dllm-vp-config.cmake.in"
  "${CMAKE_BINARY_DIR}/dllm-vp-config.cmake" INSTALL_DESTINATION lib/cmake/dllm-vp)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/dllm-vp-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/dllm-vp-config.cmake" "${CMAKE_BINARY_DIR}/dllm-vp-config-version.cmake"
  DESTINATION lib/cmake/dllm-vp COMPONENT lpddr5)
