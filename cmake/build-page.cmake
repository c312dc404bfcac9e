# The report's page, from web/ into a C++ array. Called by the build:
#   cmake -D NPM=… -D WEB=…/web -D OUT=page_bytes.cpp -D REQUIRED=ON|OFF -P build-page.cmake
# If npm or its packages are missing, the build fails if the page is REQUIRED (its tests need it); otherwise the array
# is empty and the program says so when asked for a report.

function(write_array path)
  set(bytes "0")
  set(size 0)
  if(EXISTS "${path}")
    file(READ "${path}" hex HEX)
    string(LENGTH "${hex}" digits)
    math(EXPR size "${digits} / 2")
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    string(REPEAT "." 80 line)
    string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
  endif()
  file(WRITE "${OUT}" "#include <cstddef>
namespace obolus::cli {
extern const unsigned char page_bytes[];
extern const std::size_t page_size;
const unsigned char page_bytes[] = {${bytes}};
const std::size_t page_size = ${size};
}  // namespace obolus::cli
")
endfunction()

set(html "${WEB}/dist/page.html")
if(NPM)
  # Packages are as in the lock file; asking npm again when they are installed would need the network.
  set(have "${WEB}/node_modules/.package-lock.json")
  if(NOT EXISTS "${have}" OR "${WEB}/package-lock.json" IS_NEWER_THAN "${have}")
    execute_process(COMMAND ${NPM} ci --no-audit --no-fund WORKING_DIRECTORY "${WEB}" RESULT_VARIABLE failed
      OUTPUT_VARIABLE said ERROR_VARIABLE said)
    if(failed AND REQUIRED)
      message(FATAL_ERROR "npm could not install the packages of the report's page:\n${said}")
    elseif(failed)
      message(WARNING "the report's page is left out: npm could not install its packages:\n${said}")
      write_array("")
      execute_process(COMMAND touch -d @0 "${OUT}")  # older than what it is made of: the next build tries again
      return()
    endif()
    file(TOUCH "${have}")
  endif()
  execute_process(COMMAND ${NPM} run --silent build WORKING_DIRECTORY "${WEB}" RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "the report's page does not build")
  endif()
  write_array("${html}")
else()
  write_array("")
endif()
