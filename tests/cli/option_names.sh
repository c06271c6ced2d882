#!/usr/bin/env bash
# One name, one meaning over all commands: --report, --devices, --time and lists. Former names work, with one note each.
source "$(dirname "$0")/lib.sh"
T=synthetic:surface=tiny
B=(--model synthetic:noise=0.005 --batch-sizes 64 --num-workers 2 --search grid --no-diagnosis --stability-run 0)
ONE=(--every 250ms --once --state watch.json --db r.db)
notes() { is "$(grep -c '^note: --.* is now --' "$WORK/err")" "$1" "$LAST: notes about former names"; }
renamed() { err "note: $1 is now $2"; notes 1; }
markdown() { checks=$((checks + 1)); grep -q '^# ' "$1" && ! grep -q '<html' "$1" || problem "$LAST: $1 is no Markdown report"; }
page() { checks=$((checks + 1)); grep -q '<html' "$1" || problem "$LAST: $1 is no HTML report"; }

# The present names, without a note.
run 0 tune $T --quick --time 200ms --db r.db --report t.md --report t.html
notes 0
markdown t.md
page t.html
out "report   t.md"
out "report   t.html"
run 0 bench "${B[@]}" --devices cpu --db r.db --report b.md,b.HTM
notes 0
markdown b.md
page b.HTM
run 0 sweep --param n=1,2 --db r.db --report s.html -- true {n}
notes 0
page s.html
run 0 report latest --db r.db --report again.md --report again.html
notes 0
markdown again.md
page again.html
run 0 watch --run latest:tune --time 100ms "${ONE[@]}"
notes 0
run 0 stream run --source synthetic:64x48 --model null --frames 5 --db r.db --output frames.jsonl --report run.md --report run.html
notes 0
err "report   run.html"
markdown run.md
page run.html
is "$(wc -l <frames.jsonl)" 5 "results of stream run"
run 0 report latest --db r.db
same out run.md
run 0 stream bench --source synthetic:64x48 --model null --rate 50 --time 1s --db r.db --report bench.html
page bench.html

# A report's ending names its format.
for command in "tune $T" "bench --model synthetic" "sweep --param n=1" "report latest" "profile m.onnx" "profile import t.json" \
  "stream run --source synthetic:64x48 --model null" "stream bench --source synthetic:64x48 --model null"; do
  bad "--report page.pdf: " "ending .pdf" ".md, .html or .htm" -- $command --report page.pdf
  bad "--report page: " "no ending" ".md, .html or .htm" -- $command --report page
  bad "--report nowhere/page.html" "does not exist" -- $command --report nowhere/page.html
done
bad "r.html" "--output" "--report" "in one file" -- tune $T --output r.html --report r.html

# --output stays, and is Markdown whatever the ending; on stream it is the results.
run 0 report latest:tune --db r.db --output plain.txt
notes 0
markdown plain.txt
for command in tune bench sweep profile "profile import" report; do
  run 0 $command --help
  no_out "--output"
  no_out "--report-html"
  out "--report FILE"
  run 0 $command --help-all
  out "--output REPORT.md"
  no_out "--report-html"
done

# Former names: the same meaning, and one note per use.
run 0 tune $T --quick --trial-time 200ms --fresh --db r.db
renamed --trial-time --time
run 0 tune $T --quick --trial-time=200ms --fresh --db r.db --json
renamed --trial-time --time
json '.run.request.arguments | index("--time=200ms") != null' true
bad "--time soon: expected a duration" -- tune $T --trial-time soon
run 0 tune $T --quick --time 200ms --db r.db --report-html page
renamed --report-html "--report FILE.html"
page page
run 0 tune $T --quick --time 200ms --db r.db --output next.md --report-html
renamed --report-html "--report FILE.html"
markdown next.md
page next.html
run 0 tune $T --quick --time 200ms --db r.db --report other.md --report-html
page other.html
bad "--report-html: no file given" "--report FILE.html" -- tune $T --report-html
run 0 bench "${B[@]}" --device cpu --db r.db
renamed --device --devices
run 0 bench "${B[@]}" --device=cpu --db r.db --report-html=device.html
err "note: --device is now --devices"
err "note: --report-html is now --report FILE.html"
notes 2
page device.html
run 0 bench "${B[@]:0:8}" --soak 3 --db r.db
renamed --soak --stability-run
run 0 sweep --param n=1,2 --db r.db --report-html s2.html -- echo --report-html {n}
renamed --report-html "--report FILE.html"
run 0 report latest --db r.db --report-html r2.html
renamed --report-html "--report FILE.html"
page r2.html
run 0 watch --run latest:tune --probe-time 100ms "${ONE[@]}"
renamed --probe-time --time
printf '{"traceEvents":[]}\n' >empty.json
run 2 profile import empty.json --db r.db --report-html p.html
renamed --report-html "--report FILE.html"
run 2 profile --db r.db import empty.json --report-html p.html
renamed --report-html "--report FILE.html"
# A word that is another option's value, or another program's, is no option.
run 0 sweep --param n=1,2 --env A=--report-html --db r.db -- echo --report-html {n}
notes 0
# They are old names of these commands only.
bad "has no option --device" "did you mean --devices" -- tune $T --device 0
bad "has no option --report-html" "--report" -- stream run --source synthetic:64x48 --model null --report-html a.html
bad "has no option --repot" "did you mean --report?" -- tune $T --repot a.md

# The same in a file of options.
printf 'quick: true\ntrial_time: 200ms\nreport_html: file.html\n' >former.yaml
run 0 tune $T --options former.yaml --db r.db
err "note: --trial-time is now --time"
err "note: --report-html is now --report FILE.html"
notes 2
page file.html
printf 'device: cpu\n' >former.yaml
run 0 bench "${B[@]}" --options former.yaml --db r.db
renamed --device --devices
out "device        cpu"
printf 'quick: true\ntime: 200ms\nreport: [a.md, a.html]\n' >options.yaml
run 0 tune $T --options options.yaml --db r.db
notes 0
markdown a.md
page a.html

# Lists: with commas everywhere; with blanks too where that is older.
many() { run 0 bench --model synthetic:noise=0.005 --search grid --no-diagnosis --stability-run 0 --db r.db --json "$@"; }
batches='[.trials[].settings.batch] | unique | map(tostring) | join(" ")'
many --batch-sizes 64,128 --num-workers 2,4
json "$batches" "64 128"
many --batch-sizes 64 128 --num-workers 2 4
json "$batches" "64 128"
notes 0
run '0|1' tune $T --quick --time 200ms --db r.db --constraint 'latency_p99_ms<=90,latency_median_ms<=80' --json
json '.run.constraints | length' 2
run 0 tune synthetic:base=1ms --quick --time 200ms --db r.db --set execution_mode=sequential,intra_op_num_threads=2 --json
json 'all(.trials[]; .configuration.intra_op_num_threads != 1)' true
run 0 stream run --source synthetic:64x48 --model null --frames 5 --db r.db --stream batch_size=2,preprocess.mean=1,2,3,drop=none --json
json '[.. | objects | .batch_size? // empty] | any(. == 2)' true
bad "--on-degrade page" "expected alert, retune, profile:TIME or exec:COMMAND" -- watch --run latest:tune --on-degrade alert,page --time 100ms "${ONE[@]}"
run 0 bench --help
out "--batch-sizes N[,N...]"
out "--num-workers N[,N...]"
finish
