# run.cmake: one compile-fail test; see CMakeLists.txt. COMPILER, INCLUDE and SOURCE come from the command line.

set(command "${COMPILER}" -std=c++20 -fsyntax-only -I "${INCLUDE}")

file(STRINGS "${SOURCE}" expect_lines REGEX "^// expect: ")
list(LENGTH expect_lines count)
if(NOT count EQUAL 1)
  message(FATAL_ERROR "${SOURCE}: needs exactly one line '// expect: <regular expression>'")
endif()
string(REPLACE "// expect: " "" expected "${expect_lines}")

execute_process(COMMAND ${command} "${SOURCE}" RESULT_VARIABLE result ERROR_VARIABLE messages)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "does not compile even without WEFT_MUST_FAIL:\n${messages}")
endif()
execute_process(COMMAND ${command} -DWEFT_MUST_FAIL "${SOURCE}" RESULT_VARIABLE result ERROR_VARIABLE messages)
if(result EQUAL 0)
  message(FATAL_ERROR "compiles, but must not")
endif()
if(NOT messages MATCHES "${expected}")
  message(FATAL_ERROR "the compiler's words do not match '${expected}':\n${messages}")
endif()
