#!/usr/bin/env bash
# `ridgeline bench` on simulated training steps, and on real torch where python3 has it.
source "$(dirname "$0")/lib.sh"
S=synthetic:noise=0.005
SMALL=(--batch-sizes 64 128 256 --num-workers 0 2 4 --db r.db)

run 0 bench --model $S "${SMALL[@]}" --search grid
for column in Batch Workers AMP Pin 'I/O(ms)' 'H2D(ms)' 'Fwd(ms)' 'Bwd(ms)' 'Opt(ms)' 'Total(ms)' Samples/s 'GPU%' 'Mem(GB)' Status; do out "$column"; done
out "highest throughput"
out "best efficiency"
out "▌ Recommended: batch"
out "To use it: ridgeline apply"
out "(default)"
out "(--batch-sizes)"
# The origin of each value.
for line in 'search        grid  (--search)' 'mem headroom  10%  (default)' 'tolerance     3%  (default)' 'max time      none  (default)' \
  'seed          1  (default)' 'stability run 200 steps, at most 30 s  (default)' 'diagnosis     on  (default)' "model         $S  (--model)"; do out "$line"; done
run 0 show latest --all --db r.db
out "Pareto front"
out "phases add up to the wall time within"
no_out "within 0.0 %"
run 0 bench --model $S --batch-sizes 64 --num-workers 2 --stability-run 7 --mem-headroom 20% --tolerance 5% --max-time 10m --seed 4 --no-diagnosis --option depth=3 --db o.db
for line in 'search        adaptive  (default)' 'mem headroom  20%  (--mem-headroom)' 'tolerance     5%  (--tolerance)' 'max time      10m  (--max-time)' \
  'seed          4  (--seed)' 'stability run 7 steps  (--stability-run)' 'diagnosis     off  (--no-diagnosis)' 'option        depth=3  (--option)'; do out "$line"; done
run 0 bench --model $S "${SMALL[@]}" --search grid
out "cached"
run 0 bench --show latest --db r.db --output again.md
out "Recommended"
grep -q "Recommended" again.md || problem "again.md has no recommendation"
run 0 bench --model $S "${SMALL[@]}" --json --fresh --report report.md --report report.html
json '.answers.recommended.settings | has("batch")' true
json '[.trials[] | select(.outcome.status == "ok")] | length > 0' true
# The fastest can be computed again from the trials.
json '([.trials[] | select(.data == "loader" and .stage != "stability_run" and .stage != "experiment" and .outcome.status == "ok") | {k: (.settings | tostring), s: .outcome.measurement.samples_per_s.value, n: .outcome.measurement.steps}] | group_by(.k) | map((map(.s * .n) | add) / (map(.n) | add)) | max) as $best | ((.answers.fastest.samples_per_s - $best) | fabs) < 0.01 * $best' true
grep -q "H2D(ms)" report.md || problem "report.md lacks the table"
grep -q "<html" report.html || problem "report.html is no page"

# Memory: the way up stops, the gap is bisected, nothing above is recommended.
run 0 bench --model $S,memory_gb=8,sample_gb=0.03 --batch-sizes 64 128 256 512 --num-workers 2 --amp off --pin-memory on --search grid --db m.db
out "OOM"
out "1 setting was not run"
run 0 show latest --all --db m.db
out "not run: batch 512"
run 1 bench --model $S,fault=shape --batch-sizes 64 --num-workers 2 --db f.db
out "failed"
out "▌ No answer"
run 0 bench --model $S "${SMALL[@]}" --stability-run 100 --search grid
out "ok, stability run"
out "passed"
no_out "adds one"
run 0 bench --model $S "${SMALL[@]}" --search grid
out "ok, stability run"
run 0 bench --show latest --db r.db --json
json '.answers.recommended.reason.text | test("passed a stability run of 200 steps")' true
run 0 bench --model $S "${SMALL[@]}" --search grid --stability-run 0
out "adds one"
no_out "ok, stability run"
# One that nobody asked for is short, whatever its steps take, and lengthens no --max-time.
run 0 bench --model $S,compute_us=50000 --batch-sizes 64 --num-workers 2 --search grid --no-diagnosis --db slow.db --json
json '[.trials[] | select(.stage == "stability_run") | .outcome.duration_s < 240] | all' true
json '.answers.recommended.reason.text | test("stability run stopped after [0-9]+ of 200 steps")' true
run 0 bench --model $S --max-time 60s --db short.db --json
json '.duration_s < 66' true

# --max-time holds for the stability run too, and an end without an answer is told.
run 0 bench --model $S --max-time 60s --stability-run 100000 --db limit.db --json
json '.duration_s < 62' true
json '.answers.recommended.reason.text | test("stability run stopped after [0-9]+ of 100000 steps")' true
json '[.trials[] | select(.stage == "stability_run") | .outcome.measurement.flags[].code] | index("stability_run_cut") != null' true
run 0 bench --show latest --db limit.db
out "of 100000 steps"
no_out "held through"
run 1 bench --model $S,fault=shape --max-time 1s --db never.db
out "The run ended before a trial with the loader succeeded"
out "max-time"

# bench.yaml, overridden by flags; apply.
printf 'benchmark:\n  batch_sizes: [64, 128]\n  num_workers_options: [0, 2]\n  steps_per_test: 10\n  test_mixed_precision: false\ndata:\n  batch_size: 32\n  num_workers: 0\ntraining:\n  learning_rate: 0.1\n' >bench.yaml
printf '# mine\ndata:\n  batch_size: 32   # small\n  num_workers: 0\n  pin_memory: false\ntraining:\n  use_amp: false\n  learning_rate: 0.1\n' >default.yaml
cp default.yaml before.yaml
run 0 bench --model $S --config bench.yaml --num-workers 2 4 --apply default.yaml --dry-run --db c.db
out "bench.yaml:2"
out "(--num-workers)"
out "not written"
err "note: --apply default.yaml: the next version will require --config default.yaml --apply"
same default.yaml before.yaml
run 0 bench --model $S --config bench.yaml --num-workers 2 4 --apply default.yaml --db c.db
out "learning rate 0.1: the linear rule"
out "effective batch 32 ->"
grep -q '# small' default.yaml || problem "a comment was lost"
grep -q 'batch_size: 32 ' default.yaml && problem "default.yaml was not changed"
run 0 rollback --config default.yaml
same default.yaml before.yaml
# Nothing is written unasked: without a terminal the change is shown, and --apply or --yes writes it.
OWN=(--batch-sizes 64 128 --num-workers 2 --amp off --search grid --no-diagnosis --db own.db)
run 0 bench --model $S --config default.yaml "${OWN[@]}"
out "current       batch 32, 0 workers, no AMP, not pinned  (default.yaml)"
out "default.yaml: not touched; to write it: ridgeline apply "
same default.yaml before.yaml
run 0 bench --model $S --config default.yaml "${OWN[@]}" --no-apply
no_out "not touched"
for how in --apply --yes; do
  run 0 bench --model $S --config default.yaml "${OWN[@]}" $how
  [ ! -s "$WORK/err" ] || problem "a note about the spelling of today"
  grep -q 'batch_size: 32 ' default.yaml && problem "bench $how did not change default.yaml"
  run 0 rollback --config default.yaml
  same default.yaml before.yaml
done
# A file without any of the settings is nobody's to be asked about.
printf 'seed: 7\n' >plain.yaml
run 0 bench --model $S --config plain.yaml "${OWN[@]}"
no_out "plain.yaml"
bad "plain.yaml: holds none of batch_size" "add one of these sections" -- bench --model $S --config plain.yaml "${OWN[@]}" --apply
# --options: Ridgeline's own options in a file; the command line counts before it.
printf 'batch_sizes: [64, 128]\nnum-workers: 2\namp: off\nsearch: grid\nno_diagnosis: true\n' >options.yaml
run 0 bench --model $S --options options.yaml --num-workers 4 --db options.db
out "64 128"
out "grid"
grep -q '^workers *4 ' "$WORK/out" || problem "the command line did not count before --options"
printf 'batchsizes: 3\n' >mistake.yaml
bad "mistake.yaml:1:1: ridgeline bench has no option --batchsizes" "batch-sizes" -- bench --model $S --options mistake.yaml
printf 'steps: 0\n' >mistake.yaml
bad "--steps 0: expected a whole number" -- bench --model $S --options mistake.yaml
printf 'search: gird\n' >mistake.yaml
bad "mistake.yaml:1:1:" "did you mean \"grid\"" -- bench --model $S --options mistake.yaml
printf 'apply: true\n' >mistake.yaml
bad "mistake.yaml:1:1: apply is not read from a file" -- bench --model $S --config default.yaml --options mistake.yaml
printf 'no-diagnosis: 3\n' >mistake.yaml
bad "mistake.yaml:1:1: no-diagnosis takes no value" -- bench --model $S --options mistake.yaml
bad "--options nowhere.yaml: no such file" -- bench --model $S --options nowhere.yaml

# What the new batch means is told truly: bench.yaml stands in for what the file lacks, and is not silenced.
APPLY=(--batch-sizes 8 256 --num-workers 0 2 --amp off --pin-memory off --search grid --no-diagnosis --db apply.db --dry-run)
printf 'data: {batch_size: 128}\ntraining: {learning_rate: 0.1}\n' >grows.yaml
run 0 bench --model $S "${APPLY[@]}" --apply grows.yaml
out "effective batch 128 -> 256 (256 x 1 accumulation step)"
out "no whole number of gradient_accumulation_steps keeps the effective batch of 128; the nearest is 1 (effective batch 256)"
no_out "or keep it with"
out "data.num_workers is new there: see that your training reads it"
no_out "pin_memory: false"
no_out "use_amp: false"
run 0 bench --model $S "${APPLY[@]}" --apply grows.yaml -q
[ ! -s "$WORK/out" ] || problem "--quiet wrote to standard output"
err "effective batch 128 -> 256"
run 0 bench --model $S "${APPLY[@]}" --apply grows.yaml --json
json '.batch_change | "\(.file) \(.effective_before) \(.effective_after) \(.linear_rate) \(.nearest.keeps)"' "grows.yaml 128 256 0.2 false"
json 'has("current")' false
printf 'data: {num_workers: 2}\ntraining: {learning_rate: "${LR}"}\n' >lacks.yaml
printf 'data: {batch_size: 512, num_workers: 2}\ntraining: {learning_rate: 0.4, gradient_accumulation_steps: 2}\n' >now.yaml
rm -f apply.db  # what is the latest run is told by the second that it began in
run 0 bench --model $S "${APPLY[@]}" --config now.yaml --apply lacks.yaml
out "(now.yaml:2)"
out "lacks.yaml:2: learning_rate is \${LR}, which cannot be read here"
no_out "lacks.yaml: lacks.yaml:2"
out "effective batch 1024 -> 512 (256 x 2 accumulation steps)"
out "learning rate 0.4: the linear rule (SGD) gives 0.2"
out "or keep it with gradient_accumulation_steps: 4 (effective batch 1024)"
run 0 bench --show latest --db apply.db --apply lacks.yaml --dry-run
out "effective batch 1024 -> 512"
# Settings that are used now exist where somebody gave a batch size.
printf 'data: {num_workers: 4}\n' >y.yaml
run 0 bench --model $S --config y.yaml --batch-sizes 64 --num-workers 2 --amp off --pin-memory off --search grid --no-diagnosis --db y.db
out "not measured: data.batch_size is not given"
no_out "batch 32"
printf 'data: {batch_size: 16}\n' >y.yaml
run 0 bench --model $S --config y.yaml --batch-sizes 64 --num-workers 2 --amp off --pin-memory off --search grid --no-diagnosis --db y.db
out "(y.yaml; default: num_workers, use_amp, pin_memory)"

# What a run without a GPU cannot measure is neither proposed nor added.
printf 'device: [0, 1]\nbatch_size: 256\nnum_workers: 2\npin_memory: true\nuse_amp: true\nbenchmark:\n  batch_sizes: [8, 16]\n  num_workers_options: [0, 1]\n  test_mixed_precision: true\n  test_pin_memory: true\n' >g.yaml
run 0 bench --model $S --devices cpu --config g.yaml --dry-run --db g.db
out "g.yaml; pin_memory: true has no effect without a GPU"
out "g.yaml: pin_memory: true is left as it is: pinned memory needs a GPU, which this run did not use"
no_out "-pin_memory"
printf 'pin_memory: true\n' >pin.yaml
run 0 bench --model $S --devices cpu --config pin.yaml --batch-sizes 64 --num-workers 2 --search grid --no-diagnosis --apply --db g.db
out "pin.yaml: pin_memory: true is left as it is"
out "pin.yaml: not touched"
grep -q '^pin_memory: true$' pin.yaml || problem "a value that was not measured was written"
# A loader that waits is tried with more workers than CPUs; a step that sleeps does not compute.
run 0 bench --model synthetic:noise=0.005,read_us=4000,decode_us=20,over=0 --batch-sizes 64 --amp off --pin-memory on --search grid --db waits.db
run 0 show latest --section findings --db waits.db
out "workers wait"
out "up to 64 help"
run 0 bench --model synthetic:noise=0.005,wait_ms=2000,decode_us=1,memory_gb=115 --devices cpu --batch-sizes 8192 --num-workers 2 --amp bf16 --search grid --db sleeps.db
out "the training step waits"
no_out "computes all the time"

# Runs that are not there: nothing is made in looking for them.
bad "results file none.db" "no such file" "--db FILE" -- bench --show latest --db none.db
bad "results file nowhere/none.db" "no such file" -- bench --show 20261121 --db nowhere/none.db
bad "results file nowhere/none.db" "no such file" -- sweep --show latest --db nowhere/none.db
[ ! -e none.db ] && [ ! -e nowhere ] || problem "looking for a run made a file"

# No batch that was asked for can be trained with: bad input, and nothing is kept.
bad "batch sizes 64 128 (--batch-sizes): no setting can be trained with" "fp16 needs a GPU" -- bench --model "$S,fault=refused" --batch-sizes 64 128 --num-workers 2 --db refused.db
[ ! -e refused.db ] || problem "refused settings left a results file behind"

# Mistakes
bad "no training step given" "--python" -- bench
bad "give one" -- bench --model $S --python a:b
bad "--batch-sizes 0" "expected a whole number from 1" -- bench --model $S --batch-sizes 0
bad "--batch-sizes many" -- bench --model $S --batch-sizes many
bad "--steps 0" -- bench --model $S --steps 0
bad "--devices gpu" "expected auto, cpu, cuda" -- bench --model $S --devices gpu
bad "--spread: trials run on synthetic" "leave it out" -- bench --model $S --spread
bad "--mem-headroom 2" -- bench --model $S --mem-headroom 2
bad "decode_uss" "did you mean \"decode_us\"" -- bench --model synthetic:decode_uss=1
# Data alone want the built-in model: without plugin and torch one line says how to get it.
mkdir -p alone
cp "$RIDGELINE" alone/ridgeline
printf x >data.h5
printf '#!/bin/sh\nexec python3 -S "$@"\n' >no-torch
chmod +x no-torch
RIDGELINE=$WORK/alone/ridgeline bad "built-in models need torch" "pip install torch h5py" -- bench --data-path data.h5 --python-exe ./no-torch
printf 'data: {data_path: data.h5}\n' >path.yaml
RIDGELINE=$WORK/alone/ridgeline bad "built-in models need torch" "pip install torch h5py" -- bench --config path.yaml --python-exe ./no-torch
bad "no such file" "nowhere.h5" -- bench --model $S --data-path nowhere.h5
# What is measured counts for the data as they were: in a folder a change of any file, of HDF5 files of those they lead to too.
mkdir -p images/cats
echo one >images/cats/1.jpg
again() { run 0 bench --model $S --data-path images --batch-sizes 16 --num-workers 0 --amp off --no-diagnosis --stability-run 0 --db data.db --json; }
again
again
json '[.trials[].cached] | all' true
echo another >images/cats/1.jpg
again
json '[.trials[].cached] | any' false
bad "--config nowhere.yaml: no such file" -- bench --model $S --config nowhere.yaml
printf 'benchmark:\n  batch_size: [1]\n' >mistake.yaml
bad "mistake.yaml:2:3" "did you mean \"batch_sizes\"" -- bench --model $S --config mistake.yaml
bad "missing.yaml: no such file" "with --config" -- bench --model $S --apply missing.yaml
bad "missing.yaml: no such file" -- bench --model $S --apply missing.yaml --dry-run
bad "--apply: no file to write to" "--config FILE" -- bench --model $S --apply
bad "exclude each other" -- bench --model $S --config bench.yaml --apply --no-apply
printf 'data: {workers: 4}\n' >near.yaml
run 0 bench --model $S --config near.yaml --batch-sizes 64 --num-workers 2 --amp off --pin-memory off --search grid --no-diagnosis --db near.db
out "not read      data.workers: did you mean \"num_workers\"?  (near.yaml:1)"
bad "--amp" "did you mean \"bf16\"" -- bench --model $S --amp bf61
bad "--pin-memory" "did you mean \"both\"" -- bench --model $S --pin-memory boht
printf 'data:\n  batch_size: &b 32\neval: *b\n' >anchor.yaml
bad "anchor.yaml:2" "write the value out in both places" -- bench --model $S --apply anchor.yaml
printf 'a:\n  batch_size: 1\nb:\n  batch_size: 2\n' >twice.yaml
bad "twice.yaml" "several places" -- bench --model $S --apply twice.yaml
bad "--python-exe python3" "only valid with --python" -- bench --model $S --python-exe python3
bad "--torch-plugin x.so" "only valid with a built-in model" -- bench --model $S --torch-plugin x.so
bad "--dry-run" "--config FILE" -- bench --model $S --dry-run
bad "does not exist" -- bench --model $S --output nowhere/r.md
bad "expected MODULE:FUNCTION" -- bench --python train
RIDGELINE_TORCH_PLUGIN=gone.so bad "gone.so" "build_torch_plugin.sh" -- bench --model resnet18 --devices cpu
bad "no-such-python" -- bench --python a:b --python-exe no-such-python
bad "--pin-memory on" "GPU" -- bench --model $S --devices cpu --pin-memory on
bad "--amp fp16" "bf16" -- bench --model $S --devices cpu --amp fp16
[ ! -e "$XDG_STATE_HOME/ridgeline/ridgeline.db" ] || problem "a mistake left a results file behind"

# The user's own PyTorch.
PYTHON=${RIDGELINE_TEST_PYTHON:-/usr/bin/python3}
if "$PYTHON" -c 'import torch' 2>/dev/null; then
  cp "$SOURCE/examples/train_pytorch.py" train.py
  run 0 bench --python train.py:bench --python-exe "$PYTHON" --devices cpu --batch-sizes 8 16 --num-workers 0 1 --steps 5 --db p.db --no-diagnosis
  out "Recommended"
  bad "batch sizes 100000 (--batch-sizes)" "the data set is smaller than that (4096 samples)" "name others" -- bench --python train.py:bench --python-exe "$PYTHON" --devices cpu --batch-sizes 100000 --num-workers 0 --steps 5 --db big.db
  [ ! -e big.db ] || problem "a batch that is too large left a results file behind"
  run 0 bench --python train.py:bench --python-exe "$PYTHON" --devices cpu --batch-sizes 8 100000 --num-workers 0 --steps 5 --stability-run 0 --db two.db --no-diagnosis
  out "(4096 samples)"
  bad "has no function 'benhc'" -- bench --python train.py:benhc --python-exe "$PYTHON" --devices cpu
  bad "no file gone.py" -- bench --python gone.py:bench --python-exe "$PYTHON" --devices cpu
  mkdir -p pkg && printf 'from .net import bench\n' >pkg/job.py
  bad "pkg/job.py: attempted relative import" "--python pkg.job:bench" -- bench --python pkg/job.py:bench --python-exe "$PYTHON" --devices cpu
  bad "no module named 'gone'" -- bench --python gone:bench --python-exe "$PYTHON" --devices cpu
  # More workers than CPUs are a note.
  MANY=(--python train.py:bench --python-exe "$PYTHON" --devices cpu --batch-sizes 8 --steps 3 --search grid --stability-run 0 --no-diagnosis --db many.db)
  printf 'benchmark: {num_workers_options: [0, 3]}\ndata: {batch_size: 8, num_workers: 2}\n' >many.yaml
  printf '#!/bin/sh\nexec taskset -c %s "%s" "$@"\n' "$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')" "$RIDGELINE" >one_cpu
  chmod +x one_cpu
  RIDGELINE=$WORK/one_cpu run 0 bench "${MANY[@]}" --config many.yaml
  out "many.yaml:1: num_workers_options 3: more loader workers than the 1 CPU that"
  out "many.yaml:2: num_workers 2: more loader workers than the 1 CPU"
else
  "$PYTHON" -c '' && bad "has no torch" -- bench --python train:bench --python-exe "$PYTHON" --devices cpu
fi
finish
