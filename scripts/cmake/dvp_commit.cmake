# Run by every build: writes OUT from IN with the commit of SOURCE, and touches it only when that has changed.
find_program(GIT git)
set(DVP_COMMIT "")
if(GIT)
  execute_process(COMMAND "${GIT}" describe --always --dirty --abbrev=12 --exclude=*
    WORKING_DIRECTORY "${SOURCE}" OUTPUT_VARIABLE DVP_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
configure_file("${IN}" "${OUT}" @ONLY)
