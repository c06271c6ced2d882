#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Five tasks of a newcomer, with the commands of the tutorials and nothing else, in a fresh clone with an empty HOME: a first tune, a PyTorch
# model, training on HDF5 data, a trace, a clip. A task passes if its last command ends with a code that has an answer and the last 24 lines
# of the screen hold the verdict. About 6 minutes on 2 cores with a program that is built.
#   scripts/test_newcomer.sh [RIDGELINE]     RIDGELINE: the program (default: builds it as docs/tutorial.md shows)
# The commands are the fenced blocks of docs/ below comments such as <!-- newcomer: tune -->. `python3` is the one on PATH. Exit code 1: a
# task failed.
set -euo pipefail
source "$(dirname "$0")/common.sh"
program=${1:+$(realpath "$1")}
[ -z "$program" ] || [ -x "$program" ] || die "$1 is not a program"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone -q "$ROOT" "$work/clone"
mkdir -p "$work/home/.cache/ridgeline"
# The screen of a newcomer is as wide as most.
export HOME=$work/home COLUMNS=100
unset XDG_CACHE_HOME XDG_STATE_HOME XDG_DATA_HOME ORT_LIBRARY RIDGELINE_ORT_LIBRARY ONNXRUNTIME_ROOT
cd "$work/clone"

# block NAME: the commands below <!-- newcomer: NAME -->, which occurs once.
block() {
  local pages
  mapfile -t pages < <(grep -rlxF "<!-- newcomer: $1 -->" docs README.md)
  [ ${#pages[@]} -eq 1 ] || die "<!-- newcomer: $1 --> is on ${#pages[@]} pages, expected 1"
  awk -v mark="<!-- newcomer: $1 -->" '
    $0 == mark { found = 1; next }
    found && /^```/ { if (inside) exit; inside = 1; next }
    inside { print }' "${pages[0]}"
}

if [ -n "$program" ]; then
  # What setup.sh would have fetched.
  for folder in onnxruntime models; do
    if [ -e "$CACHE/$folder" ]; then ln -s "$CACHE/$folder" "$HOME/.cache/ridgeline/$folder"; fi
  done
  PATH=$(dirname "$program"):$PATH
else
  block setup >"$work/setup"
  # shellcheck disable=SC1091
  source "$work/setup"
fi

failures=0
result() { printf '%-8s %-4s %s\n' "$1" "$2" "$3"; }

# needs TASK MODULE...: whether python3 has them; if not, the task's line says which it lacks.
needs() {
  local task=$1 module
  for module in "${@:2}"; do
    python3 -c "import $module" 2>/dev/null && continue
    result "$task" SKIP "python3 ($(command -v python3 || echo none)) has no $module"
    return 1
  done
}

# task NAME CODES VERDICT BLOCK...: runs the blocks in one shell. CODES and VERDICT are extended regular expressions.
task() {
  local name=$1 codes=$2 verdict=$3 one code=0 begun=$SECONDS
  { echo 'set -e' && for one in "${@:4}"; do block "$one"; done; } >"$work/$name.sh"
  timeout --kill-after=10 300 bash "$work/$name.sh" >"$work/$name.log" 2>&1 </dev/null || code=$?
  local took="$((SECONDS - begun)) s, exit code $code"
  if ! grep -qxE "$codes" <<<"$code"; then
    result "$name" FAIL "$took; the screen's end:"
  elif ! tail -n 24 "$work/$name.log" | grep -qE "$verdict"; then
    result "$name" FAIL "$took; no verdict ($verdict) in the last 24 lines:"
  else
    result "$name" PASS "$took: $(tail -n 24 "$work/$name.log" | grep -m 1 -oE "($verdict).*")"
    return
  fi
  tail -n 24 "$work/$name.log" | sed 's/^/    /'
  failures=$((failures + 1))
}

# 4 is an answer too: too noisy a machine, which the verdict says.
task tune '0|4' 'Change the configuration|Keep what you have|Not decided' tune
if needs pytorch torch; then
  task pytorch '0|4' 'Change the configuration|Keep what you have|Not decided' pytorch
fi
if needs bench torch h5py; then task bench 0 'Recommended' bench; fi
task trace 0 'saves about [0-9]+ %' trace
task stream '0|4' 'Kept up with|No answer: the load generator' clip stream
[ $failures -eq 0 ] || exit 1
