#!/usr/bin/env bash
# Every mistake on the command line is one clear line, exit code 2, and leaves nothing behind.
source "$(dirname "$0")/lib.sh"
S=synthetic:base=1ms
# An output is never written over what the same command reads, or another of its outputs.
printf 'print(1)\n' >train.py && cp train.py kept.py && printf 'a: 1\n' >c.yaml && printf '{}' >t.json
bad "--json train.py" "as an input" -- profile --json=train.py -- python3 train.py
bad "--report ./train.py" "as an input" -- profile --report=./train.py -- python3 train.py
bad "--output c.yaml" "as an input" -- stream run --source synthetic:64x64 --model null --config c.yaml --output c.yaml
bad "--output train.py" "as an input" -- bench --python train.py:make --output train.py
bad "--chrome t.json" "as an input" -- profile import t.json --chrome t.json
bad "--live-json x.jsonl" "--output x.jsonl" "two outputs in one file" -- stream run --source synthetic:64x64 --model null --output x.jsonl --live-json x.jsonl
bad "--report ./x.md" "two outputs in one file" -- stream run --source synthetic:64x64 --model null --output x.md --report ./x.md
checks=$((checks + 1))
cmp -s train.py kept.py || problem "train.py was changed"
bad "a folder, expected a trace" -- profile import .
bad "no model given" "ridgeline tune model.onnx" -- tune
bad "two models" "a.onnx" "b.onnx" -- tune a.onnx --model b.onnx
bad "--runs 0" "expected a whole number from 1" -- tune $S --runs 0
bad "--runs -5" "expected a whole number" -- tune $S --runs=-5
bad "--runs 99999999999999999999" "expected a whole number" -- tune $S --runs 99999999999999999999
bad "--runs 1.5" "expected a whole number" -- tune $S --runs 1.5
bad "--warmup -1" "expected a whole number from 0" -- tune $S --warmup=-1
bad "--seed x" "expected a whole number" -- tune $S --seed x
bad "--max-time" "soon" -- tune $S --max-time soon
bad "--max-time" -- tune $S --max-time=-5m
bad "--min-effect" "lots" -- tune $S --min-effect lots
bad "--min-effect 2" "expected a share" -- tune $S --min-effect 2
bad "--accuracy-tolerance" "expected a number above 0" -- tune $S --accuracy-tolerance=-1
bad "--provider" "\"cdua\"" "did you mean \"cuda\"" -- tune $S --provider cdua
bad "--provider" "\"gpu\"" "did you mean \"cuda\"" -- tune $S --provider gpu
bad "--max-time 0: expected a duration of at least 1s" -- tune $S --max-time 0
bad "--search" "\"adaptve\"" "did you mean \"adaptive\"" -- tune $S --search adaptve
bad "--objective" "\"speed\"" "latency" -- tune $S --objective speed
bad "--constraint" "latency_p99_s" "latency_p99_ms" -- tune $S --constraint 'latency_p99_s<=20'
bad "--runs 999" "at least 1000" -- tune $S --objective p99 --runs 999
bad "latency_p99_ms<=-3" "expected a number above 0" -- tune $S --constraint 'latency_p99_ms<=-3'
bad "gpu_memory_gb<=4" "provider cpu" "leave it out" -- tune $S --provider cpu --constraint 'gpu_memory_gb<=4' --db c.db
bad "20mb" "no unit of latency_p99_ms; expected ms, us" -- tune $S --constraint 'p99<=20mb'
bad "intra_op_num_treads" "did you mean \"intra_op_num_threads\"" -- tune $S --set intra_op_num_treads=4
bad "graph_optimization_level" "fastest" -- tune $S --set graph_optimization_level=fastest
bad "intra_op_num_threads" "many" -- tune $S --set intra_op_num_threads=many
bad "key=value" -- tune $S --set intra_op_num_threads
bad "--batch 0" "expected a whole number from 1" -- tune $S --batch 0
bad "--batch 1,4" "--objective throughput" -- tune $S --batch 1,4
bad "--shape 1x3" "NAME:" -- tune $S --shape 1x3
bad "--shape x:1x-3" "1 to" -- tune $S --shape x:1x-3
bad "--input x" "NAME:" -- tune $S --input x
bad "--input x=foo" "NAME=VALUE" -- tune model.onnx --input x=foo
bad "--input x=1..b" "LOW..HIGH" -- tune model.onnx --input x=1..b
bad "--input x=ones" "already read from a.npy" -- tune model.onnx --input x:a.npy --input x=ones
bad '"a:0"=2' "a:0 is already 1" -- profile model.onnx --input '"a:0"=1' --input '"a:0"=2'
bad "--input x:b.npy" "already read from a.npy" -- tune model.onnx --input x:a.npy --input x:b.npy
bad "--set cudnn_conv_algo_search=HEURISTIC: provider cpu has no such setting" "leave it out" -- \
  tune $S --provider cpu --set cudnn_conv_algo_search=HEURISTIC --db c.db
bad "--apply" "--config" -- tune $S --apply
bad "exclude each other" -- tune $S --config c.yaml --apply --dry-run
bad "--output" "does not exist" -- tune $S --output nowhere/report.md
bad "--output ." "is a folder" -- tune $S --output .
bad "--output /dev/full" "not a regular file" -- tune $S --output /dev/full --db c.db
bad "surfac" "surface" -- tune synthetic:surfac=conv
bad "base" "fast" -- tune synthetic:base=fast

bad "--batch 4" "batch_size is pinned to 2" -- tune $S --batch 4 --set batch_size=2
bad "--batch 1,,4" "a number is missing" -- tune $S --batch 1,,4 --objective throughput
bad "--space nowhere.yaml" "expected a YAML file" "classic" -- tune $S --space nowhere.yaml
printf 'constraints:\n  - "latency_median_ms <= 5"\n' >measured.yaml
bad "measured.yaml:2:" "give it as --constraint" -- tune $S --space measured.yaml
bad "--provenance" "--config" -- tune $S --provenance
bad "--config-section" "--config" -- tune $S --config-section foo
bad "--quiet" "--verbose" -- tune $S -v -q
bad "--ort-library /nonexistent" "simulated" -- tune $S --ort-library /nonexistent
bad "--runtime /nonexistent" "simulated" -- tune $S --runtime /nonexistent
bad "--ep-library /none.so:Some" "no file /none.so" "FILE:NAME" -- tune model.onnx --ep-library /none.so:Some
bad "--input x:a.npy" "simulated" -- tune $S --input x:a.npy
bad "--trials 5" "the search is adaptive" "--search random" -- tune $S --trials 5
bad "--trials 5" "the search is quick" -- tune $S --trials 5 --quick

# An empty value is an unset shell variable, never "not given".
for option in --db --output --config --space --report --ort-library --runtime --ep-library --max-time --batch --set; do
  bad "$option '': the value is empty" "or leave $option out" -- tune $S "$option" ''
  bad "$option '': the value is empty" -- tune $S "$option="
done
bad "--db '': the value is empty" "expected FILE" -- history --db ''
bad "--config '': the value is empty" -- rollback --config ''
bad "--json, --markdown and --keys exclude each other" -- params --markdown --json
bad "--json, --markdown and --keys exclude each other" -- params --keys --json
bad "intra_op_num_threads: --markdown lists all parameters" -- params intra_op_num_threads --markdown

# Models
bad "missing.onnx" -- tune missing.onnx
: >empty.onnx
bad "empty.onnx" "empty" -- tune empty.onnx
head -c 4000 /dev/zero | tr '\0' 'x' >rubbish.onnx
bad "rubbish.onnx" "ONNX" -- tune rubbish.onnx
mkdir folder.onnx
bad "folder.onnx" -- tune folder.onnx
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n' >pointer.onnx
bad "pointer.onnx" "git lfs pull" -- tune pointer.onnx
bad "cuda" "--provider cpu" -- tune $S --provider cuda

# Space files
printf 'parameters:\n  intra_op_num_treads: [1]\n' >space.yaml
bad "space.yaml:2" "did you mean \"intra_op_num_threads\"" -- tune $S --space space.yaml
printf 'parameters: [1\n' >space.yaml
bad "space.yaml:" -- tune $S --space space.yaml
printf 'constraints: ["intra_op_num_threads <= 0 + 0", "intra_op_num_threads >= 5"]\n' >space.yaml
bad "constraint" -- tune $S --space space.yaml --db x.db
printf 'only_listed: true\n' >space.yaml
bad "--space space.yaml" "nothing would be searched" -- tune $S --space space.yaml --db x.db
bad "nowhere.yaml" -- tune $S --space nowhere.yaml
bad "did you mean \"classic\"" "one of: classic" -- tune $S --space clasic
bad "space \"classic\"" "the provider is cpu" -- tune $S --provider cpu --space classic --db x.db

# A constraint that nothing meets is an answer too, and a bad one.
run 1 tune $S --quick "${FAST[@]}" --constraint 'latency_median_ms<=0.0001' --db y.db
out "latency_median_ms"
err "no recommendation: no configuration meets the constraints"
err "loosen --constraint"

# A trial that hangs ends with --max-time, long before its own 60 s, and is nothing that a second run would reuse.
hung=(tune "$S,fault=hang@measure" --max-time 2s --db y.db)
begun=$SECONDS
run 1 "${hung[@]}"
checks=$((checks + 1))
[ $((SECONDS - begun)) -lt 30 ] || problem "it took $((SECONDS - begun)) s"
err "no recommendation: --max-time of 2 s was over before any configuration was measured"
err "in phase measure, in which nothing had moved for"
err "a longer --max-time"
run 1 "${hung[@]}" --json
json '.trials | length' 0

bad "run" "nonsense" -- show nonsense --db y.db
bad "RUN" -- report
bad "no runs" -- show --db z.db
bad "--limit 0" -- history --limit 0
checks=$((checks + 1))
leftovers=$(find . -name '*.bak*' -o -name '*.tmp*' -o -name 'report*' -o \( -name '*.db' ! -name y.db \) | head)
[ -z "$leftovers" ] || problem "left behind: $leftovers"
finish
