#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Public models through `ridgeline profile`: their nodes stand in the modules that the models have, with the shares that ONNX
# Runtime's own profile says. YOLOv8 is 320n.onnx of the wheel nudenet; RT-DETR is exported by both exporters of PyTorch where
# PYTHON has torch, onnxscript and transformers, and is left out with a line where it has not. Not part of CI.
#   [PYTHON=python3] scripts/test_attribution.sh [RIDGELINE]     default: build/dev/bin/ridgeline
# Exit code 69: the wheels cannot be had.
set -euo pipefail
source "$(dirname "$0")/common.sh"
program=$(realpath "${1:-$ROOT/build/dev/bin/ridgeline}")
[ -x "$program" ] || die "$program is no program: build it first"
onnxruntime=$("$ROOT/scripts/stream_python.sh")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# check MODEL TOPS: at most so many rows at the top, next to nothing outside of modules, and none made of two convolutions.
check() {
  local model=$1 tops=$2
  "$program" profile "$model" --provider cpu --time 3s --db "$work/runs.db" --json >"$work/run.json" 2>"$work/err" || die "$(tail -n 1 "$work/err")"
  jq '.tables.modules as $rows | [$rows[] | select(.parent == 0 and .kind == "module")] | (map(.host_total_ns) | add) as $sum |
    map({key: .name, value: (.host_total_ns / $sum)}) | from_entries' "$work/run.json" >"$work/ours.json"
  jq -e --argjson tops "$tops" '.tables.modules as $rows | ([$rows[] | select(.parent == 0 and .kind == "module")] | length) <= $tops and
    ([$rows[] | select(.parent == 0 and .kind == "node") | .host_total_ns] | add // 0) < 0.01 * $rows[0].host_total_ns' "$work/run.json" >/dev/null ||
    die "$model: rows at the top: $(jq -c keys "$work/ours.json")"
  jq -e '[.tables.nodes[] | select(.name | [scan("Conv(_[0-9]+)?( |$)")] | length > 1)] == []' "$work/run.json" >/dev/null ||
    die "$model: a node is made of two convolutions"
}
nudenet=$(find "$("$ROOT/scripts/fetch_wheels.sh" nudenet-3.4.2)" -name 320n.onnx)
cp "$nudenet" "$work/yolov8.onnx"
check "$work/yolov8.onnx" 23
"$onnxruntime" -B "$ROOT/scripts/test_attribution.py" raw "$work/yolov8.onnx" >"$work/raw.json"
"$onnxruntime" -B "$ROOT/scripts/test_attribution.py" compare "$work/raw.json" "$work/ours.json"
if "${PYTHON:-python3}" -c 'import onnxscript, torch, transformers' 2>/dev/null; then
  for exporter in torchscript dynamo; do
    "${PYTHON:-python3}" -B "$ROOT/scripts/test_attribution.py" export $exporter "$work/$exporter.onnx" >"$work/export.log" 2>&1 ||
      die "$exporter: $(tail -n 1 "$work/export.log")"
    check "$work/$exporter.onnx" 1
  done
else
  echo "left out: RT-DETR; ${PYTHON:-python3} has no torch, onnxscript and transformers"
fi
echo "nodes stand in their modules"
