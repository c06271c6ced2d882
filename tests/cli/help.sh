#!/usr/bin/env bash
# Every command has help with an example, and the README agrees with it.
source "$(dirname "$0")/lib.sh"
run 0 --help
commands="tune bench sweep profile stream monitor watch show history report compare rerun apply rollback doctor params version completion"
for command in $commands; do out "  $command "; done
no_out "worker"
for command in $commands; do
  run 0 "$command" --help
  out "Example"
  out "  ridgeline $command"
done
run 0 --version
out "ridgeline $(cat "$SOURCE/VERSION")"
run 2
out "Usage"
bad "nonsense" -- nonsense
bad "\"tnue\"" "did you mean \"tune\"" -- tnue model.onnx
bad "--nonsense" "hint: see ridgeline tune --help" -- tune --nonsense
run 2 tune
is "$(cat "$WORK/err")" "error: no model is named"$'\n'"hint: name one, for example: ridgeline tune model.onnx" "tune"
run 0 tune --help
# Every option that README and docs name exists somewhere.
for command in $commands "profile import" "profile diff" "stream run" "stream bench"; do "$RIDGELINE" $command --help; done >all-help
for option in $(grep -ohE '(^|[ `(])--[a-z][a-z-]+' "$SOURCE/README.md" "$SOURCE"/docs/*.md | grep -oE -- '--[a-z-]+' | sort -u |
  grep -vE -- '--(metrics|page|trace|type|workflow|preset|install|prefix|help|gpu|gpus|gres|nv|pid)$'); do
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
