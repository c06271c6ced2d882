#!/usr/bin/env bash
# Made schema4.db beside this script with the `ridgeline` of commit 740a4aab, the last whose records hold prose: runs of every kind,
# with failures of every class.
#   make_schema4.sh RIDGELINE SOURCE MODELS ORT_LIBRARY     (writes schema4.db into the current folder)
# schema4_shown.tar.xz has what that program shows of them: RUN.json of `show RUN --json`, RUN.md of `report RUN --output RUN.md`.
set -euo pipefail
ridgeline=$1 source=$2 models=$3 ort=$4 out=$PWD/schema4.db
work=/tmp/ridgeline-results  # stands in the records
rm -rf "$work"
mkdir "$work"
trap 'rm -rf "$work"' EXIT
export HOME=$work XDG_STATE_HOME=$work XDG_CACHE_HOME=$work NO_COLOR=1
cd "$work"
cp "$models/ch_ppocr_mobile_v2.0_cls_infer.onnx" cls.onnx
cp -rL "$ort" ort
cat >config.yaml <<'Y'
onnxruntime:
  intra_op_num_threads: 1
  graph_optimization_level: basic
Y
printf 'parameters:\n  intra_op_num_threads: [1, 2]\n  graph_optimization_level: [basic, all]\nonly_listed: true\n' >space.yaml
run() {
  echo "+ $*"
  "$ridgeline" "$@" </dev/null || echo "  exit code $?"
}
results=(--db results.db --quiet)
quick=(--quick --trial-time 100ms --runs 60 --config config.yaml --no-apply "${results[@]}")

# tune: change, keep, undecided, simulated faults of each class, a broken constraint, wrong outputs, a real model.
run tune synthetic:surface=tiny,noise=0.02 "${quick[@]}"
run tune synthetic:surface=flat "${quick[@]}"
run tune 'synthetic:surface=conv,fault=segv@measure if intra_op_num_threads=1,fault=oom@create_session if enable_cpu_mem_arena=false,fault=unsupported if execution_mode=parallel,fault=invalid if graph_optimization_level=basic,fault=fail if enable_mem_pattern=false' \
  --db results.db --quiet --trial-time 50ms --max-time 4m --no-apply --search random --seed 3
run tune 'synthetic:surface=conv,accuracy=0.2 if graph_optimization_level=all,fault=hang@measure if intra_op_num_threads=2,noise=3%,absent_cores=1,duty=40%' \
  --db results.db --quiet --trial-time 50ms --max-time 3m --no-apply --config config.yaml
run tune 'synthetic:surface=conv,accuracy=0.2 if graph_optimization_level=all' --accuracy-tolerance 0.01 --space space.yaml "${quick[@]}"
run tune synthetic:surface=tiny --constraint 'latency_p99_ms<=0.0001' "${quick[@]}"
run tune synthetic:fault=fail "${quick[@]}"
run tune cls.onnx --shape x:1x3x48x192 --ort-library ort --space space.yaml "${quick[@]}"
run tune cls.onnx --shape x:1x3x48x192 --ort-library ort --objective throughput --quick --trial-time 100ms --max-time 15s --no-apply "${results[@]}"
# bench: answers, no room, a failing set-up, each code of a finding that a simulation has.
run bench --model synthetic:noise=0.005 --batch-sizes 64 128 --num-workers 0 2 --amp off "${results[@]}"
run bench --model synthetic:memory_gb=8,sample_gb=0.03 --batch-sizes 64 128 256 512 --num-workers 2 --amp off --pin-memory on --search grid "${results[@]}"
run bench --model synthetic:fault=shape --batch-sizes 64 --num-workers 2 "${results[@]}"
run bench --model synthetic:fault=segv --batch-sizes 64 128 --num-workers 2 "${results[@]}"
# sweep: an answer, failures, a limit, an interruption, no numbers.
run sweep --param b=16,64,128 --param w=0,2 --metric 'samples_per_s=speed: ([0-9.]+)' --objective max:samples_per_s "${results[@]}" -- \
  sh -c 'echo "speed: $(({b} * 10 + {w} * 100))"; [ {b} -lt 128 ] || { echo "MemoryError: no room" >&2; exit 1; }'
run sweep --param n=1,2,3 --repeat 1 --metric-file out.txt --objective min:cost "${results[@]}" -- \
  sh -c '[ {n} != 3 ] || kill -SEGV $$; [ {n} = 2 ] || echo cost {n} > out.txt'
run sweep --param s=0.1,5 --repeat 1 --timeout 2s "${results[@]}" -- sleep {s}
timeout -s INT 3 "$ridgeline" sweep --param s=0.2,5 --repeat 2 "${results[@]}" -- sleep {s} || echo "  interrupted"
# profile: a model that is run, a trace of PyTorch, one that was cut.
run profile cls.onnx --shape x:1x3x48x192 --ort-library ort --db results.db
for trace in "$source"/tests/data/traces/*.json*; do run profile import "$trace" --db results.db; done
# stream: files, and a load that the machine cannot keep up with.
run stream run --source synthetic:64x48x20 --model cls.onnx --ort-library ort --output frames.jsonl --db results.db
run stream bench --source synthetic:64x48 --model cls.onnx --ort-library ort --rate 20 --time 3s --slo 500ms --db results.db
run stream bench --source synthetic:640x480 --model cls.onnx --ort-library ort --rate 3000 --time 2s --slo 1s --db results.db
run history --db results.db
python3 -c "
import sqlite3
db = sqlite3.connect('results.db', isolation_level=None)
db.execute('PRAGMA wal_checkpoint(TRUNCATE)')
db.execute('PRAGMA journal_mode = DELETE')
db.execute('VACUUM')"
cp results.db "$out"
ls -l "$out"
