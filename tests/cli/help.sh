#!/usr/bin/env bash
# Every command has help with an example, and the README agrees with it.
source "$(dirname "$0")/lib.sh"
run 0 --help
commands="tune bench sweep profile stream monitor watch show history report compare rerun apply rollback doctor params version completion"
for command in $commands; do out "  $command "; done
no_out "  worker "
for command in $commands; do
  run 0 "$command" --help
  out "Example"
  out "  ridgeline $command"
done
run 0 --version
out "ridgeline $(cat "$SOURCE/VERSION")"
for option in -h --help-all; do
  run 0 tune $option
  out "Usage: ridgeline tune [OPTIONS] [MODEL]"
done
out "  --isolation "
# Alone: what to do next, and the newest run with its answer once there is one.
export XDG_STATE_HOME="$WORK/state"
run 0
out "ridgeline doctor"
out "Measure:"
run 0 tune synthetic:surface=conv --quick
run 0
out "Newest run: "
out "tune of synthetic:surface=conv: "
out "  ridgeline show "
echo damaged >"$WORK/state/ridgeline/ridgeline.db"
run 0
out "ridgeline.db"
unset XDG_STATE_HOME
bad "nonsense" -- nonsense
bad "\"tnue\"" "did you mean \"tune\"" -- tnue model.onnx
bad "--nonsense" "hint: see ridgeline tune --help" -- tune --nonsense
# help COMMAND, and what was meant where something else was written.
run 0 help
out "Exit codes"
run 0 help tune
out "ridgeline tune model.onnx"
run 0 help profile import
out "ridgeline profile import"
bad "\"tnue\"" "did you mean \"tune\"" -- help tnue
bad "unknown command \"model.onnx\"" "ridgeline tune model.onnx, or ridgeline profile model.onnx" -- model.onnx
bad "unknown command \"undo\"" "did you mean \"rollback\"" -- undo
bad "infer.py" "--python infer.py:make" -- tune infer.py
bad "infer.py:make" "tune --python infer.py:make" -- tune infer.py:make
bad "unknown command \"imprt\"" "did you mean \"import\"" -- profile imprt x.json
bad "has no option --objectiv" "did you mean --objective" -- tune m.onnx --objectiv p99
bad "has no option --threads" "--set intra_op_num_threads=VALUE" -- tune m.onnx --threads 4
bad "--db must come after its command" "write: ridgeline profile import --db" -- --db x.db profile import t.json
bad "unexpected argument \"b.onnx\"; expected MODEL" -- tune a.onnx b.onnx
bad "--config FILE is missing" "for example: ridgeline rollback --config config.yaml" -- rollback
bad "--config: the value is missing; expected FILE" -- tune m.onnx --config
bad "--seed is given 2 times (1, 2); expected once" -- tune m.onnx --seed 1 --seed 2
bad "--json=5: --json takes no value" -- tune m.onnx --json=5
bad "--rate and --trace exclude each other" -- stream bench --source synthetic:64x48 --model null --rate 5 --trace t.txt
bad "--variation 99: expected a number from 1 to 20" -- stream bench --source synthetic:64x48 --model null --variation 99
bad "--rate 0: expected a number from 0.001" -- stream bench --source synthetic:64x48 --model null --rate 0
bad "--depth 0: expected a whole number from 1 to 1000" -- profile m.onnx --depth 0
bad "\"tcsh\"" "bash|zsh|fish" -- completion tcsh
run 2 tune
is "$(cat "$WORK/err")" "error: no model given"$'\n'"hint: give one, for example: ridgeline tune model.onnx" "tune"
run 0 tune --help
# Every option that README and docs name exists somewhere.
for command in $commands "profile import" "profile diff" "stream run" "stream bench"; do "$RIDGELINE" $command --help-all; done >all-help
for option in $(grep -ohE '(^|[ `(])--[a-z][a-z-]+' "$SOURCE/README.md" "$SOURCE"/docs/*.md | grep -oE -- '--[a-z-]+' | sort -u |
  grep -vE -- '--(metrics|page|trace|type|workflow|preset|install|prefix|help|help-all|gpu|gpus|extra-index-url|gres|nv|pid|pause|cap-add|cuda-graph-trace|part|compile)$'); do
  checks=$((checks + 1))
  grep -qE -- "(^|[ ,])$option([ ,=]|$)" all-help || problem "the documentation names $option, no --help does"
done
run 0 params --markdown
cp out params.md
same params.md "$SOURCE/docs/parameters.md"
run 0 params --json
json 'length > 15' true
json '[.[] | select(.summary == "" or .when == "")] | length' 0
run 0 params intra_op_num_threads
out "hazard"
bad "intra_op_num_treads" "did you mean \"intra_op_num_threads\"" -- params intra_op_num_treads
# Output that cannot be written is not silently lost.
checks=$((checks + 1))
if [ -e /dev/full ] && "$RIDGELINE" params >/dev/full 2>err; then problem "params > /dev/full succeeded"; fi
finish
