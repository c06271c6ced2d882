#!/usr/bin/env bash
# compare: exit code 1 on a significant slow-down, 0 otherwise.
source "$(dirname "$0")/lib.sh"
printf 'parameters:\n  graph_optimization_level: [basic, extended, all]\nonly_listed: true\n' >space.yaml
T=(--search grid --space space.yaml --runs 400)
run 0 tune 'synthetic:surface=flat,slowdown=30% if graph_optimization_level=basic' "${T[@]}" --db r.db
run 0 show --db r.db --json
basic=$(jq -r '.trials[] | select(.configuration.graph_optimization_level == "basic") | .id' out)
all=$(jq -r '.trials[] | select(.configuration.graph_optimization_level == null) | .id' out)
extended=$(jq -r '.trials[] | select(.configuration.graph_optimization_level == "extended") | .id' out)
run 1 compare "latest/$all" "latest/$basic" --db r.db
out "slower"
run 0 compare "latest/$basic" "latest/$all" --db r.db
out "faster"
run 0 compare "latest/$all" "latest/$all" --db r.db --json
json '.verdict == "no_difference" or .verdict == "inconclusive"' true
# The same record twice is no comparison.
run 0 compare "latest/$all" "latest/$all" --db r.db
out "the same record"
out "ridgeline rerun"
no_out "inconclusive"
run 0 compare "latest/$all" "latest/$all" --db r.db --json
json .same_record true
# Longer runs cannot tell what single processes differ by; the advice is what does help.
json_default() { run 0 compare "latest/$all" "latest/$extended" "$@" --db r.db --json; }
json_default
json .min_effect 0.04
json .verdict no_difference
run 0 compare "latest/$all" "latest/$extended" --db r.db
out "no significant difference"
COLUMNS=400 run 0 compare "latest/$all" "latest/$extended" --min-effect 2% --db r.db
out "two separate runs cannot show differences below about 3.3 %"
out "one tune run"
no_out "measure longer"
advised=$(grep -o -- '--min-effect [0-9]*%' out)
[ "$advised" = "--min-effect 4%" ] || problem "the advice is not the default: $advised"
json_default --min-effect 2%
json '.advice | test("--min-effect")' true
# An output that cannot be written is the user's to fix, whatever its size, and so is a standard error.
for words in "show" "show --json" "report latest" "history --json" "compare latest latest --json" "rerun 1 --json" "params" "params --json"; do
  checks=$((checks + 1))
  case $words in params*) db=() ;; *) db=(--db r.db) ;; esac
  "$RIDGELINE" $words "${db[@]}" >/dev/full 2>err
  code=$?
  LAST="ridgeline $words >/dev/full"
  : >out
  [ "$code" -eq 2 ] || problem "$LAST: exit code $code, expected 2"
  err "error: cannot write to standard output"
  err "hint: is the disk full?"
done
checks=$((checks + 1))
"$RIDGELINE" show nowhere --db r.db >out 2>/dev/full
code=$?
[ "$code" -eq 2 ] || problem "an error on a full standard error: exit code $code, expected 2"
bad "different" -- compare latest "$(
  "$RIDGELINE" tune synthetic:surface=conv "${T[@]}" --db r.db -q
  "$RIDGELINE" history --db r.db --ids | tail -n 1
)" --db r.db
bad "latest/99" -- compare latest latest/99 --db r.db
finish
