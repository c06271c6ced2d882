#!/usr/bin/env bash
# The three PP-OCRv4 models, end to end on ONNX Runtime.
source "$(dirname "$0")/lib.sh"
HANG_LIMIT_S=600  # on an uneven machine a comparison goes on for as long as it takes to decide
if [ ! -d "$MODELS" ]; then
  echo "the PP-OCRv4 models are not in $MODELS"
  exit 77
fi
printf 'parameters:\n  intra_op_num_threads: [1, 2]\n  graph_optimization_level: [basic, all]\nonly_listed: true\n' >space.yaml
printf 'onnxruntime:\n  graph_optimization_level: disable_all\n  intra_op_num_threads: 1\n' >config.yaml
MEASURED='0|1|4'   # beside other tests the machine may be too uneven to decide
run 0 version
out "onnxruntime  1."
for model in ch_ppocr_mobile_v2.0_cls_infer ch_PP-OCRv4_rec_infer ch_PP-OCRv4_det_infer; do
  shape=()
  [ $model = ch_PP-OCRv4_det_infer ] && shape=(--shape x:1x3x160x160)
  run "$MEASURED" tune "$MODELS/$model.onnx" --quick --search grid --space space.yaml --max-time 40s --time 300ms --config config.yaml --dry-run "${shape[@]}" \
    --db r.db --report $model.md --report $model.html
  [ ${#shape[@]} -gt 0 ] || err "--shape x:"   # the guess is stated, with the way to override it
  checks=$((checks + 1))
  [ "$(stat -c %s $model.html)" -gt 100000 ] || problem "no HTML report of $model"
done
run 0 show --json --db r.db
json '.runtime.name' onnxruntime
json '[.trials[] | select(.status == "ok")] | length >= 4' true
json '.runtime_graphs[0].level' disable_all
# What is in use, and what was fastest before the comparisons. On a busy machine these may change what leads, or the same level may have led.
fastest_level=$(jq -r '. as $run | .ranking[0].trial_id as $id | $run.trials[] | select(.id == $id) | .configuration.graph_optimization_level' out)
graphs=$(jq '.runtime_graphs | length' out)
if [ "$fastest_level" != disable_all ] || [ "$graphs" != 1 ]; then
  json '.runtime_graphs | length' 2
  json '.runtime_graphs[1].nodes < .runtime_graphs[0].nodes and .runtime_graphs[1].memory_bytes < .model.min_bytes' true
fi
bad "x:1x3x640" "3 dimensions" "4" -- tune "$MODELS/ch_PP-OCRv4_det_infer.onnx" --shape x:1x3x640 --db r.db
bad "y" "\"x\"" -- tune "$MODELS/ch_PP-OCRv4_det_infer.onnx" --shape y:1x3x640x640 --db r.db
head -c 100000 "$MODELS/ch_PP-OCRv4_det_infer.onnx" >short.onnx
bad "short.onnx" -- tune short.onnx --db r.db
# Real inputs
python3 - <<'P'
for name, shape in (("x.npy", (1, 3, 48, 192)), ("flat.npy", (3, 48, 192))):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % (shape,)
    header += " " * ((-(10 + len(header) + 1)) % 64) + "\n"
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + b"\0\0\0\x3f" * (3 * 48 * 192))
P
cp "$MODELS/ch_ppocr_mobile_v2.0_cls_infer.onnx" nameless.onnx   # the guess by name would be 224x224
run "$MEASURED" tune nameless.onnx --input x:x.npy --quick --search grid --space space.yaml --max-time 40s --time 100ms --db n.db --json
json '.model.shapes[0][0].dims | tostring' '[1,3,48,192]'
bad "flat.npy" "takes 4 dimensions" -- tune nameless.onnx --input x:flat.npy --db n.db
run "$MEASURED" tune "$MODELS/ch_ppocr_mobile_v2.0_cls_infer.onnx" --input x:x.npy --quick --search grid --space space.yaml --max-time 40s --time 100ms --db r.db -q
bad "nothing.npy" -- tune "$MODELS/ch_ppocr_mobile_v2.0_cls_infer.onnx" --input x:nothing.npy --db r.db
RIDGELINE_ORT_LIBRARY='' ORT_LIBRARY='' bad "/nowhere" -- tune "$MODELS/ch_ppocr_mobile_v2.0_cls_infer.onnx" --ort-library /nowhere --db r.db
bad "cannot use --runtime $PWD" "no libonnxruntime.so in that folder" -- \
  tune "$MODELS/ch_ppocr_mobile_v2.0_cls_infer.onnx" --runtime "$PWD" --db r.db
ORT_TENSORRT_FP16_ENABLE=1 run "$MEASURED" tune "$MODELS/ch_ppocr_mobile_v2.0_cls_infer.onnx" --quick --search grid --space space.yaml --max-time 40s \
  --time 100ms --db n.db --json
json '.notes | map(select(.text | contains("workers run without ORT_TENSORRT_FP16_ENABLE=1"))) | length' 1
finish
