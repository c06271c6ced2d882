#!/usr/bin/env bash
# Models whose outputs are not the same in each call, and one that computes with denormal numbers, on ONNX Runtime.
source "$(dirname "$0")/lib.sh"
DATA=$SOURCE/tests/data/models
[ -d "$ORT_LIBRARY" ] || { echo "skipped: no ONNX Runtime in $ORT_LIBRARY"; exit 77; }
printf 'parameters:\n  intra_op_num_threads: [1, 2]\n  graph_optimization_level: [disable_all, all]\nonly_listed: true\n' >space.yaml
tuned() { run 0 tune "$DATA/$1.onnx" --search grid --space space.yaml --time 20ms --no-comparisons --db r.db --json --output report.md; }
noted() { checks=$((checks + 1)); tr -s '\n ' ' ' <"$WORK/err" | grep -qF -- "$1" || problem "$LAST: \"$1\" was not told"; }
tuned random_noise
noted 'output "y" changes from call to call with the same input, as RandomNormalLike "noise" draws random numbers'
json '[.trials[].status] | unique | join(" ")' ok
json '.run.call_variation.outputs | join(" ")' y
checks=$((checks + 1))
tr -s '\n ' ' ' <report.md | grep -qF 'as RandomNormalLike "noise" draws random numbers' || problem "the report does not name the operator"
# A seed makes sessions alike, not calls.
tuned seeded_noise
noted 'RandomUniformLike "dice" (seed 7) draws random numbers, the same in each new session'
json '[.trials[].status] | unique | join(" ")' ok
json '.run.call_variation.repeats' true
# Tried before the many others; whether the gain of some per cent is decided is up to the machine.
if [ "$(uname -m)" = x86_64 ]; then
  run '0|1|4' tune "$DATA/denormal.onnx" --quick --time 20ms --max-time 20s --db r.db --json
  json '[.trials[].configuration.set_denormal_as_zero] | index(true) <= 1' true
  json '[.trials[] | select(.configuration.set_denormal_as_zero)][0].status' ok
fi
finish
