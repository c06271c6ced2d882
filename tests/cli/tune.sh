#!/usr/bin/env bash
# A whole run on the simulated workload: search, failures, verdict, reports, JSON.
source "$(dirname "$0")/lib.sh"
S='synthetic:surface=conv,noise=1%,slowdown=100% if graph_optimization_level=all,fault=segv@measure if intra_op_num_threads=1,fault=oom@create_session if enable_cpu_mem_arena=false'
run 0 tune "$S" "${FAST[@]}" --report report.md --report report.html --db r.db --seed 3
out "graph_optimization_level"
out "report.md"
out "report.html"
err "crashed"
err "out_of_memory"
checks=$((checks + 1))
grep -q 'graph_optimization_level' report.md || problem "the report does not name the winner"
grep -q 'crashed' report.md || problem "the report does not list the crash"
[ "$(grep -cE '(src|href)="?https?:' report.html)" -eq 0 ] || problem "the HTML report needs the network"
# What it will take is told before it begins, with what makes it shorter.
told() { checks=$((checks + 1)); tr -s '\n ' ' ' <"$WORK/err" | grep -qF -- "$1" || problem "$LAST: \"$1\" was not told"; }
run 0 tune synthetic:base=1ms "${FAST[@]}" --db time.db
told "; --quick gives a first answer sooner, --max-time 5m limits it"
run 0 tune synthetic:base=1ms "${FAST[@]}" --quick --max-time 1m --db time.db
told "at most 60s (--max-time): about "
told " (--quick), then up to "
told "minus cached results"
# Options in a file.
printf 'quick: true\ntime: 200ms\nset: ["execution_mode=sequential", "intra_op_num_threads=2"]\nquiet: false\n' >options.yaml
run 0 tune synthetic:base=1ms --options options.yaml --db options.db
err "search quick"
run 0 tune synthetic:base=1ms --options options.yaml --db options.db --json
json 'any(.trials[]; .configuration.intra_op_num_threads == 2) and all(.trials[]; .configuration.intra_op_num_threads != 1)' true
# Options by the names that they had before, for one version.
former=--no-contributions
run 0 tune synthetic:base=1ms "${FAST[@]}" --quick $former --db former.db
err "note: $former is now --no-ablation"
printf 'quick: true\nno_contributions: true\n' >former.yaml
run 0 tune synthetic:base=1ms "${FAST[@]}" --options former.yaml --db former.db
err "note: $former is now --no-ablation"
# JSON stands alone on standard output.
run 0 tune "$S" "${FAST[@]}" --db r.db --seed 3 --json
json '.verdict.decision' change
json '.verdict.gain.interval[0] > 1' true
json '.trials | length > 3' true
# What the configuration is to blame for is known; a crash is tried again.
json '[.trials[] | select((.cached | not) and .status != "crashed")] | length' 0
json '[.trials[] | select(.status == "crashed")] | length > 0 and all(.cached | not)' true
run 0 show --db r.db
out "graph_optimization_level"
run 0 show --db r.db --json
json '.verdict.decision' change
run 0 report latest --db r.db
out "# "
run 0 history --db r.db
out "change"
run 0 rerun 1 --db r.db
out "ratio"
# Strategies
for search in grid quick 'random --trials 6' adaptive; do
  # shellcheck disable=SC2086
  run 0 tune synthetic:base=1ms "${FAST[@]}" --search $search --db s.db --json \
    --space <(printf 'parameters:\n  intra_op_num_threads: [1, 2]\n  graph_optimization_level: [basic, all]\nonly_listed: true\n')
done
# One configuration against the current one.
run 0 tune 'synthetic:surface=flat,slowdown=50% if graph_optimization_level!=basic' "${FAST[@]}" --search grid --db one.db --json \
  --space <(printf 'fixed: {graph_optimization_level: basic}\nonly_listed: true\n')
json '[.trials[].configuration] == [{"graph_optimization_level": "basic"}, {}]' true
json '.verdict.decision' change
# What each of two settings contributes, unless that is not wanted.
both='synthetic:surface=flat,slowdown=50% if graph_optimization_level!=basic,slowdown=50% if enable_mem_pattern!=false'
two=$'parameters:\n  graph_optimization_level: [basic]\n  enable_mem_pattern: [false]\nonly_listed: true\n'
run 0 tune "$both" "${FAST[@]}" --search grid --space <(printf '%s' "$two") --db both.db --json
json '[.comparisons[] | select(.purpose == "leave_one_out")] | length' 2
run 0 tune "$both" "${FAST[@]}" --search grid --space <(printf '%s' "$two") --db both.db --json --no-ablation
json '.verdict.changed | length' 2
json '[.comparisons[].purpose] | unique | join(" ")' finalist
# Ranked only, for those who want the measurements.
run 0 tune "$both" "${FAST[@]}" --search grid --space <(printf '%s' "$two") --db ranked.db --json --no-comparisons
json '.verdict.decision' none
json '.comparisons | length' 0
json '.verdict.reason.text | test("ranks first .*without --no-comparisons")' true
bad "--no-comparisons: --quick needs a recommendation" "leave one of them out" -- tune "$both" --quick --no-comparisons --db ranked.db
run 0 tune synthetic:surface=flat "${FAST[@]}" --quick --db flat.db --json
json '.verdict.decision' keep
# Every trial in a process of its own gives the same kind of answer.
run 0 tune synthetic:base=1ms "${FAST[@]}" --quick --isolation trial --db i.db --json
json '.verdict != null' true
# Throughput may change the number of sessions.
run 0 tune synthetic:surface=conv "${FAST[@]}" --objective throughput --batch 8,2,8 --quick --db u.db --json
json '[.space[] | select(.key == "batch_size") | .values] | tojson' '[[2,8]]'
run 0 tune synthetic:surface=conv "${FAST[@]}" --objective throughput --quick --db t.db --json
checks=$((checks + 1)) # whatever number of trials is planned, their columns stay under each other
awk '/^\[ *[0-9]+\/[0-9]+\]/ { lines++; match($0, /\] +/); column[RSTART + RLENGTH] }
  END { exit !(lines > 8 && length(column) == 1) }' "$WORK/err" || problem "$LAST: trials are not in columns"
json '.run.objective' throughput
# An accuracy fault is rejected, not recommended.
run 0 tune 'synthetic:surface=flat,slowdown=100% if graph_optimization_level!=basic,accuracy=20% if graph_optimization_level=basic' \
  "${FAST[@]}" --search grid --space <(printf 'parameters:\n  graph_optimization_level: [basic, all]\nonly_listed: true\n') --db a.db --json
json '[.trials[] | select(.status == "rejected_accuracy")] | length > 0' true
json '.verdict.decision' keep
run 2 tune synthetic:surface=conv,fault=oom --db oom.db
err "Failed to allocate"
err "free memory, give a smaller --shape"
# The failures of docs/synthetic.md's example are seen on any machine.
example=$(sed -n "s/^ridgeline tune '\(synthetic:fault=[^']*\)'.*/\1/p" "$SOURCE/docs/synthetic.md")
run 0 tune "$example" "${FAST[@]}" --quick --db fault.db --json
json '[.trials[].status] | index("crashed") != null and index("out_of_memory") != null' true
# A change without a gain, as what is in use cannot run, is a change in the history too.
printf 'onnxruntime:\n  intra_op_num_threads: 1\n' > crashing.yaml
run 0 tune 'synthetic:fault=segv@measure if intra_op_num_threads=1' "${FAST[@]}" --config crashing.yaml --dry-run --quick --db change.db --json
json '.verdict.decision == "change" and .verdict.gain == null' true
run 0 history --db change.db
no_out "no recommendation"
# By the 99th percentile only trials are judged whose samples hold one.
run 0 tune synthetic:base=1ms --objective p99 --runs 1000 --quick --db p99.db --json
json '[.ranking[] | select((.p99_ns == null) != (.value == null))] | length' 0
json '(.comparisons | length > 0) and ([.comparisons[].percentile] | all(. == 99))' true
json '[.ranking[] | select(.trial_id == 1) | .value] | length' 1
run "0|4" tune synthetic:base=20ms --objective p99 --max-time 40s --db p99.db --json
json '(.comparisons | length > 0) and ([.comparisons[].percentile] | all(. < 99))' true
run 0 rerun 1 --db p99.db
out "ratio"
checks=$((checks + 1))
! grep -q ': inconclusive$' "$WORK/out" || problem "a comparison without a reason why it is inconclusive"
run 1 tune synthetic:base=20ms --objective p99 --time 1s --quick --db p99.db
err "of the 1000 samples"
# A limit on a percentile is decided: trials take the samples for it, however few the median needs.
for limit in latency_p90_ms:100 latency_p95_ms:200 latency_p99_ms:300; do
  run 0 tune synthetic:base=20ms --constraint "${limit%:*}<=1000" --quick --db limit.db --json
  json '.plan.min_runs' "${limit#*:}"
  json '[.ranking[] | select(.trial_id == 1) | .meets_constraints] | tojson' '[true]'
done
run 0 tune synthetic:base=20ms --constraint 'latency_p90_ms<=1000' --constraint 'latency_p95_ms<=1000' --quick --db limit.db --json
json '.plan.min_runs' 200
# What an uneven machine did is told, in the terminal, the report and the JSON.
run 0 tune 'synthetic:surface=conv,noise=5%,drift=50%,drift_period=10s' --db uneven.db --output uneven.md
err "the machine's speed varied: "
err "measured again"
cp "$WORK/err" live
run 0 show latest --db uneven.db --json
json '[.trials[].takes] | max > 1' true
# A trial has one median: the last one on the screen is the one of the ranking, also where it was measured again.
while read -r trial nanoseconds; do
  checks=$((checks + 1))
  awk -v id="$trial" -v ns="$nanoseconds" '$0 ~ "^\\[ *" id "/" { sub(/^\[ *[0-9]+\/[0-9]+\] *[a-z]+ */, ""); shown = $1 * ($2 == "ms" ? 1e6 : $2 == "s" ? 1e9 : 1e3) }
    END { off = shown / ns; exit !(off > 0.99 && off < 1.01) }' live || problem "trial $trial: $nanoseconds ns, on the screen $(grep "^\[ *$trial/" live)"
done < <(jq -r '.ranking[] | select(.median_ns) | "\(.trial_id) \(.median_ns)"' out)
checks=$((checks + 1))
grep -q "The machine's speed varied: work took up to" uneven.md || problem "the report does not tell of the machine"
run 0 tune 'synthetic:surface=conv,noise=5%,drift=50%,drift_period=10s' --db uneven.db --json
json '.speed == null or (.speed.tracks | length) == 1' true
json '[.trials[] | select(.corrected != null)] | length > 5' true
# Quiet is quiet.
run 0 tune synthetic:base=1ms "${FAST[@]}" --quick --db q.db -q
checks=$((checks + 1))
[ ! -s "$WORK/err" ] && [ ! -s "$WORK/out" ] || problem "output in spite of -q"
finish
