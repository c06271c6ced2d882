#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Whether the saving that `ridgeline profile` predicts comes true: profiles a model on the CPU without graph optimization, takes
# what the finding unfused-normalization predicts, then lets the runtime fold normalizations and activations into convolutions
# and compares the latencies without the profiler, in turns. Prints predicted, measured and their ratio; exit 1 where they differ
# by more than 30 %.
#   predicted_saving.sh RIDGELINE MODEL.onnx [SHAPE] [ROUNDS]     for example: ... cls.onnx x:1x3x48x192 6
set -euo pipefail
source "$(dirname "$0")/../scripts/common.sh"
ridgeline=$(realpath "${1:?usage: predicted_saving.sh RIDGELINE MODEL.onnx [SHAPE] [ROUNDS]}")
model=$(realpath "${2:?usage: predicted_saving.sh RIDGELINE MODEL.onnx [SHAPE] [ROUNDS]}")
shape=() rounds=${4:-6}
[ -z "${3:-}" ] || shape=(--shape "$3")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# profiled LEVEL: the run's JSON.
profiled() {
  "$ridgeline" profile "$model" --provider cpu "${shape[@]}" --set graph_optimization_level="$1" --time 4s --no-keep-trace \
    --db "$work/results.db" --json 2>/dev/null
}
for round in $(seq "$rounds"); do
  order="disable_all extended"
  [ $((round % 2)) -eq 1 ] || order="extended disable_all"
  for level in $order; do
    profiled "$level" >"$work/$level.json"
  done
  # Of one call, as the latencies are; a finding's saving is that of all calls of the profile.
  jq -n --slurpfile before "$work/disable_all.json" --slurpfile after "$work/extended.json" '
    $before[0] as $b | [($b.findings[] | select(.rule == "unfused-normalization") | .saving_ns) / ($b.tables.steps | length),
                        $b.cost.plain_ns - $after[0].cost.plain_ns, $b.cost.plain_ns] | @tsv' -r
done | awk '{ printf "%2d  predicted %8.3f ms  measured %8.3f ms  of %8.3f ms  ratio %.2f\n", NR, $1/1e6, $2/1e6, $3/1e6, $1/$2
              predicted += $1; measured += $2 }
  END { ratio = predicted / measured; printf "all predicted %8.3f ms  measured %8.3f ms  ratio %.2f\n", predicted/NR/1e6, measured/NR/1e6, ratio
        exit !(ratio >= 0.7 && ratio <= 1.3) }'
