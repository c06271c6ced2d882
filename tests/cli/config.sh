#!/usr/bin/env bash
# config.yaml: only the changed values change, the backup restores the exact bytes.
source "$(dirname "$0")/lib.sh"
S='synthetic:surface=flat,slowdown=100% if graph_optimization_level!=all'
cat >config.yaml <<'Y'
# my service
service: {port: 8080}   # flow
onnxruntime:
  graph_optimization_level: "basic"   # from a blog
  intra_op_num_threads: 4
Y
chmod 640 config.yaml
cp config.yaml original.yaml
bad "exclude each other" -- tune "$S" "${FAST[@]}" --quick --config config.yaml --dry-run --yes --db r.db
same config.yaml original.yaml
run 0 tune "$S" "${FAST[@]}" --quick --config config.yaml --dry-run --db r.db
out '-  graph_optimization_level: "basic"   # from a blog'
same config.yaml original.yaml
run 0 tune "$S" "${FAST[@]}" --quick --config config.yaml --no-apply --db r.db
same config.yaml original.yaml
# Without a terminal nobody can be asked: the change is shown, and how to make it.
run 0 tune "$S" "${FAST[@]}" --quick --config config.yaml --db r.db
out '-  graph_optimization_level: "basic"   # from a blog'
out "config.yaml: not touched; to write it: ridgeline apply "
same config.yaml original.yaml
run 0 tune "$S" "${FAST[@]}" --quick --config config.yaml --yes --db r.db
out "rollback"
checks=$((checks + 1))
grep -qF '  graph_optimization_level: "all"   # from a blog' config.yaml || problem "the value was not changed in place: $(cat config.yaml)"
[ "$(diff original.yaml config.yaml | grep -c '^>')" -le 2 ] || problem "more than the asked-for lines changed"
[ "$(stat -c %a config.yaml)" = 640 ] || problem "permissions changed"
[ "$(ls config.yaml.bak-* | wc -l)" -eq 1 ] || problem "expected one backup"
# What was edited since is not lost without a word.
cp -p config.yaml tuned.yaml
echo '# a later edit' >>config.yaml
cp config.yaml edited.yaml
bad "config.yaml" "changed since" "--yes" -- rollback --config config.yaml
same config.yaml edited.yaml
mv tuned.yaml config.yaml
run 0 rollback --config config.yaml
same config.yaml original.yaml
# Beside --json nobody is asked, and what is not written is said.
run 0 tune "$S" "${FAST[@]}" --quick --config config.yaml --json --db r.db
err "with --json, use --apply to write it"
run 0 tune "$S" "${FAST[@]}" --quick --config config.yaml --json --dry-run --db r.db
err '-  graph_optimization_level: "basic"   # from a blog'
same config.yaml original.yaml
# apply asks too, and takes another trial than the recommended one.
run 0 apply latest --config config.yaml --db r.db
out "config.yaml: not touched; to write it: ridgeline apply latest --config config.yaml --db r.db --yes"
same config.yaml original.yaml
run 0 apply latest/3 --config config.yaml --db r.db --yes
out "note: trial 3, "
grep -q 'intra_op_num_threads: 1' config.yaml || problem "not trial 3: $(cat config.yaml)"
run 0 rollback --config config.yaml --db r.db
same config.yaml original.yaml
bad "has trials 1 to" -- apply latest/99 --config config.yaml --db r.db
bad "has trials 1 to" -- rerun 99 --db r.db
# A file without any of the settings gets no new section unasked.
printf 'services:\n  web: {image: x}\n' >foreign.yaml
cp foreign.yaml foreign.before
bad "foreign.yaml: holds none of the settings and no section onnxruntime" "--config-section onnxruntime" -- \
  apply latest --config foreign.yaml --db r.db --yes
bad "foreign.yaml: holds none" "--config-section" -- tune "$S" "${FAST[@]}" --quick --config foreign.yaml --apply --db r.db
run 0 tune synthetic:surface=conv "${FAST[@]}" --quick --config foreign.yaml --db f.db
out "not applied: foreign.yaml: holds none of the settings"
same foreign.yaml foreign.before
run 0 apply latest --config foreign.yaml --config-section runtime --db f.db --yes
grep -q '^runtime:$' foreign.yaml || problem "no section runtime: $(cat foreign.yaml)"
# A simulation says so.
run 0 show latest --all --db f.db
is "$(head -c 25 out)" "Tuning report (simulated)" "the title"
run 0 show latest --db f.db --json
json .simulated true
# A link's target is edited, the link stays.
mkdir real
mv config.yaml real/config.yaml
ln -s real/config.yaml config.yaml
run 0 apply latest --config config.yaml --db r.db --yes
checks=$((checks + 1))
[ -L config.yaml ] && grep -q '"all"' real/config.yaml || problem "the link was replaced or its target not edited"
run 0 apply latest --config config.yaml --db r.db --yes
out "already has"
# A file that is not the run's: what it says otherwise is set back too, and the gain is not promised.
printf 'onnxruntime:\n  graph_optimization_level: extended\n  execution_mode: parallel\n' >other.yaml
run 0 apply latest --config other.yaml --db r.db --yes
out "was not measured"
checks=$((checks + 1))
grep -q 'graph_optimization_level: all' other.yaml && grep -q 'execution_mode: sequential' other.yaml ||
  problem "not the recommended configuration: $(cat other.yaml)"
echo '# a later edit' >>config.yaml
run 0 rollback --config config.yaml --yes
same real/config.yaml original.yaml
# Keys of another provider stay as they are; the rest is compared with, and what changes is told as it is written.
printf 'provider: cuda\ncudnn_conv_algo_search: "HEURISTIC"  # of the guide\ngpu_mem_limit_gb: 8\ngraph_optimization_level: basic\n' >guide.yaml
run 0 tune "$S" "${FAST[@]}" --quick --provider cpu --config guide.yaml --apply --json --db r.db
err "guide.yaml: it names provider cuda, but cpu is tuned; left alone: cudnn_conv_algo_search, gpu_mem_limit_gb (of"
json '[.verdict.decision, (.verdict.gain != null), .verdict.changed.graph_optimization_level.to, (.verdict.changed | length)] | tojson' '["change",true,"all",1]'
checks=$((checks + 1))
[ "$(diff <(printf 'provider: cuda\ncudnn_conv_algo_search: "HEURISTIC"  # of the guide\ngpu_mem_limit_gb: 8\ngraph_optimization_level: all\n') guide.yaml)" = "" ] ||
  problem "not only what was compared changed: $(cat guide.yaml)"
# Also with values that nobody can read, which are named; of what is tuned they are an error.
printf 'cudnn_conv_algo_search: FASTEST\ngraph_optimization_level: basic\n' >illegal.yaml
run 0 tune "$S" "${FAST[@]}" --quick --provider cpu --config illegal.yaml --apply --json --db r.db
err "illegal.yaml: left alone: cudnn_conv_algo_search = FASTEST (of provider cuda)"
is "$(cat illegal.yaml)" "$(printf 'cudnn_conv_algo_search: FASTEST\ngraph_optimization_level: all')" "the file"
run 0 apply latest --config illegal.yaml --db r.db --yes
out "already has"
printf 'graph_optimization_level: most\n' >illegal.yaml
bad "illegal.yaml:1" "graph_optimization_level" -- tune "$S" "${FAST[@]}" --quick --config illegal.yaml --db r.db
# Nothing to gain: the file is not touched.
printf 'onnxruntime:\n  graph_optimization_level: all\n' >best.yaml
cp best.yaml best.before
run 0 tune synthetic:surface=flat "${FAST[@]}" --quick --config best.yaml --db r.db
out "not touched"
same best.yaml best.before
# A flow mapping has no place for a comment: said, and patched all the same.
printf 'onnxruntime: {graph_optimization_level: basic}\n' >flow.yaml
run 0 tune "$S" "${FAST[@]}" --quick --config flow.yaml --apply --provenance --db r.db
out "note: --provenance: no comment added to graph_optimization_level"
checks=$((checks + 1))
[ "$(cat flow.yaml)" = 'onnxruntime: {graph_optimization_level: all}' ] || problem "flow mapping: $(cat flow.yaml)"
printf 'onnxruntime:\n  graph_optimization_level: basic\n' >block.yaml
run 0 tune "$S" "${FAST[@]}" --quick --config block.yaml --apply --provenance --db r.db
no_out "note: --provenance"
checks=$((checks + 1))
grep -q 'graph_optimization_level: all  # ridgeline ' block.yaml || problem "no provenance: $(cat block.yaml)"
# A mapping says where keys live; absent keys go into the named section.
printf 'engine:\n  opt: basic\n' >mapped.yaml
printf 'mapping:\n  graph_optimization_level: engine.opt\n' >space.yaml
run 0 tune "$S" "${FAST[@]}" --quick --config mapped.yaml --apply --space space.yaml --db r.db
checks=$((checks + 1))
grep -q '  opt: all' mapped.yaml || problem "mapping ignored: $(cat mapped.yaml)"
# On a terminal the question decides; it is not asked beside --no-apply.
if command -v script >/dev/null; then
  printf 'onnxruntime:\n  graph_optimization_level: basic\n' >asked.yaml
  cp asked.yaml asked.before
  answer() { printf '%s\n' "$1" | TERM=xterm script -qec "$RIDGELINE tune '$S' ${FAST[*]} --quick --config asked.yaml $2 --db r.db" /dev/null >screen 2>&1; }
  checks=$((checks + 3))
  answer n ""
  grep -q "Write 1 value (.* as fast, 95 % interval .*) to asked.yaml? .y/N." screen || problem "a terminal was not asked: $(tail -n 3 screen)"
  same asked.yaml asked.before
  answer y --no-apply
  grep -q "Write 1 value" screen && problem "asked beside --no-apply"
  same asked.yaml asked.before
  answer y ""
  grep -q 'graph_optimization_level: all' asked.yaml || problem "yes did not write: $(tail -n 3 screen)"
fi
finish
