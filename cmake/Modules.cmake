# One static library a module, linked exactly as src/LAYERS.txt allows. RL_MODULES: the modules below src/, in its order.
file(STRINGS "${PROJECT_SOURCE_DIR}/src/LAYERS.txt" _rl_layer_lines REGEX "^[a-z]+:")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/LAYERS.txt")
foreach(_line IN LISTS _rl_layer_lines)
  string(REGEX MATCH "^([a-z]+): *(.*)$" _ "${_line}")
  string(REPLACE " " ";" _deps "${CMAKE_MATCH_2}")
  set(RL_LAYER_${CMAKE_MATCH_1} "${_deps}")
  list(APPEND RL_MODULES "${CMAKE_MATCH_1}")
endforeach()
list(REMOVE_ITEM RL_MODULES apps)

# What is said: src/NAME/messages.json becomes NAME/messages.hpp, with a constructor for each message, and their table.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(RL_GENERATED "${PROJECT_BINARY_DIR}/generated")
set(RL_MAKE_MESSAGES "${PROJECT_SOURCE_DIR}/scripts/make_messages.py")
file(GLOB _rl_catalogues CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/*/messages.json")  # a new one is seen
# rl_add_messages(NAME TARGET FOLDER): the catalogue in FOLDER, compiled into TARGET.
function(rl_add_messages name target folder)
  set(_catalogue "${PROJECT_SOURCE_DIR}/${folder}/messages.json")
  if(NOT EXISTS "${_catalogue}")
    return()
  endif()
  set(_made "${RL_GENERATED}/${name}/messages")
  add_custom_command(OUTPUT "${_made}.hpp" "${_made}.cpp" VERBATIM
    COMMAND Python3::Interpreter "${RL_MAKE_MESSAGES}" ${name} "${_catalogue}" "${_made}.hpp" "${_made}.cpp"
    DEPENDS "${_catalogue}" "${RL_MAKE_MESSAGES}")
  target_sources(${target} PRIVATE "${_made}.cpp" "${_made}.hpp")
  set_property(GLOBAL APPEND PROPERTY RL_MESSAGES ${name})
  set_property(GLOBAL APPEND PROPERTY RL_MESSAGE_LIBRARIES ${target})
  set_property(GLOBAL APPEND PROPERTY RL_MESSAGE_CATALOGUES "${_catalogue}")
endfunction()

# rl_message_tables: report::message_tables(), the tables of all catalogues. And a check that each message is made somewhere.
function(rl_add_message_tables)
  get_property(_names GLOBAL PROPERTY RL_MESSAGES)
  get_property(_libraries GLOBAL PROPERTY RL_MESSAGE_LIBRARIES)
  get_property(_catalogues GLOBAL PROPERTY RL_MESSAGE_CATALOGUES)
  foreach(_name IN LISTS _names)
    string(APPEND RL_MESSAGE_INCLUDES "#include \"${_name}/messages.hpp\"\n")
    string(APPEND RL_MESSAGE_TABLES "${_name}::messages::table(), ")
  endforeach()
  configure_file("${PROJECT_SOURCE_DIR}/cmake/message_tables.cpp.in" "${RL_GENERATED}/message_tables.cpp" @ONLY)
  set(_former "${PROJECT_SOURCE_DIR}/src/report/messages/former.json")
  add_custom_command(OUTPUT "${RL_GENERATED}/former_messages.cpp" VERBATIM
    COMMAND Python3::Interpreter "${RL_MAKE_MESSAGES}" --former "${_former}" "${RL_GENERATED}/former_messages.cpp"
    DEPENDS "${_former}" "${RL_MAKE_MESSAGES}")
  add_library(rl_message_tables STATIC "${RL_GENERATED}/message_tables.cpp" "${RL_GENERATED}/former_messages.cpp")
  target_link_libraries(rl_message_tables PRIVATE rl_warnings PUBLIC rl_report ${_libraries})
  target_precompile_headers(rl_message_tables REUSE_FROM rl_schema)
  target_compile_options(rl_message_tables PRIVATE ${RL_LESS_OPTIMIZED})

  file(GLOB_RECURSE _sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/*.[ch]pp" "${PROJECT_SOURCE_DIR}/apps/*.[ch]pp"
    "${PROJECT_SOURCE_DIR}/python/*.py")
  set(_stamp "${RL_GENERATED}/messages.checked")
  add_custom_command(OUTPUT "${_stamp}" VERBATIM
    COMMAND Python3::Interpreter "${RL_MAKE_MESSAGES}" --unused "${PROJECT_SOURCE_DIR}"
    COMMAND "${CMAKE_COMMAND}" -E touch "${_stamp}"
    DEPENDS ${_sources} ${_catalogues} "${RL_MAKE_MESSAGES}")
  add_custom_target(rl_messages_checked ALL DEPENDS "${_stamp}")
endfunction()

set(RL_COMMON_HEADERS <algorithm> <array> <chrono> <cstdint> <functional> <map> <memory> <optional> <string> <string_view>
  <utility> <variant> <vector> <fmt/format.h> <nlohmann/json.hpp> <tl/expected.hpp>)
set(RL_RECORD_HEADERS ${RL_COMMON_HEADERS})
# <schema/...>: a full path would make the precompiled header one of its folder, which ccache could give to no other.
foreach(_header message_renderer profile stream_run sweep training_run tune_run)
  list(APPEND RL_RECORD_HEADERS "<schema/${_header}.hpp>")
endforeach()

# Modules that time, simulate or read large files; the rest is optimized less in release builds, which takes the compiler a quarter
# less time. A precompiled header serves one level only: with another GCC 12 crashes on some files.
set(RL_HOT base stats measure trace tracefile stream loader)
set(RL_LESS_OPTIMIZED "$<$<CONFIG:Release>:-O1>")
function(rl_use_hot_pch target)
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Release")
    target_precompile_headers(${target} REUSE_FROM rl_schema)
    return()
  endif()
  if(NOT TARGET rl_hot_pch)
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/hot_pch.cpp" CONTENT "")
    add_library(rl_hot_pch OBJECT "${PROJECT_BINARY_DIR}/hot_pch.cpp")
    target_link_libraries(rl_hot_pch PRIVATE rl_warnings rl_schema)
    target_precompile_headers(rl_hot_pch PRIVATE ${RL_RECORD_HEADERS})
  endif()
  target_precompile_headers(${target} REUSE_FROM rl_hot_pch)
endfunction()

# rl_add_module(NAME SOURCES a.cpp ... [LIBS lib ...])
function(rl_add_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_library(rl_${name} STATIC ${ARG_SOURCES})
  target_include_directories(rl_${name} PUBLIC "${PROJECT_SOURCE_DIR}/src" "${RL_GENERATED}")
  rl_add_messages(${name} rl_${name} src/${name})
  target_link_libraries(rl_${name} PRIVATE rl_warnings PUBLIC rl_settings)
  foreach(_dep IN LISTS RL_LAYER_${name})
    target_link_libraries(rl_${name} PUBLIC rl_${_dep})
  endforeach()
  target_link_libraries(rl_${name} PRIVATE ${ARG_LIBS})
  # Three precompiled headers: of what all use, of records as well, and of the command line as well (apps).
  if(name STREQUAL "base")
    target_precompile_headers(rl_base PRIVATE ${RL_COMMON_HEADERS})
  elseif(name STREQUAL "schema")
    target_precompile_headers(rl_schema PRIVATE ${RL_RECORD_HEADERS})
  elseif(NOT "schema" IN_LIST RL_LAYER_${name})
    target_precompile_headers(rl_${name} REUSE_FROM rl_base)
  elseif(name IN_LIST RL_HOT)
    rl_use_hot_pch(rl_${name})
  else()
    target_precompile_headers(rl_${name} REUSE_FROM rl_schema)
  endif()
  if(NOT name IN_LIST RL_HOT)
    target_compile_options(rl_${name} PRIVATE ${RL_LESS_OPTIMIZED})
  endif()
endfunction()

# One precompiled header for all test programs; extra definitions of a program do not touch it.
function(rl_use_test_pch target)
  if(NOT TARGET rl_test_pch)
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/test_pch.cpp" CONTENT "")
    add_library(rl_test_pch OBJECT "${PROJECT_BINARY_DIR}/test_pch.cpp")
    target_link_libraries(rl_test_pch PRIVATE rl_warnings rl_test_warnings rl_settings GTest::gtest_main)
    target_precompile_headers(rl_test_pch PRIVATE
      <map> <optional> <string> <vector> <fmt/format.h> <nlohmann/json.hpp> <gtest/gtest.h>)
  endif()
  target_precompile_headers(${target} REUSE_FROM rl_test_pch)
endfunction()

# rl_add_test_program(NAME LABEL label MODULES module ... [SOURCES a_test.cpp ...] [LIBS lib ...]): one gtest program, whose
# cases are ctest entries each. rl_add_tests adds sources.
function(rl_add_test_program name)
  cmake_parse_arguments(ARG "" "LABEL" "MODULES;SOURCES;LIBS" ${ARGN})
  list(TRANSFORM ARG_MODULES PREPEND rl_)
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_compile_definitions(${name} PRIVATE
    RL_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data" RL_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE rl_warnings rl_test_warnings ${ARG_MODULES} ${ARG_LIBS} GTest::gtest_main)
  rl_use_test_pch(${name})
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS ${ARG_LABEL} TIMEOUT 300)
endfunction()

# rl_add_tests(PROGRAM GROUP a_test.cpp ...): sources of a group, ten at a time, are one file of a unity build.
function(rl_add_tests program group)
  list(TRANSFORM ARGN PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" REGEX "^[^/]")
  target_sources(${program} PRIVATE ${ARGN})
  set_target_properties(${program} PROPERTIES UNITY_BUILD_MODE GROUP)
  set(_at 0)
  foreach(_source IN LISTS ARGN)
    math(EXPR _part "${_at} / 10")
    math(EXPR _at "${_at} + 1")
    set_source_files_properties(${_source} TARGET_DIRECTORY ${program} PROPERTIES UNITY_GROUP ${group}_${_part})
  endforeach()
endfunction()

# rl_test_fakes(PROGRAM name=target ...): builds the fake libraries first and defines RL_TEST_<NAME> as each one's file.
function(rl_test_fakes program)
  foreach(_pair IN LISTS ARGN)
    string(REGEX MATCH "^(.*)=(.*)$" _ "${_pair}")
    set(_target "${CMAKE_MATCH_2}")
    add_dependencies(${program} ${_target})
    target_compile_definitions(${program} PRIVATE "RL_TEST_${CMAKE_MATCH_1}=\"$<TARGET_FILE:${_target}>\"")
  endforeach()
endfunction()
