#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `ridgeline tune --python` on this host's GPU against an independent loop, for models of benchmarks/models/torch_models.py: tunes the
# model, then times what was recommended, eager PyTorch and the loop's own candidates in fresh processes (benchmarks/torch_loop.py).
# With AITUNE, NVIDIA AITune tunes the model too (benchmarks/torch_aitune.py), and what it chose is timed beside the rest.
# Writes MODEL.PRECISION.json, .tune.json, .aitune.json and .txt, and summary.md over all that lie there, into OUT. Under 8 minutes a
# model and precision, 3 to 6 more with AITune.
#   benchmarks/torch_gpu.sh MODEL...     of: convnext_tiny, swin_tiny, efficientnet_v2_s, whisper_tiny_encoder, segformer_b0
# By environment: OUT (default: torch-results), GPUS (so many measurements at a time, each on a GPU and with an equal share of the CPUs;
# default: 1), RIDGELINE (the program; default: build/release/bin, build/bench/bin, build/ci/bin, then PATH), PYTHON (which has torch;
# default: python3), PRECISIONS (default: fp32 auto), MAX_TIME (of tune, default: 4m40s; several, "150s 60s": tuned with each from empty
# caches, and all picks timed by one loop), FILE (of benchmarks/models, default: torch_models), BUDGET (of the loop in seconds, default: 180),
# TUNE and LOOP (more arguments, for example TUNE="--also onnx"), ONNXRUNTIME (a site-packages folder), AITUNE (a folder of
# scripts/fetch_aitune.sh), AITUNE_TIME (its limit in seconds, default: 300), AITUNE_ARGUMENTS (for example "--thorough").
set -uo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
OUT=${OUT:-torch-results} PYTHON=${PYTHON:-python3}
if [ $# -eq 0 ]; then
  echo "error: name the models; see the head of $0" >&2
  exit 2
fi
for place in "$ROOT"/build/{release,bench,ci}/bin/ridgeline "$(command -v ridgeline)"; do [ -x "$place" ] && RIDGELINE=${RIDGELINE:-$place}; done
[ -x "${RIDGELINE:-}" ] || { echo "error: no program; name it in RIDGELINE" >&2; exit 2; }
mkdir -p "$OUT" || exit 2
OUT=$(cd "$OUT" && pwd)
read -ra tune <<<"${TUNE:-}"
read -ra loop <<<"${LOOP:-}"
read -ra aitune <<<"${AITUNE_ARGUMENTS:-}"
[ -z "${ONNXRUNTIME:-}" ] || { loop+=(--onnxruntime "$ONNXRUNTIME") && aitune+=(--onnxruntime "$ONNXRUNTIME"); }
# What AITune saves is as large as the model, and nothing to keep.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# measure MODEL PRECISION; false where something failed.
measure() {
  local model=$1 precision=$2 target name limit picks=() tuned wanted=() rival=() begin=$SECONDS code=0 failed=0 start compiled cache
  target=$ROOT/benchmarks/models/${FILE:-torch_models}.py:$model
  name=$OUT/$model.$precision
  # FP32 is what tune does without being asked.
  [ "$precision" = fp32 ] || wanted=(--precision "$precision")
  : >"$name.txt"
  for limit in ${MAX_TIME:-4m40s}; do
    tuned=$name.tune compiled=$scratch/$model.$precision.$limit.cache start=$SECONDS code=0
    # The loop finds what the first tune compiled: it is torch's own code, and compiling it twice is half of the loop's time.
    [ ${#picks[@]} -eq 0 ] && cache=$compiled || tuned=$name.$limit.tune
    XDG_CACHE_HOME=$scratch/$model.$precision.$limit.xdg TORCHINDUCTOR_CACHE_DIR=$compiled/inductor TRITON_CACHE_DIR=$compiled/triton \
      "$RIDGELINE" tune --python "$target" --python-exe "$PYTHON" --max-time "$limit" --db "$scratch/$model.$precision.$limit.db" --fresh --json \
      ${wanted[@]+"${wanted[@]}"} ${tune[@]+"${tune[@]}"} >"$tuned.json" 2>"$tuned.txt" || code=$?
    printf '%s %s: tune with %s ended with %d after %d s\n' "$model" "$precision" "$limit" $code $((SECONDS - start)) | tee -a "$name.txt"
    if [ $code -gt 1 ] && [ $code -ne 4 ]; then
      tail -n 5 "$tuned.txt"
      return 1
    fi
    picks+=(--pick "$tuned.json")
  done
  if [ -n "${AITUNE:-}" ]; then
    rm -f "$name.aitune.json"
    start=$SECONDS
    "$PYTHON" "$ROOT/benchmarks/torch_aitune.py" "$target" --precision "$precision" --aitune "$AITUNE" --work "$scratch/$model.$precision" \
      --json "$name.aitune.json" --max-time "${AITUNE_TIME:-300}" ${aitune[@]+"${aitune[@]}"} 2>&1 | tee -a "$name.txt"
    code=${PIPESTATUS[0]}
    printf '%s %s: AITune ended with %d after %d s\n' "$model" "$precision" "$code" $((SECONDS - start)) | tee -a "$name.txt"
    cp "$scratch/$model.$precision/log.txt" "$name.aitune.txt" 2>/dev/null
    [ "$code" -eq 0 ] || failed=1
    [ ! -e "$name.aitune.json" ] || rival=(--aitune "$name.aitune.json")
  fi
  "$PYTHON" "$ROOT/benchmarks/torch_loop.py" "$target" --precision "$precision" "${picks[@]}" --ridgeline "$RIDGELINE" --cache "$cache" \
    --budget "${BUDGET:-180}" --json "$name.json" ${rival[@]+"${rival[@]}"} ${loop[@]+"${loop[@]}"} 2>"$name.loop.txt" | tee -a "$name.txt"
  [ "${PIPESTATUS[0]}" -eq 0 ] || { tail -n 3 "$name.loop.txt"; failed=1; }
  rm -rf "${scratch:?}/$model.$precision"*
  printf '%s %s: %d s in all\n' "$model" "$precision" $((SECONDS - begin)) | tee -a "$name.txt"
  return $failed
}

failed=0 jobs=()
cpus=$(nproc)
for model in "$@"; do
  for precision in ${PRECISIONS:-fp32 auto}; do
    if [ "${GPUS:-1}" -eq 1 ]; then
      measure "$model" "$precision" || failed=1
      continue
    fi
    at=${#jobs[@]} share=$((cpus / GPUS))
    # With caches and folders of its own, as on a machine of its own.
    (export CUDA_VISIBLE_DEVICES=$at XDG_CACHE_HOME=$scratch/cache.$at XDG_STATE_HOME=$scratch/state.$at
     taskset -cp $((at * share))-$((at * share + share - 1)) $BASHPID >/dev/null
     measure "$model" "$precision") &
    jobs+=($!)
    if [ ${#jobs[@]} -eq "$GPUS" ]; then
      for job in "${jobs[@]}"; do wait "$job" || failed=1; done
      jobs=()
    fi
  done
done
for job in ${jobs[@]+"${jobs[@]}"}; do wait "$job" || failed=1; done
results=()
for file in "$OUT"/*.json; do [[ $file == *.tune.json || $file == *.aitune.json ]] || results+=("$file"); done
[ -e "${results[0]:-}" ] && "$PYTHON" "$ROOT/benchmarks/torch_loop.py" --summary "${results[@]}" | tee "$OUT/summary.md"
exit $failed
