#!/usr/bin/env bash
# profile: a trace's events are kept beside the results file, and can be read again.
TOOLS=$(cd "$(dirname "$0")/../tools" && pwd)
source "$(dirname "$0")/lib.sh"
cat >trace.json <<'END'
{"deviceProperties": [{"id": 0, "name": "NVIDIA H100", "computeMajor": 9, "computeMinor": 0, "numSms": 132}],
 "traceEvents": [
 {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 7, "ts": 10, "dur": 20},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7, "ts": 12, "dur": 3, "args": {"correlation": 5}},
 {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 20, "dur": 50.5,
  "args": {"device": 0, "stream": 7, "correlation": 5, "grid": [4, 1, 1], "block": [128, 1, 1]}},
 {"ph": "X", "cat": "kernel", "name": "relu", "pid": 0, "tid": 7, "ts": 90, "dur": 5, "args": {"device": 0, "stream": 7}}]}
END
run 0 profile import trace.json --db r.db
id=$("$RIDGELINE" history --db r.db --ids)
out "trace    $WORK/traces/$id.rltrace ("
out " B)"
cp traces/*.rltrace kept.rltrace
run 0 show --db r.db --json
json .trace_file "$WORK/traces/$id.rltrace"
jq -S .tables out >first
# The same events by way of our own file.
run 0 profile import kept.rltrace --db r.db --json --no-keep-trace
json .trace_file ""
json '.sources[0].tool' Ridgeline
jq -S .tables out >second
same first second
is "$(ls traces | wc -l)" 1 "--no-keep-trace: files in traces"
# A page of the stored run has its timeline, as long as the events are there.
run 0 report "$id" --db r.db --report kept.md --report kept.html
checks=$((checks + 1)); grep -q "\" data-timeline>" kept.html || problem "the page of a stored run has no timeline"
# Reports need no events.
rm -r traces
run 0 report "$id" --db r.db --report gone.md --report gone.html
checks=$((checks + 1)); grep -q "The timeline is left out" gone.html || problem "the page does not say that the timeline is left out"
run 0 report "$id" --db r.db
run 0 show "$id" --db r.db
# What cannot be kept costs a note, no more.
touch traces
run 0 profile import trace.json --db r.db
out "The trace is not kept: traces: "
no_out "trace    "
run 0 show latest --db r.db --json
json .trace_file ""
# Memory is kept as well, with kernels and without.
rm traces
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$TOOLS python3 - <<'END'
import json, pickle, torch_snapshot
trace = json.load(open("trace.json"))
def memory(bytes, total, ts):
    return {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 7, "tid": 7, "ts": ts, "args": {
        "Bytes": bytes, "Addr": 64, "Total Allocated": total, "Total Reserved": 4096, "Device Id": 0, "Device Type": 1}}
trace["traceEvents"] += [memory(1024, 3072, 15), memory(-1024, 2048, 25)]
json.dump(trace, open("memory.json", "w"))
pickle.dump(torch_snapshot.several_gpus(), open("memory.pickle", "wb"))
END
for recording in memory.json memory.pickle; do
  run 0 profile import "$recording" --db r.db --json --chrome memory_again.json --perfetto memory.perfetto-trace
  jq -S .tables.memory out >first
  kept=$(jq -r .trace_file out)
  for again in "$kept" memory_again.json; do
    run 0 profile import "$again" --db r.db --json --no-keep-trace
    jq -S .tables.memory out >second
    same first second
  done
  checks=$((checks + 1)); grep -q "GPU 0 reserved memory" memory.perfetto-trace || problem "$recording: no counters of memory in the Perfetto file"
  run 0 report "$(jq -r .id out)" --db r.db --report memory.md --report memory.html
  checks=$((checks + 1)); grep -q "Allocated at the peak by" memory.md && grep -q memory-chart memory.html || problem "$recording: no memory in the report of a stored run"
done
# A recorder that was killed.
head -c -20 kept.rltrace >cut.rltrace
run 0 profile import cut.rltrace --db r.db --no-keep-trace
out "file ends early after 4 events"
head -c 12 kept.rltrace >begun.rltrace
bad "no kernels" -- profile import begun.rltrace --db r.db
printf '\x89RLT\r\n\x1a\n\x03\x00\x00\x00' >newer.rltrace
bad "version 3" "upgrade Ridgeline" -- profile import newer.rltrace --db r.db
finish
