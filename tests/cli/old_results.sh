#!/usr/bin/env bash
# A results file of store schema 3 opens, shows and continues, and looks as it always did: tests/data/results/schema3.db
# against tests/golden/results. RIDGELINE_ACCEPT_GOLDENS=1 writes the latter.
source "$(dirname "$0")/lib.sh"
GOLDEN=${SOURCE:?}/tests/golden/results
cp "$SOURCE/tests/data/results/schema3.db" results.db
chmod u+w results.db
DB=(--db results.db)
export TZ=UTC

# golden NAME: the last run's standard output, without the page's scripts and styles and without this program's version.
golden() {
  checks=$((checks + 1))
  python3 - "$WORK/out" >"$WORK/now" <<'P'
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
text = re.sub(r"<(script|style)\b.*?</\1>", r"<\1/>", text, flags=re.S)
sys.stdout.write(text)
P
  if [ -n "${RIDGELINE_ACCEPT_GOLDENS:-}" ]; then
    mkdir -p "$GOLDEN"
    cp "$WORK/now" "$GOLDEN/$1"
  elif ! cmp -s "$WORK/now" "$GOLDEN/$1"; then
    problem "$LAST: not as tests/golden/results/$1"
    diff "$GOLDEN/$1" "$WORK/now" | head -n 20
  fi
}

run 0 history "${DB[@]}"
golden history.txt
run 0 history --json "${DB[@]}"
jq . out >pretty && cp pretty out
golden history.json

kind_of() { "$RIDGELINE" history --json "${DB[@]}" | jq -r --arg id "$1" '.[] | select(.id == $id).kind'; }
# view RUN ARGUMENTS...: as the command that made it shows it.
view() {
  local id=$1
  shift
  case $(kind_of "$id") in
    tune) run 0 show "$id" "${DB[@]}" "${@:---all}" ;;
    *) run "0|1|130" "$(kind_of "$id")" --show "$id" "${DB[@]}" "$@" ;;
  esac
}
number=0
for id in $("$RIDGELINE" history --ids "${DB[@]}"); do
  number=$((number + 1))
  name=$(kind_of "$id")$number
  view "$id"
  golden "$name.txt"
  run 0 show "$id" "${DB[@]}"
  golden "$name.answer.txt"
  run 0 report "$id" "${DB[@]}" --report report.md --report report.html
  cp report.md out
  golden "$name.md"
  case $number in 2 | 6 | 8 | 9) ;; *) continue ;; esac
  view "$id" --json
  jq . out >pretty && cp pretty out
  golden "$name.json"
  run 0 show "$id" --json "${DB[@]}"
  jq . out >pretty && cp pretty out
  golden "$name.json"
  cp report.html out
  golden "$name.html"
done
[ "$number" -eq 11 ] || problem "$number runs in the file, expected 11"

# What was asked is told from the command line once.
run 0 show 20261125-132904-a454 --json "${DB[@]}"
json '.request.arguments[-1]' 'echo "speed: $(({b} * 10 + {w} * 100))"; [ {b} -lt 128 ] || { echo "MemoryError: no room" >&2; exit 1; }'
run 0 show 20261125-132900-6108 --json "${DB[@]}"
json '.run.request | "\(.config_path) \(.accuracy_tolerance) \(.seed)"' "/tmp/ridgeline-results/config.yaml 0.01 2"

# It goes on: what was measured then is not measured again.
cat >config.yaml <<'Y'
onnxruntime:
  intra_op_num_threads: 1
  graph_optimization_level: basic
Y
run 0 apply 20261125-132900-6108 --config config.yaml --dry-run "${DB[@]}"
out "not written (--dry-run)"
run "0|1" rerun 20261125-132904-c1a8/1 "${DB[@]}"
out "ratio "
run 0 bench --model synthetic:noise=0.005 --batch-sizes 64 128 --num-workers 0 2 --amp off --json "${DB[@]}"
json '[.trials[] | select(.cached)] | length > 10' true
finish
