#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Training on this host's GPU with the built-in models, unattended: builds the LibTorch plugin against the host's torch,
# sweeps resnet18, mlp and gnn over the default settings (batch 1 to 8192, workers 0 to 16, AMP off and bf16, pinning) on an
# HDF5 file, compares the precisions, and provokes an out-of-memory failure. Writes NAME.json, NAME.md and summary.md (answers,
# how far the phases close, statuses) into FOLDER. Under 9 minutes.
#   benchmarks/training_h200.sh FOLDER [--ridgeline BIN] [--loader-tool BIN] [--python PYTHON] [--parts LIST]
#                               [--minutes N] [--device DEVICE] [--batch-sizes "N..."] [--state FOLDER]
#   --ridgeline    the program (default: build/release/bin, build/bench/bin, then PATH)
#   --loader-tool  loader_throughput, which makes the data (default: build/bench/bin); without it random data are used
#   --python       the interpreter that has torch (default: python3)
#   --parts        of: build,resnet18,mlp,gnn,precisions,oom,summary (default: all of these); besides: the sweeps of
#                  transformer,vit-tiny,vit-small,wideresnet,resnet50, and grid: resnet18 and mlp by both searches over
#                  96 combinations with up to 8 workers, which takes 8 minutes (grid.mlp, grid.resnet18: only that model);
#                  full.MODEL: the model's whole default sweep, every combination (mlp: 7 minutes)
#   --minutes      for all parts together (default: 8)
#   --state        keeps data, plugin and results there, so that the next call goes on where time ended (default: nothing is
#                  kept)
#   --device       (default: cuda; cpu tries the script itself)
set -uo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
say() { printf '==> %s\n' "$*" >&2; }
die() {
  printf 'error: %s\n' "$*" >&2
  exit 2
}

out="" ridgeline="" tool="" python=python3 parts=build,resnet18,mlp,gnn,precisions,oom,summary minutes=8 device=cuda batches="" state=""
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help)
      sed -n '3,/^set /p' "$0" | sed '$d; s/^# \{0,1\}//'
      exit 0
      ;;
    --ridgeline | --loader-tool | --python | --parts | --minutes | --device | --batch-sizes | --state)
      [ $# -ge 2 ] || die "$1: its value is missing"
      case $1 in
        --ridgeline) ridgeline=$2 ;;
        --loader-tool) tool=$2 ;;
        --python) python=$2 ;;
        --parts) parts=$2 ;;
        --minutes) minutes=$2 ;;
        --device) device=$2 ;;
        --state) state=$2 ;;
        --batch-sizes) batches=$2 ;;
      esac
      shift 2
      ;;
    -*) die "unknown argument $1; see --help" ;;
    *)
      out=$1
      shift
      ;;
  esac
done
[ -n "$out" ] || die "name the folder for the results; see --help"
for place in "$ROOT/build/release/bin/ridgeline" "$ROOT/build/bench/bin/ridgeline" "$(command -v ridgeline || true)"; do
  [ -n "$ridgeline" ] || { [ -x "$place" ] && ridgeline=$place; }
done
[ -x "$ridgeline" ] || die "no program; name it with --ridgeline"
[ -n "$tool" ] || tool=$ROOT/build/bench/bin/loader_throughput
mkdir -p "$out" || die "cannot make $out"
out=$(cd "$out" && pwd)
if [ -n "$state" ]; then
  mkdir -p "$state" || die "cannot make $state"
  work=$(cd "$state" && pwd)
  folder=$work
else
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  folder=$work
  [ -d /dev/shm ] && folder=$(mktemp -d /dev/shm/ridgeline-XXXXXX) && trap 'rm -rf "$work" "$folder"' EXIT
fi
begin=$(date +%s)
has() { [[ ,$parts, == *,$1,* ]]; }
left() { echo $((minutes * 60 - $(date +%s) + begin)); }

plugin=$out/plugin
[ -z "$state" ] || plugin=$work/plugin
if has build && [ ! -f "$plugin/ridgeline_torch.so" ]; then
  say "building the plugin"
  "$ROOT/scripts/build_torch_plugin.sh" --python "$python" --output "$plugin" 2>"$out/build.txt" || {
    cat "$out/build.txt" >&2
    die "the plugin was not built"
  }
fi
[ ! -f "$plugin/ridgeline_torch.so" ] || export RIDGELINE_TORCH_PLUGIN=$plugin/ridgeline_torch.so

data=()
if [ -x "$tool" ]; then
  if [ ! -f "$folder/data.h5" ]; then
    say "making the data"
    "$tool" make "$folder/part.h5" --kind float32 --samples 50000 && mv "$folder/part.h5" "$folder/data.h5"
  fi
  [ ! -f "$folder/data.h5" ] || data=(--data-path "$folder/data.h5")
else
  say "no $tool: random data"
fi

# bench NAME SECONDS ARGUMENTS...: at most that long and at most what is left, less a reserve to end in.
bench() {
  local name=$1 seconds=$2
  shift 2
  has "${name%%.*}" || has "${name%.*}" || return 0
  local room=$(($(left) - 20))
  [ "$seconds" -le "$room" ] || seconds=$room
  if [ "$seconds" -lt 20 ]; then
    say "$name: no time left"
    printf '%s\tno time left\n' "$name" >>"$out/steps.tsv"
    return 0
  fi
  say "$name (up to $seconds s)"
  local from code=0
  from=$(date +%s)
  timeout -s INT $((seconds + 15)) "$ridgeline" bench "$@" --devices "$device" --max-time "${seconds}s" --db "$work/r.db" --json \
    --output "$out/$name.md" >"$out/$name.json" 2>"$out/$name.err" || code=$?
  printf '%s\texit %d\t%d s\n' "$name" "$code" $(($(date +%s) - from)) >>"$out/steps.tsv"
  [ -s "$out/$name.err" ] && tail -n 1 "$out/$name.err" >&2
  return 0
}
sizes=()
[ -z "$batches" ] || read -ra sizes <<<"--batch-sizes $batches"
: >"$out/steps.tsv"
# The sweeps share what is left beside the short parts; one alone gets all of it.
reserve=20
has precisions && reserve=$((reserve + 75))
has oom && reserve=$((reserve + 60))
sweeps=()
for model in resnet18 mlp gnn transformer vit-tiny vit-small wideresnet resnet50; do has $model && sweeps+=("$model"); done
for i in ${sweeps[@]+"${!sweeps[@]}"}; do
  bench "${sweeps[$i]}" $((($(left) - reserve) / (${#sweeps[@]} - i))) --model "${sweeps[$i]}" ${data[@]+"${data[@]}"} ${sizes[@]+"${sizes[@]}"}
done
for model in resnet18 mlp gnn transformer vit-tiny vit-small wideresnet resnet50; do
  bench full.$model.grid $((minutes * 60)) --model $model ${data[@]+"${data[@]}"} ${sizes[@]+"${sizes[@]}"} --search grid --no-diagnosis --stability-run 0
done
few=(16 64 256 1024 4096 8192)
[ -z "$batches" ] || few=("${sizes[@]:1}")
for model in resnet18 mlp; do
  for search in adaptive grid; do
    bench grid.$model.$search 400 --model $model ${data[@]+"${data[@]}"} --batch-sizes "${few[@]}" --num-workers 0 2 4 8 --amp both \
      --pin-memory both --search $search --no-diagnosis --stability-run 0
  done
done
large=(256)
[ -z "$batches" ] || large=("${sizes[@]:1:1}")
for amp in off bf16 fp16; do
  [ "$amp" != fp16 ] || [ "$device" != cpu ] || continue
  bench precisions.$amp 25 --model resnet50 --batch-sizes "${large[@]}" --num-workers 0 --amp $amp --search grid --no-diagnosis --stability-run 0
done
[ "$device" = cpu ] || bench oom 60 --model resnet18 --option input=3x224x224 --batch-sizes 2048 4096 8192 16384 --num-workers 0 \
  --amp off --pin-memory off --search grid --no-diagnosis --stability-run 0

has summary || exit 0
"$python" - "$out" <<'PYTHON'
import glob
import json
import os
import sys

folder = sys.argv[1]
lines = ["# Training with the built-in models", ""]
runs = []
for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
    try:
        runs.append((os.path.basename(path)[:-5], json.load(open(path))))
    except ValueError:
        lines.append("- %s: no result, see %s.err" % (os.path.basename(path), os.path.basename(path)[:-5]))
if runs:
    environment = runs[0][1].get("environment", {})
    names = ", ".join(gpu.get("name", "?") for gpu in environment.get("gpus", [])) or environment.get("cpu_model", "CPU")
    lines += ["%s; %s" % (names, runs[0][1].get("request", {}).get("job", {}).get("runtime", "")), ""]
lines += ["| run | trials | statuses | seconds | fastest | samples/s | recommended | samples/s | identity, worst | identity, median |",
          "|---|---|---|---|---|---|---|---|---|---|"]


def settings(answer):
    if not answer:
        return "–", "–"
    one = answer["settings"]
    text = "batch %d, %d worker%s, %s%s" % (one["batch"], one["workers"], "" if one["workers"] == 1 else "s", one["amp"], ", pinned" if one["pin_memory"] else "")
    return text, "%.0f" % answer["samples_per_s"]


for name, run in runs:
    statuses = {}
    errors = []
    for trial in run["trials"]:
        status = trial["outcome"]["status"]
        evidence = trial["outcome"].get("oom_evidence", "none")
        statuses[status + (" by " + evidence if evidence != "none" else "")] = statuses.get(
            status + (" by " + evidence if evidence != "none" else ""), 0) + 1
        if status == "ok" and trial["data"] != "loader_only":
            errors.append(abs(trial["outcome"]["measurement"]["identity_error"]))
    errors.sort()
    answers = run.get("answers") or {}
    lines.append("| %s | %d | %s | %.0f | %s | %s | %s | %s | %s | %s |" % (
        (name, len(run["trials"]), ", ".join("%d %s" % (count, status) for status, count in sorted(statuses.items())),
         run.get("duration_s", 0)) + settings(answers.get("fastest")) + settings(answers.get("recommended")) +
        (("%.2f %%" % (100 * errors[-1]), "%.2f %%" % (100 * errors[len(errors) // 2])) if errors else ("–", "–"))))
lines += ["", "Findings:"]
for name, run in runs:
    for finding in run.get("findings", []):
        gain = finding.get("predicted_gain")
        lines.append("- %s: %s%s" % (name, finding["title"], "" if gain is None else " (%+.0f %%)" % (100 * gain)))
with open(os.path.join(folder, "summary.md"), "w") as file:
    file.write("\n".join(lines) + "\n")
print("\n".join(lines))
PYTHON
