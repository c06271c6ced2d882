#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a virtual environment with a current torch in the cache folder, from pinned wheels (scripts/torch-requirements.txt) that pip
# checks by SHA-256, and prints its folder. About 6 GB: PyPI's wheel for Linux is always the CUDA build.
#   scripts/fetch_torch.sh
# PYTHON names the interpreter (default: python3.11 or a python3 of that version). Exit code 69: there is none, too little space, or
# the index cannot be reached.
set -euo pipefail
source "$(dirname "$0")/common.sh"
PINS=$ROOT/scripts/torch-requirements.txt
VERSION=$(sed -n 's/^torch==\([^ ]*\).*/\1/p' "$PINS")
TARGET=$CACHE/torch-$VERSION
STAMP=$(sha256sum "$PINS" | cut -d' ' -f1)
MEGABYTES=6000

cannot() {
  printf 'error: %s\n' "$*" >&2
  exit 69
}

# usable PYTHON: of the version that the wheels are for, and able to make environments.
usable() {
  "$1" -c 'import ensurepip, sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null
}

if [ "$(cat "$TARGET/.complete" 2>/dev/null)" = "$STAMP" ]; then
  echo "$TARGET"
  exit
fi
python=
for candidate in ${PYTHON:-python3.11 python3 /usr/bin/python3.11}; do
  if usable "$candidate"; then
    python=$candidate
    break
  fi
done
[ -n "$python" ] || cannot "no Python 3.11 with venv here (${PYTHON:-python3.11}); apt-get install python3.11-venv, or name one in PYTHON"
mkdir -p "$CACHE"
# The wheels are there twice until they are unpacked.
free=$(df -Pm "$CACHE" | awk 'NR == 2 { print $4 }')
[ "$free" -ge $((2 * MEGABYTES)) ] || cannot "$CACHE has $free MB free; torch needs $((2 * MEGABYTES)) MB for a while"
# An environment holds its own path and cannot be moved: without its stamp it does not count.
rm -rf "$TARGET"
"$python" -m venv "$TARGET" || cannot "$python could not make $TARGET"
log=$(mktemp)
done=false
trap '$done || rm -rf "$TARGET"; rm -f "$log"' EXIT
say "fetching torch $VERSION and its libraries by pip (about $MEGABYTES MB)"
TMPDIR=$TARGET "$TARGET/bin/python" -m pip install --no-cache-dir --only-binary :all: --no-deps --require-hashes -r "$PINS" \
  >"$log" 2>&1 &
if ! await_download $! "$TARGET" $MEGABYTES; then
  if grep -q 'DO NOT MATCH THE HASHES' "$log"; then
    die "the index serves something else than scripts/torch-requirements.txt pins: not used"
  fi
  # What broke the connection, else pip's last error.
  reason=$(sed -nE "s/^ *WARNING: Retrying .*>: (.*)'\\)'.*/\\1/p" "$log" | tail -n 1)
  cannot "pip could not fetch torch $VERSION: ${reason:-$(sed -n 's/^ERROR: //p' "$log" | tail -n 1)}; check the network and" \
    "the index that \"pip config list\" shows"
fi
"$TARGET/bin/python" -c 'import torch' 2>"$log" || die "torch $VERSION cannot be imported: $(tail -n 1 "$log")"
echo "$STAMP" >"$TARGET/.complete"
done=true
echo "$TARGET"
