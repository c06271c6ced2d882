# ONNX Runtime is opened at run time, never linked: a build needs its C headers only. Looked for in this order:
#   RIDGELINE_ORT_INCLUDE   (cache variable) the folder that holds onnxruntime_c_api.h
#   ONNXRUNTIME_ROOT        (cache variable or environment) an unpacked release with include/ and lib/
#   the cache folder that scripts/fetch_onnxruntime.sh fills
# Sets RIDGELINE_ORT_INCLUDE, the target rl_onnxruntime_headers, and RIDGELINE_MODEL_DIR (the demo models, for tests).
set(RIDGELINE_ORT_VERSION "1.29.0" CACHE STRING "ONNX Runtime release whose headers are used")
set(ONNXRUNTIME_ROOT "$ENV{ONNXRUNTIME_ROOT}" CACHE PATH "Unpacked ONNX Runtime release (include/ and lib/)")

if(DEFINED ENV{XDG_CACHE_HOME} AND IS_ABSOLUTE "$ENV{XDG_CACHE_HOME}")
  set(RL_CACHE_FOLDER "$ENV{XDG_CACHE_HOME}/ridgeline")
else()
  set(RL_CACHE_FOLDER "$ENV{HOME}/.cache/ridgeline")
endif()

find_path(RIDGELINE_ORT_INCLUDE onnxruntime_c_api.h
  HINTS "${ONNXRUNTIME_ROOT}/include" "${ONNXRUNTIME_ROOT}/include/onnxruntime" "${ONNXRUNTIME_ROOT}"
        "${RL_CACHE_FOLDER}/onnxruntime/${RIDGELINE_ORT_VERSION}/include"
  PATH_SUFFIXES onnxruntime onnxruntime/core/session
  DOC "Folder with onnxruntime_c_api.h")
if(NOT RIDGELINE_ORT_INCLUDE)
  message(FATAL_ERROR
    "ONNX Runtime's C header (onnxruntime_c_api.h) was not found: run scripts/fetch_onnxruntime.sh, or configure with "
    "-DONNXRUNTIME_ROOT=<unpacked release> or -DRIDGELINE_ORT_INCLUDE=<folder with the header>")
endif()

# ORT_ENABLE_LAYOUT came with API 23; what a loaded library is too old for is refused at run time.
set(_rl_ort_minimum_header 23)
file(STRINGS "${RIDGELINE_ORT_INCLUDE}/onnxruntime_c_api.h" _rl_ort_line REGEX "^#define ORT_API_VERSION +[0-9]+" LIMIT_COUNT 1)
string(REGEX MATCH "[0-9]+$" _rl_ort_api "${_rl_ort_line}")
if(NOT _rl_ort_api OR _rl_ort_api LESS _rl_ort_minimum_header)
  message(FATAL_ERROR
    "${RIDGELINE_ORT_INCLUDE}/onnxruntime_c_api.h is of API version \"${_rl_ort_api}\", at least "
    "${_rl_ort_minimum_header} is needed: run scripts/fetch_onnxruntime.sh")
endif()
message(STATUS "ONNX Runtime headers: ${RIDGELINE_ORT_INCLUDE} (API ${_rl_ort_api})")

add_library(rl_onnxruntime_headers INTERFACE)
target_include_directories(rl_onnxruntime_headers SYSTEM INTERFACE "${RIDGELINE_ORT_INCLUDE}")

set(RIDGELINE_MODEL_DIR "${RL_CACHE_FOLDER}/models/ocr-models-1.4.2" CACHE PATH
  "Folder with the PP-OCRv4 *.onnx files; tests that need them are skipped when it is absent")
