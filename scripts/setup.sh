#!/usr/bin/env bash
# Installs what is missing, fetches ONNX Runtime, configures and builds. Does nothing that is already done.
#   scripts/setup.sh [PRESET]     a configure preset of CMakePresets.json (default: release)
set -euo pipefail
source "$(dirname "$0")/common.sh"
preset=${1:-release}

mapfile -t packages < <(grep -v '^#' "$ROOT/scripts/packages.txt")
install_packages "${packages[@]}"
runtime=$("$ROOT/scripts/fetch_onnxruntime.sh" | tail -n 1)
cd "$ROOT"
if [ ! -f "build/$preset/build.ninja" ]; then
  say "configuring (preset $preset)"
  cmake --preset "$preset" -DRIDGELINE_ORT_INCLUDE="$runtime/include" >"/tmp/ridgeline-configure-$$.log" 2>&1 || {
    tail -n 30 "/tmp/ridgeline-configure-$$.log" >&2
    die "configuring failed; whole log: /tmp/ridgeline-configure-$$.log"
  }
  rm -f "/tmp/ridgeline-configure-$$.log"
fi
if ! cmake --build --preset "$preset" -- -n | grep -q 'no work to do'; then
  say "building (preset $preset; the first time takes some minutes)"
  cmake --build --preset "$preset" >&2
fi
