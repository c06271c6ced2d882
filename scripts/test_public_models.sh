#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tunes public models for a few seconds each: those of the wheel silero-vad, and backend test models of the wheel onnx, drawn by a
# fixed seed. Every run has to end with 0, 1, 4, or with 2 and one line that says why; never with another code. Not part of CI.
#   scripts/test_public_models.sh [--count N] [--seed N] [RIDGELINE]     default: 110 models, seed 53, build/dev/bin/ridgeline
# --count 0: the models of silero-vad alone; --count 9999: every one.
set -euo pipefail
source "$(dirname "$0")/common.sh"
count=110
seed=53
while [[ ${1:-} == --* ]]; do
  case $1 in
    --count) count=$2 ;;
    --seed) seed=$2 ;;
    *) die "unknown flag $1" ;;
  esac
  shift 2
done
program=$(realpath "${1:-$ROOT/build/dev/bin/ridgeline}")
[ -x "$program" ] || die "$program is no program: build it first"
folders=$("$ROOT/scripts/fetch_wheels.sh" public-models)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Models that the package carries as files. Sorted, so that a seed draws the same ones everywhere.
for folder in $folders; do find "$folder" -path '*silero_vad/data/*.onnx'; done | sort >"$work/models"
for folder in $folders; do find "$folder" -path '*/onnx/backend/test/data/*/model.onnx'; done | sort >"$work/all"
python3 - "$count" "$seed" >>"$work/models" <<'PYTHON' 3<"$work/all"
import os, random, sys
paths = os.fdopen(3).read().split("\n")[:-1]
print("\n".join(random.Random(int(sys.argv[2])).sample(paths, min(int(sys.argv[1]), len(paths)))))
PYTHON

declare -A ended=()
wrong=0
while read -r model; do
  [ -n "$model" ] || continue
  code=0
  timeout 120 "$program" tune "$model" --quick --max-time 3s --db "$work/runs.db" >"$work/out" 2>"$work/err" </dev/null || code=$?
  ended[$code]=$((${ended[$code]:-0} + 1))
  name=${model#*site-packages/}
  case $code in
    0 | 1 | 4) ;;
    2)
      if [ "$(grep -c '^error: ' "$work/err")" -eq 1 ]; then
        echo "2 $name: $(sed -n 's/^error: //p' "$work/err")"
      else
        wrong=$((wrong + 1))
        echo "WRONG: exit code 2 without one line: $name"
      fi
      ;;
    *)
      wrong=$((wrong + 1))
      echo "WRONG: exit code $code: $name: $(grep '^error: ' "$work/err" | head -n 1)"
      ;;
  esac
done <"$work/models"
for code in "${!ended[@]}"; do echo "exit code $code: ${ended[$code]} models"; done | sort
[ "$wrong" -eq 0 ] || die "$wrong models ended wrongly"
