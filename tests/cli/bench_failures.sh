#!/usr/bin/env bash
# What goes wrong in real PyTorch training on a CPU: is it told as a shortage of memory exactly when it is one?
source "$(dirname "$0")/lib.sh"
PYTHON=${RIDGELINE_TEST_PYTHON:-/usr/bin/python3}
"$PYTHON" -c 'import torch' 2>/dev/null || { echo "$PYTHON has no torch"; exit 77; }
export OMP_NUM_THREADS=1
checks=$((checks + 1))
"$SOURCE/benchmarks/training_faults.py" --ridgeline "$RIDGELINE" --python-exe "$PYTHON" --out faults --device cpu --part oom \
  --minutes 4 >"$WORK/out" 2>"$WORK/err" || problem "a failure was misjudged"
json() { checks=$((checks + 1)); [ "$(jq -r "$1" <faults/faults.json)" = "$2" ] || problem "$1 is $(jq -r "$1" <faults/faults.json), expected $2"; }
json '[.failures[] | select(.right and .shortage)] | length >= 8' true
json '[.failures[] | select(.right and (.shortage | not))] | length >= 11' true
json '[.failures[] | select(.right != true)] | length' 0
finish
