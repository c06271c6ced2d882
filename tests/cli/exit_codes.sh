#!/usr/bin/env bash
# One table of exit codes for all commands: the help and the README have the same, and each code comes where it should.
source "$(dirname "$0")/lib.sh"
run 0 --help
sed -n '/^Exit codes:$/,/^$/s/^  \([0-9]*\) *\([^:]*\): \(.*\)$/\1 \2 (\3)/p' out >table
is "$(cut -d' ' -f1 table | tr '\n' ' ')" "0 1 2 3 4 70 130 " "codes in the help"
is "$(grep '^Exit codes: ' "$SOURCE/docs/reference.md")" "Exit codes: $(paste -sd, table | sed 's/),/), /g')." "exit codes in docs/reference.md"
# What a command's help says of its own codes is one of the table's.
for command in tune bench sweep "stream bench" watch compare profile "profile diff" rerun doctor; do
  run 0 help $command
  checks=$((checks + 1))
  sed -n '/^Exit codes in addition/,$s/^  \([0-9][0-9]*\) .*/\1/p' out >own
  [ -s own ] && ! grep -qvxE '1|3|4' own || problem "$LAST: exit codes $(tr '\n' ' ' <own)"
done

S='synthetic:surface=flat,slowdown=100% if graph_optimization_level!=all'
printf 'onnxruntime:\n  graph_optimization_level: basic\n' >config.yaml
run 0 tune "$S" "${FAST[@]}" --quick --config config.yaml --no-apply --db r.db
run 0 show latest --db r.db
run 0 compare latest/1 latest/1 --db r.db
# The same record is no comparison, and one that is too short is inconclusive: no answer, and a failure if asked for.
run 4 compare latest/1 latest/1 --db r.db --undecided fail
run 0 tune synthetic:noise=20% "${FAST[@]}" --runs 5 --set intra_op_num_threads=1 --no-comparisons --search random --trials 1 --db a.db
run 0 tune synthetic:noise=20% "${FAST[@]}" --runs 5 --set intra_op_num_threads=1 --no-comparisons --search random --trials 1 --db a.db --fresh --seed 2
first=$("$RIDGELINE" history --ids --db a.db | sed -n 2p)
run 0 compare "$first/1" latest/1 --db a.db --json
json .verdict inconclusive
run 4 compare "$first/1" latest/1 --db a.db --json --undecided fail
run 1 compare latest latest/2 --db r.db
run 1 tune "$S" "${FAST[@]}" --quick --constraint 'p99<=1ns' --db r.db
run 1 bench --model 'synthetic:fault=exit' --batch-sizes 64 --num-workers 0 --no-diagnosis --db r.db
run 2 tune
run 2 stream bench
run 2 show nothing --db r.db
# Too uneven a machine, and an interval that is too wide.
run 4 tune 'synthetic:surface=flat,base=20ms,bursts=3x,duty=50%,mean=200ms' --quick --max-time 10s --db u.db
run 1 sweep --param x=1 --metric 'v=v=(.*)' --db r.db --objective min:v -- sh -c 'exit {x}'
run "0|1|3" doctor --no-load --json
is "$(jq .exit_code out)" "$(case $(jq -r .status out) in ok) echo 0 ;; warn) echo 1 ;; fail) echo 3 ;; esac)" "doctor's code"
finish
