#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Exports traces and checks every event of the files with Perfetto's own classes (scripts/test_perfetto.py), which it puts into the cache
# folder: pinned wheels (scripts/perfetto-requirements.txt, 1 MB) that pip checks by SHA-256. About 30 seconds.
#   scripts/test_perfetto.sh [--trace-processor FILE] [RECORDING]...
# RECORDINGs are added to made-up ones (default: those of TRACES, if it is there: ../shared/data/traces). With --trace-processor Perfetto's
# own program reads the files as well. TRACE_EXPORT is the program that exports (default: bin/rl_trace_export of build/ci or build/dev), PYTHON
# the interpreter. Exit code 77: the wheels cannot be had.
set -euo pipefail
source "$(dirname "$0")/common.sh"
PINS=$ROOT/scripts/perfetto-requirements.txt
VERSION=$(sed -n 's/^perfetto==\([^ ]*\).*/\1/p' "$PINS")
TARGET=$CACHE/perfetto-$VERSION
STAMP=$(sha256sum "$PINS" | cut -d' ' -f1)
for folder in ci dev; do TRACE_EXPORT=${TRACE_EXPORT:-$(ls "$ROOT/build/$folder/bin/rl_trace_export" 2>/dev/null || true)}; done
[ -n "$TRACE_EXPORT" ] || die "no program that exports traces: cmake --build build/dev --target rl_trace_export, or name one in TRACE_EXPORT"

skip() {
  echo "skipped: $*"
  exit 77
}

if [ "$(cat "$TARGET/.complete" 2>/dev/null)" != "$STAMP" ]; then
  # An environment holds its own path and cannot be moved: without its stamp it does not count.
  rm -rf "$TARGET"
  mkdir -p "$CACHE"
  log=$(mktemp)
  done=false
  trap '$done || rm -rf "$TARGET"; rm -f "$log"' EXIT
  "${PYTHON:-python3}" -m venv "$TARGET" >"$log" 2>&1 || skip "${PYTHON:-python3} makes no environment; apt-get install python3-venv"
  if ! "$TARGET/bin/python" -m pip install --no-cache-dir --only-binary :all: --no-deps --require-hashes -r "$PINS" >"$log" 2>&1; then
    if grep -q 'DO NOT MATCH THE HASHES' "$log"; then
      die "the index serves something else than scripts/perfetto-requirements.txt pins: not used"
    fi
    skip "pip could not fetch perfetto $VERSION: $(sed -n 's/^ERROR: //p' "$log" | tail -n 1)"
  fi
  echo "$STAMP" >"$TARGET/.complete"
  done=true
fi

options=()
recordings=()
while [ $# -gt 0 ]; do
  case $1 in
    --trace-processor)
      [ $# -ge 2 ] || die "--trace-processor needs a file"
      options+=("$1" "$2")
      shift 2
      ;;
    -*) die "unknown option $1" ;;
    *)
      recordings+=("$1")
      shift
      ;;
  esac
done
if [ ${#recordings[@]} -eq 0 ]; then
  shopt -s nullglob
  traces=${TRACES:-$ROOT/../shared/data/traces}
  recordings=("$traces"/*.json.gz "$traces"/*.json "$traces"/*.sqlite)
fi
exec "$TARGET/bin/python" -B "$ROOT/scripts/test_perfetto.py" --program "$TRACE_EXPORT" "${options[@]}" "${recordings[@]}"
