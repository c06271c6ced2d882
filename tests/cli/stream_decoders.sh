#!/usr/bin/env bash
# What auto makes of the layouts of well-known detectors, what is refused by name, metadata, and the settings of decoders.
source "$(dirname "$0")/lib.sh"
[ -n "${ORT_LIBRARY:-}" ] || { echo "no ONNX Runtime"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1
python3 "$(dirname "$0")/make_stream_models.py" models || { echo "the models could not be written"; exit 1; }

# decode MODEL ARGUMENTS...: two frames of 1280x720; results in f.jsonl, the run in out.
decode() {
  local model=$1
  shift
  run 0 stream run --source synthetic:1280x720x2 --model "models/$model.onnx" --provider cpu --output f.jsonl --json --stream streams=1 "$@"
}
# result EXPRESSION EXPECTED: of both frames alike.
result() { is "$(jq -c ".result | $1" f.jsonl | sort -u)" "$(jq -c . <<<"$2")" "$LAST: $1"; }
note() { checks=$((checks + 1)); jq -e --arg text "$1" '.ready.notes | any(.text | contains($text))' <"$WORK/out" >/dev/null || problem "$LAST: no note \"$1\": $(jq -c .ready.notes <"$WORK/out")"; }
no_note() { checks=$((checks + 1)); jq -e --arg text "$1" '.ready.notes | any(.text | contains($text)) | not' <"$WORK/out" >/dev/null || problem "$LAST: a note \"$1\""; }

box='[540.0,310.0,740.0,410.0]'
# MODEL DECODER CLASS: one box, best first.
while read -r model decoder class; do
  decode "$model"
  json .ready.decoder "$decoder"
  result '.boxes[0] | [.box, .class]' "[$box,$class]"
done <<'TABLE'
v8 yolo 2
v8_plain yolo 2
v5 yolo 2
v10 yolo 2
v8_seg yolo 2
v26_seg yolo 2
v8_pose pose 0
v8_pose_plain pose 0
v26_pose pose 0
ultralytics_rtdetr detr 2
hf_detr detr 2
hf_rtdetr detr 2
rtdetr detr 2
torchvision boxes 2
yolo_nas yolo-nas 2
yolo_nas_swapped yolo-nas 2
v7_nms boxes 2
mmdet boxes 2
paddle boxes 2
efficient_nms boxes 2
TABLE

# --- YOLOX: the frame is at the top left of the input ---
decode yolox
json .ready.decoder yolox
result '.boxes[0].box' '[540.0,590.0,740.0,690.0]'
note "preprocess.channels=bgr, preprocess.scale=1, preprocess.align=top-left"
decode yolox --stream preprocess.align=center
result '.boxes[0].box' "$box"
decode v8 --stream preprocess.align=top-left
result '.boxes[0].box' '[540.0,590.0,740.0,690.0]'

# --- keypoints with boxes, quadrangles, masks that are dropped ---
for model in v8_pose v8_pose_plain v26_pose; do
  decode $model
  result '.boxes[0].keypoints | [length, .[0].point, .[16]]' '[17,[600,320],{"point":[632,384],"score":0.82}]'
done
for model in v8_obb v26_obb; do
  decode $model
  json .ready.decoder obb
  result '.boxes[0] | [.class, (.points | map(map(round))), has("box")]' '[2,[[578,267],[752,367],[702,453],[528,353]],false]'
done
decode v8_obb_plain
result '.boxes[0] | [.class, .points]' '[2,[[590.0,260.0],[690.0,260.0],[690.0,460.0],[590.0,460.0]]]'
decode v8_seg
note "decoder yolo: masks are dropped, only boxes are decoded"
decode rtmpose
json .ready.decoder simcc
decode imagenet
result '.classes[0].class' 281
decode three_classes
result '.classes[0].label' '"name1"'

# --- what no decoder reads is named, and no box is made up ---
for model in semantic semantic_logits semantic_classes; do
  decode $model
  json .ready.decoder none
  note "a class for each pixel (semantic segmentation), which no decoder reads"
  result keys '["outputs"]'
done
decode rtmo
note "boxes and poses of several people (RTMO), which no decoder reads"
json '.ready.notes | map(select(.text | startswith("decoder"))) | length' 1
json '.ready.notes | map(select(.text | startswith("decoder none") and contains("--stream decoder=NAME"))) | length' 1

# --- a decoder that is named checks the values too: before any line ---
fails() { bad "$@"; is "$([ -s n.jsonl ] && wc -l <n.jsonl)" "" "lines"; }
named() { fails "decoder $2" "${@:3}" -- stream run --source synthetic:1280x720x2 --model "models/$1.onnx" --provider cpu --output n.jsonl --stream "decoder=$2"; }
named v8_pose_plain yolo "a score of 332"
named yolox yolo "decoder yolo: output of 8400x85" "values within a grid (YOLOX)" "--stream decoder=auto"
named ultralytics_rtdetr yolo "no box has a side of 2 pixels"
named v5 yolox "expected 8400x(5+"
named v10 detr "expected centres and sizes from 0 to 1"
named yolo_nas detr "expected centres and sizes from 0 to 1"
named hf_detr yolo-nas "expected 0 to 1"
named semantic_logits heatmap "expected about 0 to 1"
named semantic heatmap "the values of each pixel add up to 1"
named semantic_classes ppocr "whole numbers, like classes of pixels"
named v8_obb_plain yolo "a score of 1.571"
named v26_pose obb "expected (4+classes+1)xN or Nx7"

# --- metadata of exporters ---
decode v8
note "metadata of the model: task detect, 80 names, imgsz 640x640, stride 32"
result '.boxes[0].label' '"name2"'
decode v8 --stream labels="$(seq -s, 101 180)"
result '.boxes[0].label' '"103"'
printf 'cat\ndog\n' >two.txt
bad "labels: 2 names do not fit the model, whose metadata have 80: name0" -- stream run --source synthetic:64x64x2 --model models/v8.onnx --provider cpu --labels two.txt
bad "labels: 2 names do not fit" "boxes in columns of 4 + 80 classes" -- stream run --source synthetic:64x64x2 --model models/v8_plain.onnx --provider cpu --labels two.txt
bad "labels: 2 names do not fit" "logits of 1000: one value per class" -- stream run --source synthetic:64x64x2 --model models/imagenet.onnx --provider cpu --labels two.txt
decode any_size
json .ready.input "images: float 1x3x320x320"
result '.boxes[0].box' "$box"
note "the input is 320x320, from imgsz in the model's metadata"
note "imgsz 320x320, stride 32, end2end"
decode any_size --stream preprocess.size=640
json .ready.input "images: float 1x3x640x640"
no_note "imgsz in the model's metadata"
decode any_size --stream preprocess.size=640x384
json .ready.input "images: float 1x3x384x640"
decode any_size --stream inference_scale=0.5
json .ready.input "images: float 1x3x352x640"
note "is not used, because inference_scale is given"
decode any_size_plain
json .ready.input "images: float 1x3x704x1280"
bad "preprocess.size 320x320: the model's input is fixed at 640x640" "leave it out" -- stream run --source synthetic:64x64x2 --model models/v8.onnx --provider cpu --stream preprocess.size=320
bad "preprocess.size 333x333: expected multiples of the stride, 32" "preprocess.stride" -- stream run --source synthetic:64x64x2 --model models/any_size.onnx --provider cpu --stream preprocess.size=333
bad "preprocess.size=0x9: expected WIDTHxHEIGHT" -- stream run --source synthetic:64x64x2 --model models/any_size.onnx --provider cpu --stream preprocess.size=0x9

# --- which boxes, and how many ---
decode v8 --stream iou_threshold=1
result '.boxes | map(.score)' '[0.9,0.8,0.7]'
decode v8
result '.boxes | map(.score)' '[0.9,0.7]'
decode v8 --stream max_boxes=1
result '.boxes | map(.class)' '[2]'
decode v8 --stream classes=name7
result '.boxes | map(.class)' '[7]'
decode v8 --stream classes=7,name2
result '.boxes | map(.class)' '[2,7]'
printf 'stream:\n  classes: [name7]\n  crop: {classes: [a], max_boxes: 3, preprocess: {size: 64x32}}\n' >c.yaml
decode v8 --config c.yaml
result '.boxes | map(.class)' '[7]'
bad "classes: nome7: expected a number from 0 to 79 or one of name0, name1" "name7" -- stream run --source synthetic:64x64x2 --model models/v8.onnx --provider cpu --stream classes=nome7
bad "classes: 80: expected a number from 0 to 79" -- stream run --source synthetic:64x64x2 --model models/v8.onnx --provider cpu --stream classes=80
bad "classes: cat: expected a number from 0, as the model tells no names" "--labels" -- stream run --source synthetic:64x64x2 --model models/v8_plain.onnx --provider cpu --stream classes=cat
bad "classes: decoder simcc has no boxes with classes" -- stream run --source synthetic:64x64x2 --model models/rtmpose.onnx --provider cpu --stream classes=1
bad "batch_size 2: the model's batch is fixed at 1" -- stream run --source synthetic:64x64x2 --model models/torchvision.onnx --provider cpu --stream batch_size=2

# --- a second model on turned boxes ---
run 0 stream run --source synthetic:1280x720x2 --model models/v8_obb.onnx --crop-model models/three_classes.onnx --provider cpu --output f.jsonl --stream crop.batch_size=1 --json
result '.boxes[0] | [.class, .crop.classes[0].label]' '[2,"name1"]'

# --- every third frame ---
run 0 stream run --source synthetic:64x48x10 --source synthetic:64x48x4 --model models/v10.onnx --provider cpu --output e.jsonl --stream every=3 --json
is "$(jq -c 'select(.source == 0) | [.frame, .dropped]' e.jsonl | paste -sd' ')" '[0,null] [1,"skipped"] [2,"skipped"] [3,null] [4,"skipped"] [5,"skipped"] [6,null] [7,"skipped"] [8,"skipped"] [9,null]' "every third frame"
is "$(jq -c 'select(.source == 1) | [.frame, has("result")]' e.jsonl | paste -sd' ')" '[0,true] [1,false] [2,false] [3,true]' "every third frame of another source"
json '.status | [.offered, .delivered, .skipped, .dropped] | tojson' '[14,6,8,{}]'
json '.status.checks | map(.passed) | all' true
run 0 stream run --source synthetic:64x48x10 --source synthetic:64x48x4 --model models/v10.onnx --provider cpu --stream every=3
err "14 arrived, 6 delivered, 8 skipped, dropped: none"
run "0|1|4" stream bench --source synthetic:64x48 --model null --rate 50 --time 400ms --slo 200ms --stream every=2 --json
json '.status | [.offered, .skipped] | tojson' '[20,10]'
json '.verdict.reasons | map(select(.text | contains("dropped"))) | length' 0
bad "every=0: expected a whole number from 1" -- stream run --source synthetic:64x48x2 --model null --stream every=0

finish
