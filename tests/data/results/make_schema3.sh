#!/usr/bin/env bash
# Made schema3.db beside this script with `ridgeline` of commit 64c6e21, the last to write store schema 3.
#   make_schema3.sh RIDGELINE MODELS ORT_LIBRARY     (writes schema3.db into the current folder)
set -euo pipefail
ridgeline=$1 models=$2 ort=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work XDG_STATE_HOME=$work XDG_CACHE_HOME=$work NO_COLOR=1
db=$PWD/schema3.db
rm -f "$db"
cd "$work"
cat >config.yaml <<'Y'
onnxruntime:
  intra_op_num_threads: 1
  graph_optimization_level: basic
Y
run() { echo "+ $*"; "$ridgeline" "$@" --db "$db" --quiet </dev/null || echo "  exit code $?"; }
run tune synthetic:surface=tiny,noise=0.02 --config config.yaml --quick --trial-time 200ms
run tune synthetic:surface=tiny,noise=0.02 --config config.yaml --quick --trial-time 200ms --accuracy-tolerance 0.01 --fresh --seed 2
run tune synthetic:surface=flat --config config.yaml --quick --trial-time 200ms
run tune "$models/ch_ppocr_mobile_v2.0_cls_infer.onnx" --shape x:1x3x48x192 --ort-library "$ort" --config config.yaml --quick --trial-time 200ms \
  --space <(printf 'parameters:\n  intra_op_num_threads: [1, 2]\n  graph_optimization_level: [basic, all]\nonly_listed: true\n')
run tune synthetic:surface=tiny --provider cpu --constraint 'latency_p99_ms<=0.0001' --quick --trial-time 200ms
run bench --model synthetic:noise=0.005 --batch-sizes 64 128 256 --num-workers 0 2
run bench --model synthetic:memory_gb=8,sample_gb=0.03 --batch-sizes 64 128 256 512 --num-workers 2 --amp off --pin-memory on --search grid
run bench --model synthetic:fault=shape --batch-sizes 64 --num-workers 2
run sweep --param b=16,64,128 --param w=0,2 --metric 'samples_per_s=speed: ([0-9.]+)' --objective max:samples_per_s --folder sweeps -- \
  sh -c 'echo "speed: $(({b} * 10 + {w} * 100))"; [ {b} -lt 128 ] || { echo "MemoryError: no room" >&2; exit 1; }'
run sweep --param n=1,2 --repeat 1 --metric-file out.txt --objective min:cost -- sh -c 'echo cost {n} > out.txt'
timeout -s INT 3 "$ridgeline" sweep --param s=0.2,5 --repeat 2 --db "$db" --quiet -- sleep {s} || echo "  interrupted: exit code $?"
sqlite3 "$db" 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null 2>&1 || python3 -c "
import sqlite3, sys
c = sqlite3.connect('$db'); c.execute('PRAGMA wal_checkpoint(TRUNCATE)'); c.close()"
ls -l "$db"
