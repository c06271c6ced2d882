#!/usr/bin/env bash
# A results file whose records hold prose (store schema 4) says the same once its texts are messages: the JSON and the Markdown of
# every run against what the program of then made, but for the paths in tests/data/results/moved_paths.tsv.
source "$(dirname "$0")/lib.sh"
DATA=${SOURCE:?}/tests/data/results
xz -dc "$DATA/schema4.db.xz" >results.db
mkdir old now
tar -xJf "$DATA/schema4_shown.tar.xz" -C old
run 0 history --db results.db
[ -f results.db.schema4 ] || problem "no copy of the older file"
for id in $("$RIDGELINE" history --ids --db results.db); do
  run 0 report "$id" --db results.db --output "now/$id.md"
  run 0 show "$id" --json --db results.db
  cp out "now/$id.json"
done
checks=$((checks + 1))
PYTHONDONTWRITEBYTECODE=1 python3 "$SOURCE/tests/tools/compare_shown.py" old now "$DATA/moved_paths.tsv" >out || problem "what older runs say has changed"
cat out | head -n 1
finish
