#!/usr/bin/env bash
# What works on the runs of every kind: history, show, report, apply, by id, beginning, latest and latest:KIND.
source "$(dirname "$0")/lib.sh"
S=synthetic:noise=0.005
cat >service.yaml <<'Y'
onnxruntime:
  intra_op_num_threads: 1   # the service's
Y
cat >train.yaml <<'Y'
data:
  batch_size: 16
  num_workers: 0
training:
  learning_rate: 0.1
Y
printf 'solver:\n  depth: 1\n' >solver.yaml
run 0 tune synthetic:surface=tiny --config service.yaml --no-apply --quick "${FAST[@]}" --db r.db --quiet
run 0 bench --model $S --batch-sizes 16 64 --num-workers 0 2 --amp off --no-diagnosis --stability-run 0 --db r.db --quiet
run 0 sweep --param depth=1,2 --repeat 1 --metric 'v=v=(\d+)' --objective max:v --db r.db --quiet -- echo v={depth}

run 0 history --db r.db
for kind in tune bench sweep; do out "$kind"; done
# Runs of simulated workloads say so wherever they are shown.
simulated="simulated: the times follow a formula, no device was measured"
out "tune (simulated)"
out "bench (simulated)"
no_out "sweep (simulated)"
run 0 history --json --db r.db
json '[.[] | "\(.kind) \(.simulated)"] | sort | join(", ")' "bench true, sweep false, tune true"
for kind in tune bench; do
  run 0 show latest:$kind --db r.db
  is "$(head -n 1 out | grep -c '(simulated)')" 1 "the title of $kind"
  run 0 report latest:$kind --db r.db
  is "$(head -n 1 out | grep -c '(simulated)')" 1 "the report's title of $kind"
  for command in "compare latest:$kind/1 latest:$kind/2" "rerun latest:$kind"; do
    run "0|1" $command --db r.db
    is "$(head -n 1 out)" "$simulated" "the first line of $command"
    run "0|1" $command --db r.db --json
    json .simulated true
  done
done
run 0 apply latest:bench --config train.yaml --dry-run --db r.db
is "$(head -n 1 out)" "$simulated" "the first line of apply"
run 0 compare latest:sweep latest:sweep/1 --db r.db --json
json .simulated false
for kind in tune bench sweep; do
  run 0 show latest:$kind --db r.db
  id=$("$RIDGELINE" history --json --db r.db | jq -r --arg kind $kind '[.[] | select(.kind == $kind)][0].id')
  out "run $id"
  run 0 show "$id" --json --db r.db
  json 'type' object
  run 0 report latest:$kind --db r.db --report $kind.md --report $kind.html
  grep -q "run $id" $kind.md || problem "$kind.md is of another run"
  grep -q "<html" $kind.html || problem "$kind.html is no page"
done
run 0 show --db r.db
out "Sweep: echo v={depth}"
# The answer as a picture.
run 0 show latest:tune --svg answer.svg --db r.db
out "picture  answer.svg"
checks=$((checks + 2))
python3 -c 'import sys, xml.etree.ElementTree as e; assert e.parse(sys.argv[1]).getroot().get("width") == "860"' answer.svg || problem "answer.svg is no picture"
grep -q prefers-color-scheme answer.svg || problem "answer.svg has no dark colours"
run 2 show latest:tune --svg no/folder/answer.svg --db r.db
err "no/folder"
bad "no runs of ridgeline stream" -- show latest:stream --db r.db

# Each kind writes into the file that holds its settings, and takes it back.
apply() { # KIND FILE TEXT
  cp "$2" before.yaml
  run 0 apply latest:$1 --config "$2" --db r.db --dry-run
  out "not written (--dry-run)"
  same "$2" before.yaml
  run 0 apply latest:$1 --config "$2" --db r.db --yes
  grep -qF "$3" "$2" || problem "$2 lacks $3"
  run 0 apply latest:$1 --config "$2" --db r.db --yes
  out "already has the recommended values"
  run 0 rollback --config "$2"
  same "$2" before.yaml
}
apply tune service.yaml "# the service's"
apply bench train.yaml "num_workers: 2"
apply sweep solver.yaml "depth: 2"
printf 'training:\n  learning_rate: 0.1\ndata:\n  batch_size: 4\n' >small.yaml
run 0 apply latest:bench --config small.yaml --db r.db --dry-run
out "learning rate"
run 0 apply latest:sweep --config train.yaml --apply-to depth=training.depth --db r.db --dry-run
out "+  depth: 2"
bad "--apply-to width=a.b: width is no parameter of run" -- apply latest:sweep --config solver.yaml --apply-to width=a.b --db r.db

# A file of another kind's settings is refused, with the run that belongs there.
bad "train.yaml" "holds settings of ridgeline bench" "ridgeline apply latest:bench --config train.yaml" -- apply latest:tune --config train.yaml --db r.db
bad "service.yaml" "holds settings of ridgeline tune" -- apply latest:bench --config service.yaml --db r.db
bad "is one of ridgeline sweep, expected one of ridgeline tune" -- apply "$id" --for-gpu --config service.yaml --db r.db

# Runs of a kind are compared, by what they recommend or by trial.
bad "is one of ridgeline tune" "one of ridgeline bench" -- compare latest:tune latest:bench --db r.db
run 0 compare latest:bench latest:bench --db r.db
out "the same record"
bench=$("$RIDGELINE" history --json --db r.db | jq -r '[.[] | select(.kind == "bench")][0].id')
run "0|1" compare "$bench/1" "$bench/2" --db r.db
out "samples/s"
out "settings: "
run 0 bench --model $S --batch-sizes 16 --num-workers 0 --amp off --pin-memory off --no-diagnosis --stability-run 0 --db r.db --quiet
run "0|1" compare "$bench" latest:bench --db r.db --json
json '.ratio > 0 and .low <= .ratio' true
# Intervals wider than a factor of 2 give no ratio, whatever the kind.
run 0 bench --model synthetic:noise=1.5 --batch-sizes 16 --num-workers 0 --amp off --steps 3 --no-diagnosis --stability-run 0 --db wide.db --quiet
run 0 bench --model synthetic:noise=1.5 --batch-sizes 16 --num-workers 0 --amp off --steps 3 --no-diagnosis --stability-run 0 --seed 2 --fresh --db wide.db --quiet
noisy=$("$RIDGELINE" history --db wide.db --ids | tail -n 1)
run "0|1" compare "$noisy/1" latest/1 --db wide.db
out "too few measurements for a ratio"
no_out "times as fast"
run "0|1" rerun "$noisy/1" --db wide.db
out "too few measurements for a ratio"
run 0 compare latest:sweep latest:sweep/1 --db r.db
out "inconclusive"
bad "has trials 1 to" -- compare "$bench/99" "$bench/1" --db r.db
# A trial of any kind is measured again.
for name in latest:tune "$bench/1" latest:bench latest:sweep latest:sweep/1; do
  run "0|1" rerun "$name" --db r.db
  out "then  "
  out "ratio"
done
run 0 rerun latest:sweep --db r.db --json
json '.trial | startswith("2")' true

# What a run was asked for are values: words with spaces and quotes come back as they were typed, and rerun.
mkdir -p "it's a folder"
cp service.yaml "it's a folder/my service.yaml"
run 0 tune synthetic:surface=tiny --config "it's a folder/my service.yaml" --no-apply --quick "${FAST[@]}" --accuracy-tolerance 0.01 \
  --max-time 90s --output "it's a folder/my report.md" --db r.db --quiet
run 0 show latest:tune --db r.db --json
json '.run.request.arguments[4]' "it's a folder/my service.yaml"
json '.run.request.config_path' "$PWD/it's a folder/my service.yaml"
json '.run.request.outputs[0]' "it's a folder/my report.md"
json '[.run.request | .accuracy_tolerance, .max_time, .provider, .watch] | map(tostring) | join(" ")' "0.01 90  false"
run "0|1|4" rerun latest:tune --db r.db
command='printf "%s\n" "v={v}" "it'"'"'s --config x.yaml"'
run 0 sweep --param v=1,2 --repeat 1 --metric 'v=v=(\d+)' --objective max:v --db r.db --quiet -- sh -c "$command"
run 0 rerun latest:sweep --db r.db
out "too few measurements for a ratio"
run 0 show latest:sweep --db r.db --json
json '.request.arguments[-1]' "$command"
json '.request.job.command[-1]' "$command"
json '.request.config_path' ""
sh -c "set -- $(jq -r .command_line out); printf '%s\n' \"\$@\"" >words
jq -r '.request.arguments[]' out >arguments
same words arguments
finish
