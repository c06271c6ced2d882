#!/usr/bin/env bash
# Real PyTorch set-ups with one known fault each: does bench name it? Faults that wait and do not compute, so that a busy
# machine does not disturb.
source "$(dirname "$0")/lib.sh"
PYTHON=${RIDGELINE_TEST_PYTHON:-/usr/bin/python3}
"$PYTHON" -c 'import torch' 2>/dev/null || { echo "$PYTHON has no torch"; exit 77; }
export OMP_NUM_THREADS=1
checks=$((checks + 1))
"$SOURCE/benchmarks/training_faults.py" --ridgeline "$RIDGELINE" --python-exe "$PYTHON" --out faults --device cpu --part faults \
  --calm --strengths 1 --seconds 20 --minutes 4 >"$WORK/out" 2>"$WORK/err" || problem "a fault was misjudged"
json() { checks=$((checks + 1)); [ "$(jq -r "$1" <faults/faults.json)" = "$2" ] || problem "$1 is $(jq -r "$1" <faults/faults.json), expected $2"; }
json '[.faults[].fault] | sort | join(" ")' "batch_too_small step_waits storage_bound too_few_workers"
json '[.faults[] | select(.right)] | length' 4
json '[.faults[].notes[] | select(contains("SlowStep"))] | length' 1
finish
