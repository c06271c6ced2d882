#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What each step of the usual guides brings on one PyTorch model: `ridgeline tune --python` compares it, alone, with the model as it is
# called by default. Prints a table of ratios with their 95 % intervals, and what the first call took, which warming up keeps from
# users; keeps each run's JSON in OUT. The step onnx is the exported model in each ONNX Runtime found; its ratio is the fastest file's.
#   benchmarks/torch_steps.sh TARGET [STEP]...    TARGET: FILE.py:FUNCTION; STEP: of those below, for example no_grad (default: all)
# By environment: OUT (default: torch-steps), RIDGELINE (the program; default: build/release/bin, build/bench/bin, build/ci/bin, then PATH),
# PYTHON (which has torch; default: python3), MAX_TIME (of a step, default: 60s; compiling gets three times as much, exporting twice as
# much), ONNX (more arguments for the step onnx, for example "--runtime FOLDER").
set -uo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
OUT=${OUT:-torch-steps} PYTHON=${PYTHON:-python3} MAX_TIME=${MAX_TIME:-60s}
[ $# -gt 0 ] || { echo "error: name the model; see the head of $0" >&2; exit 2; }
for place in "$ROOT"/build/{release,bench,ci}/bin/ridgeline "$(command -v ridgeline)"; do [ -x "$place" ] && RIDGELINE=${RIDGELINE:-$place}; done
[ -x "${RIDGELINE:-}" ] || { echo "error: no program; name it in RIDGELINE" >&2; exit 2; }
target=$1
shift
declare -A settings=(
  [no_grad]="grad_mode: no_grad" [inference_mode]="grad_mode: inference_mode" [tf32]="allow_tf32: true"
  [cudnn_benchmark]="cudnn_benchmark: true" [channels_last]="channels_last: true" [autocast_fp16]="torch_precision: autocast_fp16"
  [autocast_bf16]="torch_precision: autocast_bf16" [half_weights]="torch_precision: fp16" [compile]="torch_compile: default"
  [reduce_overhead]="torch_compile: reduce-overhead" [cuda_graph]="{cuda_graph: true, grad_mode: no_grad}"
  [onnx]="grad_mode: grad")
every=(no_grad inference_mode tf32 cudnn_benchmark channels_last autocast_fp16 autocast_bf16 half_weights cuda_graph compile reduce_overhead onnx)
[ $# -gt 0 ] || set -- "${every[@]}"
mkdir -p "$OUT" || exit 2
for step in "$@"; do
  [ -n "${settings[$step]:-}" ] || { echo "error: no step $step; expected ${every[*]}" >&2; exit 2; }
  given=${settings[$step]}
  [[ $given == "{"* ]] || given="{$given}"
  printf 'fixed: %s\nonly_listed: true\n' "$given" >"$OUT/$step.yaml"
  times=1 more=()
  case $step in compile | reduce_overhead) times=3 ;; onnx) times=2 && read -ra more <<<"--also onnx ${ONNX:-}" ;; esac
  case $step in *fp16 | half_weights) more=(--precision fp16) ;; *bf16) more=(--precision bf16) ;; esac
  "$RIDGELINE" tune --python "$target" --python-exe "$PYTHON" --space "$OUT/$step.yaml" ${more[@]+"${more[@]}"} --max-time $((times * ${MAX_TIME%s}))s \
    --no-ablation --fresh --json --db "$OUT/ridgeline.db" >"$OUT/$step.json" 2>"$OUT/$step.txt" || [ $? -eq 1 ] || tail -n 2 "$OUT/$step.txt" >&2
done
"$PYTHON" - "$OUT" "$@" <<'PY'
import json, sys

def first_call(trial):
    return "{:.3g} s".format((trial["session_create_ns"] + trial["first_run_ns"]) / 1e9)


rows, plain = [], None
for step in sys.argv[2:]:
    try:
        run = json.load(open(f"{sys.argv[1]}/{step}.json"))
    except ValueError:
        rows.append((step, "", "no result", ""))
        continue
    ok = [one for one in run["trials"] if one["status"] == "ok"]
    plain = plain or next((one for one in ok if not one["configuration"]), None)
    tried = [one for one in run["trials"] if one["configuration"]]
    pairs = [one for one in run["comparisons"] if one["status"] == "ok" and not one["a"]]
    pair = max(pairs, key=lambda one: one["ratio"], default=None)
    # Files of one model differ: the fastest one's row.
    one = next((one for one in tried if pair and one["configuration"] == pair["b"]), tried[0] if tried else None)
    setting = ", ".join(f"`{key}={json.dumps(value)}`".replace(chr(34), "") for key, value in (one["configuration"] if one else {}).items())
    if pair:
        brought = "{:.2f} [{:.2f}, {:.2f}]".format(pair["ratio"], *pair["interval"])
    else:
        brought = (one.get("failure") or {}).get("message", "not compared") if one else "not tried"
    rows.append((step, setting, brought, first_call(one) if one in ok else ""))
print("| step | setting | times as fast, 95 % interval | to the first result |\n|---|---|---|---|")
if plain:
    print(f"| plain | | 1 | {first_call(plain)} |")
for row in rows:
    print("| {} |".format(" | ".join(row)))
PY
