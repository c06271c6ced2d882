#!/usr/bin/env bash
# What models are fed with: lengths that fit, values that the graph asks for, and one line where the runtime refuses them.
source "$(dirname "$0")/lib.sh"
DATA=$SOURCE/tests/data/models
[ -d "$ORT_LIBRARY" ] || { echo "skipped: no ONNX Runtime in $ORT_LIBRARY"; exit 77; }
printf 'parameters:\n  intra_op_num_threads: [1, 2]\nonly_listed: true\n' >space.yaml
SHORT=(--search grid --space space.yaml --time 20ms --no-comparisons --db r.db)
noted() { checks=$((checks + 1)); cat "$WORK/out" "$WORK/err" | tr -s '\n ' ' ' | grep -qF -- "$1" || problem "$LAST: \"$1\" was not reported"; }

# A convolution's window is larger than the usual length.
run 0 tune "$DATA/window.onnx" "${SHORT[@]}" --json
json '.model.shapes[0][0].dims | tostring' '[1,256]'
# Only the run shows it where the sizes depend on the data.
run 0 tune "$DATA/data_window.onnx" "${SHORT[@]}" --json
json '.model.shapes[0][0].dims | tostring' '[1,256]'
json '[.notes[].text | select(contains("axis 1 (sequence) = 256, because the runtime refuses the other lengths"))] | length' 1
run 0 profile "$DATA/data_window.onnx" --db r.db
noted 'axis 1 (sequence) = 256, because the runtime refuses the other lengths'

# What the user gives is never replaced: one line, with the check of outputs and without it, and of profile.
REFUSED=("data_window.onnx: the runtime refuses the inputs (x 1x100)" "--input NAME=VALUE" "--shape NAME:AxB")
bad "${REFUSED[@]}" -- tune "$DATA/data_window.onnx" --shape x:1x100 "${SHORT[@]}"
bad "${REFUSED[@]}" -- tune "$DATA/data_window.onnx" --shape x:1x100 --accuracy-tolerance off "${SHORT[@]}"
bad "${REFUSED[@]}" -- profile "$DATA/data_window.onnx" --shape x:1x100 --db r.db

# Values: of the graph, of the user, and those that no model takes.
run 0 tune "$DATA/divide.onnx" "${SHORT[@]}"
noted 'divisor: 1, a divisor, which must not be 0 (Div "quotient")'
run 0 tune "$DATA/divide.onnx" --input divisor=3 "${SHORT[@]}"
noted 'divisor: 3, as --input gives it'
# Each form of a value, a name in quotes, and the same of profile; the report says what the model was fed with, and why.
run 0 tune "$DATA/divide.onnx" --input divisor=ones --input '"number"=2..9' "${SHORT[@]}" --json --output fed.md
json '[.model.input_values[0][] | "\(.name) \(.low)..\(.high) \(.elements | tostring)"] | sort | join(", ")' 'divisor 0..0 [1], number 2..9 []'
checks=$((checks + 2))
grep -qF 'divisor: 1, as --input gives it' fed.md || problem "the report does not say what the divisor was"
grep -qF 'number: 2..9, as --input gives it' fed.md || problem "the report does not say what the number was"
run 0 profile "$DATA/divide.onnx" --input divisor=7 --db r.db
noted 'divisor: 7, as --input gives it'
run 0 profile "$DATA/divide.onnx" --db r.db
noted 'divisor: 1, a divisor, which must not be 0 (Div "quotient")'
for command in "tune ${SHORT[*]}" "tune --accuracy-tolerance off ${SHORT[*]}" "profile --db r.db"; do
  # shellcheck disable=SC2086
  bad "number 64 = 0 or 1, divisor 64 = 0" "--input NAME=VALUE" -- $command "$DATA/divide.onnx" --input divisor=0
done
# Older releases divide by it: the worker dies.
OLD=${ORT_LIBRARY%/onnxruntime/*}/wheels/onnxruntime-1.19.2
[ ! -d "$OLD" ] || RIDGELINE_ORT_LIBRARY=$OLD bad "SIGFPE" "an integer was divided by 0, which an input holds or leads to (divisor = 0)" \
  "--input NAME=VALUE" -- tune "$DATA/divide.onnx" --input divisor=0 "${SHORT[@]}"
bad "--input divisor=a" "NAME=VALUE" -- tune "$DATA/divide.onnx" --input divisor=a "${SHORT[@]}"
finish
