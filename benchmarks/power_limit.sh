#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What interleaved comparisons make of a card at its power limit: ONNX Runtime's defaults against what `tune` finds for
# ViT-B/16 in batches of 64, with one and two sessions in flight, in blocks of 1.5 s, in the usual ones, and in those of
# campaign::pair_plan, which begin to count after 0.2 s. 2 minutes on an H200.
#   benchmarks/power_limit.sh PAIRED_VERDICTS vit_b_16_n.onnx ORT_FOLDER OUT_FOLDER
set -euo pipefail
[ $# -eq 4 ] || { sed -n '3,6p' "$0" >&2; exit 2; }
program=$1 model=$2 ort=$3 out=$4
mkdir -p "$out"
long='{"block_time_s":1.5,"discard_runs":0,"discard_time_s":0,"rounds":1,"max_rounds":1,"abba_rounds":2,"max_abba_rounds":2,"max_time_s":30}'
usual='{}'
sustained='{"block_time_s":0.1,"discard_time_s":0.2,"abba_rounds":4,"rounds":2,"max_rounds":2,"max_time_s":3}'
compare() { # compare SESSIONS NAME TIMES PLAN
  echo "== $1 session(s), $2"
  "$program" "$model" "$3" "$out/$2_$1.csv" --provider cuda --ort "$ort" --throughput --set batch_size=64 \
    --set intra_op_num_threads=0 --other disable_specified_optimizers=MatMulAddFusion --other enable_cuda_graph=true \
    --other io_binding=stream --other override_free_dimensions=true --other prefer_nhwc=true \
    --other parallel_sessions="$1" --plan "$4"
}
for sessions in 1 2; do
  compare "$sessions" long 1 "$long"
  compare "$sessions" usual 2 "$usual"
  compare "$sessions" sustained 3 "$sustained"
done | tee "$out/verdicts.txt"
python3 "$(dirname "$0")/paired_raw.py" "$out"/long_*.csv | tee "$out/within_blocks.txt"
