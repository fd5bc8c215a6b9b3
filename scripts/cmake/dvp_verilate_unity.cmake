# Writes DIR/all.cpp, which includes every source Verilator left in DIR: their names are not known when CMake runs.
file(GLOB sources "${DIR}/${PREFIX}*.cpp")
list(SORT sources)
set(text "")
foreach(source IN LISTS sources)
  string(APPEND text "#include \"${source}\"\n")
endforeach()
file(WRITE "${DIR}/all.cpp" "${text}")
