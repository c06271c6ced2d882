#!/usr/bin/env bash
# A precompiled header of one folder serves another folder only where all of its headers are the same, to the byte.
# A macro and a comment change nothing that the preprocessor prints of the header itself.
set -euo pipefail
command -v ccache > /dev/null || { echo "ccache is not installed: nothing to test"; exit 77; }
root="$(cd "$(dirname "$0")/../.." && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
export CCACHE_DIR="$work/cache"

make_folder() {  # make_folder NAME VALUE
  mkdir -p "$work/$1/src/record"
  printf '#pragma once\n#include <string>\n// Its value is %s.\n#define RECORD_VALUE %s\nstruct Record { std::string name; };\n' \
    "$2" "$2" > "$work/$1/src/record/record.hpp"
  printf '#include "record/record.hpp"\n#include <cstdio>\nint main() { std::printf("%%d", RECORD_VALUE); }\n' \
    > "$work/$1/src/main.cpp"
  cat > "$work/$1/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.25)
project(compiler_cache CXX)
list(APPEND CMAKE_MODULE_PATH "$root/cmake")
include(CompilerCache)
add_executable(record src/main.cpp)
target_compile_options(record PRIVATE -fpch-preprocess)
target_include_directories(record PRIVATE src)
target_precompile_headers(record PRIVATE <record/record.hpp>)
CMAKE
  # ccache looks only at headers that are older than the compilation.
  touch -d '1 minute ago' "$work/$1/src/record/record.hpp" "$work/$1/src/main.cpp"
}

check() {  # check NAME VALUE HITS: the program prints VALUE, and HITS compilations came from the cache
  make_folder "$1" "$2"
  ccache --zero-stats > /dev/null
  cmake -G Ninja -B "$work/$1/build" -DCMAKE_BUILD_TYPE=Debug "$work/$1" > "$work/log"
  cmake --build "$work/$1/build" >> "$work/log" 2>&1 || { cat "$work/log"; echo "FAILED: $1 does not build"; exit 1; }
  got="$("$work/$1/build/record")"
  hits="$(ccache --print-stats | awk '$1 ~ /^(direct|preprocessed)_cache_hit$/ { n += $2 } END { print n + 0 }')"
  [[ "$got" == "$2" ]] || { echo "FAILED: $1 prints $got; its header says $2"; exit 1; }
  [[ "$hits" == "$3" ]] || { echo "FAILED: $1 had $hits results from the cache; expected $3"; exit 1; }
}

check first 1 0
check same 1 2
check changed 2 0
