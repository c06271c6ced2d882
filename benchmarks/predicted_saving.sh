#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Whether the saving that `ridgeline profile` predicts comes true: profiles a model on the CPU without graph optimization, takes
# what the finding unfused-normalization predicts, then lets the runtime fold normalizations and activations into convolutions,
# and compares both by `ridgeline tune`, interleaved. Prints predicted and measured shares of the latency and their ratio, of each
# round and of all; exit code 1 where the latter differs from 1 by more than 0.3.
#   predicted_saving.sh RIDGELINE MODEL.onnx [NAME:SHAPE] [ROUNDS]     for example: ... cls.onnx x:4x3x48x192 5
set -euo pipefail
source "$(dirname "$0")/../scripts/common.sh"
usage="usage: predicted_saving.sh RIDGELINE MODEL.onnx [NAME:SHAPE] [ROUNDS]"
ridgeline=$(realpath "${1:?$usage}")
model=$(realpath "${2:?$usage}")
shape=() rounds=${4:-5}
[ -z "${3:-}" ] || shape=(--shape "$3")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
printf 'onnxruntime:\n  graph_optimization_level: disable_all\n' >config.yaml
printf 'fixed: {graph_optimization_level: extended}\nonly_listed: true\n' >space.yaml
for round in $(seq "$rounds"); do
  "$ridgeline" profile "$model" --provider cpu "${shape[@]}" --config config.yaml --time 8s --no-keep-trace --db r.db --json \
    >profile.json 2>/dev/null
  "$ridgeline" tune "$model" --provider cpu "${shape[@]}" --config config.yaml --space space.yaml --no-ablation --no-apply \
    --max-time 30s --fresh --db r.db --json >tune.json 2>/dev/null
  jq -rn --slurpfile profile profile.json --slurpfile tune tune.json '[
    ($profile[0].findings[] | select(.title.code == "trace.unfused_normalization") | .saving_share),
    ($tune[0].comparisons[] | select(.purpose == "finalist") | 1 - 1 / .ratio, 1 - 1 / .interval[0], 1 - 1 / .interval[1])] | @tsv'
done | awk '
  { printf "%2d  predicted %5.1f %%  measured %5.1f %% [%.1f, %.1f]  ratio %.2f\n", NR, 100*$1, 100*$2, 100*$3, 100*$4, $1/$2
    predicted += $1; measured += $2 }
  END { if (NR == 0) { print "error: nothing was predicted or compared" > "/dev/stderr"; exit 1 }
    printf "all predicted %5.1f %%  measured %5.1f %%  ratio %.2f\n", 100*predicted/NR, 100*measured/NR, predicted/measured
    exit !(predicted/measured >= 0.7 && predicted/measured <= 1.3) }'
