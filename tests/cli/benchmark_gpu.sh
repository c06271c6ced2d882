#!/usr/bin/env bash
# What the GPU benchmark's script deletes and edits in --out: the files of the models and steps asked for, nothing else.
source "$(dirname "$0")/lib.sh"
mkdir -p results tree/scripts tree/benchmarks/models
cp "$SOURCE/scripts/benchmark_gpu.sh" tree/scripts/
cp "$SOURCE/benchmarks/gpu_summary.py" tree/benchmarks/
echo 'import sys; sys.exit(1)' >tree/benchmarks/models/export.py # no model, so there is nothing to measure
for name in CMakePresets.json notes.md resnet50.quick.json resnet50.pair.yaml rtdetr_r50.quick.json; do
  echo "{\"home\": \"$HOME\"}" >"results/$name"
done
expect() { # expect WHAT COMMAND...
  local what=$1
  shift
  checks=$((checks + 1))
  "$@" || problem "$what: $(tail -n 3 log)"
}
tree/scripts/benchmark_gpu.sh --ridgeline "$RIDGELINE" --provider cpu --only resnet50 --steps quick --out results >log 2>&1
expect "its own old files go" test ! -e results/resnet50.quick.json
expect "another model's stay" test -e results/rtdetr_r50.quick.json
expect "another step's stay" test -e results/resnet50.pair.yaml
for name in CMakePresets.json notes.md; do expect "$name is not its own" grep -qF "$HOME" "results/$name"; done
expect "a page is written" grep -q "Ridgeline on a GPU" results/summary.md

# The comparisons of a model in two halves are judged together.
mkdir halves
tally="a configuration with itself          25 comparisons:   1 slower   0 faster  12 inconclusive; mean ratio 1.0"
for half in pairs pairs_2; do echo "$tally" >"halves/resnet50.$half.txt"; done
touch halves/steps.tsv
python3 tree/benchmarks/gpu_summary.py summary halves >halves/summary.md 2>log
expect "both halves count" grep -qF "a configuration with itself called different, at most 5 %: **2 of 50**, met" halves/summary.md
finish
