#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is said of TensorRT's provider where libnvinfer.so.10 is missing: one line with the file and the fix. Takes the
# real provider library; CUDA's libraries are empty stubs, so that no GPU is needed.
# Usage: test_tensorrt_message.sh FOLDER [TEST_PROGRAM]   (FOLDER: onnxruntime/capi of onnxruntime-gpu)
set -euo pipefail

capi=$1
program=${2:-$(dirname "$0")/../build/ci/bin/rl_thread_test}
[ -f "$capi/libonnxruntime_providers_tensorrt.so" ] || {
  echo "$capi has no libonnxruntime_providers_tensorrt.so; give the folder onnxruntime/capi of onnxruntime-gpu" >&2
  exit 2
}
stubs=$(mktemp -d)
trap 'rm -rf "$stubs"' EXIT
readelf -d "$capi"/libonnxruntime_providers_{tensorrt,cuda}.so |
  sed -n 's/.*NEEDED.*\[\(libcu[a-zA-Z]*\.so\.[0-9]*\)\].*/\1/p' | sort -u | while read -r name; do
  echo 'void rl_nothing(void) {}' | cc -shared -x c - -o "$stubs/$name" -Wl,-soname,"$name"
done
LD_LIBRARY_PATH=$stubs RIDGELINE_TEST_GPU_CAPI=$capi \
  "$program" --gtest_filter=TensorrtProvider.without_tensorrt_names_the_file_and_the_fix
