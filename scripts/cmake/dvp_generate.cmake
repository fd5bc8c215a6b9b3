# dvp::generated: everything npugen renders from gen/spec, in <build>/generated. Filled in by gen/CMakeLists.txt.
set(DVP_GENERATED_DIR "${CMAKE_BINARY_DIR}/generated")
set(DVP_SPEC_DIR "${CMAKE_SOURCE_DIR}/gen/spec")
