#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What recording by `ridgeline profile -- CMD` costs and finds, on this host's GPU with real PyTorch models (tests/tools/marked_models.py).
#   scripts/profile_gpu.sh --part cost        launch-bound steps, a replayed graph and a busy GPU: plain, recorded, under torch.profiler;
#                                             medians of 5 alternating processes, as ratios to plain; WAYS="plain modules lines"
#                                             measures what Python lines cost
#   scripts/profile_gpu.sh --part modules     share of kernel time that is attributed to modules, and of the leaves' own marker kernels
#                                             that are attributed to the leaf that launched them; of models in ONNX Runtime the
#                                             share that is attributed to nodes (tests/tools/onnx_sessions.py)
#   scripts/profile_gpu.sh --part bytes       DRAM and L2 bytes of twelve kernels (tests/tools/sized_kernels.py) against Nsight Compute's
#   scripts/profile_gpu.sh --part many        ten million kernels (tests/tools/many_kernels.cu, built by nvcc): how many are recorded, and
#                                             the memory of the program with and without a recorder
#   scripts/profile_gpu.sh --part cuda12      a program of CUDA 12 (tests/tools/cuda12_program.py), with the pip packages in CUDA12
#   scripts/profile_gpu.sh --part findings    twelve programs with a planted defect and six healthy ones (tests/tools/planted_defects.py):
#                                             which defects are found, and the predicted saving next to what the fix saves
#   scripts/profile_gpu.sh --part journey     RT-DETR before and after the changes of docs/rtdetr.md (examples/profile_rtdetr.py): what
#                                             `profile` prints, and the times without a recorder, in turns
#   scripts/profile_gpu.sh --part idle        what a recorder that waits costs: plain and idle in turns, as part cost, and of a loop that
#                                             only launches (tests/tools/many_kernels.cu, PAIRS of processes, built by nvcc)
#   scripts/profile_gpu.sh --part woken       a program of 30 s that is woken twice for 3 s: what is attributed to modules, and its own
#                                             exit code
#   scripts/profile_gpu.sh --part verify      `profile --verify 1` of programs with a planted defect (PROGRAMS; default: launch_bound
#                                             fp32_gemm), within VERIFY_TIME each (default: 80s): predicted and measured saving
# By environment: RIDGELINE (the program), PYTHON (which has torch), KERNEL_ROWS (rl_kernel_rows of the build), OUT (default: profile-results),
# KERNELS, MODELS, MODES, WAYS, STEPS, SECONDS_PER_MODE, ONNX_MODELS, PROGRAMS, ROUNDS, CUDA12 (a site-packages folder), NCU and NVCC (default: ncu, nvcc).
set -uo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
OUT=${OUT:-profile-results} PYTHON=${PYTHON:-python3}
for place in "$ROOT"/build/{release,ci}/bin "$(dirname "$(command -v ridgeline)")"; do
  [ -x "$place/ridgeline" ] && RIDGELINE=${RIDGELINE:-$place/ridgeline}
  [ -x "$place/rl_kernel_rows" ] && KERNEL_ROWS=${KERNEL_ROWS:-$place/rl_kernel_rows}
done
[ -x "${RIDGELINE:-}" ] || { echo "error: no program; name it in RIDGELINE" >&2; exit 2; }
program=$ROOT/tests/tools/marked_models.py planted=$ROOT/tests/tools/planted_defects.py
sessions=$ROOT/tests/tools/onnx_sessions.py
mkdir -p "$OUT" && OUT=$(cd "$OUT" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# recorded NAME [option...] -- CMD: its standard output; what is said goes to NAME.txt.
recorded() {
  local name=$1
  shift
  local options=()
  while [ "$1" != -- ]; do options+=("$1") && shift; done
  shift
  mkdir -p "$scratch/$name"
  "$RIDGELINE" profile --db "$scratch/$name/r.db" "${options[@]+"${options[@]}"}" -- "$@" 2>"$OUT/$name.txt"
}

# cost MODEL MODES: all modes in one process, because starting one takes longer than its steps.
cost() {
  local model=$1 modes=$2 round way command=("$PYTHON" "$program" "$1" "$2" --seconds "${SECONDS_PER_MODE:-2}")
  for ((round = 1; round <= ${ROUNDS:-5}; round++)); do
    for way in ${WAYS:-plain kernels modules torch.profiler,cuda torch.profiler,full}; do
      case $way in
        plain) "${command[@]}" ;;
        kernels) recorded "$model.kernels.$round" --counters none --no-modules -- "${command[@]}" ;;
        modules) recorded "$model.modules.$round" --counters none -- "${command[@]}" ;;
        lines) recorded "$model.lines.$round" --counters none --lines -- "${command[@]}" ;;
        torch.profiler,*) "${command[@]}" --profiler "${way#*,}" 2>/dev/null ;;
      esac | sed "s/^/$way /"
      rm -rf "${scratch:?}"/*
    done
  done | tee "$OUT/cost.txt" | "$PYTHON" "$ROOT/scripts/recording_cost.py" "$model"
}

# idle_cost MODEL MODES
idle_cost() {
  local model=$1 modes=$2 round command=("$PYTHON" "$program" "$1" "$2" --seconds "${SECONDS_PER_MODE:-2}")
  for ((round = 1; round <= ${ROUNDS:-5}; round++)); do
    "${command[@]}" | sed 's/^/plain /'
    "$RIDGELINE" profile --idle -- "${command[@]}" | sed 's/^/idle /'
  done | tee "$OUT/idle.txt" | "$PYTHON" "$ROOT/scripts/recording_cost.py" "$model"
}

# idle_launches: a loop that launches empty kernels and does nothing else, so that the noise of one process is small.
idle_launches() {
  local round way count=${KERNELS:-300000}
  "${NVCC:-nvcc}" -o "$scratch/many_kernels" "$ROOT/tests/tools/many_kernels.cu" || return 1
  for ((round = 1; round <= ${PAIRS:-20}; round++)); do
    local order=(plain idle)
    [ $((round % 2)) = 0 ] && order=(idle plain)
    for way in "${order[@]}"; do
      local command=("$scratch/many_kernels" "$count")
      [ "$way" = idle ] && command=("$RIDGELINE" profile --idle -- "${command[@]}")
      "${command[@]}" | awk -v way="$way" -v count="$count" '{ us = 1e6 * $1 / count; print way, "us-per-launch", us, us }'
    done
  done | tee "$OUT/idle_launches.txt" | "$PYTHON" "$ROOT/scripts/recording_cost.py" "empty kernels"
}

# woken MODEL MODE: 30 s of steps, recorded two times.
woken() {
  local name=woken.$1.$2 pid number failed=0
  mkdir -p "$scratch/$name"
  rm -f "$OUT/$name.leaves.json"
  "$RIDGELINE" profile --idle -- bash -c '"$@"; exit 42' program "$PYTHON" "$program" "$1" "$2" --seconds 30 --leaves "$OUT/$name.leaves.json" \
    >"$OUT/$name.out" 2>"$OUT/$name.txt" &
  local shell=$!
  for ((number = 0; number < 120; number++)); do [ -s "$OUT/$name.leaves.json" ] && break || sleep 1; done  # torch is imported, the model made
  sleep 5
  pid=$(pgrep -P "$shell" | head -n 1)
  for number in 1 2; do
    "$RIDGELINE" profile --pid "$pid" --duration 3s --db "$scratch/$name/r.db" >"$OUT/$name.$number.txt" 2>&1 || failed=1
    local traces=("$(ls -t "$scratch/$name"/traces/*.rltrace 2>/dev/null | head -n 1)")
    [ -e "${traces[0]}" ] || { echo "| $name $number | nothing was recorded: $(tail -n 1 "$OUT/$name.$number.txt") | | | |"; failed=1; continue; }
    "$KERNEL_ROWS" "${traces[0]}" >"$OUT/$name.$number.rows.tsv"
    "$PYTHON" "$ROOT/scripts/marked_rows.py" "$name $number" "$OUT/$name.$number.rows.tsv" "$OUT/$name.leaves.json"
    sleep 1
  done
  wait "$shell"
  local code=$?
  echo "exit code of the program: $code (expected 42)"
  [ "$code" = 42 ] && [ "$failed" = 0 ]
}

# modules MODEL MODE
modules() {
  local model=$1 mode=$2 name=$1.$2
  recorded "$name" --counters none -- "$PYTHON" "$program" "$model" "$mode" --steps "${STEPS:-5}" --leaves "$OUT/$name.leaves.json" >"$OUT/$name.out"
  local traces=("$scratch/$name"/traces/*.rltrace)
  [ -e "${traces[0]}" ] || { echo "| $model $mode | nothing was recorded: $(tail -n 1 "$OUT/$name.txt") | |"; return 1; }
  "$KERNEL_ROWS" "${traces[0]}" >"$OUT/$name.rows.tsv"
  "$PYTHON" "$ROOT/scripts/marked_rows.py" "$model $mode" "$OUT/$name.rows.tsv" "$OUT/$name.leaves.json"
}

# plain VARIANT NAME...: times of steps without a recorder, in one process, because starting one takes longer than its steps.
plain() {
  local variant=$1 name ms
  shift
  "$PYTHON" "$planted" "$@" --variant "$variant" --steps "${STEPS:-20}" | while read -r name ms; do
    [ -n "$ms" ] || { ms=$name && name=$1; }  # of one program the time alone
    echo "$ms" >>"$OUT/findings/$name.$variant"
  done
}

# findings NAME: what recording it finds.
findings() {
  local name=$1 window=(--warmup-steps 5 --steps 8)
  [ "$name" = replayed_graph ] && window=(--range measured)  # no step of it calls the model
  recorded "findings.$name" "${window[@]}" -- "$PYTHON" "$planted" "$name" --steps "${STEPS:-20}" >/dev/null
  "$RIDGELINE" show latest:profile --db "$scratch/findings.$name/r.db" --json >"$OUT/findings/$name.json" 2>/dev/null
  rm -rf "${scratch:?}/findings.$name"
}

# onnx_modules MODEL: runs of a session, replays of its CUDA graph, and `ridgeline profile MODEL.onnx`.
onnx_modules() {
  local model=$1 file=$scratch/$1.onnx name
  "$PYTHON" "$sessions" --export "$file" "$model" >"$OUT/$model.export.txt" 2>&1 ||
    { echo "| ONNX Runtime $model | not exported: $(tail -n 1 "$OUT/$model.export.txt") | |"; return 1; }
  recorded "onnx.$model" -- "$PYTHON" "$sessions" "$file" --steps "${STEPS:-20}" >"$OUT/onnx.$model.out"
  recorded "onnx.$model.graph" -- "$PYTHON" "$sessions" "$file" --graph --steps "${STEPS:-20}" >"$OUT/onnx.$model.graph.out"
  mkdir -p "$scratch/onnx.$model.worker"
  "$RIDGELINE" profile "$file" --provider cuda --ort-library "$("$PYTHON" "$sessions" --library)" --db "$scratch/onnx.$model.worker/r.db" >"$OUT/onnx.$model.worker.txt" 2>&1
  for name in "onnx.$model" "onnx.$model.graph" "onnx.$model.worker"; do
    local traces=("$scratch/$name"/traces/*.rltrace)
    [ -e "${traces[0]}" ] || { echo "| $name | nothing was recorded: $(tail -n 1 "$OUT/$name.txt") | |"; continue; }
    "$KERNEL_ROWS" "${traces[0]}" >"$OUT/$name.rows.tsv"
    "$PYTHON" "$ROOT/scripts/marked_rows.py" "$name" "$OUT/$name.rows.tsv"
  done
}

example=("$PYTHON" "$ROOT/examples/profile_rtdetr.py") db=$scratch/journey.db

# journey NAME [option...]: the example with these options, recorded.
journey() {
  local name=$1
  shift
  "$RIDGELINE" profile --db "$db" --warmup-steps 20 --steps 20 --csv "$OUT/$name.csv" --report "$OUT/$name.html" -- "${example[@]}" "$@" \
    >"$OUT/$name.out" 2>"$OUT/$name.txt"
  "$RIDGELINE" show latest:profile --db "$db" --all >"$OUT/$name.all.txt" 2>&1
}

case "${1:-} ${2:-}" in
  "--part cost")
    echo "| program | how | step, ms | times plain [least, most] | the fastest tenth of the steps |"
    echo "|---|---|---|---|---|"
    for model in ${MODELS:-vit_b16}; do cost "$model" "$(tr ' ' , <<<"${MODES:-small training graph busy}")" | tee -a "$OUT/cost.md"; done
    ;;
  "--part modules")
    echo "| program | kernels | attributed, of kernel time | markers | at their leaf |"
    echo "|---|---|---|---|---|"
    for model in ${MODELS:-vit_b16 resnet50 gpt_block rtdetr}; do
      for mode in ${MODES:-eager training graph compiled}; do modules "$model" "$mode" | tee -a "$OUT/modules.md"; done
    done
    [ -n "${MODELS:-}" ] || modules llama generate | tee -a "$OUT/modules.md"
    if "$PYTHON" "$sessions" --can-run; then
      for model in ${ONNX_MODELS:-vit_b16 rtdetr}; do onnx_modules "$model" | tee -a "$OUT/modules.md"; done
    else
      echo "| ONNX Runtime | not measured: $PYTHON has no onnxruntime-gpu | | | |" | tee -a "$OUT/modules.md"
    fi
    ;;
  "--part bytes")
    sized=("$PYTHON" "$ROOT/tests/tools/sized_kernels.py")
    recorded bytes --counters rerun --capture-range cudaProfilerApi -- "${sized[@]}" >"$OUT/bytes.out"
    "$KERNEL_ROWS" --counted "$scratch"/bytes/traces/*.rltrace >"$OUT/bytes.rows.tsv" || exit 1
    "${NCU:-ncu}" --profile-from-start off --cache-control none --clock-control none --csv --page raw --print-units base \
      --metrics dram__bytes_read.sum,dram__bytes_write.sum,lts__t_bytes.sum "${sized[@]}" >"$OUT/bytes.ncu.csv" || exit 1
    "$PYTHON" "$ROOT/scripts/counted_bytes.py" "$OUT/bytes.rows.tsv" "$OUT/bytes.ncu.csv" | tee "$OUT/bytes.md"
    ;;
  "--part many")
    count=${KERNELS:-10000000}
    "${NVCC:-nvcc}" -o "$scratch/many_kernels" "$ROOT/tests/tools/many_kernels.cu" || exit 1
    read -r seconds mib < <("$scratch/many_kernels" "$count")
    read -r recorded_seconds recorded_mib < <(recorded many --counters none --no-modules -- "$scratch/many_kernels" "$count")
    rows=$("$RIDGELINE" show latest:profile --db "$scratch/many/r.db" --json | "$PYTHON" -c '
import json, sys
print(sum(row["calls"] for row in json.load(sys.stdin)["tables"]["kernels"]))')
    { echo "| kernels | recorded | seconds, plain | recorded | memory of the program, MiB, plain | recorded | trace, MiB |"
      echo "|---|---|---|---|---|---|---|"
      echo "| $count | $rows | $seconds | $recorded_seconds | $mib | $recorded_mib | $(du -m "$scratch"/many/traces/*.rltrace | cut -f1) |"
    } | tee "$OUT/many.md"
    [ "$rows" = "$count" ]
    ;;
  "--part journey")
    for ((round = 0; round < ${ROUNDS:-2}; round++)); do
      for change in "" "--precision tf32" "--compile" "--compile --precision tf32"; do
        read -ra flags <<<"$change"
        echo "${change:-as it is}: $("${example[@]}" "${flags[@]+"${flags[@]}"}")"
      done
    done 2>"$OUT/times.err" | sort | tee "$OUT/times.txt"
    journey before
    journey after --compile --precision tf32
    "$RIDGELINE" compare --db "$db" "$(sed -n 's/^run  *\([^ ]*\).*/\1/p' "$OUT/before.txt")" latest:profile >"$OUT/compare.txt" 2>&1
    cat "$OUT/before.txt" "$OUT/after.txt" "$OUT/compare.txt"
    ;;
  "--part idle")
    {
      echo "| program | how | step, ms | times plain [least, most] | the fastest tenth of the steps |"
      echo "|---|---|---|---|---|"
      for model in ${MODELS:-vit_b16}; do idle_cost "$model" "$(tr ' ' , <<<"${MODES:-small training}")"; done
      idle_launches
    } | tee "$OUT/idle.md"
    ;;
  "--part woken")
    echo "| program | kernels | attributed, of kernel time | markers | at their leaf |"
    echo "|---|---|---|---|---|"
    woken vit_b16 small && woken vit_b16 training
    ;;
  "--part verify")
    for name in ${PROGRAMS:-launch_bound fp32_gemm}; do
      recorded "verify.$name" --warmup-steps 5 --steps 8 -- "$PYTHON" "$planted" "$name" --steps 500 >/dev/null
      echo "$name:"
      "$RIDGELINE" profile --db "$scratch/verify.$name/r.db" --max-time "${VERIFY_TIME:-80s}" --verify 1 2>&1
    done | tee "$OUT/verify.txt"
    ;;
  "--part cuda12")
    recorded cuda12 --counters none -- "$PYTHON" "$ROOT/tests/tools/cuda12_program.py" "${CUDA12:?a folder of pip packages}" || exit 1
    "$KERNEL_ROWS" "$scratch"/cuda12/traces/*.rltrace >"$OUT/cuda12.rows.tsv" || exit 1
    [ "$(grep -c smoke "$OUT/cuda12.rows.tsv")" = 3 ] && echo "CUDA 12: 3 of 3 kernels recorded" | tee "$OUT/cuda12.md"
    ;;
  "--part findings")
    mkdir -p "$OUT/findings" && rm -f "$OUT"/findings/*
    "$PYTHON" "$planted" --list | grep -E "^($(tr ' ' '|' <<<"${PROGRAMS:-.*}"))[[:space:]]" >"$OUT/findings/programs.tsv"
    while read -r name _; do findings "$name" </dev/null; done <"$OUT/findings/programs.tsv"
    mapfile -t defects < <(awk -F'\t' '$2 != "" { print $1 }' "$OUT/findings/programs.tsv")
    for ((round = 0; round < ${ROUNDS:-3} && ${#defects[@]} > 0; round++)); do
      for variant in defect fixed; do plain "$variant" "${defects[@]}"; done
    done
    "$PYTHON" "$ROOT/scripts/finding_score.py" "$OUT/findings/programs.tsv" "$OUT/findings" | tee "$OUT/findings.md"
    ;;
  *)
    sed -n '3,27s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
