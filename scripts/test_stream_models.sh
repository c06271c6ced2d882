#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Public detectors through `ridgeline stream`, against what their packages' own Python makes of the same pictures: YOLOX
# (common_det.onnx of ddddocr) and YOLOv8 with metadata (320n.onnx of nudenet). The wheels are those of scripts/wheels.tsv, set
# "stream-models" (86 MB). Not part of CI.
#   scripts/test_stream_models.sh [RIDGELINE]     default: build/dev/bin/ridgeline
# Exit code 69: the wheels cannot be had.
set -euo pipefail
source "$(dirname "$0")/common.sh"
program=$(realpath "${1:-$ROOT/build/dev/bin/ridgeline}")
[ -x "$program" ] || die "$program is no program: build it first"
python=$("$ROOT/scripts/stream_python.sh")
# site NAME: the folder with the packages of that wheel.
site() { find "$("$ROOT/scripts/fetch_wheels.sh" "$1")" -type d -name site-packages; }
ddddocr=$(site ddddocr-1.6.1)
nudenet=$(site nudenet-3.4.2)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -B "$ROOT/scripts/test_stream_models.py" draw "$work/pictures"

# run MODEL ARGUMENTS...: lines in out.jsonl, the run in run.json.
run() {
  local model=$1
  shift
  "$program" stream run --source "$work/pictures" --model "$model" --provider cpu --output "$work/out.jsonl" --json --db "$work/runs.db" "$@" \
    >"$work/run.json" 2>"$work/err" || die "$(tail -n 1 "$work/err")"
}
# holds EXPRESSION: of the run.
holds() { jq -e "$1" "$work/run.json" >/dev/null || die "not so: $1; $(jq -c .ready "$work/run.json")"; }

run "$ddddocr/ddddocr/common_det.onnx" --stream score_threshold=0.1
holds '.ready.decoder == "yolox"'
"$python" -B "$ROOT/scripts/test_stream_models.py" compare ddddocr "$ddddocr" "$work/pictures" "$work/out.jsonl" 0.1

# The package pads with black at the bottom and on the right, and swaps the colours twice. Little is found in drawings: all that
# scores a twentieth is compared.
run "$nudenet/nudenet/320n.onnx" --stream score_threshold=0.05 --stream preprocess.align=top-left --stream preprocess.border=0 \
  --stream preprocess.channels=bgr
holds '.ready.decoder == "yolo" and (.ready.input | endswith("1x3x320x320"))'
holds '.ready.notes | any(.text | contains("task detect, 18 names, imgsz 320x320, stride 32"))'
"$python" -B "$ROOT/scripts/test_stream_models.py" compare nudenet "$nudenet" "$work/pictures" "$work/out.jsonl" 0.05
run "$nudenet/nudenet/320n.onnx" --stream score_threshold=0.05 --stream classes=FACE_FEMALE,12
jq -se 'all(.[].result.boxes[]; .class == 1 or .class == 12)' "$work/out.jsonl" >/dev/null || die "classes that were not asked for"
echo "all as expected"
