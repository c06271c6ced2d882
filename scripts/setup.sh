#!/usr/bin/env bash
# Installs what is missing, fetches ONNX Runtime and the demo models, configures and builds; fetching goes on while
# nothing depends on it. Does nothing that is already done.
#   scripts/setup.sh [PRESET [PACKAGE...]]     a configure preset of CMakePresets.json (default: release), more packages
set -euo pipefail
source "$(dirname "$0")/common.sh"
preset=${1:-release}
cd "$ROOT"

mapfile -t packages < <(grep -v '^#' scripts/packages.txt)
packages+=("${@:2}")
work=$(mktemp -d)
fetch=
trap 'if [ -n "$fetch" ]; then kill "$fetch" 2>/dev/null; fi; rm -rf "$work"' EXIT

runtime=$CACHE/onnxruntime/$(sed -n 's/^VERSION=//p' scripts/fetch_onnxruntime.sh)
needed_to_build=("$CACHE/echarts-6.1.0/.complete")
needed_to_run=("$CACHE/models/ocr-models-1.4.2/.complete")
if [ -z "${ONNXRUNTIME_ROOT:-}" ]; then
  needed_to_build+=("$runtime/.complete-headers")
  needed_to_run+=("$runtime/.complete")
fi
all_there() {
  local file
  for file in "$@"; do [ -e "$file" ] || return 1; done
}

# In the background, as the build needs only a part of it; npm itself may be among the packages.
start_fetching() {
  all_there "${needed_to_build[@]}" "${needed_to_run[@]}" && return
  say "fetching ECharts, ONNX Runtime's headers and library, and the demo models in the background (290 MB), usually half a minute"
  scripts/fetch_onnxruntime.sh >/dev/null 2>"$work/fetching" &
  fetch=$!
}
# await_fetch FILE...: until these are there; shows how far the fetching is.
await_fetch() {
  [ -n "$fetch" ] || return 0
  while ! all_there "$@" && kill -0 "$fetch" 2>/dev/null; do
    progress "$(tail -n 1 "$work/fetching" | sed 's/.*==>[^ ]* //')"
    sleep 0.1
  done
  progress_done
  all_there "$@" && return 0
  cat "$work/fetching" >&2
  fetch=
  exit 1
}

if command -v npm >/dev/null 2>&1; then
  start_fetching
  install_packages "${packages[@]}"
else
  install_packages "${packages[@]}" npm
  start_fetching
fi

if [ ! -f "build/$preset/build.ninja" ]; then
  await_fetch "${needed_to_build[@]}"
  say "configuring (preset $preset), usually 2 s"
  cmake --preset "$preset" >"$work/configure" 2>&1 || {
    tail -n 30 "$work/configure" >&2
    die "configuring failed; to see all of it: cmake --preset $preset"
  }
fi
if [ "$(ninja -C "build/$preset" -n | tail -n 1)" != "ninja: no work to do." ]; then
  cores=$(nproc)
  say "building (preset $preset), usually $(((9 + cores - 1) / cores)) min on $cores cores from nothing"
  NINJA_STATUS="    %f of %t files, %e s: " cmake --build --preset "$preset" >&2
fi
await_fetch "${needed_to_run[@]}"
fetch=
