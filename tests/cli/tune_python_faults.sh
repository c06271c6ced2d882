#!/usr/bin/env bash
# PyTorch models with one fault each, in Debian's torch: each ends as a row with its reason, and the answer is right from the rest.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/fault_rows.sh"
PYTHON=${RIDGELINE_TEST_PYTHON:-/usr/bin/python3}
"$PYTHON" -c 'import sys, torch; sys.exit(hasattr(torch, "compile"))' 2>/dev/null || { echo "skipped: $PYTHON has no torch before 2"; exit 77; }
FAULTS=$SOURCE/tests/data/torch_faults
export PYTHONDONTWRITEBYTECODE=1
# faulty NAME ROW LIMIT: tunes that model; ROW: the one setting of its space that has the fault.
faulty() {
  local name=$1 row=$2 limit=$3
  shift 3
  printf 'parameters:\n  %s\nonly_listed: true\n' "$row" >space.yaml
  run '0|1|4' tune --python "$FAULTS/$name.py:make" --python-exe "$PYTHON" --search grid --space space.yaml \
    --set torch_threads=1 --set grad_mode=inference_mode --time 50ms --max-time "$limit" --db r.db --json "$@"
}
TRACED='.torchscript == "trace"'

# The process that compiles dies.
faulty aborts 'torchscript: [off, trace]' 30s --no-comparisons
row "$TRACED" crashed SIGABRT
rest "$TRACED"
# It waits for ever, or works for ten minutes: no trial takes more than a share of the time.
faulty hangs 'torchscript: [trace, off]' 30s --no-comparisons
row "$TRACED" timeout "one trial gets no more than that of the 30 s"
rest "$TRACED"
faulty compiles_long 'torchscript: [trace, off]' 30s --no-comparisons
row "$TRACED" timeout "one trial gets no more than that of the 30 s"
rest "$TRACED"
# A trace holds what the first input set was like.
faulty dynamic_shapes 'torchscript: [off, trace]' 30s --no-comparisons
row "$TRACED" invalid "Expected 3 elements in a list but found 5"
rest "$TRACED"
# Dropout is left on: told, and no setting is blamed for it.
faulty dropout 'torchscript: [off, trace]' 30s --no-comparisons
err "training mode"
err "the same seed gives the same outputs"
finish
