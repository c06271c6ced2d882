#!/usr/bin/env bash
# With brackets around each sentence of a catalogue (RIDGELINE_LANGUAGE=pseudo), reports of runs of every kind, doctor and watch say
# the same; sentences without brackets are those of tests/data/results/unbracketed.txt; and no record has a bracket.
source "$(dirname "$0")/lib.sh"
DATA=${SOURCE:?}/tests/data/results
xz -dc "$DATA/schema4.db.xz" >results.db
run 0 history --db results.db
mkdir plain pseudo
for id in $("$RIDGELINE" history --ids --db results.db); do
  run 0 report "$id" --db results.db --output "plain/$id.md"
  RIDGELINE_LANGUAGE=pseudo run 0 report "$id" --db results.db --output "pseudo/$id.md"
done
checks=$((checks + 1))
PYTHONDONTWRITEBYTECODE=1 python3 "$SOURCE/tests/tools/find_unbracketed.py" plain pseudo "$DATA/unbracketed.txt" >out || problem "a report differs, or a sentence has no brackets"
head -n 1 out

RIDGELINE_LANGUAGE=pseudo run "0|1" doctor
out "⟦"
printf 'onnxruntime:\n  graph_optimization_level: basic\n' >config.yaml
RIDGELINE_LANGUAGE=pseudo run 0 tune "synthetic:surface=flat,slowdown=100% if graph_optimization_level!=all" "${FAST[@]}" --quick --config config.yaml --apply --quiet --db new.db
RIDGELINE_LANGUAGE=pseudo run 0 watch --config config.yaml --every 250ms --time 100ms --count 2 -v --db new.db
err "probe      ⟦1: "
err "status     ⟦"
RIDGELINE_LANGUAGE=pseudo run 0 bench --model synthetic:noise=0.005 --batch-sizes 64 --num-workers 0 2 --amp off --no-diagnosis --quiet --db new.db
checks=$((checks + 1))
python3 - <<'P' || problem "a record has brackets"
import sqlite3, sys
base = sqlite3.connect("new.db")
records = [row[0] for query in ("SELECT record FROM run_records", "SELECT outcome FROM trials") for row in base.execute(query)]
sys.exit(0 if len(records) > 10 and not any("⟦" in record or "\\u27e6" in record for record in records) else 1)
P

RIDGELINE_LANGUAGE=xx run 2 version
err "RIDGELINE_LANGUAGE=xx: expected en, or pseudo"
finish
