# Compile settings shared by every target: rl_settings (must match everywhere, the precompiled header depends on it)
# and rl_warnings.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
include(CompilerCache)

add_library(rl_settings INTERFACE)
target_compile_features(rl_settings INTERFACE cxx_std_20)
target_compile_options(rl_settings INTERFACE -fno-strict-aliasing -fvisibility=hidden)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(rl_settings INTERFACE -fpch-preprocess)
endif()
target_link_libraries(rl_settings INTERFACE fmt::fmt nlohmann_json::nlohmann_json Threads::Threads)
if(RIDGELINE_SANITIZE)
  target_compile_options(rl_settings INTERFACE -fsanitize=${RIDGELINE_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(rl_settings INTERFACE -fsanitize=${RIDGELINE_SANITIZE})
endif()

add_library(rl_warnings INTERFACE)
target_compile_options(rl_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast
  -Wcast-align -Woverloaded-virtual -Wnull-dereference -Wdouble-promotion -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 sees overlaps and overruns inside its own std::string at -O1 and above (GCC bugs 105329, 105651).
  # In release builds it takes strings that were just moved for null or uninitialized; the dev build keeps those warnings.
  target_compile_options(rl_warnings INTERFACE -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow
    "$<$<CONFIG:Release>:-Wno-null-dereference;-Wno-maybe-uninitialized>")
endif()
if(RIDGELINE_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # The checks that sanitizers add hide initializations from this warning; the plain build has it.
  target_compile_options(rl_warnings INTERFACE -Wno-maybe-uninitialized)
endif()
if(RIDGELINE_WERROR)
  target_compile_options(rl_warnings INTERFACE -Werror)
endif()

add_library(rl_test_warnings INTERFACE)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False alarms inside libstdc++'s streams and GoogleTest's printers once they are inlined.
  target_compile_options(rl_test_warnings INTERFACE -Wno-null-dereference -Wno-maybe-uninitialized)
endif()
