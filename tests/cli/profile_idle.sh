#!/usr/bin/env bash
# profile --idle, --pid and --environment: a program waits to be recorded, is recorded as often as wanted, and goes on. CUPTI is a stand-in.
: "${SERVES:?the program that uses CUDA as far as a recorder can tell}" "${INJECT:?the library that records}" "${FAKE_NVML:?}"
source "$(dirname "$0")/lib.sh"
export RIDGELINE_INJECT_LIBRARY=$INJECT TMPDIR=$WORK/tmp XDG_RUNTIME_DIR=$WORK/run
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH PYTHONPATH RIDGELINE_TRACE_IDLE RIDGELINE_TRACE_FOLDER
mkdir tmp run
sockets=$WORK/run/ridgeline
nothing_left() { is "$(ls tmp)" "" "$LAST: left in the temporary folder"; }
# serve MS [HOW]: starts it, and waits for its socket; its number is in $pid.
serve() {
  "$RIDGELINE" profile --idle -- "$SERVES" serves "$@" >served 2>served.err &
  pid=$!
  for ((i = 0; i < 500; i++)); do [ -S "$sockets/$pid.sock" ] && return; sleep 0.02; done
  problem "no socket of process $pid"
}
# ends CODE: how the program ended.
ends() { wait "$pid"; is $? "$1" "exit code of the program"; is "$(cat served)" serves "its output"; is "$(cat served.err)" "" "its errors"; }

# Recorded twice, and as without at its end.
serve 6000
is "$(stat -c %a "$sockets" "$sockets/$pid.sock" | tr '\n' ' ')" "700 600 " "modes of folder and socket"
for number in 1 2; do
  run 0 profile --pid "$pid" --duration 400ms --db r.db --report page.md --csv tables
  out "recorded by Ridgeline"
  out "run      "
  is "$(wc -c <err)" 0 "$LAST: errors"
  nothing_left
done
run 0 show --db r.db --json
json '.request.command | .[1:] | join(" ")' "serves 6000"
json '[.tables.kernels[].name] | join(" ")' "gemm(float*, int)"
json '.tables.steps | length > 3' true
json '.sources[0].tool' "recorded by Ridgeline"
checks=$((checks + 1)); [ -s tables/kernels.csv ] && grep -q Recording page.md || problem "files are missing"
run '0|1' compare latest latest --db r.db
run 0 profile --pid "$pid" --steps 3 --warmup-steps 2 --db r.db --json
json '.tables.steps | length' 3
run 0 profile --pid "$pid" --steps 100000 --duration 300ms --db r.db
out "of 100000 steps ended within 300 ms; give a longer --duration"
is "$(ls traces/*.rltrace | wc -l)" 4 "kept traces"
# One at a time.
"$RIDGELINE" profile --pid "$pid" --duration 1500ms --db r.db >first 2>&1 &
first=$!
sleep 0.7
bad "process $pid is being recorded already, by process $first" "wait until" -- profile --pid "$pid" --db r.db
wait "$first"
is $? 0 "the first of two clients"
ends 7
checks=$((checks + 1)); [ ! -e "$sockets/$pid.sock" ] || problem "its socket is left"
run 2 profile --pid "$pid" --db r.db
err "process $pid: no such process"

# Clocks and throttling on the timeline, and a line of a GPU that was throttled.
mkdir gpu && ln -s "$FAKE_NVML" gpu/libnvidia-ml.so.1
serve 3000
LD_LIBRARY_PATH=$WORK/gpu RL_FAKE_NVML_SCRIPT=throttled run 0 profile --pid "$pid" --duration 600ms --db r.db --chrome t.json --perfetto t.pftrace
out "GPU 0 was throttled in "
for counter in "SM clock" "memory clock" power temperature throttling; do
  checks=$((checks + 1)); grep -q "\"name\":\"GPU 0 $counter\"" t.json && grep -qa "GPU 0 $counter" t.pftrace || problem "no counter $counter"
done
LD_LIBRARY_PATH=$WORK/gpu RL_FAKE_NVML_SCRIPT=healthy run 0 profile --pid "$pid" --duration 300ms --db r.db
no_out "throttled"
ends 7

# The process ends during the recording: what it recorded is kept.
serve 1200
run 0 profile --pid "$pid" --duration 60s --db r.db
out "The process ended during the recording"
ends 7
serve 60000
(sleep 1.5; kill -9 "$pid") &
run 0 profile --pid "$pid" --duration 60s --db r.db
out "1 of 1 process did not end its recording"
wait "$pid" 2>/dev/null
bad "process $pid: no such process" -- profile --pid "$pid" --db r.db
# Its socket is left, and removed by a process that starts later.
checks=$((checks + 1)); [ -S "$sockets/$pid.sock" ] || problem "a killed process has no time to remove its socket"
touch -d '1 minute ago' "$sockets/$pid.sock"

# Ctrl-C ends the recording and shows it; the program goes on. A client that is killed ends it, too.
serve 8000
"$RIDGELINE" profile --pid "$pid" --duration 60s --db r.db >out 2>err &
client=$!
sleep 1
kill -INT "$client"
wait "$client"
is $? 130 "Ctrl-C"
LAST=Ctrl-C out "run      "
"$RIDGELINE" profile --pid "$pid" --duration 60s --db r.db >out 2>err &
client=$!
sleep 0.7
kill -9 "$client"
wait "$client" 2>/dev/null
for ((i = 0; i < 100; i++)); do "$RIDGELINE" profile --pid "$pid" --duration 200ms --db r.db >out 2>err && break; sleep 0.1; done
LAST="after a client that was killed" out "run      "
rm -rf tmp/*
# --max-size ends it; a folder that is full or cannot be written to is one line.
run 0 profile --pid "$pid" --duration 60s --max-size 1MB --db r.db --quiet &
full=$!
sleep 0.1
kill "$full" 2>/dev/null; wait "$full" 2>/dev/null
TMPDIR=$WORK/nowhere bad "no temporary folder can be made" "TMPDIR" -- profile --pid "$pid" --db r.db
kill "$pid"; wait "$pid" 2>/dev/null

# Who has no recorder, and how to start one.
sleep 30 &
plain=$!
bad "process $plain (sleep) has no recorder" "ridgeline profile --idle -- COMMAND" -- profile --pid "$plain"
"$RIDGELINE" profile --idle -- sleep 30 &
waiting=$!
sleep 0.5
bad "does not wait yet" "once it uses the GPU" -- profile --pid "$waiting"
kill "$plain" "$waiting"; wait "$plain" "$waiting" 2>/dev/null
bad "process 999999999: no such process" -- profile --pid 999999999
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
  setpriv --reuid=65534 --clear-groups sleep 30 &
  other=$!
  sleep 0.3
  bad "belongs to user" "sudo -u" -- profile --pid "$other"
  kill "$other"; wait "$other" 2>/dev/null
fi
serve 3000 forks
child=$(pgrep -P "$pid" | head -n 1)
bad "process $child" "its parent $pid has a recorder" "ridgeline profile --pid $pid" -- profile --pid "$child"
ends 7
"$RIDGELINE" profile --idle -- sh -c '"$@"; exit 0' sh "$SERVES" serves 3000 >/dev/null 2>&1 &
shell=$!
sleep 1
child=$(pgrep -P "$shell" | head -n 1)
bad "process $shell" "process $child ($(basename "$SERVES" | cut -c1-15)), which it started, does" "ridgeline profile --pid $child" -- profile --pid "$shell"
wait "$shell"
serve 20000
chmod 755 "$sockets"
bad "cannot be used: it is open to other users" -- profile --pid "$pid"
run 2 profile --idle -- true
err "the folder of recorder sockets $sockets cannot be used"
chmod 700 "$sockets"
rm "$sockets/$pid.sock"
run 2 profile --pid "$pid"
kill "$pid"; wait "$pid" 2>/dev/null

# The command takes ridgeline's place: its exit code, its signals, its standard input.
run 9 profile --idle -- sh -c 'exit 9'
is "$(echo typed | "$RIDGELINE" profile --idle -- cat)" typed "standard input"
run 127 profile --idle -- nosuchprogram
err "program nosuchprogram: not found in PATH"
run 0 profile --idle --no-modules -- env
out "RIDGELINE_TRACE_IDLE=$sockets"
out "CUDA_INJECTION64_PATH=$INJECT"
out "NVTX_INJECTION64_PATH=$INJECT"
no_out PYTHONPATH=
run 0 profile --idle -- env
out "ridgeline_profile/site"
CUDA_INJECTION64_PATH=/other.so run 0 profile --idle -- env
err "CUDA_INJECTION64_PATH is set to /other.so and kept: GPU work cannot be recorded"
out "CUDA_INJECTION64_PATH=/other.so"
run 0 profile --environment
out "RIDGELINE_TRACE_IDLE=$sockets"
out "CUDA_INJECTION64_PATH=$INJECT"
# In that environment a program waits as well.
env $("$RIDGELINE" profile --environment) "$SERVES" serves 1500 >served &
pid=$!
for ((i = 0; i < 500; i++)); do [ -S "$sockets/$pid.sock" ] && break; sleep 0.02; done
run 0 profile --pid "$pid" --duration 200ms --db r.db
wait "$pid"
is $? 7 "exit code in the environment"
# Within a program that is recorded, nothing waits.
run 0 profile --db r.db -- "$RIDGELINE" profile --idle -- env
err "no idle recorder: another ridgeline profile is recording this program"
no_out RIDGELINE_TRACE_IDLE=

# watch records the service as it becomes slower, once per --cooldown, restarts included.
load=$WORK/load
printf 'onnxruntime:\n  intra_op_num_threads: 2\n' >config.yaml
run 0 tune "synthetic:surface=flat,load=$load" "${FAST[@]}" --quick --config config.yaml --no-apply -q --db w.db
watched() { run "$1" watch --config config.yaml --db w.db --every 250ms --time 100ms --count 8 --state w.json --on-degrade profile:300ms "${@:2}"; }
serve 60000
echo 2 >"$load"
watched 1
is "$(jq -r 'select(.event == "profiled") | .details.process' out)" "$pid" "the process that was recorded"
recorded=$(jq -r 'select(.event == "profiled") | .details.run' out)
checks=$((checks + 1)); [ -n "$recorded" ] && jq -r 'select(.event == "profiled") | .text' out | grep -qF "ridgeline show $recorded; no further profile before" || problem "the event does not name the run"
is "$(jq -r 'select(.event == "profiled") | .event' out | wc -l)" 1 "profiles of one degradation"
run 0 show "$recorded" --db w.db
out "recorded by Ridgeline"
rm "$load"
watched 0
echo 2 >"$load"
watched 1
out '"event":"profile_put_off"'
rm "$load"
kill "$pid"; wait "$pid" 2>/dev/null
rm -f w.json
echo 2 >"$load"
watched 1
jq -r 'select(.event == "action_failed") | .text' out >failed
checks=$((checks + 1)); grep -qF "no process of this user has a recorder; start the service with ridgeline profile --idle" failed || problem "no line of a service without a recorder"
rm "$load"
bad "--on-degrade profile:soon: expected a time from 100ms to 10m" -- watch --config config.yaml --db w.db --on-degrade profile:soon
bad "--on-degrade profil" 'did you mean "profile' -- watch --config config.yaml --db w.db --on-degrade profil

# Options that make no sense.
bad "--pid 1 with a command after --" "leave out the command" -- profile --pid 1 -- true
bad "--steps 5 with --idle: nothing is recorded yet" "ridgeline profile --pid PID --steps 5" -- profile --idle --steps 5 -- true
bad "--report x.md with --environment" -- profile --environment --report x.md
bad "--environment with a command" "--idle -- COMMAND" -- profile --environment -- true
bad "--idle: for recording a program, but there is no command after --" -- profile --idle
bad "--no-modules with --pid 1" "--idle --no-modules" -- profile --pid 1 --no-modules
bad "--counters rerun with --pid 1" "--counters window" -- profile --pid 1 --counters rerun
bad "--verify with --pid 1" -- profile --pid 1 --verify 1
bad "--idle with --pid 1" -- profile --pid 1 --idle
bad "--pid 0" -- profile --pid 0
bad "--steps 5 with --delay 3s" -- profile --pid 1 --steps 5 --delay 3s
finish
