#!/usr/bin/env bash
# profile -- COMMAND: what the program's processes recorded becomes one profile, and its exit code is ours.
: "${RECORDED:?the program that behaves as a recorded one}"
source "$(dirname "$0")/lib.sh"
touch inject.so
export RIDGELINE_INJECT_LIBRARY=$WORK/inject.so TMPDIR=$WORK/tmp
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH PYTHONPATH RIDGELINE_PYTHON_FOLDER
mkdir tmp
record() { run "$1" profile --db r.db "${@:2}"; }
runs() { "$RIDGELINE" history --db r.db --ids 2>/dev/null | wc -l; }
nothing_left() { is "$(ls tmp)" "" "$LAST: left in the temporary folder"; }

# The answer, beside the program's own output.
record 0 -- "$RECORDED" --environment
is "$(head -c 23 out)" "RIDGELINE_TRACE_FOLDER=" "the program's output comes first"
no_out "GPU is busy"
err "GPU is busy"
err "rl_recorded_program --environment (recorded by Ridgeline, 21 events, "
err "): NVIDIA Test"
err "run      "
nothing_left
run 0 show --db r.db --json
json '.sources[0].tool' "recorded by Ridgeline"
json '.sources[0].path' "$RECORDED --environment"
json '.request.command | length' 2
json '.tables.devices | length' 1
json '[.tables.modules[] | select(.kind == "module") | .name] | unique | map(select(startswith("Linear"))) | length > 0' true
json '.tables.steps | length' 3
json '.notes | length' 1
json '.notes[0].code' campaign.recording_cost_unknown
run 0 show --db r.db
run 0 history --db r.db
out "rl_recorded_program"
kept=$(ls traces/*.rltrace)
run 0 profile import "$kept" --db r.db --no-keep-trace
out "GPU is busy"
record 0 --json=run.json --no-keep-trace -- "$RECORDED" --environment
is "$(head -c 23 out)" "RIDGELINE_TRACE_FOLDER=" "the program's output is not mixed with JSON"
err "json     run.json"
is "$(jq '.tables.steps | length' run.json)" 3 "steps in the file"
record 0 --json --no-keep-trace -- "$RECORDED"
json '.tables.steps | length' 3
json '.trace_file' ""
record 0 --quiet --report page.html --report page.md --csv tables --perfetto p.perfetto-trace --chrome c.json -- "$RECORDED"
is "$(cat out err)" "" "--quiet: output"
checks=$((checks + 1)); [ -s tables/kernels.csv ] && [ -s p.perfetto-trace ] && [ -s c.json ] && grep -q 'Recording' page.md && grep -q data-timeline page.html || problem "files are missing"
run '0|1' compare latest latest --db r.db
bad "recorded a program" "record it again" -- rerun latest --db r.db

# On a terminal: one line before, and the answer on standard output.
cat >terminal.py <<'END'
import os, pty, sys
with open("screen", "wb") as screen:
    def read(fd):
        data = os.read(fd, 65536)
        screen.write(data)
        return data
    status = pty.spawn(sys.argv[1:], read)
sys.exit(os.waitstatus_to_exitcode(status))
END
checks=$((checks + 1)); python3 terminal.py "$RIDGELINE" profile --db r.db -- "$RECORDED" --environment --exit 5 </dev/null >/dev/null
is $? 5 "exit code on a terminal"
is "$(head -n 1 screen | tr -d '\r')" "recording $RECORDED; its profile follows when it ends" "first line on a terminal"
is "$(grep -c 'GPU is busy' screen)" 1 "answers on a terminal"

# Exit codes are the program's.
record 3 -- "$RECORDED" --exit 3
err "GPU is busy"
record 137 -- "$RECORDED" --cut --signal 9
err "GPU is busy"
err "1 of 1 process did not end its recording"
record 143 -- "$RECORDED" --signal 15
record 3 --kernel nosuch -- "$RECORDED" --exit 3
err "--kernel nosuch"
err "GPU is busy"
record 2 --kernel nosuch -- "$RECORDED"
err "run      "
record 127 -- nosuchprogram
err "program nosuchprogram: not found in PATH"
is "$(wc -l <err)" 2 "lines of an error and its hint"
touch plain && chmod 644 plain
record 126 -- ./plain
err "./plain"
record 127 -- ./nosuch
nothing_left

# A session of ONNX Runtime: its kernels belong to its nodes, also when the kept trace is read.
record 0 -- "$RECORDED" --session
run 0 show --db r.db --json
json '[.tables.modules[] | select(.kind == "node")] | map([.path, .kernels, .calls]) | tostring' '[["run of vit.onnx/encoder/MatMul",6,6]]'
json '[.notes[] | tostring | select(contains("node_launches"))] | length' 1
run 0 profile import "$(ls -t traces/*.rltrace | head -n 1)" --db r.db --no-keep-trace --json
json '[.tables.modules[] | select(.kind == "node")] | map(.kernels) | tostring' '[6]'

# Bytes: counted in the same run, in a second one, or not, each with its reason and its fix.
record 0 -- "$RECORDED" --counts
err "DRAM bytes are known for 50 % of the kernel time: measured in step 2, range profiler"
run 0 show --db r.db --json
json '[.tables.kernels[] | {(.name): .bytes}] | add | tostring' '{"gemm_0":90000000,"gemm_1":-1}'
json '[.tables.kernels[].bytes_source] | sort | join(",")' ",range_profiler"
json '.tables.bytes | tostring' '[{"first_step":2,"kernel_ns":600000,"last_step":2,"launches":3,"second_run":false,"source":"range_profiler"}]'
json '.tables.graphs[0] | "\(.nodes) \(.launches) \(.read_bytes) \(.write_bytes) \(.module)"' "5 1 20000000 10000000 Linear_1"
json '[.tables.modules[] | select(.name == "Linear_0") | .tensor_ns] | tostring' '[240000]'
record 0 --depth 5 -- "$RECORDED" --counts
err "CUDA graphs, per launch"
err "Tensor"
record 0 --kernel gemm_0 -- "$RECORDED" --counts
err "DRAM bytes (range profiler)"
err "lts__t_bytes.sum"
record 0 --csv counted --report counted.html -- "$RECORDED" --counts
is "$(sed -n 2p counted/bytes.csv)" "range_profiler,2,2,0,3,600000" bytes.csv
is "$(sed -n 2p counted/graphs.csv | cut -d, -f1-6)" "CUDA graph,Linear_1,5,1,20000000,10000000" graphs.csv
checks=$((checks + 1)); grep -q 'measured in step 2, range profiler' counted.html && grep -q 'Linear_0,.*,range_profiler,240000,600000' counted/modules.csv || problem "sources of bytes"
run 0 profile import "$(ls -t traces/*.rltrace | head -n 1)" --db r.db --no-keep-trace
out "measured in step 2, range profiler"
record 0 --counters rerun -- "$RECORDED" --counts --environment
is "$(grep -c RIDGELINE_TRACE_FOLDER out)" 2 "runs of the program"
err "running $RECORDED again to count bytes"
err "DRAM bytes are known for 100 % of the kernel time: measured in steps 1 to 2 of a second run"
nothing_left
record 0 --counters rerun -- "$RECORDED" --counts --rerun-exit 4
err "ended with exit code 4, the first with 0"
err "GPU is busy"
record 0 --counters rerun -- "$RECORDED" --environment --facts uses_cuda=0
is "$(grep -c RIDGELINE_TRACE_FOLDER out)" 1 "runs of a program without a GPU"
record 0 --counters rerun -- "$RECORDED"
err "failed: it counted no launch"
record 137 --counters rerun -- "$RECORDED" --signal 9
err "was left out: a signal ended the first"
record 0 -- "$RECORDED" --facts counters=no_privilege
err "NVreg_RestrictProfilingToAdminUsers=0"
record 0 -- "$RECORDED" --facts counters=no_steps
err "--counters rerun runs it again"
mkdir gpu && ln -s "$FAKE_NVML" gpu/libnvidia-ml.so.1
LD_LIBRARY_PATH=$WORK/gpu RL_FAKE_NVML_SCRIPT=healthy record 0 -- "$RECORDED" --facts counters=busy --pause
err "dcgmi profile --pause"
no_err "average of the whole GPU (GPM)"  # most of it is of the pause
run 0 show latest:profile --db r.db --json
json '.bandwidths[0].seconds > 0' true
LD_LIBRARY_PATH=$WORK/gpu RL_FAKE_NVML_SCRIPT=healthy record 0 -- "$RECORDED" --counts --pause
checks=$((checks + 1)); ! grep -q GPM err || problem "GPM though bytes were counted"

# Files that cannot be written any more: the answer and the other files are there, and one line names each file.
mkdir folder
before=$(runs)
record 2 --json=folder/run.json --report folder/page.md --csv tables2 -- sh -c "rmdir folder; exec $RECORDED"
is "$(runs)" $((before + 1)) "runs though files could not be written"
err "GPU is busy"
err "tables   tables2"
is "$(grep -c '^error: ' err)" 1 "lines of files that could not be written"
err "folder/run.json"
err "folder/page.md"
is "$(tail -n 1 err | cut -c1-7)" "error: " "the error behind the answer"
mkdir folder
record 3 --json=folder/run.json -- sh -c "rmdir folder; exec $RECORDED --exit 3"
err "folder/run.json"
LAST="--json to a full standard output"
for code in 0 3; do
  "$RIDGELINE" profile --db r.db --json --csv tables3 -- "$RECORDED" --exit $code >/dev/full 2>err
  is $? $((code == 0 ? 2 : code)) "exit code with a full standard output, program $code"
  is "$(grep -v '^hint: ' err)" "error: cannot write to standard output" "lines with a full standard output"
  checks=$((checks + 1)); [ -s tables3/kernels.csv ] || problem "no tables with a full standard output"
  rm -rf tables3
done

# A program that is being recorded is recorded once.
record 0 -- "$RIDGELINE" profile --db r.db -- "$RECORDED"
is "$(grep -c 'GPU is busy' err)" 1 "answers of nested profiles"
is "$(grep -c 'not recording: another ridgeline profile is recording this program' err)" 1 "lines of nested profiles"

# Several processes, and files that are cut or damaged.
record 0 -- "$RECORDED" --fork
run 0 show --db r.db --json
json '.tables.devices | length' 2
json '[.tables.devices[].process] | unique | length' 2
json '[.tables.devices[].kernels] | add' 12
json '.sources[0].events' 42
json '[.tables.modules[] | select(.kind == "unattributed")] | length' 0
json '[.notes[] | tostring | select(contains("recorded_processes"))] | length' 1
record 0 -- "$RECORDED" --fork --cut
err "2 of 2 processes did not end their recording"
record 0 -- "$RECORDED" --facts dropped=12 --facts zero_time=4
err "came faster than they could be written: 12"
err "GPU work may be missing anywhere"
run 0 show --db r.db --json
json '[.notes[] | tostring | select(contains("recording_without_time"))] | length' 1
record 0 -- "$RECORDED" --facts state=stopped_full
err "reached --max-size"
record 0 -- "$RECORDED" --facts step_without_ns=1000000 --facts step_with_ns=1120000 --facts step_spread_ns=5000
err "ecording GPU work costs about 12 % per step: 1.12 ms instead of 1.00 ms"
record 0 -- "$RECORDED" --facts profiler_api=1
err "--capture-range cudaProfilerApi records only between the two"
record 0 --capture-range cudaProfilerApi -- "$RECORDED" --facts profiler_api=1
checks=$((checks + 1)); grep -q "records only between" err && problem "advice that was followed"
record 0 -- "$RECORDED" --facts state=stopped_full --facts "why=/tmp/x: No space left on device"
err "could not be written further: /tmp/x: No space left on device; free space in the temporary"
record 0 -- "$RECORDED" --facts state=no_cupti --facts "why=no libcupti.so.13"
err "GPU work is not recorded: no libcupti.so.13"
before=$(runs)
record 0 -- "$RECORDED" --damage
err "nothing was recorded"

# Nothing recorded: one line, no run.
one_line() { is "$(wc -l <err)" 1 "$LAST: lines on standard error"; is "$(runs)" "$before" "$LAST: runs"; nothing_left; }
record 0 -- true
err "no process of the program used CUDA"
one_line
record 4 -- "$RECORDED" --no-trace --exit 4 --facts state=no_cupti --facts "why=no libcupti.so.13"
err "libcupti.so.13; python3 -m pip install nvidia-cuda-cupti-cu12"
one_line
record 0 -- "$RECORDED" --no-trace --facts state=busy --facts "why=nsys"
err "another tool is using CUPTI: nsys"
one_line
record 0 -- "$RECORDED" --no-trace --facts state=stopped_full --facts "why=/tmp/x: No space left on device"
err "could not be written: /tmp/x: No space left on device; free space in the temporary folder, or set TMPDIR"
one_line
record 0 --range train -- "$RECORDED" --no-trace --facts state=waiting
err "--range train: no such range began"
one_line
record 0 --warmup-steps 9 -- "$RECORDED" --no-trace --facts state=waiting
err "--warmup-steps 9"
one_line
record 0 --delay 1m -- "$RECORDED" --no-trace --facts state=waiting
err "--delay of 60 s"
one_line
record 0 --capture-range cudaProfilerApi -- "$RECORDED" --no-trace --facts state=waiting
err "--capture-range cudaProfilerApi: the program did not call cudaProfilerStart"
one_line
echo old >run.json && echo old >old.md
record 0 --json=run.json --report old.md -- true
err "; of an earlier run: run.json, old.md"
one_line
record 4 --verify 1 -- true
err "no process of the program used CUDA"
one_line
RIDGELINE_INJECT_LIBRARY=gone.so record 6 -- "$RECORDED" --environment --exit 6
err "not recording: RIDGELINE_INJECT_LIBRARY gone.so: no such file; name libridgeline_inject.so"
out "RIDGELINE_TRACE_FOLDER=(unset)"
out "CUDA_INJECTION64_PATH=(unset)"
one_line
TMPDIR=$WORK/nowhere record 0 -- "$RECORDED"
err "not recording: no temporary folder"
one_line

# A recording that grows too fast is reported while the program runs.
cat >grows.sh <<'END'
for second in 0 1 2 3 4 5; do
  printf 'state=recording\nbytes=%d\nbegun_ns=1\nended_ns=%d\n' $((second * 100000 + 1)) $((second * 1000000000 + 1)) \
    >"$RIDGELINE_TRACE_FOLDER/$$.facts"
  sleep 1
done
END
record 0 --max-size 1MB --duration 20s -- sh grows.sh
err "would reach 1.91 MiB, more than --max-size 1MB; give fewer --steps, a shorter --duration, or a larger --max-size"
record 0 --max-size 5MB --duration 20s -- sh grows.sh
checks=$((checks + 1)); grep -q "would reach" err && problem "$LAST: a warning without need"

# The environment.
environment() { record 0 "$@" -- "$RECORDED" --environment; }
environment
out "RIDGELINE_TRACE_LIBRARY=$WORK/inject.so"
out "RIDGELINE_TRACE_OPTIONS=max_bytes=2000000000"
out ";max_events="
out "CUDA_INJECTION64_PATH=$WORK/inject.so"
out "NVTX_INJECTION64_PATH=$WORK/inject.so"
checks=$((checks + 1)); grep -qE '^PYTHONPATH=/[^:]*/ridgeline_profile/site$' out || problem "PYTHONPATH"
environment --range "my step" --warmup-steps 10 --steps 5 --max-size 500MB
out "RIDGELINE_TRACE_OPTIONS=max_bytes=500000000;range=my step;warmup_steps=10;steps=5"
out ";steps=5;counters=window"
environment --counters window
out "RIDGELINE_TRACE_OPTIONS=max_bytes=2000000000;counters=window;counters_force=1"
environment --counters none
no_out "counters="
environment --counters rerun
out "RIDGELINE_TRACE_OPTIONS=max_bytes=2000000000;counters=rerun"
environment --capture-range cudaProfilerApi
out "RIDGELINE_TRACE_OPTIONS=max_bytes=2000000000;capture_range=cudaProfilerApi"
no_out "hooks=0"
environment --capture-range cudaProfilerApi --no-modules
out ";capture_range=cudaProfilerApi;counters=window;"
out ";hooks=0"
environment --delay 1500ms --duration 2m --no-modules
out "RIDGELINE_TRACE_OPTIONS=max_bytes=2000000000;delay_s=1.5;duration_s=120"
out ";counters=window;"
out ";start_ns="
out "PYTHONPATH=(unset)"
PYTHONPATH=/a:/b environment
checks=$((checks + 1)); grep -qE '^PYTHONPATH=/[^:]*/ridgeline_profile/site:/a:/b$' out || problem "PYTHONPATH behind ours"
PYTHONPATH=/a:/b environment --no-modules
out "PYTHONPATH=/a:/b"
CUDA_INJECTION64_PATH=/other.so environment
out "CUDA_INJECTION64_PATH=/other.so"
out "NVTX_INJECTION64_PATH=$WORK/inject.so"
err "CUDA_INJECTION64_PATH was set to /other.so and kept"
NVTX_INJECTION64_PATH=/nvtx.so environment
out "CUDA_INJECTION64_PATH=$WORK/inject.so"
out "NVTX_INJECTION64_PATH=/nvtx.so"
err "NVTX_INJECTION64_PATH was set to /nvtx.so and kept"
before=$(runs)
CUDA_INJECTION64_PATH=/other.so record 0 -- true
err "CUDA_INJECTION64_PATH names another library, /other.so; unset CUDA_INJECTION64_PATH"
one_line

# Standard input is the program's.
checks=$((checks + 1)); [ "$(echo typed | "$RIDGELINE" profile --db r.db -- cat 2>/dev/null)" = typed ] || problem "standard input"

# Ctrl-C reaches both: the program ends, and what it recorded is kept. A signal to profile alone is passed on, once.
cat >interrupt.py <<'END'
import os, signal, subprocess, sys, time
how, number, command = sys.argv[1], getattr(signal, sys.argv[2]), sys.argv[3:]
ours = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=open("err", "w"), text=True, start_new_session=True)
assert ours.stdout.readline() == "waiting\n"
send = (lambda: os.killpg(ours.pid, number)) if how == "group" else (lambda: ours.send_signal(number))
send()
if how == "twice":  # the program does not notice
    time.sleep(0.3)
    assert ours.poll() is None
    send()
    code = ours.wait(20)
    os.killpg(ours.pid, signal.SIGKILL)
    print("", code)
else:
    print(ours.stdout.read(), ours.wait(20))
END
cat >counts.py <<'END'
import os, signal, sys, time
count = 0
def add(*_):
    global count
    count += 1
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
    signal.signal(number, add)
print("waiting", flush=True)
while count == 0:
    time.sleep(0.01)
time.sleep(0.3)
print("signals:", count, flush=True)
os.execv(sys.argv[1], [sys.argv[1]])
END
for how in group alone; do
  for signal in SIGINT SIGTERM SIGUSR1; do
    LAST="$signal, $how"
    python3 interrupt.py "$how" "$signal" "$RIDGELINE" profile --db r.db -- python3 counts.py "$RECORDED" >out
    is "$(tr '\n' ' ' <out)" "signals: 1  0 " "$LAST"
    err "GPU is busy"
  done
done
for how in group alone; do
  LAST="Ctrl-C, $how"
  python3 interrupt.py "$how" SIGINT "$RIDGELINE" profile --db r.db -- "$RECORDED" --wait --exit 9 >out
  is "$(tr '\n' ' ' <out)" "interrupted  9 " "$LAST"
  err "GPU is busy"
done
LAST=SIGTERM
python3 interrupt.py alone SIGTERM "$RIDGELINE" profile --db r.db -- "$RECORDED" --wait >out
is "$(tail -n 1 out)" " -15" "SIGTERM"  # by the same signal, as without us
err "GPU is busy"
before=$(runs)
for signal in SIGINT:130 SIGTERM:143; do
  LAST="two times $signal"
  python3 interrupt.py twice "${signal%:*}" "$RIDGELINE" profile --db r.db -- sh -c 'trap "" INT TERM; echo waiting; exec sleep 20' >out
  is "$(tail -n 1 out)" " ${signal#*:}" "$LAST"
  is "$(cat err)" "stopped twice: ended without a profile; sh may still be running" "$LAST: messages"
done
is "$(runs)" "$before" "two times Ctrl-C: runs"
nothing_left

# Combinations that make no sense.
bad "no command after --" "ridgeline profile -- python train.py" -- profile --
bad "--steps 5: for recording a program" "-- python train.py" -- profile model.onnx --steps 5
bad "--no-modules: for recording a program" -- profile model.onnx --no-modules
bad "model.onnx: unexpected before --" "ridgeline profile model.onnx" -- profile model.onnx -- true
bad "--provider cpu: for profile MODEL" -- profile --provider cpu -- true
bad "--repeat 3: for profile MODEL" -- profile --repeat 3 -- true
bad "--steps 5 with --duration 3m:" "give one of the two" -- profile --steps 5 --duration 3m -- true
bad "--duration 2m: for recording a program" -- profile model.onnx --duration=2m
bad "run.json: unexpected before --" "--json=run.json" -- profile --json run.json -- true
bad "--warmup-steps 5 with --delay 3s:" -- profile --warmup-steps 5 --delay 3s -- true
bad "--lines with --no-modules" "leave out --no-modules" -- profile --lines --no-modules -- true
bad "--lines: for recording a program" -- profile model.onnx --lines
bad "--steps 5 with --no-modules" -- profile --steps 5 --no-modules -- true
bad "--max-size 2: expected a size" "2GB" -- profile --max-size 2 -- true
bad "--max-size 10kB: expected a size of at least 1MB" -- profile --max-size 10kB -- true
bad "unknown value \"all\"" "window" -- profile --counters all -- true
bad "--counters none: for recording a program" -- profile model.onnx --counters none
bad "--range a;b" -- profile --range 'a;b' -- true
bad '--capture-range: unknown value "nvtx"' -- profile --capture-range nvtx -- true
bad "--steps 0" -- profile --steps 0 -- true
bad "has no option --step" "--steps" -- profile --step 5 -- true
touch file
mkdir locked && chmod a-w locked
for option in "--csv file/tables" "--perfetto nowhere/t" "--chrome nowhere/t.json" "--json=nowhere/run.json" "--db file/r.db"; do
  # shellcheck disable=SC2086
  run "2|66|73|74|1|3" profile $option -- touch started
  checks=$((checks + 1)); [ ! -e started ] || problem "$LAST: the program ran"
  rm -f started
done
if [ "$(id -u)" != 0 ]; then bad "not writable" -- profile --csv locked/tables -- true; fi
bad "program is empty" -- profile -- ''
bad "--report page.pdf" -- profile --report page.pdf -- true
# What is behind -- is the program's.
record 0 -- echo --help --steps 0 --
out "--help --steps 0 --"
# Without it, files: import has no program.
bad "gone.json: No such file" -- profile import -- gone.json
finish
