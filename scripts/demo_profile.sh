#!/usr/bin/env bash
# Profiles in five minutes: where the time of a real model goes on this machine, and that of a training that was recorded
# on a GPU. Builds what is missing, as demo.sh does.
#   DEMO_FOLDER   where the results and the reports go (default: demo_profile/ in the repository)
set -euo pipefail
source "$(dirname "$0")/common.sh"

"$ROOT/scripts/setup.sh" release
folder=${DEMO_FOLDER:-$ROOT/demo_profile}
ridgeline=$ROOT/build/release/bin/ridgeline
mkdir -p "$folder"
cd "$folder"
say "the PP-OCRv4 text detector, run under ONNX Runtime's own profiler"
"$ridgeline" profile "$CACHE/models/ocr-models-1.4.2/ch_PP-OCRv4_det_infer.onnx" --provider cpu --shape x:1x3x640x640 \
  --db profile.db --report model.md --report model.html --csv model_tables
say "two training steps of ResNet-50, recorded with torch.profiler on an H200"
"$ridgeline" profile import "$ROOT/tests/data/traces/resnet_train_kineto.json.gz" \
  --db profile.db --report training.md --report training.html --perfetto training.perfetto-trace
say "reports: $PWD/model.html and $PWD/training.html; the timeline opens in https://ui.perfetto.dev"
say "how to record and import your own: docs/profile.md"
