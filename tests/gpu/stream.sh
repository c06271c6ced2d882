#!/usr/bin/env bash
# `ridgeline stream` on this host's NVIDIA GPU: results as on the CPU, copies and telemetry that are known.
source "$(dirname "$0")/../cli/lib.sh"
skip() {
  echo "$1"
  exit 77
}
[ -e /proc/driver/nvidia/version ] || skip "no NVIDIA driver on this host: /proc/driver/nvidia/version is absent"
model=$MODELS/ch_PP-OCRv4_det_infer.onnx
[ -f "$model" ] || skip "the PP-OCRv4 models are not in $MODELS"
frames=(--source synthetic:640x384x60 --model "$model" --stream batch_size=4)
"$RIDGELINE" stream run "${frames[@]}" --provider cuda --output cuda.jsonl --json >probe.json 2>probe.log </dev/null ||
  skip "ridgeline stream run --provider cuda: $(grep '^error: ' probe.log || tail -n 1 probe.log)"
cp probe.json out
LAST="stream run --provider cuda"
json '.status.worker_s.copy > 0' true
json '.status.worker_s.inference > 0' true
json '.status.delivered' 60
json '.status.gpu_busy > 0 and .status.gpu_busy <= 1' true
run 0 stream run "${frames[@]}" --provider cpu --output cpu.jsonl --json
json '.status.worker_s.copy' null
run 0 stream run "${frames[@]}" --provider cuda --stream preprocess.device=cpu --output host.jsonl --json
json .status.gpu_busy null
boxes() { jq -c '[.frame, (.result.boxes | length)]' "$1"; }
checks=$((checks + 1))
diff <(boxes cuda.jsonl) <(boxes cpu.jsonl) >difference || problem "other boxes than on the CPU: $(head -n 5 difference)"
checks=$((checks + 1))
diff <(boxes cuda.jsonl) <(boxes host.jsonl) >difference || problem "other boxes with frames prepared on the CPU: $(head -n 5 difference)"
run 0 stream bench "${frames[@]}" --provider cuda --time 4s --json
json '[.moments[].gpu | select(. != null)] | length >= 2' true
json '.moments[-2].gpu.memory_used_bytes > 1e8' true
run 0 show latest
out "copies to and from the device"
out "memory in use"
finish
