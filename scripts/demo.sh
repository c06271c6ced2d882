#!/usr/bin/env bash
# From a fresh clone to a tuned model: installs what is missing, fetches ONNX Runtime and a real model (PP-OCRv4 text
# detection), builds, and tunes the model against a sample config.yaml. The second time it builds nothing and answers
# from the results file. Arguments go to `ridgeline tune`, for example --objective throughput.
#   DEMO_FOLDER   where config.yaml, the results and the reports go (default: demo/ in the repository)
set -euo pipefail
source "$(dirname "$0")/common.sh"

"$ROOT/scripts/setup.sh" release
folder=${DEMO_FOLDER:-$ROOT/demo}
mkdir -p "$folder"
cd "$folder"
# The sample as it was before any change, so that a second run asks the same question.
cp "$ROOT/examples/config.yaml" config.yaml
rm -f config.yaml.bak-*
say "tuning PP-OCRv4 text detection in $folder"
exec "$ROOT/build/release/bin/ridgeline" tune "$CACHE/models/ocr-models-1.4.2/ch_PP-OCRv4_det_infer.onnx" \
  --config config.yaml --yes --output report.md --report-html --db ridgeline.db "$@"
