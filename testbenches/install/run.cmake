# Installs BUILD into a prefix below WORK, builds EXAMPLE against it and checks what it prints.
file(REMOVE_RECURSE "${WORK}")
set(prefix "${WORK}/prefix")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${prefix}" --component lpddr5
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${EXAMPLE}" -B "${WORK}/build" "-DCMAKE_PREFIX_PATH=${prefix}"
                        "-DCMAKE_CXX_COMPILER=${COMPILER}" -DCMAKE_CXX_FLAGS=-Werror
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${WORK}/build" OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${WORK}/build/example" OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
foreach(expected "then 600df00d" "\"bytes_read\": 8" "\"total_pj_modelled\"")
  string(FIND "${printed}" "${expected}" place)
  if(place EQUAL -1)
    message(FATAL_ERROR "the example did not print '${expected}' but:\n${printed}")
  endif()
endforeach()
# Nothing of the package may lead back into the tree it was built from.
file(GLOB package "${prefix}/lib/cmake/dllm-vp/*.cmake")
foreach(part IN LISTS package)
  file(READ "${part}" text)
  string(FIND "${text}" "${SOURCE}" place)
  if(NOT place EQUAL -1)
    message(FATAL_ERROR "${part} names ${SOURCE}")
  endif()
endforeach()
