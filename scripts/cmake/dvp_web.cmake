# The page of `dllm-vp report` as files to embed: JavaScript bundled with the libraries that scripts/packages put into
# node_modules, and the licences of these. Needs no network.
#
#   dvp_web_bundle(<source folder> <output folder>)    output: page.html style.css report.js licences.txt, in
#                                                      DVP_WEB_FILES
find_program(DVP_ESBUILD esbuild)

function(dvp_web_bundle source output)
  set(modules "${source}/node_modules")
  if(NOT DVP_ESBUILD OR NOT EXISTS "${modules}/echarts/package.json")
    message(FATAL_ERROR "The page of dllm-vp report needs esbuild and ${modules}; ./scripts/packages installs both.")
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${source}/src/*.js")
  file(MAKE_DIRECTORY "${output}")
  add_custom_command(OUTPUT "${output}/report.js"
    COMMAND "${DVP_ESBUILD}" src/main.js --bundle --minify --charset=ascii --legal-comments=none --log-level=warning
            "--outfile=${output}/report.js"
    DEPENDS ${sources} "${source}/package-lock.json" WORKING_DIRECTORY "${source}"
    COMMENT "Bundling the report page" VERBATIM)
  set(licences "${modules}/echarts/NOTICE" "${modules}/echarts/LICENSE" "${modules}/echarts/licenses/LICENSE-d3"
               "${modules}/zrender/LICENSE" "${modules}/tslib/CopyrightNotice.txt")
  add_custom_command(OUTPUT "${output}/licences.txt"
    COMMAND sh -c "tail -n +1 \"$@\" | sed \"s|${modules}/||\" > \"${output}/licences.txt\"" sh ${licences}
    DEPENDS "${source}/package-lock.json" VERBATIM)
  foreach(name page.html style.css)
    add_custom_command(OUTPUT "${output}/${name}"
      COMMAND "${CMAKE_COMMAND}" -E copy "${source}/${name}" "${output}/${name}"
      DEPENDS "${source}/${name}" VERBATIM)
  endforeach()
  set(DVP_WEB_FILES "${output}/page.html" "${output}/style.css" "${output}/report.js" "${output}/licences.txt" PARENT_SCOPE)
endfunction()
