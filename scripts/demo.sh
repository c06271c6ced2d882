#!/usr/bin/env bash
# From a fresh clone to a tuned model: installs what is missing, fetches ONNX Runtime and a real model (PP-OCRv4 text
# detection), builds, and tunes the model against a sample config.yaml within two minutes. The second time it builds
# nothing and answers from the results file. Arguments go to `ridgeline tune`, for example --objective throughput.
#   DEMO_FOLDER   where config.yaml, the results and the reports go (default: demo/ in the repository)
set -euo pipefail
source "$(dirname "$0")/common.sh"

"$ROOT/scripts/setup.sh" release
folder=${DEMO_FOLDER:-$ROOT/demo}
ridgeline=$ROOT/build/release/bin/ridgeline
model=$CACHE/models/ocr-models-1.4.2/ch_PP-OCRv4_det_infer.onnx
mkdir -p "$folder"
cd "$folder"
# The sample as it was before any change, so that a second run asks the same question.
cp "$ROOT/examples/config.yaml" config.yaml
rm -f config.yaml.bak-*
say "tuning PP-OCRv4 text detection in $folder, at most two minutes"
# All of it fits into the time, so that the same question needs no more measuring the next time.
code=0
"$ridgeline" tune "$model" --quick --no-ablation --max-time 110s \
  --config config.yaml --apply --report report.md --report report.html --db ridgeline.db "$@" || code=$?
# 4: nothing could be decided on so uneven a machine, which the last lines above say.
case $code in 0 | 1 | 4) ;; *) exit "$code" ;; esac
say "this was a quick search of about a dozen trials; a longer one may find more and reports what each setting contributes:"
printf '    cd %q && %q tune %q --config config.yaml --db ridgeline.db\n' "$folder" "$ridgeline" "$model" >&2
