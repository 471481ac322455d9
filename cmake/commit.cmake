# Writes HEADER with the commit of SOURCE, "" where there is none; touches it only when that changed.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=* OUTPUT_VARIABLE commit
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit "")
endif()
set(text "#define FF_COMMIT \"${commit}\"\n")
if(EXISTS ${HEADER})
  file(READ ${HEADER} former)
endif()
if(NOT text STREQUAL "${former}")
  file(WRITE ${HEADER} "${text}")
endif()
