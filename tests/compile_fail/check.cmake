# Compile SOURCE and judge the outcome by its `// expect:` lines; CMakeLists.txt tells what they mean.
# Needs COMPILER, COMPILER_ID, FLAGS, INCLUDES and SYSTEM_INCLUDES (separated by |), SOURCE, OBJECT.
foreach(argument IN ITEMS COMPILER COMPILER_ID FLAGS INCLUDES SYSTEM_INCLUDES SOURCE OBJECT)
  if(NOT DEFINED ${argument})
    message(FATAL_ERROR "check.cmake: ${argument} is not set")
  endif()
endforeach()

file(STRINGS "${SOURCE}" expect_lines REGEX "^// expect: .+" ENCODING UTF-8)
if(NOT expect_lines)
  message(FATAL_ERROR "${SOURCE}: no line '// expect: REGEX' or '// expect: ok'")
endif()
list(TRANSFORM expect_lines REPLACE "^// expect: " "")

separate_arguments(flags UNIX_COMMAND "${FLAGS}")
string(REPLACE "|" ";" system_includes "${SYSTEM_INCLUDES}")
string(REPLACE "|" ";" includes "${INCLUDES}")
list(REMOVE_ITEM includes ${system_includes})
list(TRANSFORM includes PREPEND "-I")
list(TRANSFORM system_includes PREPEND "-isystem")

# Messages in English, uncoloured and unfolded, without the quoted source: only what the compiler itself says may match.
set(ENV{LC_ALL} C)
set(plain -fmessage-length=0 -fno-diagnostics-color)
if(COMPILER_ID STREQUAL "GNU")
  list(APPEND plain -fno-diagnostics-show-caret)
else()
  list(APPEND plain -fno-caret-diagnostics)
endif()

execute_process(
  COMMAND "${COMPILER}" ${flags} ${plain} ${includes} ${system_includes} -c "${SOURCE}" -o "${OBJECT}"
  RESULT_VARIABLE result
  OUTPUT_VARIABLE output
  ERROR_VARIABLE output
)
file(REMOVE "${OBJECT}")

if(expect_lines STREQUAL "ok")
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${SOURCE} must compile, and does not:\n${output}")
  endif()
  return()
endif()

if(result EQUAL 0)
  message(FATAL_ERROR "${SOURCE} must not compile, and does")
endif()
# A crash or an unknown option is a failure too, but not one of the code: an error must be placed in a source file.
if(NOT output MATCHES ":[0-9]+:[0-9]+: (fatal )?error: ")
  message(FATAL_ERROR "${SOURCE}: the compiler failed without an error in the code (${result}):\n${output}")
endif()
foreach(pattern IN LISTS expect_lines)
  if(NOT output MATCHES "${pattern}")
    message(FATAL_ERROR "${SOURCE} fails to compile, but not with '${pattern}':\n${output}")
  endif()
endforeach()
