#!/usr/bin/env bash
# `ridgeline sweep` on real commands: metrics, failures, ties, resume, cancel, GPUs of the fake management library.
source "$(dirname "$0")/lib.sh"
mkdir fake_lib
cp "${FAKE_NVML:?}" fake_lib/libnvidia-ml.so.1
TRAIN=(python3 "${SOURCE:?}/examples/sweep_train.py")
SPEED='samples_per_s=speed: ([0-9.]+) samples/s'

# The classic case.
run 0 sweep --param batch=16,64 --param workers=0,2 --metric "$SPEED" --metric loss=json:loss --objective max:samples_per_s \
  --db r.db --report report.md --report report.html -- "${TRAIN[@]}" --bs {batch} --workers {workers} --step-ms 4 --steps 12
for text in batch workers samples_per_s loss Seconds 'CPU%' 'Mem(GB)' Status "Relative cost" "best, recommended" "as good as the first combination" "3 rounds"; do out "$text"; done
out "▌ Recommended: batch=64 workers=2"
no_out "GPU%"
grep -q "Effect of each parameter" report.md || problem "report.md lacks the effects"
grep -q "<html" report.html || problem "report.html is no page"
[ "$(find sweeps -name output.log | wc -l)" -eq 12 ] || problem "outputs were not kept"
[ "$(find sweeps -name metrics.txt | wc -l)" -eq 12 ] || problem "metric files were not kept"

# Everything again comes from the results file; a changed script does not.
run 0 sweep --param batch=16,64 --param workers=0,2 --metric "$SPEED" --metric loss=json:loss --objective max:samples_per_s \
  --db r.db --json -- "${TRAIN[@]}" --bs {batch} --workers {workers} --step-ms 4 --steps 12
json '[.trials[] | select(.cached)] | length' 12
json '.answers.recommended | "\(.batch) \(.workers)"' "64 2"
json '.points[0].metrics | has("step_ms")' true
# The best can be computed again from the trials.
json '(.trials | group_by(.point) | map({p: .[0].point, c: (map(1 / .outcome.metrics.samples_per_s | log) | add / length)}) | min_by(.c) | .p) == .answers.best' true
cp "$SOURCE/examples/sweep_train.py" mine.py
run 0 sweep --param b=8 --repeat 1 --db r.db --json -- python3 mine.py --bs {b} --steps 2
json '.trials[0].cached' false
run 0 sweep --param b=8,9 --repeat 1 --db r.db --json -- python3 mine.py --bs {b} --steps 2
json '[.trials[].cached] | tostring' '[true,false]'
echo '# changed' >>mine.py
run 0 sweep --param b=8 --repeat 1 --db r.db --json -- python3 mine.py --bs {b} --steps 2
json '.trials[0].cached' false
run 0 sweep --show latest --db r.db --output again.md
out "Recommended"
grep -q "Recommended" again.md || problem "again.md has no recommendation"

# Placeholders: environment, literal braces, the trial's own folder, braces that mean something else.
run 0 sweep --param n=3,5 --repeat 1 --env 'WORD=w{n}' --metric 'v=value (\d+)' --objective max:v --db e.db --json -- \
  sh -c 'echo "value ${WORD#w}"; echo {{n}} {"a":{n}} > {trial_dir}/x; echo "extra $RIDGELINE_REPEAT" > $RIDGELINE_METRICS_FILE'
json '.answers.best.n' 5
json '.points[0].metrics.extra' 1
run 0 sweep --param n=1 --repeat 1 --metric 'v=(\d+) --' --objective max:v --db e.db -- echo {n} -- --db --nonsense
grep -rqF '{n} {a:5}' sweeps/*/trial-2/x || problem "braces were not kept: $(cat sweeps/*/trial-2/x)"
run 0 sweep --param n=1,2 --repeat 1 --metric-file out.txt --objective min:cost --db e.db --json -- sh -c 'echo cost {n} > out.txt'
json '.answers.best.n' 1

# A training that diverges wins nothing, also where the expression does not match "nan", and in JSON lines.
for metric in 'loss=loss (\S+)' 'loss=loss ([0-9.eE+-]+)'; do
  run 0 sweep --param lr=1..2 --metric "$metric" --objective min:loss --db n.db -- \
    sh -c 'printf "loss 2.3\nloss 0.4\n"; [ {lr} = 1 ] && echo loss nan || echo loss 0.9'
  out "▌ Recommended: lr=2"
  out "diverged: loss is nan at line 3"
done
run 0 sweep --param lr=1,2 --metric loss=json:loss --objective min:loss --db n.db --json -- \
  sh -c 'echo "{\"loss\": 0.4}"; [ {lr} = 1 ] && echo "{\"loss\": NaN}" || echo "{\"loss\": 0.9}"'
json '.answers.best.lr' 2
json '.trials[0].outcome | "\(.status): \(.failure.message.text)"' "failed: diverged: loss is NaN at line 2"
run 0 sweep --param n=1..3 --metric 'reward=reward (\S+)' --objective max:reward --db n.db --json -- echo reward -{n}
json '.answers.best.n' 1
json '.compared_by' difference
json '[.points[].behind.value] | tostring' '[0,1,2]'
run 0 sweep --show latest --db n.db
out "Behind the best (95 %)"
# Such runs are compared, and measured again, by differences as well.
reward() { run 0 sweep --param n="$1" --metric 'reward=reward (\S+)' --objective "${2:-max}:reward" --db d.db -q -- \
  echo reward -{n}.{repeat}; }
reward 3
reward 1
before=$("$RIDGELINE" history --db d.db --ids | tail -n 1)
run 0 compare "$before" latest --db d.db
out "B - A: reward +"
out "95 % interval +"
out ": latest is better"
no_out "times as fast"
run 1 compare latest "$before" --db d.db
out "$before is worse"
run 1 compare latest "$before" --db d.db --json
json '"\(.compared_by) \(.verdict) \(.ratio) \(.low) \(.high) \(.min_effect)"' "difference slower null null null 0.02"
json '.difference | "\(.metric) \(.value.value < -1.5) \(.value.low < .value.value)"' "reward true true"
run 0 compare latest "$before" --db d.db --min-effect 5
out "no difference of 5 or more"
run 0 compare latest/1 "$before/1" --db d.db
out "(measured once, no interval): inconclusive: one of them was measured only once"
run 0 rerun "$before" --db d.db
out "now - then: reward "
run "0|1" rerun "$before" --db d.db --json
json '"\(.compared_by) \(.ratio)"' "difference null"
reward 3 min
reward 1 min
run 1 compare "$("$RIDGELINE" history --db d.db --ids | sed -n 2p)" latest --db d.db
out "latest is worse"
# Tolerances in the metric's unit may be large; of ratios they are shares.
run 0 sweep --param n=1,3 --metric 'reward=reward (\S+)' --objective max:reward --min-effect 5 --tolerance 5 --db d.db --json -- \
  sh -c 'echo reward $(( 2 - {n} ))'
json '[.points[].tie] | tostring' '[true,true]'
no_out "counts as"
run 0 sweep --param n=1,3 --metric 'v=v (\S+)' --objective max:v --min-effect 5 --db d.db -- echo v {n}
out "--min-effect 5 counts as 500 %: v is above 0 in every trial"
bad "--min-effect 5" "expected a share" -- compare latest latest --db d.db --min-effect 5
bad "--min-effect 500%" "expected a share" -- sweep --param n=1 --min-effect 500% --db d.db -- echo {n}
# Where an interval is wider than a factor of 2 there is no ratio, here nor in compare and rerun.
wide() { run 0 sweep --param n="$1" --metric 'v=v (\S+)' --objective min:v --db w.db "${@:2}" -- \
  sh -c 'case {n}{repeat} in 11) v=1;; 12) v=9;; 13) v=47;; 21) v=30;; 22) v=2;; *) v=6;; esac; echo v $v'; }
wide 1,2 --output wide.md
out "too few measurements"
out "Compared with the first combination: too few measurements for a ratio"
no_out "x as good"
checks=$((checks + 1)); grep -q "too few measurements for a ratio" wide.md || problem "wide.md gives a ratio"
wide 1 -q
wide 2 -q
one=$("$RIDGELINE" history --db w.db --ids | sed -n 2p)
run 0 compare "$one" latest --db w.db
out "A and B: too few measurements for a ratio: inconclusive"
no_out "times as fast"
run 0 compare "$one" latest --db w.db --json
json '"\(.verdict) \(.ratio)"' "inconclusive null"
run 0 rerun latest --db w.db
out "too few measurements for a ratio: inconclusive"
no_out "ratio 1"
run 0 rerun latest --db w.db --json
json .ratio null
bad "5..1" "ends before it begins" -- sweep --param n=5..1 -- echo {n}
bad "1..x" "expected a number" -- sweep --param n=1..x -- echo {n}

# Trials that go wrong are data.
run 0 sweep --param b=1,2,3 --repeat 1 --db f.db -- "${TRAIN[@]}" --bs {b} --max-bs 2 --steps 1
out "OOM: MemoryError: a batch of 3 samples does not fit"
out "output.log"
run 1 sweep --param b=1,2,3,4 --db f.db -- sh -c 'echo broken {b} >&2; exit 7'
out "failed: exit code 7: broken 1"
run 1 sweep --param b=1,2,3,4 --db f.db -- sh -c 'echo {b} > /dev/null; echo broken >&2; exit 7'
out "first 3 trials failed the same way"
run 1 sweep --param b=1 --db f.db -- sh -c 'kill -SEGV $$; {b}'
out "crashed: ended by SIGSEGV"
run 1 sweep --param b=60 --timeout 300ms --db f.db -- sleep {b}
out "timeout: not finished within 0.3 s"
run 1 sweep --param b=1 --metric 'speed=speed ([0-9]+)' --objective max:speed --db f.db -- echo {b}
out "last of /speed ([0-9]+)/ matched nothing"
run 1 sweep --param b=1 --objective max:rate --db f.db -- echo {b}
out "did not report rate"
run 0 sweep --param b=0.2,0.3,30 --max-time 1500ms --repeat 1 --db f.db -- sleep {b}
out "max-time is used up"
run 0 sweep --param b=1 --repeat 1 --db f.db -- sh -c '(setsid sleep 500 >/dev/null 2>&1 &); sleep 0.{b}'
out "1 process was left behind and stopped"

# Nothing is left 5 s after a cancel, and a parent that is killed leaves nothing either.
cat >deaf.sh <<'DEAF'
trap '' TERM INT HUP
(setsid sh -c 'trap "" TERM; echo $$ > hidden.pid; while :; do sleep 0.2; done' >/dev/null 2>&1 &)
echo $$ > deaf.pid
while :; do sleep 0.2; done
DEAF
for signal in INT KILL; do
  rm -f deaf.pid hidden.pid
  "$RIDGELINE" sweep --param b=1 --db c.db -- sh deaf.sh {b} >"$WORK/out" 2>"$WORK/err" &
  parent=$!
  for _ in $(seq 100); do [ -s deaf.pid ] && [ -s hidden.pid ] && break; sleep 0.1; done
  begin=$(date +%s%N)
  kill -$signal $parent
  wait $parent 2>/dev/null
  code=$?
  for _ in $(seq 60); do
    kill -0 "$(cat deaf.pid)" 2>/dev/null || kill -0 "$(cat hidden.pid)" 2>/dev/null || break
    sleep 0.1
  done
  took=$((($(date +%s%N) - begin) / 1000000))
  checks=$((checks + 1))
  [ "$took" -lt 5000 ] || problem "SIG$signal: processes were there after $took ms"
  kill -0 "$(cat deaf.pid)" 2>/dev/null && problem "SIG$signal left the command"
  kill -0 "$(cat hidden.pid)" 2>/dev/null && problem "SIG$signal left the hidden grandchild"
  [ $signal = KILL ] || [ "$code" -eq 130 ] || problem "SIG$signal: exit code $code"
done

# Ties go to the value that stands first.
run 0 sweep --param b=0.21,0.2 --repeat 3 --min-effect 15% --tolerance 15% --db t.db --json -- sleep {b}
json '.answers.recommended.b' 0.21

# The other strategies.
run 0 sweep --param a=1,2,3,4,5,6 --param b=1,2,3,4,5,6 --search adaptive --repeat 2 --metric 'v=v (.*)' --objective min:v --db s.db --json -- \
  sh -c 'echo v $(( 100 + 5*({a}-4)*({a}-4) + 9*({b}-2)*({b}-2) ))'
json '.answers.best | "\(.a) \(.b)"' "4 2"
json '(.trials | length) < 40' true
run 0 sweep --param a=1,2,3,4,5,6 --search random --trials 3 --repeat 1 --db s.db --json -- sh -c ': {a}'
json '.trials | length' 3

# Applied with care, and undone.
printf '# mine\ndata:\n  batch_size: 32   # small\nworkers: 1\n' >c.yaml
cp c.yaml before.yaml
run 0 sweep --param batch=0.3,0.1 --param workers=1,2 --apply c.yaml --apply-to batch=data.batch_size --dry-run --repeat 1 --db a.db -- sh -c 'sleep {batch}; : {workers}'
out "batch_size: 0.1"
same c.yaml before.yaml
run 0 sweep --param batch=0.3,0.1 --apply c.yaml --apply-to batch=data.batch_size --repeat 1 --db a.db -- sleep {batch}
grep -q 'batch_size: 0.1   # small' c.yaml || problem "c.yaml was not changed with care"
run 0 rollback --config c.yaml
same c.yaml before.yaml
# A name that the file does not have is told and not added.
run 0 sweep --param workers=2 --param depth=3 --apply c.yaml --dry-run --repeat 1 --db a.db -- sh -c ': {workers} {depth}'
out "workers: 2"
out "c.yaml: depth not written, the file has no such name: add it, or say where with --apply-to depth=PATH"
no_out "+depth"
run 0 sweep --param workers=2 --param depth=3 --apply c.yaml --dry-run --repeat 1 --db a.db -q -- sh -c ': {workers} {depth}'
err "depth not written"
run 0 sweep --param workers=2 --param depth=3 --config c.yaml --yes --apply-to depth=net.depth --repeat 1 --db a.db -- sh -c ': {workers} {depth}'
grep -q '  depth: 3' c.yaml || problem "c.yaml did not get the place that was named"
run 0 rollback --config c.yaml
same c.yaml before.yaml
bad "c.yaml: nothing can be written, the file has no depth" "--apply-to depth=PATH" -- sweep --param depth=3 --apply c.yaml -- echo {depth}

# Nothing is written unasked; what the file holds is the current value, whatever stands first in --param.
run 0 sweep --param workers=2,1 --config c.yaml --repeat 1 --db now.db -- sh -c 'sleep 0.{workers}'
out "current    c.yaml:4: workers is 1 now"
same c.yaml before.yaml
run 0 sweep --param workers=2,1 --config c.yaml --repeat 1 --db now.db --json -- sh -c 'sleep 0.{workers}'
json '.request.job.parameters[0].values | join(" ")' "1 2"
run 0 sweep --param workers=3,2 --config c.yaml --repeat 1 --db now.db -- sh -c 'sleep 0.{workers}'
out "c.yaml:4: workers is 1, which is not among the values of --param, so it is not measured"
out "c.yaml: not touched; to write it: ridgeline apply "
same c.yaml before.yaml
printf 'param: ["workers=2,1"]\nrepeat: 1\nobjective: "min:seconds"\n' >sweep_options.yaml
run 0 sweep --options sweep_options.yaml --db now.db -- sh -c 'sleep 0.{workers}'
out "2 combinations, 1 round"

# GPUs seen from outside.
LD_LIBRARY_PATH=$WORK/fake_lib RL_FAKE_NVML_SCRIPT=healthy run 0 sweep --param b=0.4,0.5 --repeat 1 --db g.db -- sleep {b}
for column in 'GPU%' 'GPU(GB)' 'Power(W)'; do out "$column"; done
LD_LIBRARY_PATH=$WORK/fake_lib RL_FAKE_NVML_SCRIPT=healthy run 0 sweep --param b=0.4 --repeat 1 --fresh --db g.db --json -- sleep {b}
json '.trials[0].outcome.metrics | has("gpu_busy") and has("gpu_power_w") and has("gpu_memory_gb")' true
json '.trials[0].outcome.metrics.gpu_busy > 0' true

# Spread over GPUs of one model: each command sees one of them.
export LD_LIBRARY_PATH=$WORK/fake_lib RL_FAKE_NVML_SCRIPT=healthy RL_FAKE_NVML_NAMES="NVIDIA A,NVIDIA A"
run 0 sweep --param b=0.1,0.12,0.14,0.16,0.18,0.2,0.22,0.24 --repeat 2 --devices all --spread --db spread.db --trials-dir spread --json -- \
  sh -c 'echo "sees $CUDA_VISIBLE_DEVICES"; sleep {b}'
json '.device_id' "gpu:GPU-fake-0|GPU-fake-1"
json '.trials | length' 16
json '.notes | length' 1
grep -rhq "sees GPU-fake-0" spread || problem "no command saw the first GPU only"
grep -rhq "sees GPU-fake-1" spread || problem "no command saw the second GPU only"
bad "--spread: " "--devices" -- sweep --param b=1 --spread -- echo {b}
unset LD_LIBRARY_PATH RL_FAKE_NVML_SCRIPT RL_FAKE_NVML_NAMES

# History knows sweeps and training benchmarks too.
run 0 bench --model synthetic:noise=0.005 --batch-sizes 64 --num-workers 0 --amp off --pin-memory off --db r.db --no-diagnosis --stability-run 0
run 0 history --db r.db
out "sweep"
out "bench"
run 0 history --db r.db --json
json '[.[] | select(.kind == "sweep")] | length > 3' true
json '[.[] | select(.kind == "bench")] | length' 1
id=$(jq -r '[.[] | select(.kind == "sweep")][0].id' <"$WORK/out")
run 0 sweep --show "$id" --db r.db

# Mistakes
bad "no command given" "--param" -- sweep --param b=1
bad "\"echo\" is not an option of sweep" "after --" -- sweep --param b=1 echo {b}
bad "placeholder {batch} is no parameter" "did you mean \"bach\"" -- sweep --param bach=1 -- echo {batch}
bad "--param b: neither command nor --env has {b}" -- sweep --param b=1 -- echo
bad "expected NAME=VALUE" -- sweep --param b -- echo {b}
bad "value 1 is given twice" -- sweep --param b=1,1 -- echo {b}
bad "--param b is given twice" -- sweep --param b=1 --param b=2 -- echo {b}
bad "program no-such-program: not found in PATH" -- sweep --param b=1 -- no-such-program {b}
bad "program ./nothing" "no such file" -- sweep --param b=1 -- ./nothing {b}
bad "no objective: name the metric" "max:loss" -- sweep --param b=1 --metric loss=json:loss -- echo {b}
bad "did you mean \"seconds\"" -- sweep --param b=1 --objective min:secnds -- echo {b}
bad "expected max:METRIC or min:METRIC" -- sweep --param b=1 --objective seconds -- echo {b}
bad "is no regular expression" -- sweep --param b=1 --metric 'x=([' --objective max:x -- echo {b}
bad "is measured anyway" -- sweep --param b=1 --metric seconds=x -- echo {b}
bad "1e+06 combinations" "--search adaptive" -- sweep --param a=0,1,2,3,4,5,6,7,8,9 --param b=0,1,2,3,4,5,6,7,8,9 --param c=0,1,2,3,4,5,6,7,8,9 \
  --param d=0,1,2,3,4,5,6,7,8,9 --param e=0,1,2,3,4,5,6,7,8,9 --param f=0,1,2,3,4,5,6,7,8,9 -- echo {a}{b}{c}{d}{e}{f}
bad "--repeat 0" "from 1" -- sweep --param b=1 --repeat 0 -- echo {b}
bad "--timeout" -- sweep --param b=1 --timeout never -- echo {b}
bad "--env WORD" "NAME=VALUE" -- sweep --param b=1 --env WORD -- echo {b}
bad "--depends gone.py" "no such file" -- sweep --param b=1 --depends gone.py -- echo {b}
bad "did you mean \"grid\"" -- sweep --param b=1 --search grd -- echo {b}
bad "missing.yaml: no such file" "use --config" -- sweep --param b=1 --apply missing.yaml -- echo {b}
printf 'b: &x 1\nc: *x\n' >anchor.yaml
bad "anchor.yaml:1" "--apply-to b=PATH" -- sweep --param b=1 --apply anchor.yaml -- echo {b}
printf 'a:\n  b: 1\nc:\n  b: 2\n' >twice.yaml
bad "twice.yaml" "several places" "--apply-to" -- sweep --param b=1 --apply twice.yaml -- echo {b}
bad "--apply-to x=y" "no parameter" -- sweep --param b=1 --apply twice.yaml --apply-to x=y -- echo {b}
bad "--dry-run" "--config FILE" -- sweep --param b=1 --dry-run -- echo {b}
bad "does not exist" -- sweep --param b=1 --output nowhere/r.md -- echo {b}
bad "run 1999 is not in" -- sweep --show 1999 --db r.db
[ ! -e "$XDG_STATE_HOME/ridgeline/ridgeline.db" ] || problem "a mistake left a results file behind"
finish
