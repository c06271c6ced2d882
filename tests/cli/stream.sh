#!/usr/bin/env bash
# Frames through a model and through none, a load that is held and one that is not, and every fault of the user's.
source "$(dirname "$0")/lib.sh"

lines() { jq -c "$1" <"$WORK/$2" | sort | uniq -c | sed 's/^ *//'; }

# --- every frame has a line ---
run 0 stream run --source synthetic:64x48x50 --source synthetic:32x32x20 --model null --output a.jsonl
is "$(wc -l <a.jsonl)" 70 "lines"
is "$(jq -s 'map(select(.source==0).frame) == [range(50)]' a.jsonl)" true "frames of the first source in order"
is "$(jq -s 'map(select(.source==1).frame) == [range(20)]' a.jsonl)" true "frames of the second"
is "$(lines 'keys' a.jsonl)" '70 ["frame","latency_ms","pts_ms","result","source"]' "keys"
err "70 arrived, 70 delivered, dropped: none"
run 0 stream run --source synthetic:64x48x5 --model null --output - -q
is "$(wc -l <"$WORK/out")" 5 "lines on standard output"
run 0 stream run --source synthetic:64x48 --frames 7 --sources 3 --model null --output b.jsonl --json
is "$(wc -l <b.jsonl)" 21 "lines of copies"
json .status.delivered 21
json .kind null
json .ready.workers "$(jq -r .ready.workers "$WORK/out")"

# --- frames through a pipe ---
head -c $((3 * 8 * 4 * 10 + 5)) /dev/zero >raw
checks=$((checks + 1))
"$RIDGELINE" stream run --source - --raw 8x4:bgr24@25 --model null --output c.jsonl <raw >out 2>err || problem "a pipe of frames"
is "$(wc -l <c.jsonl)" 10 "lines of a pipe"
is "$(jq -s '.[9].pts_ms' c.jsonl)" 360 "times of a pipe"
err "note"
run 0 stream run --source raw --raw 8x4:bgr24 --model null --output d.jsonl -q
is "$(wc -l <d.jsonl)" 10 "lines of a raw file"

# --- what came of it is a run ---
run 0 show latest --all
out "frames"
run 0 history
out "stream"
run 0 report latest --report page.html --output page.md
checks=$((checks + 3))
grep -q "^ridgeline stream run --source raw" page.md || problem "no command in the report"
grep -q "prepare, infer, decode" page.md || problem "no stages in the report"
grep -q "Queue size, frames" page.html || problem "no pipeline in the page"
: >x.yaml
run 2 apply latest --config x.yaml
err "recommends no settings"

# --- percentiles have their frames ---
run 0 stream run --source synthetic:64x48x10 --model null --json
json '[.status.latency.count, .status.latency.p50 > 0, .status.latency.p95, .status.latency.p99, .status.queue.p99] | tojson' '[10,true,null,null,null]'
run 0 stream run --source synthetic:64x48x10 --model null
err "(p95 needs 200 frames)"
run 0 show latest --all
out "p99 latency (needs 1000 frames)"
run 0 history
out ", p50 "
run 0 report latest --report few.html --output few.md
is "$(grep -A 2 '^| Delivered | p99 latency' few.md | tail -n 1 | cut -d'|' -f3 | cut -d' ' -f2)" "**–**" "the p99 of 10 frames in a report"
is "$(grep -A 2 '^| Stage | Mean | p50 | p95 | p99 | p99.9' few.md | tail -n 1 | cut -d'|' -f5-7)" " – | – | – " "the percentiles of 10 frames in a report"
is "$(grep -c 'p99 latency</dt><dd class="value">–' few.html)" 1 "no p99 of 10 frames in a page"
run 0 stream run --source synthetic:64x48x1500 --model null --json
json '[.status.latency.p99 > 0, .status.latency.p999] | tojson' '[true,null]'

# --- the frames with their results as a video ---
run "0|2" stream run --source synthetic:64x48x30 --model null --output i.jsonl --video v.mp4
if [ -s v.mp4 ]; then
  run 0 stream run --source v.mp4 --model null --output j.jsonl
  is "$(jq -s 'map(.pts_ms) == [range(30) * 1000 / 30 | . * 1000 | round / 1000]' i.jsonl)" true "times of the frames"
  is "$(wc -l <j.jsonl)" 30 "frames of the video"
  run 0 stream run --source synthetic:63x47x10 --source synthetic:32x32x20 --model null --video w.mkv --stream streams=2
  for i in 0 1; do run 0 stream run --source w.$i.mkv --model null --output w.$i.jsonl; done
  is "$(cat w.0.jsonl | wc -l) $(cat w.1.jsonl | wc -l)" "10 20" "frames of videos of two sources"
  ln -s /dev/full full.mkv
  run 2 stream run --source synthetic:320x240x300 --model null --output k.jsonl --video full.mkv
  err "full.mkv: cannot be written: no space left on device"
  err "the results are complete"
  is "$(jq -c 'has("result")' k.jsonl | sort | uniq -c | sed 's/^ *//')" "300 true" "results beside a video that fails"
  # Pictures by folder, pattern and number: in natural order, each line with its file, damaged ones too.
  mkdir pics
  for i in 1 2 10; do printf 'P5\n%d 8\n255\n%*s' $((8 * i)) $((64 * i)) '' >pics/img$i.pgm; done
  printf bad >pics/img3.jpg
  : >pics/a.png
  run 0 stream run --source pics --model null --output p.jsonl --stream streams=2 --json
  is "$(jq -c '[.frame, .file, .dropped]' p.jsonl | paste -sd ' ')" '[0,"a.png","damaged"] [1,"img1.pgm",null] [2,"img2.pgm",null] [3,"img3.jpg","damaged"] [4,"img10.pgm",null]' "a folder"
  is "$(jq -r 'select(.frame == 3) | .error' p.jsonl)" "no frame of its mjpeg video can be decoded" "what is wrong with a picture"
  json '[.status.offered, .status.delivered, .status.dropped.damaged] | tojson' '[5,3,2]'
  json '.status.checks | map(.passed) | all' true
  json '.ready.sources[0] | [.width, .frames] | tojson' '[8,5]'
  json '.notes[0].text | startswith("pics: 2 damaged pictures without a result, the first: a.png: ")' true
  run 0 stream run --source 'pics/*.pgm' --model null --output q.jsonl -q
  is "$(jq -r .file q.jsonl | paste -sd ' ')" "img1.pgm img2.pgm img10.pgm" "a pattern"
  run 0 stream run --source pics/img%d.pgm --model null --output q.jsonl
  is "$(jq -r .file q.jsonl | paste -sd ' ')" "img1.pgm img2.pgm img10.pgm" "numbered pictures"
  err "pics/img%d.pgm: 3 pictures from 1 to 10, 7 numbers missing"
  run 0 stream run --source pics --frames 2 --model null --output q.jsonl --video r.mkv
  is "$(jq -c '[.file, .dropped]' q.jsonl | paste -sd ' ')" '["a.png","damaged"] ["img1.pgm",null]' "the first two of a folder"
  run "0|1|4" stream bench --source pics --model null --rate 50 --time 200ms --output q.jsonl
  is "$(jq -r .file q.jsonl | sort -u | paste -sd ' ')" "img1.pgm img10.pgm img2.pgm" "the files of a load"
  bad "pics/*.tiff: no file fits this pattern" "ls pics/" -- stream run --source 'pics/*.tiff' --model null
  bad "pics/shot%04d.pgm: no file with a number in this place" "shot0001.pgm" -- stream run --source pics/shot%04d.pgm --model null
  rm pics/*.pgm
  bad "pics: none of 2 pictures can be decoded; the first: a.png: " -- stream run --source pics --model null
  # A video that is stored on its side: the matrix of its track is 40 bytes behind its header's name.
  python3 - <<'PYTHON'
import struct
clip = open("v.mp4", "rb").read()
at = clip.index(b"tkhd") + 4 + 40
open("turned.mp4", "wb").write(clip[:at] + struct.pack(">9i", 0, 1 << 16, 0, -1 << 16, 0, 0, 0, 0, 1 << 30) + clip[at + 36:])
PYTHON
  run 0 stream run --source turned.mp4 --model null --json
  json '.ready.sources[0] | [.width, .height] | tojson' '[48,64]'
  json '.ready.notes[0].text' "turned.mp4: rotated by 90 degrees as the file requests; rotate: 0 leaves it as stored"
  run 0 stream run --source turned.mp4 --sources 2 --model null --stream rotate=0 --json
  json '.ready.sources[0] | [.width, .height] | tojson' '[64,48]'
  json '.ready.notes | length' 0
  run 0 stream run --source turned.mp4 --model null
  err "note     turned.mp4: rotated by 90 degrees"
  bad "v.txt: no video container has this ending" -- stream run --source synthetic:64x48x30 --model null --video v.txt
  bad "no/v.mp4" -- stream run --source synthetic:64x48x30 --model null --video no/v.mp4
else
  err "plug-in"
fi

# --- a load: fixed before the run, judged afterwards ---
run "0|1|4" stream bench --source synthetic:64x48 --model null --rate 50 --sources 2 --time 1s --slo 200ms --json --output e.jsonl
is "$(wc -l <e.jsonl)" 100 "a load has as many frames as it was to have"
json .status.offered 100
json '.status.checks | length' 3
json '.status.checks | map(.passed) | all' true
printf '# a gate\n0\n0.1\n0.1\n0.35\n' >times.txt
run "0|1|4" stream bench --source synthetic:64x48 --model null --sources 2 --trace times.txt --output t.jsonl --json
json '[.status.offered, .request.spec.load.process, (.request.spec.load.rate_per_s * 10 | round)] | tojson' '[8,"trace",114]'
run "0|1|4" stream bench --source synthetic:64x48 --model null --trace times.txt --time 200ms --json
json .status.offered 3
run 0 report latest
out "times.txt, 15 frames per second per source"
bad "--trace" "--rate" -- stream bench --source synthetic:64x48 --model null --trace times.txt --rate 5
bad "nowhere.txt" -- stream bench --source synthetic:64x48 --model null --trace nowhere.txt
echo 0.2 >>times.txt
bad 'times.txt:6: "0.2"; expected a time that is not before the one above it' -- stream bench --source synthetic:64x48 --model null --trace times.txt
run "0|1|4" stream bench --source synthetic:64x48 --model null --rate 100 --arrivals burst --variation 5 --time 300ms --json
json .request.spec.load.variation 5
run 0 stream bench --source synthetic:64x48 --model null --time 300ms --json
json .verdict.passed true
json .request.spec.load.process offline

# A load that stood still was late itself, and what it missed by that is no answer.
"$RIDGELINE" stream bench --source synthetic:64x48 --model null --rate 50 --time 2s --slo 100ms --output void.jsonl >out 2>err </dev/null &
LOAD=$!
for _ in $(seq 1200); do
  [ -s void.jsonl ] && [ "$(wc -l <void.jsonl)" -ge 10 ] && break
  sleep 0.05
done
pkill -STOP -P $LOAD
sleep 0.7
pkill -CONT -P $LOAD
wait $LOAD
is $? 4 "a load that was late itself"
LAST="a load that stood still"
run 0 show latest --all
out "No answer: the load generator was late"
run 0 show latest --json
json '[.verdict.passed, .status.is_void, .status.lateness.max >= 500] | tojson' '[false,true,true]'

# --- several rates, and runs against each other ---
run "0|1|4" stream bench --source synthetic:64x48 --model null --rate 40,20 --time 1s --slo 200ms --json
json '.points | map(.rate_per_s) | tostring' '[20,40]'
json '.points | map(.status.offered) | tostring' '[20,40]'
json '.verdict.held_per_s != null' true
run 0 show latest --all
out "Latency against load"
run 0 report latest --report load.html
checks=$((checks + 1))
grep -q "stream-load" load.html || problem "no chart of latency against load"
run 0 stream bench --source synthetic:64x48 --model null --time 5s -q
run 0 stream bench --source synthetic:640x480 --model null --time 5s -q
peaks=($("$RIDGELINE" history --ids | head -n 2))
run "0|1" compare "${peaks[1]}" "${peaks[0]}"
out "the ratio is that of throughput"
out "intervals come from the seconds"
out "sources: synthetic:64x48 64x48 -> synthetic:640x480 640x480"
run "0|1" compare "${peaks[0]}" "${peaks[1]}" --json
json '.details.figures | map(.name) | tostring' '["throughput","p50","p95","p99"]'
run 0 compare "${peaks[0]}" "${peaks[0]}"
out "the same record"
run "0|1" rerun "${peaks[0]}"
out "now "
load=$("$RIDGELINE" history --ids | sed -n 3p)
bad "a ratio of the two would mean nothing" -- compare "$load" "${peaks[0]}"
"$RIDGELINE" stream run --source - --raw 8x4:bgr24@25 --model null -q <raw
bad "came from standard input" "run it again by its command" -- rerun latest
bad "--output with 2 rates" -- stream bench --source synthetic:8x8 --model null --rate 1,2 --output x.jsonl

# --- settings ---
printf 'stream:\n  batch_size: 4\n  streams: 1\n  frame_timeout_ms: 50\n' >p.yaml
run 0 stream run --source synthetic:64x48x40 --model null --config p.yaml --json
json .request.spec.settings.batch_size 4
json '.status.batches | length' 5
run 0 stream run --source synthetic:64x48x40 --model null --config p.yaml --stream batch_size=2 --json
json .request.spec.settings.batch_size 2

printf 'batch_size: 8\ninference_scale: 0.65\n' >flat.yaml
run 0 stream run --source synthetic:64x48x40 --model null --config flat.yaml
err "note     flat.yaml: batch_size, inference_scale are outside the section stream and were not read: move them under stream:"
run 0 stream run --source synthetic:64x48x40 --model null --config flat.yaml --json
json '.notes[0].text' "flat.yaml: batch_size, inference_scale are outside the section stream and were not read: move them under stream:"
json .request.spec.settings.batch_size 1
printf 'stream:\n  batch_size: 2\ncrop.most: 3\n' >half.yaml
run 0 stream run --source synthetic:64x48x40 --model null --config half.yaml --json
json '.notes[0].text' "half.yaml: crop.most is outside the section stream and was not read: move it under stream:"

# --- a real model ---
det=${MODELS:-}/ch_PP-OCRv4_det_infer.onnx
if [ -f "$det" ] && [ -n "${ORT_LIBRARY:-}" ]; then
  run 0 stream run --source synthetic:96x64x12 --model "$det" --provider cpu --output f.jsonl --stream batch_size=3 --json
  is "$(wc -l <f.jsonl)" 12 "lines of a real model"
  is "$(lines '.result|keys' f.jsonl)" '12 ["boxes"]' "results of ppocr"
  json .status.gpu_busy null
  run 0 stream run --source synthetic:96x64x3 --model "$det" --provider cpu --stream preprocess.device=gpu --stream cuda_graphs=off --json
  json '[.ready.notes[].text | select(startswith("frames are prepared"))] | first' "frames are prepared on the CPU: provider cpu takes no frames from a GPU"
  json .ready.decoder ppocr
  json .ready.input "x: float 1x3x64x96"
  run 0 stream run --source synthetic:96x64x3 --model "$det" --provider cpu --output g.jsonl --stream decoder=none --stream inference_scale=0.5 --json
  json .ready.input "x: float 1x3x32x64"
  is "$(lines '.result|keys' g.jsonl)" '3 ["outputs"]' "results of none"
  run 0 stream run --source synthetic:96x64x5 --model "$det" --provider cpu --tensors deep/tensors --stream batch_size=2 --json
  is "$(ls -A deep/tensors | tr '\n' ' ')" "$(for i in 0 1 2 3 4; do printf '0-%d.sigmoid_0.tmp_0.npy ' $i; done)" "tensors"
  if python3 -c 'import numpy' 2>/dev/null; then
    is "$(python3 -c 'import numpy; x = numpy.load("deep/tensors/0-4.sigmoid_0.tmp_0.npy"); print(x.dtype, x.shape)')" "float32 (1, 64, 96)" "a tensor in NumPy"
  fi
  is "$(head -c 6 deep/tensors/0-4.*.npy | od -An -tx1)" " 93 4e 55 4d 50 59" "the first bytes of a tensor"
  python3 - <<'PYTHON'
columns = bytes.fromhex("7f0808087f00 385454541800 00417f400000 00417f400000 384444443800 000000000000 1814127f1000 426151494600")
width, height, dot = 320, 96, 6
picture = bytearray([255]) * (width * height)
for x, column in enumerate(columns):
    for y in range(7):
        for row in range(dot if column >> y & 1 else 0):
            at = (25 + y * dot + row) * width + 20 + x * dot
            picture[at : at + dot] = bytes(dot)
open("hello.gray", "wb").write(picture * 3)
PYTHON
  rec=$MODELS/ch_PP-OCRv4_rec_infer.onnx
  run 0 stream run --source hello.gray --raw 320x96:gray --model "$det" --crop-model "$rec" --provider cpu --output l.jsonl \
    --stream crop.preprocess.mean=0.5 --stream crop.preprocess.std=0.5 --stream crop.batch_size=2 --json
  is "$(jq -r '.result.boxes | map(.crop.outputs[0].shape[1], .crop.outputs[0].max > 0.9) | @csv' l.jsonl | sort | uniq -c | sed 's/^ *//')" "3 6625,true" "lines of text that are read"
  json '.status.worker_s.crops > 0' true
  json '.ready.notes | map(select(.text | startswith("crops: input x: float 1x3x48x"))) | length' 1
  json '.request.spec.crop_model.content_sha256 | length' 64
  cls=$MODELS/ch_ppocr_mobile_v2.0_cls_infer.onnx
  run 0 stream run --source hello.gray --raw 320x96:gray --model "$det" --crop-model "$rec" --provider cpu --output l.jsonl \
    --stream crop.preprocess.mean=0.5 --stream crop.preprocess.std=0.5 --crop-labels "$MODELS/ppocr_keys_v1.txt" --json
  is "$(jq -r '.result.boxes[0].crop | .text, .score > 0.8' l.jsonl | sort | uniq -c | sed 's/^ *//' | paste -sd ' ')" "3 Hello42 3 true" "text that is read"
  run 0 stream run --source hello.gray --raw 320x96:gray --model "$cls" --provider cpu --output l.jsonl --stream labels=up,down --json
  json .ready.decoder classify
  is "$(lines '.result.classes|map(.label)|sort' l.jsonl)" '3 ["down","up"]' "classes"
  bad "--crop-labels x.txt" "no second model" -- stream run --source synthetic:8x8x2 --model "$det" --crop-labels x.txt
  bad "decoder ctc" "6625 characters for 2 labels" -- stream run --source hello.gray --raw 320x96:gray --model "$det" --crop-model "$rec" --provider cpu --stream crop.decoder=ctc --stream crop.labels=a,b
  bad "--crop-model: decoder none of" "finds no boxes" -- stream run --source hello.gray --raw 320x96:gray --model "$det" --crop-model "$rec" --provider cpu --stream decoder=none
  bad "no model at none.onnx" -- stream run --source hello.gray --raw 320x96:gray --model "$det" --crop-model none.onnx --provider cpu
  # --- with what tune recommends ---
  has_note() { checks=$((checks + 1)); jq -e --arg text "$1" '.notes | any(.text | contains($text))' <"$WORK/out" >/dev/null || problem "$LAST: no note \"$1\""; }
  bad "--settings latest:tune" -- stream run --source synthetic:96x64x3 --model "$det" --provider cpu --settings latest:tune
  bad "--settings latest:stream" -- stream run --source synthetic:96x64x3 --model "$det" --provider cpu --settings latest:stream
  printf 'parameters:\n  graph_optimization_level: [disable_all]\nonly_listed: true\n' >space.yaml
  run "0|1|4" tune "$cls" --shape x:1x3x48x192 --provider cpu --quick --search grid --space space.yaml --time 100ms --max-time 20s -q
  tuned=$("$RIDGELINE" history --json | jq -r '[.[] | select(.kind == "tune")][0].id')
  run 0 stream run --source synthetic:96x64x3 --model "$cls" --settings latest:tune --output m.jsonl --json
  json .request.settings_run "$tuned"
  json .request.spec.model.provider cpu
  has_note "settings of run $tuned: "
  run 0 stream run --source synthetic:96x64x3 --model "$cls" --settings "$tuned" --set intra_op_num_threads=2 --json
  json .request.spec.model.configuration.intra_op_num_threads 2
  run 0 stream run --source hello.gray --raw 320x96:gray --model "$rec" --settings "$tuned" --json
  has_note "run $tuned tuned another model, "
  bad "--settings ''" -- stream run --source synthetic:96x64x3 --model "$det" --settings ""
  bad "--settings 19990101" -- stream run --source synthetic:96x64x3 --model "$det" --settings 19990101
  bad "--settings latest: there is no model" -- stream run --source synthetic:96x64x3 --model null --settings latest
  : >no_folder
  bad "cannot create the folder no_folder/t" -- stream run --source synthetic:96x64x5 --model "$det" --provider cpu --tensors no_folder/t
  bad "an SLO of 0.1 ms is shorter than one inference" "give a longer SLO" -- stream bench --source synthetic:640x480 --model "$det" --provider cpu --rate 5 --slo 100us --time 1s
  bad "decoder yolo" -- stream run --source synthetic:96x64x3 --model "$det" --provider cpu --stream decoder=yolo
fi

# --- told while it runs ---
run 0 stream run --source synthetic:64x48@20x40 --realtime --model null --live-json - -q
checks=$((checks + 1))
[ "$(wc -l <"$WORK/out")" -ge 2 ] || problem "one line a second"
is "$(jq -s '.[-1] | .recent.delivered_per_s > 10 and .recent.p50 >= 0 and .status.delivered > 10' "$WORK/out")" true "the last live line"
err_lines=$(wc -l <"$WORK/err")
is "$err_lines" 0 "lines on standard error of a quiet run"
if command -v curl >/dev/null; then
  "$RIDGELINE" stream run --source synthetic:64x48@20x200 --realtime --model null --prometheus :0 2>"$WORK/err" >"$WORK/out" &
  STREAM=$!
  for _ in $(seq 100); do
    url=$(sed -n 's/^serving *//p' "$WORK/err")
    [ -n "$url" ] && curl -sf "$url" >metrics && grep -q '^ridgeline_stream_frames_delivered_per_second [1-9]' metrics && break
    sleep 0.1
  done
  checks=$((checks + 3))
  for metric in 'ridgeline_stream_frames_delivered_per_second [1-9]' 'ridgeline_stream_latency_seconds{quantile="0.5"}' 'ridgeline_stream_info{.*model="no model"'; do
    grep -q "^$metric" metrics || problem "no $metric in the metrics"
  done
  kill -INT $STREAM
  wait $STREAM
  is $? 130 "a run that was stopped by SIGINT"
fi
# `watch` judges what a stream sends.
printf 'onnxruntime:\n  graph_optimization_level: all\n' >w.yaml
"$RIDGELINE" stream run --source synthetic:64x48@100x1000 --realtime --model null --latency-socket w.sock -q --db other.db &
STREAM=$!
run 0 tune "synthetic:surface=flat" "${FAST[@]}" --quick --config w.yaml --apply -q
run "0|1" watch --config w.yaml --latency-socket w.sock --baseline learn --every 500ms --count 3
is "$(jq -s 'map(select(.event == "status")) | last | .details.state != "idle" and .now_ms > 0' "$WORK/out")" true "what watch made of a stream"
wait $STREAM
run 0 stream run --source synthetic:64x48x30 --model null --latency-socket nobody.sock
err "nobody listened at nobody.sock"

# --- a screen in a terminal ---
if command -v script >/dev/null; then
  checks=$((checks + 2))
  (sleep 2; printf q; sleep 1) | TERM=xterm LC_ALL=C.UTF-8 timeout 30 script -qec "stty rows 24 cols 80; $RIDGELINE stream run --source synthetic:64x48 --realtime --model null" /dev/null >screen
  { grep -q "Ridgeline stream" screen && grep -q "idle: source" screen; } || problem "no screen in a terminal"
  grep -q "arrived, " screen || problem "no summary behind the screen"
  TERM=xterm timeout 30 script -qec "$RIDGELINE stream run --source synthetic:64x48x20 --realtime --model null --headless" /dev/null </dev/null >screen
  checks=$((checks + 2))
  grep -q "Ridgeline stream" screen && problem "a screen with --headless"
  TERM=xterm timeout 30 script -qec "$RIDGELINE stream run --source synthetic:64x48x20 --realtime --model null --output -" /dev/null </dev/null >screen
  grep -q "Ridgeline stream" screen && problem "a screen between results"
fi

# --- told to who sends frames ---
head -c $((3 * 8 * 4)) /dev/zero >raw
(while [ ! -s ready ]; do sleep 0.05; done; cat raw) |
  timeout 60 "$RIDGELINE" stream run --source - --raw 8x4:bgr24 --model null --output n.jsonl --ready ready -q
is "$(wc -l <n.jsonl) $(jq -r .runtime ready)" "1 none" "a frame that was sent when the model was loaded"
mkfifo silent
sleep 60 >silent &
SILENT=$!
timeout 30 "$RIDGELINE" stream run --source - --raw 8x4:bgr24 --model missing.onnx -q <silent 2>"$WORK/err"
is $? 2 "a model that is not there, before the first frame"
kill $SILENT

# --- faults of the user's ---
bad "--slo 60: expected a duration with its unit: 60ms or 60s?" -- stream run --source synthetic:8x8x2 --model null --slo 60
bad "--slo 0.06: expected a duration with its unit: 0.06ms or 0.06s?" -- stream bench --source synthetic:8x8x2 --model null --slo 0.06
bad "--slo 2h: expected a duration from 100us to 1h" -- stream run --source synthetic:8x8x2 --model null --slo 2h
bad "--ready /no/such/x" "choose another file" -- stream run --source synthetic:8x8x2 --model null --ready /no/such/x
bad "rotate=90: expected one of auto, 0" -- stream run --source synthetic:8x8x2 --model null --stream rotate=90
bad "--live-json - and --output -" -- stream run --source synthetic:8x8x2 --model null --output - --live-json -
bad "--live-json /no/such/x" "choose another file" -- stream run --source synthetic:8x8x2 --model null --live-json /no/such/x
bad "--prometheus" -- stream run --source synthetic:8x8x2 --model null --prometheus nowhere
bad "/no/such.mp4: no such file" -- stream run --source /no/such.mp4 --model null
bad "no model at missing.onnx" -- stream run --source synthetic:8x8x2 --model missing.onnx
bad "unknown key \"batchsize\" in stream" "batch_size" -- stream run --source synthetic:8x8x2 --model null --config <(printf 'stream:\n  batchsize: 3\n')
bad "batch_size=0: expected a whole number from 1 to 4096" -- stream run --source synthetic:8x8x2 --model null --stream batch_size=0
bad "--stream batch_size: expected KEY=VALUE" -- stream run --source synthetic:8x8x2 --model null --stream batch_size
bad "none of bgr24, rgb24, gray, nv12" -- stream run --source - --raw 8x8:yuv --model null
bad "camera: the size \"wide\" is not WIDTHxHEIGHT" -- stream run --source synthetic:8x8x2 --camera wide --model null
bad "expected one of tcp|udp" -- stream run --source synthetic:8x8x2 --rtsp-transport pigeon --model null
bad "only one source can read standard input" -- stream run --source - --source - --model null
bad "No such file or directory" "choose another file" -- stream run --source synthetic:8x8x2 --model null --output /no/such/folder/out.jsonl
bad "--output - and --json" -- stream run --source synthetic:8x8x2 --model null --output - --json
bad "--crop-model: without a model" -- stream run --source synthetic:8x8x2 --model null --crop-model x.onnx
bad "--tensors: without a model" -- stream run --source synthetic:8x8x2 --model null --tensors t
bad "synthetic:8" -- stream run --source synthetic:8 --model null
bad "expected run or bench" -- stream
run 2 stream run --model null
err "--source"
run 2 stream run --source synthetic:8x8x100000 --model null --output /dev/full
err "/dev/full: No space left on device"

# --- stopped, and left by its reader ---
checks=$((checks + 1))
timeout -s INT 1 "$RIDGELINE" stream run --source synthetic:64x48 --realtime --model null --output h.jsonl >out 2>err
is $? 124 "a run that is stopped ends" # timeout's own code; the run's is 130
checks=$((checks + 1))
[ "$(wc -l <h.jsonl)" -gt 5 ] || problem "lines of a stopped run: $(wc -l <h.jsonl)"
checks=$((checks + 1))
timeout 60 "$RIDGELINE" stream run --source synthetic:64x48 --model null --output - 2>err | head -n 3 >out
is "${PIPESTATUS[0]}" 2 "a run whose reader leaves"
grep -q "the reader has gone away" err || problem "no word of the reader"
finish
