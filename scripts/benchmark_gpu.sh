#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures Ridgeline on this host's NVIDIA GPU, unattended: for each model ONNX Runtime's defaults against the classic
# grid's best, `quick` and `adaptive`, an exhaustive search of the pruned space, batches of 64, data kept on the GPU,
# how often comparisons are wrong, and every class of fault. Writes JSON, Markdown and HTML reports and summary.md into
# --out, over those of the same models and steps. Needs no build.
# Several GPUs share the models; CUDA_VISIBLE_DEVICES chooses among them.
#   scripts/benchmark_gpu.sh [--ridgeline BIN] [--ort DIR] [--models DIR] [--out DIR] [--only MODEL]... [--steps LIST]
#                            [--minutes N] [--quick] [--paired-verdicts BIN] [--pairs N] [--provider NAME]
#                            [--runtime PATH]...
#   --ridgeline        the program (default: build/release/bin, install/bin, then PATH)
#   --ort              folder or file of a GPU build of ONNX Runtime (default: what ridgeline finds)
#   --models           folder of NAME.onnx; missing ones are written by benchmarks/models/export.py (default: OUT/models)
#   --out              (default: build/benchmark_gpu)
#   --only             one model of the list below; repeatable
#   --steps            of: classic,quick,adaptive,batch,device,runtimes,pairs,exhaustive,faults (default: all but runtimes)
#   --minutes          no further step begins after this, and the steps that were left out are named (default: 8)
#   --quick            two models, steps quick and classic: does everything work?
#   --paired-verdicts  the benchmark program of that name, for step pairs; without it the step is left out
#   --pairs            comparisons of a configuration with itself in step pairs, for each of two models (default: 25), and
#                      a fifth as many with an injected slow-down
#   --runtime          for step runtimes: a library, folder or virtual environment beside --ort; repeatable
#   --provider         (default: cuda; cpu tries the script itself on a host without a GPU)
set -uo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)

say() { printf '==> %s\n' "$*" >&2; }
die() {
  printf 'error: %s\n' "$*" >&2
  exit 2
}

ridgeline="" ort="" models="" out="$ROOT/build/benchmark_gpu" verdicts="" pairs=25 minutes=8 provider=cuda
runtimes=() only=() steps=classic,quick,adaptive,batch,device,pairs,exhaustive,faults
while [ $# -gt 0 ]; do
  flag=$1
  case $flag in
    --quick)
      only=(resnet50 mobilenetv3_large)
      steps=classic,quick
      shift
      continue
      ;;
    --ridgeline | --ort | --models | --out | --only | --steps | --minutes | --paired-verdicts | --pairs | --provider | \
      --runtime)
      [ $# -ge 2 ] || die "$flag: its value is missing"
      ;;
    -h | --help)
      sed -n '3,/^set /p' "$0" | sed '$d; s/^# \{0,1\}//'
      exit 0
      ;;
    *) die "unknown argument \"$flag\"; see --help" ;;
  esac
  case $flag in
    --ridgeline) ridgeline=$2 ;;
    --ort) ort=$2 ;;
    --models) models=$2 ;;
    --out) out=$2 ;;
    --only) only+=("$2") ;;
    --steps) steps=$2 ;;
    --minutes) minutes=$2 ;;
    --paired-verdicts) verdicts=$2 ;;
    --pairs) pairs=$2 ;;
    --provider) provider=$2 ;;
    --runtime) runtimes+=(--runtime "$2") ;;
  esac
  shift 2
done

# What each file is used for: batch-1 latency, or a batch of 64.
single=(resnet50 rtdetr_r50 vitpose_b mobilenetv3_large bert_base_128 vit_b_16_n)
batched=(resnet50_n mobilenetv3_large_n vit_b_16_n)
for name in ${only[@]+"${only[@]}"}; do
  case " ${single[*]} ${batched[*]} " in
    *" $name "*) ;;
    *) die "--only $name: no such model; expected one of ${single[*]} ${batched[*]}" ;;
  esac
done
[[ $minutes =~ ^[0-9]+$ && $pairs =~ ^[0-9]+$ ]] || die "--minutes and --pairs are whole numbers"
for step in ${steps//,/ }; do
  case $step in
    classic | quick | adaptive | batch | device | runtimes | pairs | exhaustive | faults) ;;
    *) die "--steps $step: no such step; expected some of classic,quick,adaptive,batch,device,runtimes,pairs,exhaustive,faults" ;;
  esac
done
wanted() { # wanted MODEL
  [ ${#only[@]} -eq 0 ] && return 0
  case " ${only[*]} " in *" $1 "*) return 0 ;; *) return 1 ;; esac
}
asked() { case ,$steps, in *,"$1",*) return 0 ;; *) return 1 ;; esac; }

if [ -z "$ridgeline" ]; then
  for candidate in "$ROOT/build/release/bin/ridgeline" "$ROOT/install/bin/ridgeline" "$(command -v ridgeline || true)"; do
    [ -x "$candidate" ] && ridgeline=$candidate && break
  done
fi
[ -x "$ridgeline" ] || die "no ridgeline program; build it (scripts/setup.sh release) or give --ridgeline BIN"
command -v python3 >/dev/null || die "python3 is missing; it exports the models and writes the summary"
[ "$provider" = cpu ] || [ -e /proc/driver/nvidia/version ] || die "no NVIDIA driver on this host (/proc/driver/nvidia is absent); see docs/troubleshooting.md"

begin=$SECONDS
mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd)
models=${models:-$out/models}
mkdir -p "$models" || exit 1
models=$(cd "$models" && pwd)
# The files of this script in --out: whatever else lies there is left alone.
ours() { # ours MODEL... : their reports and logs of the steps asked for
  local name label file labels=(export)
  for label in ${steps//,/ }; do
    case $label in
      batch) labels+=(batch64) ;;
      exhaustive) labels+=(exhaustive pair pair_space) ;;
      pairs) labels+=(pairs pairs_2) ;;
      *) labels+=("$label") ;;
    esac
  done
  for name in "$@"; do
    for label in "${labels[@]}"; do
      for file in "$out/$name.$label".{json,md,html,txt,log,yaml}; do [ -f "$file" ] && printf '%s\n' "$file"; done
    done
  done
  for file in "$out"/{steps.tsv,jobs.txt,summary.md,host.txt}; do [ -f "$file" ] && printf '%s\n' "$file"; done
  return 0
}
chosen=()
for name in all "${single[@]}" "${batched[@]}"; do { [ "$name" = all ] || wanted "$name"; } && chosen+=("$name"); done
ours "${chosen[@]}" | tr '\n' '\0' | xargs -0 -r rm -f
[ -n "$ort" ] && export RIDGELINE_ORT_LIBRARY=$ort # also what `version` tells of
{
  date -u '+%Y-%m-%d %H:%M UTC'
  "$ridgeline" version 2>/dev/null | head -n 3
  command -v nvidia-smi >/dev/null &&
    nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm,power.limit --format=csv,noheader
} >"$out/host.txt"

# step NAME LABEL COMMAND...: runs it unless the time is up, and notes seconds and exit code. Standard output goes to
# NAME.LABEL.json or .txt, the rest to NAME.LABEL.log.
step() {
  local name=$1 label=$2 suffix=$3
  shift 3
  if [ $((SECONDS - begin)) -ge $((minutes * 60)) ]; then
    say "$name $label: left out, $minutes minutes are over"
    printf '%s\t%s\t0\tleft out\n' "$name" "$label" >>"$out/steps.tsv"
    return 0
  fi
  local start=$SECONDS code=0
  "$@" >"$out/$name.$label.$suffix" 2>"$out/$name.$label.log" || code=$?
  printf '%s\t%s\t%d\t%d\n' "$name" "$label" $((SECONDS - start)) "$code" >>"$out/steps.tsv"
  if [ "$code" -eq 0 ]; then
    say "$name $label: $((SECONDS - start)) s"
  else
    say "$name $label: exit code $code after $((SECONDS - start)) s: $(tail -n 1 "$out/$name.$label.log")"
  fi
}

# tune NAME LABEL ARGUMENT...: `ridgeline tune` of the model with reports named after both. Each has a results file of
# its own, so that no step is answered by another's measurements.
tune() {
  local name=$1 label=$2
  shift 2
  local arguments=(tune "$models/$name.onnx" --provider "$provider" --json --db "$out/db/$name.$label.db"
    --report "$out/$name.$label.md" --report "$out/$name.$label.html")
  [ -n "$ort" ] && arguments+=(--ort-library "$ort")
  # Its outputs come sorted by scores that are nearly alike with random weights: the order is chance, and its output error is only reported.
  [ "$name" = rtdetr_r50 ] && arguments+=(--accuracy-tolerance 1e9)
  [ "$label" = pair ] && arguments+=(--accuracy-tolerance off) # judged before
  step "$name" "$label" json "$ridgeline" "${arguments[@]}" "$@"
}

rm -rf "$out/db" && mkdir -p "$out/db"
# Exporting is mostly one thread's work: three at a time, each with its share of the CPUs, or they wait for each other.
export_models() { # export_models MODEL...
  local name part pids=() code=0
  for part in 0 1 2; do
    local chosen=() at=0
    for name in "$@"; do
      [ $((at++ % 3)) -eq "$part" ] && chosen+=(--only "$name")
    done
    [ ${#chosen[@]} -eq 0 ] && continue
    OMP_NUM_THREADS=$((($(nproc) + 2) / 3)) python3 "$ROOT/benchmarks/models/export.py" --out "$models" "${chosen[@]}" &
    pids+=($!)
  done
  for part in "${pids[@]}"; do wait "$part" || code=1; done
  return "$code"
}
missing=()
for name in "${single[@]}" "${batched[@]}"; do
  case " ${missing[*]-} " in *" $name "*) continue ;; esac
  wanted "$name" && [ ! -f "$models/$name.onnx" ] && missing+=("$name")
done
if [ ${#missing[@]} -gt 0 ]; then
  say "exporting ${#missing[@]} models into $models"
  step all export txt export_models "${missing[@]}"
  cat "$out/all.export.txt" >&2
fi
has() { wanted "$1" && [ -f "$models/$1.onnx" ]; }

# One queue of jobs, one slot a GPU: a model's steps stay together on one card, cards do not share one.
latency() { # latency MODEL
  measure_latency "$1"
  rm -f "$out/$1.busy"
}
measure_latency() {
  asked classic && [ "$provider" != cpu ] && tune "$1" classic --space classic --search grid --time 50ms \
    --no-ablation
  asked quick && tune "$1" quick --quick
  asked adaptive && tune "$1" adaptive --search adaptive --max-time 30s
  asked device && [ "$provider" != cpu ] && tune "$1" device --search adaptive --io device --max-time 30s --no-ablation
  asked runtimes && provider=auto tune "$1" runtimes ${runtimes[@]+"${runtimes[@]}"} --search adaptive --io device \
    --max-time 60s --no-ablation
  return 0
}
batch() { tune "$1" batch64 --search adaptive --batch 64 --objective throughput --max-time 30s; }
pairs() { compare_itself "$1" pairs "$pairs" $(((pairs + 4) / 5)); }
# In halves, for two cards: all of them take longer than anything else.
pairs_1() { compare_itself "$1" pairs $(((pairs + 1) / 2)) $((((pairs + 4) / 5 + 1) / 2)); }
pairs_2() { compare_itself "$1" pairs_2 $((pairs / 2)) $(((pairs + 4) / 5 / 2)); }
compare_itself() { # compare_itself MODEL LABEL COMPARISONS SLOWER
  [ "$3" -gt 0 ] || return 0
  local arguments=("$models/$1.onnx" "$3" --slower "$4")
  [ "$provider" = cpu ] || arguments+=(--provider "$provider")
  [ -n "$ort" ] && arguments+=(--ort "$ort")
  step "$1" "$2" txt compare_pairs "${arguments[@]}"
}
compare_pairs() { # a goal missed by one model alone (3) is no fault: summary.md judges all comparisons together
  local code=0
  "$verdicts" "$@" || code=$?
  [ "$code" -eq 3 ] || return "$code"
}
exhaustive() {
  local left=$((minutes * 60 - SECONDS + begin))
  tune "$1" exhaustive --search grid --time 100ms --no-comparisons --max-time "$((left > 1 ? left : 1))s"
  while [ -e "$out/$1.busy" ]; do sleep 1; done # adaptive, on another card
  # The lowest of many noisy medians is too good to be true: the two bests meet in interleaved blocks.
  if [ -s "$out/$1.exhaustive.json" ] && [ -s "$out/$1.adaptive.json" ] &&
    python3 "$ROOT/benchmarks/gpu_summary.py" pair "$out" "$1" "$ridgeline"; then
    tune "$1" pair --search grid --config "$out/$1.pair.yaml" --space "$out/$1.pair_space.yaml" --no-apply \
      --time 1s
  fi
}

# Faults of all kinds, one of which fills the card's memory.
faults() {
  local arguments=(--ridgeline "$ridgeline" --models "$models")
  [ -n "$ort" ] && arguments+=(--ort "$ort")
  step all faults txt python3 "$ROOT/benchmarks/gpu_faults.py" "${arguments[@]}"
}

gpus=("")
if [ "$provider" != cpu ]; then
  if [ -n "${CUDA_VISIBLE_DEVICES:-}" ]; then
    IFS=, read -ra gpus <<<"$CUDA_VISIBLE_DEVICES"
  elif command -v nvidia-smi >/dev/null; then
    mapfile -t gpus < <(nvidia-smi --query-gpu=uuid --format=csv,noheader)
  fi
fi
say "${#gpus[@]} slot(s), one a GPU"

take() { # the next job's line, or nothing
  (
    flock 9
    head -n 1 "$out/queue"
    sed -i 1d "$out/queue"
  ) 9>"$out/queue.lock"
}
run_jobs() { # run_jobs "JOB MODEL"...
  [ $# -gt 0 ] || return 0
  printf '%s\n' "$@" | tee "$out/jobs.txt" >"$out/queue"
  local gpu at=0 cpus each
  each=$(($(nproc) / ${#gpus[@]}))
  for gpu in "${gpus[@]}"; do
    # CPUs of its own, or the threads of one slot's runtime slow down another's.
    cpus=$((at * each))-$((at * each + (each > 0 ? each : 1) - 1))
    at=$((at + 1))
    (
      [ ${#gpus[@]} -gt 1 ] && [ "$each" -gt 0 ] && taskset -cp "$cpus" "$BASHPID" >/dev/null
      [ -n "$gpu" ] && export CUDA_VISIBLE_DEVICES=$gpu
      while read -r job model < <(take) && [ -n "$job" ]; do "$job" "$model"; done
    ) &
  done
  wait
  rm -f "$out/queue" "$out/queue.lock"
}
trap 'trap - INT TERM; kill 0' INT TERM

pair_jobs=()
if asked pairs; then
  if [ -x "$verdicts" ]; then
    for name in resnet50 bert_base_128; do
      has "$name" || continue
      if [ ${#gpus[@]} -gt 1 ]; then pair_jobs+=("pairs_1 $name" "pairs_2 $name"); else pair_jobs+=("pairs $name"); fi
    done
  else
    say "pairs: left out, --paired-verdicts is not given or no program"
    printf 'all\tpairs\t0\tleft out\n' >>"$out/steps.tsv"
  fi
fi
latency_jobs=() batch_jobs=() exhaustive_jobs=()
for name in "${single[@]}"; do has "$name" && latency_jobs+=("latency $name") && touch "$out/$name.busy"; done
asked batch && for name in "${batched[@]}"; do has "$name" && batch_jobs+=("batch $name"); done
# The longest of them first.
asked exhaustive && for name in vit_b_16_n mobilenetv3_large rtdetr_r50 vitpose_b resnet50 bert_base_128; do
  has "$name" && exhaustive_jobs+=("exhaustive $name")
done
fault_jobs=()
if asked faults && [ "$provider" != cpu ] && has resnet50 && has resnet50_n && has vit_b_16_n; then fault_jobs=("faults all"); fi
# Slots that share the work end together when the longest jobs come first; one slot may run out of time, and begins with
# what matters most.
jobs=(${latency_jobs[@]+"${latency_jobs[@]}"})
if [ ${#gpus[@]} -gt 1 ]; then
  jobs=(${pair_jobs[@]+"${pair_jobs[@]}"} ${jobs[@]+"${jobs[@]}"} ${exhaustive_jobs[@]+"${exhaustive_jobs[@]}"}
    ${fault_jobs[@]+"${fault_jobs[@]}"} ${batch_jobs[@]+"${batch_jobs[@]}"})
else
  jobs+=(${batch_jobs[@]+"${batch_jobs[@]}"} ${pair_jobs[@]+"${pair_jobs[@]}"} ${fault_jobs[@]+"${fault_jobs[@]}"}
    ${exhaustive_jobs[@]+"${exhaustive_jobs[@]}"})
fi
run_jobs ${jobs[@]+"${jobs[@]}"}
rm -f "$out"/*.busy
rm -rf "$out/db"
# The records are to be read elsewhere, where this machine's folders mean nothing.
prefix=$(python3 -c 'import sys; print(sys.prefix)')
ort_folder=${ort%/}
[ -f "$ort_folder" ] && ort_folder=$(dirname "$ort_folder")
renames=("$models=models" "$out=results" "$ort_folder=onnxruntime" "$prefix=PYTHON" "$HOME=~")
for path in ${runtimes[@]+"${runtimes[@]}"}; do renames=("${path%/}=$(basename -- "$path")" "${renames[@]}"); done
for pair in "${renames[@]}"; do
  case ${pair%%=*} in # a whole path, never "" or "/usr"
    /root | /?*/?*) ours "${chosen[@]}" | tr '\n' '\0' | xargs -0 -r sed -i "s|${pair%%=*}|${pair#*=}|g" ;;
  esac
done
python3 "$ROOT/benchmarks/gpu_summary.py" summary "$out" >"$out/summary.md" || die "the summary could not be written"
say "$((SECONDS - begin)) s in all; $out/summary.md"
cat "$out/summary.md"
! grep -qvE $'\t(0|left out)$' "$out/steps.tsv"
