#!/usr/bin/env bash
# Ctrl-C keeps what was found, kill -9 loses at most the running trial, runs share one file and keep their figures.
source "$(dirname "$0")/lib.sh"
S='synthetic:surface=conv,clock=real,base=2ms'
SLOW=(--quick --time 400ms --search grid --db r.db --json
  --space space.yaml)
printf 'parameters:\n  intra_op_num_threads: [1, 2, 3]\n  graph_optimization_level: [basic, all]\nonly_listed: true\n' >space.yaml
"$RIDGELINE" tune "$S" "${SLOW[@]}" >first.json 2>first.err &
pid=$!
for _ in $(seq 200); do [ "$(grep -c '^\[' first.err)" -ge 2 ] && break; sleep 0.1; done
kill -INT $pid
wait $pid
code=$?
checks=$((checks + 1))
[ $code -eq 130 ] || problem "interrupted run: exit code $code"
[ "$(jq -r .run.interrupted first.json)" = true ] || problem "not marked as interrupted: $(head -c 300 first.json)"
"$RIDGELINE" tune "$S" "${SLOW[@]}" >/dev/null 2>second.err &
pid=$!
for _ in $(seq 200); do [ "$(grep -c '^\[' second.err)" -ge 4 ] && break; sleep 0.1; done
workers=$(pgrep -P $pid)   # of this run: other tests have workers of their own
kill -KILL $pid
wait $pid 2>/dev/null
sleep 0.5
checks=$((checks + 2))
[ -n "$workers" ] || problem "the run had no worker"
for worker in $workers; do   # a zombie is dead; who reaps it is the system's affair
  grep -qE '^State:[[:space:]]+[^ZX[:space:]]' "/proc/$worker/status" 2>/dev/null && problem "a worker outlived its parent"
done
run 0 tune "$S" "${SLOW[@]}"
json '[.trials[] | select(.cached)] | length >= 3' true
json '.verdict != null' true
# Two at once
for i in 1 2; do "$RIDGELINE" tune "synthetic:surface=conv,seed=$i" --quick --time 100ms --db both.db --json >both$i.json 2>both$i.err & done
wait
for i in 1 2; do
  checks=$((checks + 1))
  [ "$(jq -r '.verdict != null' both$i.json)" = true ] || problem "concurrent run $i: $(cat both$i.err | tail -3)"
done
# A trial that is measured again leaves earlier runs as they were.
AGAIN=('synthetic:surface=flat,clock=real,base=1ms' --quick --time 100ms --db again.db --json --search grid --space space.yaml)
run 0 tune "${AGAIN[@]}"
cp "$WORK/out" before.json
sleep 1.1   # times are kept to the second
run 0 tune "${AGAIN[@]}" --fresh
run 0 show "$(jq -r .run.id before.json)" --db again.db --json
checks=$((checks + 1))
[ "$(jq -S .trials before.json)" = "$(jq -S .trials "$WORK/out")" ] || problem "another run changed the figures of an earlier one"
run 0 history --db both.db --ids
checks=$((checks + 1))
[ "$(wc -l <"$WORK/out")" -eq 2 ] || problem "expected two runs"
finish
