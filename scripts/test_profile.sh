#!/usr/bin/env bash
# Checks of `ridgeline profile MODEL` that need a quiet machine: on the CPU, node times add up to the traced Run() and, less
# the printed cost of the profiler, to the latency without it.
#   test_profile.sh RIDGELINE [MODEL...]    (default: PP-OCR detection and recognition, and a model exported by PyTorch)
# The PyTorch model is exported by the torch of scripts/fetch_torch.sh, where that is there, else by python3's.
set -euo pipefail
source "$(dirname "$0")/common.sh"
ridgeline=$(realpath "${1:?usage: test_profile.sh RIDGELINE [MODEL...]}")
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
models=("$@")
if [ ${#models[@]} -eq 0 ]; then
  python=$(ls -d "$CACHE"/torch-*/bin/python 2>/dev/null | tail -n 1 || true)
  "${python:-python3}" "$ROOT/tests/python/hierarchy_model.py" "$work/exported.onnx" >/dev/null 2>"$work/export.log" ||
    die "no PyTorch model could be exported: $(tail -n 1 "$work/export.log")"
  models=("$CACHE/models/ocr-models-1.4.2/ch_PP-OCRv4_det_infer.onnx" "$CACHE/models/ocr-models-1.4.2/ch_PP-OCRv4_rec_infer.onnx"
    "$work/exported.onnx")
fi
failures=0
printf '%-32s %12s %12s %8s %10s\n' model "plain ms" "traced ms" "nodes" "corrected"
for model in "${models[@]}"; do
  shape=()
  [[ $model == *PP-OCRv4_det* ]] && shape=(--shape x:1x3x640x640)
  "$ridgeline" profile "$model" --provider cpu --time 30s "${shape[@]}" --db "$work/results.db" -q
  # nodes: share of the traced Run(); corrected: nodes less the profiler's cost, over the latency without the profiler.
  read -r plain traced nodes corrected < <("$ridgeline" show latest --json --db "$work/results.db" | jq -r '.cost |
    [.plain_ns / 1e6, .traced_ns / 1e6, .nodes_ns / .traced_ns, (.nodes_ns - .events * .event_ns) / .plain_ns] | map(. * 1e4 | round / 1e4) | @tsv')
  verdict=$(awk -v nodes="$nodes" -v corrected="$corrected" 'BEGIN { print (nodes >= 0.97 && corrected >= 0.95 && corrected <= 1.05) ? "" : "FAILED" }')
  printf '%-32s %12s %12s %8s %10s %s\n' "$(basename "$model")" "$plain" "$traced" "$nodes" "$corrected" "$verdict"
  [ -z "$verdict" ] || failures=$((failures + 1))
done
[ $failures -eq 0 ] || die "$failures models: nodes are to be 97 % of the traced Run() at least, and within 5 % of the latency when corrected"
