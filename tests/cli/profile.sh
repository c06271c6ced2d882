#!/usr/bin/env bash
# Traces of other profilers, a model of our own, what is written of both, and every fault of the user's.
TOOLS=$(cd "$(dirname "$0")/../tools" && pwd)
source "$(dirname "$0")/lib.sh"
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$TOOLS python3 - <<'P'
import gzip, json, sqlite3

def event(category, name, pid, tid, ts, dur, **args):
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}

def training(slower=1.0, steps=6, extra=0):
    events, correlation, sequence = [], 0, 0
    for step in range(steps):
        t = step * 10000.0
        events.append(event("user_annotation", f"ProfilerStep#{step}", 1, 1, t, 9000.0 * slower + 7 * step % 5))
        events.append(event("python_function", "nn.Module: Net_0", 1, 1, t + 10, 4000.0))
        for layer in range(3):
            begin = t + 20 + 1000 * layer
            events.append(event("python_function", f"nn.Module: Linear_{layer}", 1, 1, begin, 900.0))
            sequence += 1
            events.append(event("cpu_op", "aten::linear", 1, 1, begin + 5, 800.0, **{"Sequence number": sequence, "Fwd thread id": 0}))
            correlation += 1
            events.append(event("cuda_runtime", "cudaLaunchKernel", 1, 1, begin + 10, 5.0, correlation=correlation))
            events.append(event("kernel", "void gemm<4>(int)", 0, 7, begin + 100, 500.0 * slower + step % 3, device=0, stream=7,
                                correlation=correlation, grid=[64, 1, 1], block=[128, 1, 1]))
            correlation += 1
            node = event("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", 1, 2, t + 5000 + 900 * layer, 700.0,
                         **{"Sequence number": sequence, "Fwd thread id": 1})
            events += [node, event("cuda_runtime", "cudaLaunchKernel", 1, 2, t + 5010 + 900 * layer, 5.0, correlation=correlation),
                       event("kernel", "void wgrad<4>(int)", 0, 7, t + 5100 + 900 * layer, 300.0, device=0, stream=7,
                             correlation=correlation, grid=[32, 1, 1], block=[128, 1, 1])]
    for i in range(extra):
        events.append(event("cpu_op", "aten::copy_", 1, 1, 100000.0 + 10 * i, 5.0))
    return {"deviceProperties": [{"id": 0, "name": "NVIDIA Test", "numSms": 64, "computeMajor": 9, "computeMinor": 0}], "traceEvents": events}

json.dump(training(), open("a.json", "w"))
with gzip.open("b.json.gz", "wt") as file:
    json.dump(training(1.3, extra=3), file)
json.dump(training(steps=2), open("two.json", "w"))
text = json.dumps(training())
open("cut.json", "w").write(text[: len(text) // 2])
json.dump({"traceEvents": [event("cpu_op", "aten::mm", 1, 1, 0.0, 1.0)]}, open("cpu.json", "w"))
json.dump({"traceEvents": [event("disk", "read", 1, 1, 0.0, 1.0)]}, open("disk.json", "w"))
lost = training()
lost["traceEvents"] = [e for e in lost["traceEvents"] if e["cat"] != "kernel" or e["ts"] > 10000]
json.dump(lost, open("lost.json", "w"))
open("empty.json", "w")
open("rubbish.json", "w").write("hello")
rows = ['==PROF== Connected', '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","dram__bytes_read.sum","dram__bytes_write.sum"',
        '"","","","","","","","","","","","byte","Kbyte"']
for i in range(18):
    rows.append(f'"{2 * i}","9","python","host","gemm<(int)4>(int)","1","7","(128, 1, 1)","(64, 1, 1)","0","9.0","1,000","2"')
    rows.append(f'"{2 * i + 1}","9","python","host","wgrad<(int)4>(int)","1","7","(128, 1, 1)","(32, 1, 1)","0","9.0","500","0"')
open("kernels.csv", "w").write("\n".join(rows) + "\n")
open("one_step.csv", "w").write("\n".join(rows[:9]) + "\n")
open("other.csv", "w").write("\n".join(rows[:3] + ['"0","9","python","host","foreign","1","7","(1, 1, 1)","(1, 1, 1)","0","9.0","1","1"']) + "\n")
base = sqlite3.connect("run.sqlite")
base.executescript("""CREATE TABLE StringIds(id INTEGER, value TEXT); INSERT INTO StringIds VALUES (1,'k1'),(2,'cudaLaunchKernel');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, contextId, streamId, correlationId, globalPid, shortName);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100,200,0,1,7,5,16777216,1);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, correlationId, nameId);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10,20,16777217,5,2);""")
base.commit()

# Snapshots of torch's allocator.
import os, pickle, torch_snapshot
snapshot = torch_snapshot.training(1500)
for protocol in range(2, 6):
    pickle.dump(snapshot, open(f"snapshot{protocol}.pickle", "wb"), protocol=protocol)
with gzip.open("snapshot.pickle.gz", "wb") as file:
    pickle.dump(snapshot, file)
class Command:
    def __reduce__(self):
        return os.system, ("touch was_run",)
pickle.dump({"segments": [], "device_traces": [[Command()]]}, open("command.pickle", "wb"))
pickle.dump({"model": [1.0]}, open("other.pickle", "wb"))
open("short.pickle", "wb").write(pickle.dumps(snapshot)[:5000])

def memory(bytes, addr, total, ts):
    return {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t", "pid": 1, "tid": 1, "ts": ts,
            "args": {"Bytes": bytes, "Addr": addr, "Total Allocated": total, "Total Reserved": 1 << 20, "Device Id": 0, "Device Type": 1}}
with_memory = training()
with_memory["traceEvents"] += [memory(4096, 1, 4096, 30.5), memory(8192, 2, 12288, 1040.0), memory(-4096, 1, 8192, 5000.0)]
json.dump(with_memory, open("memory.json", "w"))
P
DB=(--db r.db)

run 0 profile import a.json "${DB[@]}"
for part in "GPU 0: NVIDIA Test" "▌ The GPU is busy" "1. saves " "(ridgeline show "; do out "$part"; done
run 0 show latest --all "${DB[@]}"
for part in "Where the time went" "Net_0/3 x Linear/aten::linear" "What to do"; do out "$part"; done
run 0 show latest:profile --json "${DB[@]}"
json .schema_version 2
json '.findings[0].title.code' trace.launch_bound
json '.tables.missing[0].code' trace.no_host_events
json '.tables.modules | map(select(.path == "Net_0/Linear_1/aten::linear"))[0].backward_ns' 1800000
json '.tables.kernels | length' 2
json '.tables.devices[0].kernels' 36
run 0 show --all "${DB[@]}"
out "Modules"
run 0 history --json "${DB[@]}"
json '.[0].answer | endswith("of the time the GPU waits for launches")' true
run 0 history "${DB[@]}"
out "profile"
run 0 report latest --output stored.md --report stored.html "${DB[@]}"
checks=$((checks + 1)); grep -q "Where the time went" stored.md || problem "the stored run's report has no times"

run 0 profile import a.json kernels.csv --csv tables --perfetto a.perfetto-trace --chrome back.json.gz --report p.md --report p.html "${DB[@]}"
out "36 of 36 launches with counters are in the trace"
is "$(head -n 1 tables/kernels.csv | cut -d, -f1-3)" name,calls,total_ns "columns of kernels.csv"
is "$(head -n 1 tables/modules.csv | cut -d, -f1-5)" path,calls,self_ns,total_ns,bytes "columns of modules.csv"
is "$(awk -F, 'NR == 2 { print $6 }' tables/kernels.csv)" 54000 "bytes of 18 launches with 1,000 read and 2 KB written"
is "$(grep -c . tables/steps.csv)" 7 "steps.csv: a head and six steps"
checks=$((checks + 1)); [ -s a.perfetto-trace ] && [ -s p.md ] && [ -s p.html ] || problem "a file is missing"
no_out "are used for"
run 0 profile import a.json one_step.csv "${DB[@]}"
out "counters of 6 launches are used for 36"
run 0 profile import back.json.gz "${DB[@]}" -q
run 0 show --json "${DB[@]}"
json '.tables.kernels | map(.calls) | add' 36
run 0 profile import a.json --kernel gemm "${DB[@]}"
out "grid of the longest"
no_out "Hardware counters"
run 0 profile import a.json kernels.csv --kernel gemm --csv counted --report one.md --report one.html "${DB[@]}"
for part in "Hardware counters" "DRAM read" "1000 B" "dram__bytes_read.sum"; do out "$part"; done
is "$(sed -n 2p counted/counters.csv)" "void gemm<4>(int),dram__bytes_read.sum,byte,18,18000,1000,1000,1000" "a row of counters.csv"
for file in one.md one.html; do checks=$((checks + 1)); grep -q "DRAM read" $file || problem "$file has no counters of the kernel"; done
run 0 show --json "${DB[@]}"
json '.tables.kernels[0].counters | map(select(.name == "dram__bytes_write.sum"))[0].sum' 36000
bad "nothing_of_that_name" -- profile import a.json --kernel nothing_of_that_name "${DB[@]}"
run 0 profile import a.json --depth 1 --sort name "${DB[@]}"
no_out "Linear_1"

# What a trace lacks.
run 0 profile import lost.json "${DB[@]}"
out "aunches without a kernel in the file: 6 of 36"
run 0 profile import a.json "${DB[@]}"
no_out "without a kernel"
run 0 profile import cpu.json "${DB[@]}"
for part in "▌ 1.00 µs on the host; no work on a GPU" "aten::mm"; do out "$part"; done
no_out "What to do"
cpu_kept=$(ls -t traces/*.rltrace | head -n 1)
run 0 profile import "$cpu_kept" "${DB[@]}"
out "aten::mm"

# Memory: of the PyTorch profiler, and snapshots of its allocator.
run 0 profile import memory.json "${DB[@]}"
run 0 show latest --all "${DB[@]}"
for part in "12.0 KiB" "Net_#/Linear_#/aten::linear"; do out "$part"; done
for protocol in 2 3 4 5; do
  run 0 profile import "snapshot$protocol.pickle" --json "${DB[@]}"
  json '.tables.memory | length' 1
  json '.tables.memory[0].peak_allocated_bytes' $((96 << 20))
  json '.tables.memory[0].reserved_at_peak_bytes' $((2 << 30))
  json '.tables.memory[0].holders | map(.place + " \(.bytes)") | join(", ")' "train.py(7): <module> $((64 << 20)), train.py(41): step $((32 << 20))"
  json '.tables.memory[0] | [.allocations, .frees, .out_of_memory[0].free_bytes] | join(" ")' "1500 1500 $((5 << 20))"
done
COLUMNS=400 run 0 profile import snapshot.pickle.gz --csv memory_tables --output memory.md --report memory.html "${DB[@]}"
for part in "PyTorch memory snapshot" "96.0 MiB allocated at the peak" "ut of memory after 15.0 ms: 3.00 GiB requested, 5.00 MiB free, by train.py(41): step" "expandable_segments:True"; do out "$part"; done
no_out "What to do"
is "$(head -n 1 memory_tables/memory.csv)" time_ns,device,allocated_bytes,reserved_bytes "columns of memory.csv"
is "$(cut -d, -f3 memory_tables/memory.csv | sort -n | tail -n 1)" $((96 << 20)) "the most in memory.csv"
checks=$((checks + 1)); grep -q "At most 96.0 MiB are allocated on GPU 0" memory.md && grep -q memory-chart memory.html || problem "a report without the chart of memory"
run 0 show --all "${DB[@]}"
out "Allocated at the peak by"
run 0 compare snapshot2.pickle snapshot4.pickle "${DB[@]}"
bad "command.pickle" "would run code" -- profile import command.pickle "${DB[@]}"
checks=$((checks + 1)); [ ! -e was_run ] || problem "a pickle was executed"
bad "other.pickle" "no snapshot of torch" "_record_memory_history" -- profile import other.pickle "${DB[@]}"
bad "short.pickle" "cut off" -- profile import short.pickle "${DB[@]}"
bad "a second trace" -- profile import a.json snapshot4.pickle "${DB[@]}"

# Comparison: of files, of runs, and the alias.
run 1 compare a.json b.json.gz "${DB[@]}"
out "slower"
out "aten::copy_ (3)"
run 0 compare a.json a.json "${DB[@]}"
run 1 profile diff a.json b.json.gz --json "${DB[@]}"
json '.verdict' slower
json '.confidence' 0.99
json '.details.only_b[0].name' aten::copy_
run 0 profile diff a.json two.json "${DB[@]}"
out "no verdict: 6 and 2 steps"
run 0 profile diff run.sqlite run.sqlite "${DB[@]}"
out "in all, no steps"

# Files that were cut off, of Nsight Systems, and of nsys' own format through a stand-in of nsys.
run 0 profile import cut.json "${DB[@]}"
out "cut off"
run 0 profile import run.sqlite "${DB[@]}"
out "1 kernel"
printf 'recording' >run.nsys-rep
bad "run.nsys-rep" "not in PATH" "nsys export" -- profile import run.nsys-rep "${DB[@]}"
mkdir bin
cat >bin/nsys <<'N'
#!/bin/sh
[ "$1 $2 $3" = "export --type sqlite" ] || exit 9
while [ $# -gt 1 ]; do [ "$1" = --output ] && made=$2; shift; done
case $1 in *bad*) echo "Importer error: no such report"; exit 1;; esac
cp run.sqlite "$made"
N
chmod +x bin/nsys
PATH="$WORK/bin:$PATH" run 0 profile import run.nsys-rep "${DB[@]}"
out "Nsight Systems"
cp run.nsys-rep bad.nsys-rep
PATH="$WORK/bin:$PATH" bad "bad.nsys-rep" "Importer error: no such report" -- profile import bad.nsys-rep "${DB[@]}"

# What cannot be used.
bad "disk.json" "no kernels and no operations" "1 of disk" "torch.profiler" -- profile import disk.json "${DB[@]}"
bad "empty.json" "empty" -- profile import empty.json "${DB[@]}"
bad "rubbish.json" "not a trace" -- profile import rubbish.json "${DB[@]}"
bad "missing.json" -- profile import missing.json "${DB[@]}"
bad "missing.json: no such file" "a run" -- compare missing.json a.json "${DB[@]}"
bad "gone/b.json.gz: no such file" -- profile diff a.json gone/b.json.gz "${DB[@]}"
bad "run missing is not in" -- compare missing a.json "${DB[@]}"
bad "kernels.csv" "without a timeline" -- profile import kernels.csv "${DB[@]}"
bad "other.csv" "none of their 1 launches" -- profile import a.json other.csv "${DB[@]}"
bad "a second trace" "ridgeline compare" -- profile import a.json b.json.gz "${DB[@]}"
bad "--csv a.json" "expected a folder" -- profile import a.json --csv a.json "${DB[@]}"
bad "no model given" -- profile "${DB[@]}"
bad "FILE" -- profile import "${DB[@]}"
run 0 profile import a.json -q "${DB[@]}"
bad "it recommends changes of code" -- apply latest --config a.json "${DB[@]}"
bad "read from files" -- rerun latest "${DB[@]}"

# ONNX Runtime on a GPU: kernels count, and nodes are launches, which give no rates.
python3 - <<'P'
import json
events = [{"cat": "Session", "pid": 1, "tid": 1, "dur": 1000, "ts": 1, "ph": "X", "name": "model_run", "args": {}}]
for i in range(3):
    shape = [{"float": [1, 8, 32, 32]}]
    events.append({"cat": "Node", "pid": 1, "tid": 1, "dur": 24, "ts": 10 + 250 * i, "ph": "X", "name": f"/net/layer{i}/Conv_kernel_time",
                   "args": {"op_name": "Conv", "provider": "CUDAExecutionProvider", "activation_size": "8", "parameter_size": "8",
                            "output_size": "8", "input_type_shape": shape + [{"float": [8, 8, 3, 3]}], "output_type_shape": shape}})
    events.append({"cat": "Kernel", "pid": -1, "tid": -1, "dur": 200, "ts": 50 + 250 * i, "ph": "X", "name": "fprop",
                   "args": {"op_name": "Conv", "stream": "13", "grid_x": "64", "block_x": "256"}})
json.dump(events, open("ort_gpu.json", "w"))
P
run 0 profile import ort_gpu.json "${DB[@]}"
for part in "3 kernels" "are those of launches"; do out "$part"; done
run 0 show --json "${DB[@]}"
json '.tables.devices[0].kernel_ns' 600000
json '.tables.nodes | map(.flops, .bytes) | unique | tostring' '[-1]'

# A model, run under ONNX Runtime's own profiler.
if [ -d "$MODELS" ]; then
  model=$MODELS/ch_ppocr_mobile_v2.0_cls_infer.onnx
  run 0 profile "$model" --provider cpu --time 500ms --set intra_op_num_threads=1 --csv model_tables "${DB[@]}"
  out "▌ "
  run 0 show latest --all "${DB[@]}"
  for part in "Nodes" "Modules" "with the profiler; its nodes take"; do out "$part"; done
  run 0 show --json "${DB[@]}"
  json '.provider' cpu
  # 0 where the profiler's own cost is not told from the machine's noise
  json '.cost.event_ns >= 0 and .cost.events > 50' true
  # On a busy machine what it reaches may not repeat, which is said.
  json '(.roof.bytes_per_s > 1e8 and .roof.flops_per_s > 1e9) or (.roof.bytes_per_s == 0 and (.notes | any(.code == "workload.profile_no_reach")))' true
  json '(.tables.modules[0].host_total_ns - ([.tables.steps[] | select(.left_out | not).duration_ns] | add)) | fabs < 1000' true
  json '.tables.nodes | map(select(.operation == "Conv" and .flops > 0)) | length > 20' true
  run 0 profile "$model" --provider cpu --time 200ms --repeat 3 "${DB[@]}" -q
  run 0 show --json "${DB[@]}"
  json '.tables.steps | length' 3
  run "0|1" compare latest latest:profile "${DB[@]}"
  bad "no-such.onnx" -- profile no-such.onnx "${DB[@]}"
  bad "x:1x3" -- profile "$model" --shape x:1x3 "${DB[@]}"
fi
finish
