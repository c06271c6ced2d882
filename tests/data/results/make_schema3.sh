#!/usr/bin/env bash
# Made schema3.db beside this script with the `ridgeline` of commit 64c6e21, the last release line to write schema 3.
#   make_schema3.sh RIDGELINE MODELS ORT_LIBRARY     (writes schema3.db into the current folder)
set -euo pipefail
ridgeline=$1 models=$2 ort=$3 out=$PWD/schema3.db
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
quick=(--quick --trial-time 100ms --runs 60 --config config.yaml --no-apply --db results.db --quiet)
run tune synthetic:surface=tiny,noise=0.02 "${quick[@]}"
run tune synthetic:surface=tiny,noise=0.02 "${quick[@]}" --accuracy-tolerance 0.01 --fresh --seed 2
run tune synthetic:surface=flat "${quick[@]}"
run tune cls.onnx --shape x:1x3x48x192 --ort-library ort --space space.yaml "${quick[@]}"
run tune synthetic:surface=tiny --provider cpu --constraint 'latency_p99_ms<=0.0001' "${quick[@]}"
results=(--db results.db --quiet)
run bench --model synthetic:noise=0.005 --batch-sizes 64 128 --num-workers 0 2 --amp off "${results[@]}"
run bench --model synthetic:memory_gb=8,sample_gb=0.03 --batch-sizes 64 128 256 512 --num-workers 2 --amp off --pin-memory on --search grid "${results[@]}"
run bench --model synthetic:fault=shape --batch-sizes 64 --num-workers 2 "${results[@]}"
run sweep --param b=16,64,128 --param w=0,2 --metric 'samples_per_s=speed: ([0-9.]+)' --objective max:samples_per_s "${results[@]}" -- \
  sh -c 'echo "speed: $(({b} * 10 + {w} * 100))"; [ {b} -lt 128 ] || { echo "MemoryError: no room" >&2; exit 1; }'
run sweep --param n=1,2 --repeat 1 --metric-file out.txt --objective min:cost "${results[@]}" -- sh -c 'echo cost {n} > out.txt'
timeout -s INT 3 "$ridgeline" sweep --param s=0.2,5 --repeat 2 "${results[@]}" -- sleep {s} || echo "  interrupted"
python3 -c "
import sqlite3
db = sqlite3.connect('results.db', isolation_level=None)
db.execute('PRAGMA wal_checkpoint(TRUNCATE)')
db.execute('VACUUM')"
cp results.db "$out"
ls -l "$out"
