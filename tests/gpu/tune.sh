#!/usr/bin/env bash
# `ridgeline tune` and `doctor` on this host's NVIDIA GPU.
source "$(dirname "$0")/../cli/lib.sh"
skip() {
  echo "$1"
  exit 77
}
[ -e /proc/driver/nvidia/version ] || skip "no NVIDIA driver on this host: /proc/driver/nvidia/version is absent"
[ -d "$MODELS" ] || skip "the PP-OCRv4 models are not in $MODELS"
model=$MODELS/ch_ppocr_mobile_v2.0_cls_infer.onnx
"$RIDGELINE" tune "$model" --provider cuda --trials 1 --no-comparisons --search random --max-time 20s --db probe.db >probe.log 2>&1 </dev/null ||
  skip "ridgeline tune --provider cuda: $(grep '^error: ' probe.log || tail -n 1 probe.log)"

# holds EXPRESSION...: of the report on standard output, as `r`.
holds() {
  local expression
  for expression in "$@"; do
    checks=$((checks + 1))
    python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); sys.exit(not eval(sys.argv[2]))' "$WORK/out" "$expression" ||
      problem "$LAST: not true of the report: $expression"
  done
}

printf 'onnxruntime:\n  intra_op_num_threads: 1\n' >config.yaml
run '0|4' tune "$model" --provider cuda --max-time 20s --config config.yaml --db r.db --json
holds 'len([t for t in r["trials"] if t["status"] == "ok"]) >= 3' \
  'all(t["gpu"]["process_peak_bytes"] or t["gpu"]["device_peak_bytes"] for t in r["trials"] if t["status"] == "ok")' \
  'all(t["output_error"]["scaled_max_abs"] < 0.05 for t in r["trials"] if t["status"] == "ok")' \
  'r["gpu_ceilings"]' \
  'any("cudnn" in file for file in r["runtime"]["loaded_libraries"])' \
  'len(r["environment"]["gpus"]) >= 1'
run 0 report latest --db r.db --output report.md
checks=$((checks + 1))
grep -q "^## The GPU" report.md || problem "no GPU section in the report"
run 0 apply latest --config config.yaml --db r.db --for-gpu --yes
checks=$((checks + 1))
grep -q "profiles:" config.yaml || problem "apply --for-gpu wrote no profiles"
run 0 apply --match --config config.yaml
bad "cudnn_conv_algo_search=FASTEST" "EXHAUSTIVE" -- tune "$model" --provider cuda --set cudnn_conv_algo_search=FASTEST --db r.db
run '0|4' tune "$model" --provider cuda --devices all --max-time 10s --db all.db --json
holds 'len({t["gpu"]["uuid"] for t in r["trials"] if t["status"] == "ok"}) >= 1'
finish
