#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Puts opencv, onnxruntime, pyclipper and onnx for Python into an environment of the cache folder, for scripts/test_stream.sh and
# scripts/demo_stream.sh: pinned wheels (scripts/stream-requirements.txt, 110 MB) that pip checks by SHA-256. Prints its interpreter.
#   scripts/stream_python.sh
# PYTHON makes the environment (default: python3; the wheels are those of 3.11). Exit code 69: the wheels cannot be had.
set -euo pipefail
source "$(dirname "$0")/common.sh"
PINS=$ROOT/scripts/stream-requirements.txt
TARGET=$CACHE/stream-python
STAMP=$(sha256sum "$PINS" | cut -d' ' -f1)
unavailable() {
  printf 'error: %s\n' "$*" >&2
  exit 69
}

if [ "$(cat "$TARGET/.complete" 2>/dev/null)" != "$STAMP" ]; then
  # An environment holds its own path and cannot be moved: without its stamp it does not count.
  rm -rf "$TARGET"
  mkdir -p "$CACHE"
  log=$(mktemp)
  done=false
  trap '$done || rm -rf "$TARGET"; rm -f "$log"' EXIT
  "${PYTHON:-python3}" -m venv "$TARGET" >"$log" 2>&1 || unavailable "${PYTHON:-python3} makes no environment; apt-get install python3-venv"
  say "fetching opencv, onnxruntime and onnx for Python by pip (about 110 MB)"
  "$TARGET/bin/python" -m pip install --no-cache-dir --only-binary :all: --no-deps --require-hashes -r "$PINS" >"$log" 2>&1 &
  if ! await_download $! "$TARGET" 330; then
    if grep -q 'DO NOT MATCH THE HASHES' "$log"; then
      die "the index serves something else than scripts/stream-requirements.txt pins: not used"
    fi
    unavailable "pip could not fetch the wheels of scripts/stream-requirements.txt: $(sed -n 's/^ERROR: //p' "$log" | tail -n 1)"
  fi
  echo "$STAMP" >"$TARGET/.complete"
  done=true
fi
echo "$TARGET/bin/python"
