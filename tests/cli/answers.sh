#!/usr/bin/env bash
# The answer of every kind of run in one screen: at 80, 100 and 120 columns no line is wider than the terminal, which would break it
# within a word, and at 80 columns the verdict and what follows it take at most 24 lines.
source "$(dirname "$0")/lib.sh"
cp "${SOURCE:?}/tests/data/results/schema3.db" results.db
chmod u+w results.db
DB=(--db results.db)
run 0 profile import "$SOURCE/tests/data/traces/resnet_train_kineto.json.gz" "${DB[@]}"
run "0|1" stream bench --source synthetic:64x48 --model null --rate 50 --time 1s --slo 100ms --output s.jsonl "${DB[@]}"
run "0|1" stream run --source synthetic:64x48@100x40 --model null --output s.jsonl "${DB[@]}"

# fits NAME WIDTH: $WORK/out has no line that a terminal of WIDTH columns would break, unless it is one word.
fits() {
  checks=$((checks + 1))
  python3 - "$WORK/out" "$2" <<'P' || problem "$1 at $2 columns"
import sys, unicodedata
def columns(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
width, wrong = int(sys.argv[2]), 0
for line in open(sys.argv[1], encoding="utf-8"):
    line = line.rstrip("\n")
    if columns(line) > width and max(map(columns, line.split())) < width - 12:
        print("wider: %r" % line)
        wrong = 1
sys.exit(wrong)
P
}

mapfile -t ids < <("$RIDGELINE" history --ids "${DB[@]}")
[ ${#ids[@]} -ge 10 ] || problem "only ${#ids[@]} runs to show"
kinds=$("$RIDGELINE" history --json "${DB[@]}" | jq -r '.[].kind' | sort -u | tr '\n' ' ')
is "$kinds" "bench profile stream sweep tune " "the kinds of the runs"
for id in "${ids[@]}"; do
  for width in 80 100 120; do
    COLUMNS=$width run 0 show "$id" "${DB[@]}"
    fits "show $id" $width
    out "▌ "
    out "ridgeline show $id --all"
    [ $width -eq 80 ] || continue
    checks=$((checks + 1))
    lines=$(sed -n '/▌/,$p' "$WORK/out" | wc -l)
    [ "$lines" -le 24 ] || problem "show $id: $lines lines from the verdict on, expected at most 24"
  done
done
tunes=($("$RIDGELINE" history --json "${DB[@]}" | jq -r '.[] | select(.kind == "tune").id'))
for width in 80 100 120; do
  COLUMNS=$width run "0|1|2|4" compare "${tunes[0]}" "${tunes[1]}" "${DB[@]}"
  fits compare $width
  COLUMNS=$width run "0|1" doctor --no-load
  out "next     ridgeline"
  COLUMNS=$width run 0 history "${DB[@]}"
  fits history $width
done
run "0|1|4" compare "${tunes[0]}" "${tunes[0]}" "${DB[@]}" --markdown
out "(A) and "
finish
