#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Puts NVIDIA AITune, and what it needs besides torch and ONNX Runtime, into a folder for benchmarks/torch_aitune.py: pinned wheels
# (scripts/aitune-requirements.txt) that pip checks by SHA-256. 35 MB, as a tar.gz 7 MB.
#   scripts/fetch_aitune.sh FOLDER
# PYTHON_VERSION is that of the Python that has torch (default: 3.12; also 3.10, 3.11). Exit code 69: pip could not fetch it.
set -euo pipefail
source "$(dirname "$0")/common.sh"
[ $# -eq 1 ] || { sed -n '3,6s/^# //p' "$0" >&2; exit 2; }
TARGET=$1
# A folder with other versions would keep what a wheel no longer has.
[ ! -e "$TARGET" ] || [ -z "$(ls -A "$TARGET")" ] || die "$TARGET is not empty"
mkdir -p "$TARGET"
python3 -m pip --version >/dev/null 2>&1 || install_packages python3-pip
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! python3 -m pip install --quiet --no-cache-dir --no-compile --no-deps --require-hashes --only-binary :all: \
  --python-version "${PYTHON_VERSION:-3.12}" --platform manylinux_2_28_x86_64 --target "$TARGET" \
  -r "$ROOT/scripts/aitune-requirements.txt" >"$log" 2>&1; then
  if grep -q 'DO NOT MATCH THE HASHES' "$log"; then
    die "the index serves something else than scripts/aitune-requirements.txt pins: not used"
  fi
  printf 'error: pip could not fetch AITune: %s; check the network and the index that "pip config list" shows\n' \
    "$(sed -n 's/^ERROR: //p' "$log" | tail -n 1)" >&2
  exit 69
fi
# Wheels bring a package "test", which would hide Python's own, and an example.
rm -rf "$TARGET/test" "$TARGET/example.py" "$TARGET/bin"
echo "$TARGET"
