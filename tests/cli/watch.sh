#!/usr/bin/env bash
# watch: a service becomes slower and fast again, is changed, fails; cron, reload, restart, latencies it writes, mistakes. On the
# CPU and on a made-up GPU, with the simulated workload, whose load a file sets.
source "$(dirname "$0")/lib.sh"
: "${FAKE_NVML:?the fake management library}" "${FAKE_NVML_OLD:?}" "${FAKE_NVML_MISSING:?}"
unset CUDA_VISIBLE_DEVICES
WATCH=
trap '[ -n "$WATCH" ] && kill "$WATCH" 2>/dev/null; chmod -R u+w "$WORK" 2>/dev/null; rm -rf "$WORK"' EXIT
S="synthetic:surface=flat,slowdown=100% if graph_optimization_level!=all,load=$WORK/load"
# short probes in a row, each judged as if a minute had passed
PROBES=(--every 250ms --time 100ms)
# event KIND FILTER EXPECTED: of the last event of that kind on standard output.
event() {
  checks=$((checks + 1))
  local got
  got=$(jq -r "select(.event == \"$1\") | $2" <"$WORK/out" | tail -n 1)
  [ "$got" = "$3" ] || problem "$LAST: $2 of the last $1 is \"$got\", expected \"$3\""
}
no_err() { checks=$((checks + 1)); ! grep -qF -- "$1" "$WORK/err" || problem "$LAST: \"$1\" on standard error"; }
# waits up to 20 s for TEXT in FILE
await() {
  checks=$((checks + 1))
  for _ in $(seq 200); do
    grep -qF -- "$1" "$2" 2>/dev/null && return
    sleep 0.1
  done
  problem "no \"$1\" in $2: $(tail -n 3 "$2")"
}

# Mistakes, before there is a baseline.
printf 'onnxruntime:\n  graph_optimization_level: basic   # from a blog\n' >config.yaml
bad "config.yml" "No such file" "expected the YAML file" "--config FILE" -- watch --config config.yml
bad "no run with a recommendation" "ridgeline tune" -- watch --config config.yaml
bad "--every 5ms" "100ms to 24h" -- watch --config config.yaml --every 5ms
bad "--every soon" -- watch --config config.yaml --every soon
bad "--every 3s with --time 2s" "at least twice" -- watch --config config.yaml --every 3s
bad "--threshold 0" "1% to 1000%" -- watch --config config.yaml --threshold 0
bad "--threshold 10:" "10%" -- watch --config config.yaml --threshold 10
bad "--threshold much" -- watch --config config.yaml --threshold much
bad "--confidence 100%" "50% to" -- watch --config config.yaml --confidence 100%
bad "--on-degrade retunes" "did you mean \"retune\"" -- watch --config config.yaml --on-degrade retunes
bad "--on-degrade exec:" "expected alert, retune, profile:TIME or exec:COMMAND" -- watch --config config.yaml --on-degrade exec:
bad "--on-degrade exec:" "no command" -- watch --config config.yaml --on-degrade "exec: "
bad "--on-degrade retune" "--config FILE" -- watch --on-degrade retune
bad "--baseline 2026" "--run 2026" -- watch --baseline 2026
bad "exclude each other" -- watch --run 1 --baseline latest
bad "exclude each other" -- watch --latency-file a --latency-socket b
bad "leave one out" -- watch --once --count 3
bad "--count 0" "above 0" -- watch --count 0
printf 'onnxruntime: [\n' >broken.yaml
bad "broken.yaml" -- watch --config broken.yaml
bad "--space" "none.yaml" "No such file" "leave --space out" -- watch --config config.yaml --space none.yaml

run 0 tune "$S" "${FAST[@]}" --quick --config config.yaml --apply -q
grep -q 'level: all   # from a blog' config.yaml || problem "not tuned: $(cat config.yaml)"

# A fast service; what is on standard output is JSON.
run 0 watch --config config.yaml "${PROBES[@]}" --count 8
event status .details.state fine
event status .version 3
event status .simulated true
err "note       baseline"
err "simulated: the times follow a formula"
run 0 watch --config config.yaml --once -v
TERM=xterm script -qec "$RIDGELINE watch --config config.yaml --once" /dev/null </dev/null >screen
checks=$((checks + 1))
{ grep -q "status" screen && ! grep -q '{"' screen; } || problem "JSON between the words in a terminal: $(head -c 300 screen)"
event status .probes 9
err "; took 0."

# An event that cannot be written is told, however long the watch is.
for how in "--once" "--count 2" ""; do
  # shellcheck disable=SC2086 # words
  timeout 60 "$RIDGELINE" watch --config config.yaml "${PROBES[@]}" --state full.json $how >/dev/full 2>"$WORK/err" </dev/null
  is "$?" 2 "exit code of watch $how with a full disk"
  is "$(grep -e '^error: ' -e '^hint: ' "$WORK/err")" \
    "error: cannot write to standard output, so an event is lost"$'\n'"hint: is the disk full?" "watch $how"
done
# A library that is named has to be one, needed or not.
bad "/nonexistent: " "expected libonnxruntime.so" -- watch --config config.yaml --once --ort-library /nonexistent

# Two services whose files have the same name: the run is that of the file, however it is named.
OTHER="synthetic:surface=flat,base=2ms"
mkdir a b
ln -s b current
cp config.yaml a
cp config.yaml b
cd b || exit 1
run 0 tune "$OTHER" "${FAST[@]}" --quick --config config.yaml --no-apply -q --db ../two.db
cd ../a || exit 1
run 0 tune "$S" "${FAST[@]}" --quick --config config.yaml --no-apply -q --db ../two.db
run 0 watch --config config.yaml "${PROBES[@]}" --once --db ../two.db
event status .model "$S"
cd ../b || exit 1
run 0 watch --config config.yaml "${PROBES[@]}" --once --db ../two.db
event status .model "$OTHER"
cd ..
for path in "$WORK/b/config.yaml" a/../b/config.yaml current/config.yaml; do
  run 0 watch --config "$path" "${PROBES[@]}" --once --db two.db
  event status .model "$OTHER"
done
cp config.yaml third.yaml
bad "runs of several models fit" "--model FILE" -- watch --config third.yaml --once --db two.db

# A run that another user tuned: a baseline is only read; what a retune could not keep is told before anything is watched.
OWN=$RIDGELINE
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then # root may write everything, nobody may not reach its folders
  cp "$OWN" "$WORK/ridgeline"
  printf '#!/bin/sh\nexec setpriv --reuid=65534 --regid=65534 --clear-groups "%s/ridgeline" "$@"\n' "$WORK" >as_nobody
  chmod 755 . as_nobody
  RIDGELINE=$WORK/as_nobody
fi
if [ "$(id -u)" -ne 0 ] || { [ -x as_nobody ] && ./as_nobody version >/dev/null 2>&1; }; then
  mkdir theirs mine
  cp two.db theirs/ro.db
  cp two.db theirs/rw.db # its folder does not take the log that writing needs
  cp a/config.yaml mine
  chmod 777 mine
  chmod 666 mine/config.yaml theirs/rw.db
  chmod 444 theirs/ro.db
  chmod 555 theirs
  for db in theirs/ro.db theirs/rw.db; do
    run 0 watch --config a/config.yaml "${PROBES[@]}" --once --db $db --state mine/state.json
    event status '.model + " " + .details.state' "$S fine"
    bad "--on-degrade retune: " "$db" "read-only" "--db FILE" -- watch --config mine/config.yaml --model "$S" --once --db $db --state mine/retune.json --on-degrade retune
  done
  # A watch that runs on sees what is tuned later.
  "$RIDGELINE" watch --config a/config.yaml "${PROBES[@]}" --db theirs/ro.db --state mine/state.json >"$WORK/reading" 2>"$WORK/err" &
  WATCH=$!
  await '"event":"started"' "$WORK/reading"
  [ "$(id -u)" -eq 0 ] || chmod u+w theirs theirs/ro.db
  RIDGELINE=$OWN
  run 0 tune "$S" "${FAST[@]}" --quick --config a/config.yaml --no-apply -q --db theirs/ro.db
  kill -HUP "$WATCH"
  await "the baseline is $("$OWN" history --ids --db theirs/ro.db | head -n 1)/" "$WORK/reading"
  kill -TERM "$WATCH"
  wait "$WATCH"
  is "$?" 0 "exit code after SIGTERM of a watch that only reads"
  WATCH=
  chmod 755 theirs
fi
RIDGELINE=$OWN

# A tenth more: found by the probes of several calls, as cron makes them, and told once.
echo 1.1 >load
codes=
for _ in 1 2 3 4 5; do
  "$RIDGELINE" watch --config config.yaml --once >>"$WORK/cron" 2>/dev/null
  codes+=$?
done
is "${codes: -1}" 1 "exit code once it is proven ($codes)"
is "${codes:0:2}" 00 "exit codes before it is"
is "$(grep -c '"event":"degraded"' "$WORK/cron")" 1 "alarms"
cp "$WORK/cron" "$WORK/out"
# What is slow is made up; a machine that is busy while this runs is the one cause that can be seen.
event degraded '.cause == "unknown" or .cause == "busy_cpu"' true
event degraded '.slow_down_ratio > 1.08 and .slow_down_ratio < 1.12' true
event degraded '.slow_down_low < 1.1 and .slow_down_high > 1.1' true
run 1 watch --config config.yaml --once
checks=$((checks + 1))
grep -qE "1\.(09|1[0-2]) times the baseline's" "$WORK/err" || problem "the slow-down of 10 % is told otherwise"
rm load
run 0 watch --config config.yaml "${PROBES[@]}" --count 6
event recovered .event recovered

# One look proves nothing, whatever it says.
echo 1.5 >load
run 0 watch --config config.yaml --once
err "not proven slower yet: "
event status .details.state fine
rm load
run 0 watch --config config.yaml "${PROBES[@]}" --count 6

# A worse setting: told at once, and named as the cause.
cp config.yaml good.yaml
sed -i 's/all/basic/' config.yaml
run 1 watch --config config.yaml "${PROBES[@]}" --count 6 --on-degrade "exec:echo \$RIDGELINE_EVENT \$RIDGELINE_EVENT_CAUSE \$RIDGELINE_EVENT_SLOW_DOWN >>$WORK/called; exit 4"
event changed .cause setting_changed
event degraded .cause setting_changed
event degraded '.causes[0].evidence.text' "graph_optimization_level all -> basic"
event action_failed '.text | endswith("exit code 4")' true
is "$(LC_ALL=C awk '{ printf "%s %s %.1f", $1, $2, $3 }' called)" "degraded setting_changed 2.0" "what the command was told"

# Retune, once the first alarm is over: applies the win with a backup, and goes on against the new run.
cp good.yaml config.yaml
run 0 watch --config config.yaml "${PROBES[@]}" --count 6
sed -i 's/all/basic/' config.yaml
run 0 watch --config config.yaml "${PROBES[@]}" --count 8 --on-degrade retune --retune-time 20s
event retuned .details.applied true
event retuned '.details.settings.graph_optimization_level' all
same config.yaml good.yaml
is "$(ls config.yaml.bak-* | wc -l)" 2 "backups"
run 0 watch --config config.yaml "${PROBES[@]}" --count 3
event status .details.state fine
# The next one has to wait.
sed -i 's/all/basic/' config.yaml
run 1 watch --config config.yaml "${PROBES[@]}" --count 6 --on-degrade retune
event retune_put_off '.text | startswith("the last retune was too recent")' true
cp good.yaml config.yaml
run 0 watch --config config.yaml "${PROBES[@]}" --count 6

# As a service: SIGHUP reads files again, a vanished file is told, SIGTERM ends it cleanly.
"$RIDGELINE" watch --config config.yaml "${PROBES[@]}" >"$WORK/events" 2>"$WORK/err" &
WATCH=$!
await '"event":"started"' "$WORK/events"
bad "another ridgeline watch uses it" "--state" -- watch --config config.yaml --once
kill -HUP "$WATCH"
await '"event":"reloaded"' "$WORK/events"
mv config.yaml away.yaml
await '"event":"failed"' "$WORK/events"
kill -HUP "$WATCH"
await 'reload: cannot read config.yaml' "$WORK/events"
mv away.yaml config.yaml
await '"event":"restored"' "$WORK/events"
kill -TERM "$WATCH"
wait "$WATCH"
is "$?" 0 "exit code after SIGTERM"
WATCH=
tail -n 1 "$WORK/events" >"$WORK/out"
event stopped .event stopped

# The state: another place, damaged, not to be written.
run 0 watch --config config.yaml --once --state here.json
echo '{"question": ' >here.json
run 0 watch --config config.yaml --once --state here.json
err "starts afresh"
bad "is a folder" "--state" -- watch --config config.yaml --once --state "$WORK"
bad "cannot create its folder" -- watch --config config.yaml --once --state config.yaml/state.json

# Latencies that the service writes.
seq 30 | sed 's/.*/1.9/' >service.log
run 0 watch --config config.yaml --latency-file service.log --once
event status .details.state idle
for _ in 1 2 3 4; do
  seq 30 | sed 's/.*/2.0/' >>service.log
  run 0 watch --config config.yaml --latency-file service.log --once
done
event status .details.state fine
# A rename while nobody watched: the rest of the old file counts, or its loss is told.
: >rotated.log
run 0 watch --config config.yaml --latency-file rotated.log --once
seq 30 | sed 's/.*/4.0/' >>rotated.log
mv rotated.log rotated.log.1
seq 10 | sed 's/.*/2.0/' >rotated.log
run 0 watch --config config.yaml --latency-file rotated.log --once
event status .now_ms 4
no_err "may be missing"
mv rotated.log rotated.log.2
seq 30 | sed 's/.*/2.0/' >rotated.log
gzip rotated.log.2
run 0 watch --config config.yaml --latency-file rotated.log --once
event status .now_ms 2
err "lines written before the rotation may be missing"
code=0
for _ in 1 2 3 4 5; do
  seq 30 | sed 's/.*/{"latency_us": 2600, "shapes": {"x": [8, 3, 64, 64]}}/' >>service.log
  "$RIDGELINE" watch --config config.yaml --latency-file service.log --once >"$WORK/out" 2>"$WORK/err"
  code=$?
  [ "$code" = 1 ] && break
done
LAST="watch --latency-file"
is "$code" 1 "exit code for a service that writes longer latencies"
event degraded .cause shapes_changed
bad "nothing.log" "No such file" "expected the file that the service appends" "--latency-file FILE" -- watch --config config.yaml --latency-file nothing.log --once
bad "service.log" "something else has that name" -- watch --config config.yaml --latency-socket service.log --once
bad "none/s" "No such file" "expected a path in a folder" "--latency-socket PATH" -- watch --config config.yaml --latency-socket none/s --once
run 0 watch --config config.yaml --latency-socket s --once --every 300ms
event status .details.state idle
if command -v python3 >/dev/null; then
  : >"$WORK/events" # the shell behind & empties it too late
  "$RIDGELINE" watch --config config.yaml --every 300ms --latency-socket "$WORK/s" --baseline learn -v >"$WORK/events" 2>"$WORK/err" &
  WATCH=$!
  await '"event":"started"' "$WORK/events"
  python3 - "$WORK/s" <<'P'
import socket, sys, time
out = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
out.connect(sys.argv[1])
for i in range(700):
    out.send(b"5.0\n" if i < 450 else b"7.5\n")
    time.sleep(0.01)
P
  await '"event":"degraded"' "$WORK/events"
  kill -TERM "$WATCH"
  wait "$WATCH"
  WATCH=
  is "$(grep '"event":"degraded"' "$WORK/events" | jq -r '.baseline, .baseline_ms' | tr '\n' ' ')" "learned 5 " "the learned baseline"
  # With --once it listens for the time of --every first.
  python3 - "$WORK/s" <<'P' &
import socket, sys, time
out = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
end = time.monotonic() + 60
while time.monotonic() < end:
    try:
        out.sendto(b"2.0\n", sys.argv[1])
    except OSError:  # nobody listens
        pass
    time.sleep(0.01)
P
  WATCH=$!
  run 0 watch --config config.yaml --latency-socket s --once --every 3s
  event status .details.state fine
  event status .now_ms 2
  kill "$WATCH"
  wait "$WATCH" 2>/dev/null
  WATCH=
fi

# Which run: unknown, without a recommendation, of a model that is another one now.
bad "run 19990101 is not in" -- watch --config config.yaml --run 19990101
run 1 tune "synthetic:surface=flat,fault=fail" "${FAST[@]}" --quick --db none.db
bad "no run with a recommendation" -- watch --config config.yaml --db none.db --run latest --once --state n.json
bad "no recommendation" -- watch --config config.yaml --db none.db --run "$("$RIDGELINE" history --ids --db none.db | head -n 1)" --once --state n.json
bad "not of" "leave out --model" -- watch --config config.yaml --model "$S,seed=2" --run "$("$RIDGELINE" history --ids | tail -n 1)" --once --state m.json
# A retune that changed nothing measured a slow service: it is nobody's baseline.
run 0 tune "$S" "${FAST[@]}" --quick --config config.yaml --no-apply -q --db keep.db
echo 1.5 >load
run 1 watch --config config.yaml "${PROBES[@]}" --count 8 --db keep.db --state k.json --on-degrade retune --retune-time 20s
event retuned .details.applied false
run 1 watch --config config.yaml --once --db keep.db --state k.json
rm load
# Another content of the model's file: a mistake before watching, a cause while watching.
if [ -n "${ORT_LIBRARY:-}" ] && [ -n "${MODELS:-}" ] && [ "$(ls "$MODELS"/*.onnx 2>/dev/null | wc -l)" -gt 1 ]; then
  small=$(ls -S "$MODELS"/*.onnx | tail -n 1)
  cp "$small" m.onnx
  run '0|1|4' tune m.onnx --quick --max-time 20s --db onnx.db -q --provider cpu --set intra_op_num_threads=1
  run 0 watch --model m.onnx --db onnx.db --every 2s --time 500ms --once --state o.json --threshold 1000%
  printf '\232\006\001x' >>m.onnx  # a field that no reader knows
  run 0 watch --model m.onnx --db onnx.db --every 2s --time 500ms --once --state o.json --threshold 1000%
  event changed .cause model_changed
  bad "different content of m.onnx" "--model" -- watch --model m.onnx --db onnx.db --once --state p.json
fi

# A made-up GPU: heat, another process, a GPU that is lost, and one that is not there.
mkdir nvml
ln -s "$FAKE_NVML" nvml/libnvidia-ml.so.1
export LD_LIBRARY_PATH="$WORK/nvml" RIDGELINE_SYNTHETIC_GPU=1 RL_FAKE_NVML_SCRIPT=healthy
G="synthetic:surface=flat,clock=real,base=300us,load=$WORK/load"
printf 'onnxruntime:\n  graph_optimization_level: all\n' >gpu.yaml
run '0|1|4' tune "$G" --quick --time 200ms --config gpu.yaml --no-apply --provider cuda -q
gpu_watch() { # EXIT ARGUMENTS...: on the GPU, in its own state
  local expected=$1
  shift
  run "$expected" watch --config gpu.yaml --every 400ms --time 150ms "$@"
}
gpu_watch 0 --count 7
event status .device gpu:GPU-fake-0
echo 1.3 >load
RL_FAKE_NVML_SCRIPT=throttled gpu_watch 1 --count 5
event degraded .cause thermal_throttling
event degraded '[.causes[].kind] | contains(["power_throttling"])' true
rm load
gpu_watch 0 --count 7
sleep 300 &
NEIGHBOUR=$!
echo 1.3 >load
RL_FAKE_NVML_PROCESSES="0:$NEIGHBOUR:2048:37:C" gpu_watch 1 --count 5 --on-degrade retune
event degraded .cause other_process
event degraded ".causes[0].evidence.text | contains(\"process $NEIGHBOUR\")" true
event retune_put_off '.text | startswith("the cause is outside the settings")' true
kill "$NEIGHBOUR"
rm load
gpu_watch 0 --count 7
RL_FAKE_NVML_SCRIPT=lost gpu_watch 1 --count 12
event failed '.text | contains("GPU GPU-fake-0 does not answer any more")' true
RUN=$("$RIDGELINE" history --ids | head -n 1)
# Drivers that answer slowly, tell of slices or of more GPUs, that are old or can tell hardly anything: watched all the same.
for script in slow mig eight; do
  RL_FAKE_NVML_SCRIPT=$script gpu_watch 0 --once --state "$script.json"
  event status '.device + " " + .details.state' "gpu:GPU-fake-0 fine"
done
for library in "$FAKE_NVML_OLD" "$FAKE_NVML_MISSING"; do
  ln -sfn "$library" nvml/libnvidia-ml.so.1
  gpu_watch 0 --once --state "$(basename "$library").json"
  event status '.device + " " + .details.state' "gpu:GPU-fake-0 fine"
done
ln -sfn "$FAKE_NVML" nvml/libnvidia-ml.so.1
# One that tells nothing at all: no run of another service is taken for it.
for run in latest "$RUN"; do
  RL_FAKE_NVML_SCRIPT=errors bad "the GPUs of this machine cannot be read (the driver reports no UUID of GPU 0)" "$RUN" "GPU-fake-0" "see ridgeline doctor" -- watch --config gpu.yaml --run "$run" --once
done
RL_FAKE_NVML_NAMES="NVIDIA L4,NVIDIA L4" CUDA_VISIBLE_DEVICES=1 bad "was measured on NVIDIA H200 GPU-fake-0" "GPU-fake-1" -- watch --config gpu.yaml --run "$RUN" --once
unset LD_LIBRARY_PATH
bad "was measured on NVIDIA H200 GPU-fake-0" "no GPU" -- watch --config gpu.yaml --run "$RUN" --once

# The unit for systemd.
if command -v systemd-analyze >/dev/null; then
  checks=$((checks + 1))
  sed "s#@RIDGELINE_PROGRAM@#$RIDGELINE#" "$SOURCE/systemd/ridgeline-watch@.service.in" >"ridgeline-watch@.service"
  systemd-analyze verify --man=no "$WORK/ridgeline-watch@.service" >"$WORK/out" 2>&1 || problem "systemd-analyze: $(cat "$WORK/out")"
fi
finish
