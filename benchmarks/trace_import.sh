#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How fast traces are read and written, beside Python's json.load and the parser of HTA 0.5.0 (trace_import.py), which pip
# puts into the cache folder (500 MB with what it needs; left out where it cannot be had). About 4 minutes.
#   benchmarks/trace_import.sh TRACE.json.gz [MB]
# TRACE: a recording of the PyTorch profiler, whose events are repeated to a file of MB (500) megabytes. PROGRAM is
# rl_trace_import (default: build/bench/bin/rl_trace_import).
set -euo pipefail
source "$(dirname "$0")/../scripts/common.sh"
trace=${1:?usage: trace_import.sh TRACE.json.gz [MB]}
megabytes=${2:-500}
PROGRAM=${PROGRAM:-$ROOT/build/bench/bin/rl_trace_import}
[ -x "$PROGRAM" ] || die "no $PROGRAM: cmake --preset bench && cmake --build build/bench --target rl_trace_import"
HTA=$CACHE/hta-0.5.0
if ! "$HTA/bin/python" -c 'import hta' 2>/dev/null; then
  say "fetching HolisticTraceAnalysis 0.5.0"
  rm -rf "$HTA"
  if ! { python3 -m venv "$HTA" && "$HTA/bin/pip" install -q --no-cache-dir HolisticTraceAnalysis==0.5.0; } >&2; then
    rm -rf "$HTA"
    say "HTA cannot be had here; without it"
  fi
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
options=(--program "$PROGRAM")
[ ! -x "$HTA/bin/python" ] || options+=(--hta "$HTA/bin/python")
code=0
python3 "$ROOT/benchmarks/trace_import.py" make "$trace" "$work/trace.json" --mb "$megabytes"
python3 "$ROOT/benchmarks/trace_import.py" run "$work/trace.json" "${options[@]}" || code=$?
echo
echo "as a trace file of our own, once and repeated to about 10 million events:"
"$PROGRAM" "$trace" --write "$work/one.rltrace" | tee "$work/one"
events=$(sed -n '2s/ .*//p' "$work/one")
"$PROGRAM" "$trace" --write "$work/many.rltrace" --copies $((10000000 / events + 1)) | tail -n 1
exit $code
