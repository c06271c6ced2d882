#!/usr/bin/env bash
# compare: exit code 1 on a significant slow-down, 0 otherwise.
source "$(dirname "$0")/lib.sh"
printf 'parameters:\n  graph_optimization_level: [basic, all]\nonly_listed: true\n' >space.yaml
T=(--search grid --space space.yaml --runs 400)
run 0 tune 'synthetic:surface=flat,slowdown=30% if graph_optimization_level=basic' "${T[@]}" --db r.db
run 0 show --db r.db --json
basic=$(jq -r '.trials[] | select(.configuration.graph_optimization_level == "basic") | .id' out)
all=$(jq -r '.trials[] | select(.configuration.graph_optimization_level == null) | .id' out)
run 1 compare "latest/$all" "latest/$basic" --db r.db
out "slower"
run 0 compare "latest/$basic" "latest/$all" --db r.db
out "faster"
run 0 compare "latest/$all" "latest/$all" --db r.db --json
json '.verdict == "no_difference" or .verdict == "inconclusive"' true
bad "different" -- compare latest "$(
  "$RIDGELINE" tune synthetic:surface=conv "${T[@]}" --db r.db -q
  "$RIDGELINE" history --db r.db --ids | tail -n 1
)" --db r.db
bad "latest/99" -- compare latest latest/99 --db r.db
finish
