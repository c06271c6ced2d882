#!/usr/bin/env bash
# monitor without its screen: one look, JSON, recordings, the exporter; a fake management library stands in for the driver's.
source "$(dirname "$0")/lib.sh"
: "${FAKE_NVML:?the fake management library}"
unset CUDA_VISIBLE_DEVICES LC_ALL LANG
export LC_CTYPE=C.UTF-8
SERVER=
trap '[ -n "$SERVER" ] && kill "$SERVER" 2>/dev/null; chmod -R u+w "$WORK"; rm -rf "$WORK"' EXIT
# library FILE SCRIPT: programs find this library as the driver's, in this situation.
library() {
  mkdir -p "$WORK/nvml"
  ln -sfn "$1" "$WORK/nvml/libnvidia-ml.so.1"
  export LD_LIBRARY_PATH="$WORK/nvml" RL_FAKE_NVML_SCRIPT="$2"
}

# No driver: the host and the reason.
run 0 monitor --once
out "no NVIDIA GPU is visible"
out "libnvidia-ml.so.1"
err "hint: run ridgeline doctor"
run 0 monitor --once --json
json '.gpus | length' 0
json '.host.cpus > 0 and .host.memory_total_bytes > 0' true
json '.notes[0] | contains("libnvidia-ml.so.1")' true
bad "--devices 0" "no NVIDIA GPU is visible" -- monitor --once --devices 0

# A healthy GPU with a process that is really there.
sleep 300 &
export RL_FAKE_NVML_PROCESSES="0:$!:2048:37:C"
library "$FAKE_NVML" healthy
run 0 monitor --once --json
json '.gpus[0].name' "NVIDIA H200"
json '.gpus[0].state' ok
json '.gpus[0] | (.sm_percent > 0 and .tensor_percent > 0 and .dram_bytes_per_s > 0 and .power_w > 0 and .pcie_received_bytes_per_s > 0 and .nvlink_links_active == 18)' true
json '.processes[0] | "\(.name) \(.gpu_memory_bytes) \(.sm_percent) \(.kind)"' "sleep 2147483648 37 compute"
json '.interval_s < 0.5' true
run 0 monitor --once
out "GPU 0  NVIDIA H200"
out "sleep 300"
out "not since start"
LC_CTYPE=C run 0 monitor --once
checks=$((checks + 1))
LC_ALL=C grep -q '[^ -~]' "$WORK/out" && problem "not plain ASCII in the C locale"
kill %1
unset RL_FAKE_NVML_PROCESSES

# Situations.
library "$FAKE_NVML" throttled
run 0 monitor --json --count 3 --interval 150ms
is "$(wc -l <"$WORK/out")" 3 "lines of JSON"
is "$(tail -n 1 "$WORK/out" | jq -c '.gpus[0].slowdown_reasons')" '["sw_power_cap","sw_thermal_slowdown"]' "reasons"
is "$(tail -n 1 "$WORK/out" | jq '.gpus[0].slowdown_since_start_s.sw_power_cap > 0')" true "throttle time"
library "$FAKE_NVML" eight
run 0 monitor --once --json --devices 1,GPU-fake-7
json '[.gpus[].index] | tostring' '[1,7]'
bad "no GPU \"9\"" "0 (NVIDIA H200, GPU-fake-0)" -- monitor --once --devices 0,9
library "$FAKE_NVML" mig
run 0 monitor --once --json
json '.gpus[0].mig_slices | length' 2
run 0 monitor --once
out "NVIDIA H200 MIG 3g.71gb MIG-fake-0-0 "
out "NVIDIA H200 MIG 3g.71gb MIG-fake-0-1 "
library "$FAKE_NVML" lost
run 0 monitor --json --count 12 --interval 250ms
is "$(head -n 1 "$WORK/out" | jq -r '.gpus[0].state')" ok "before the loss"
is "$(tail -n 1 "$WORK/out" | jq -r '.gpus[0].state, .gpus[0].note' | tr '\n' ' ')" "lost reading the GPU: GPU is lost (NVML 15) " "after the loss"
library "$FAKE_NVML" errors
run 0 monitor --once
out "LOST"
library "$FAKE_NVML" slow
run 0 monitor --once --json
json '.gpus[0].state' ok
library "$FAKE_NVML_OLD" ""
unset RL_FAKE_NVML_SCRIPT
RL_FAKE_NVML=1=1 run 0 monitor --once --json
json '.driver_version' 450.65.06
json '.gpus[0].sm_percent' null
json '.gpus[0].note' "GPM needs driver 525 or later"
library "$FAKE_NVML_MISSING" healthy
run 0 monitor --once
out "GPU 0  NVIDIA H200"

# Recordings.
library "$FAKE_NVML" healthy
run 0 monitor --csv gpus.csv --count 3 --interval 100ms --headless
is "$(wc -l <gpus.csv)" 4 "lines of CSV"
is "$(awk -F, '{print NF}' gpus.csv | sort -u | wc -l)" 1 "different numbers of cells"
run 0 monitor --csv gpus.csv --count 1 --headless
is "$(wc -l <gpus.csv)" 5 "lines of the continued CSV"
printf 'partial,line' >>gpus.csv # a power cut
run 0 monitor --csv gpus.csv --count 1 --headless
is "$(tail -n 2 gpus.csv | head -n 1)" "partial,line" "the torn line"
is "$(tail -n 1 gpus.csv | awk -F, '{print NF}')" "$(head -n 1 gpus.csv | awk -F, '{print NF}')" "cells after a torn line"
bad "--csv -: expected a file" "use --json" -- monitor --csv - --count 1 --headless
is "$(ls ./- 2>/dev/null)" "" "a file named -"
echo "name,price" >other.csv
bad "other.csv" "no recording" -- monitor --csv other.csv --count 1 --headless
bad "nowhere/x.csv" "No such file or directory" -- monitor --csv nowhere/x.csv --count 1 --headless
[ -e /dev/full ] && bad "/dev/full" "No space left" -- monitor --csv /dev/full --count 1 --headless

for how in "--once" "--json --count 2 --interval 100ms"; do
  [ -e /dev/full ] || continue
  # shellcheck disable=SC2086 # words
  "$RIDGELINE" monitor $how >/dev/full 2>"$WORK/err" </dev/null
  is "$? $(cat "$WORK/err")" "2 error: cannot write to standard output"$'\n'"hint: is the disk full?" "monitor $how"
done
bad "--headless" "add --once, --json" -- monitor --headless
run 0 monitor --once --headless
out "GPU 0  NVIDIA H200"
bad "--once with --count 3" -- monitor --once --count 3
bad "--devices" "expected " -- monitor --devices "" --once
RL_FAKE_NVML_PROCESSES="0:4000000:64:5:G,0:4000001:128:50:C" run 0 monitor --once --json --sort sm
json '[.processes[].pid] | join(" ")' "4000001 4000000"
RL_FAKE_NVML_PROCESSES="0:4000000:64:5:G,0:4000001:128:50:C" run 0 monitor --once --json --filter 4000000
json '.processes | length' 1

# The exporter: one that is up, and a second on its port.
"$RIDGELINE" monitor --prometheus 127.0.0.1:0 --interval 200ms --headless </dev/null >"$WORK/out" 2>"$WORK/serving" &
SERVER=$!
for _ in $(seq 100); do
  grep -q '^serving ' "$WORK/serving" && break
  sleep 0.1
done
url=$(sed -n 's/^serving //p' "$WORK/serving")
port=$(sed 's#.*:\([0-9]*\)/metrics#\1#' <<<"$url")
fetch() { # PATH: by bash alone
  exec 3<>"/dev/tcp/127.0.0.1/$port" || return
  printf 'GET %s HTTP/1.0\r\n\r\n' "$1" >&3
  cat <&3
  exec 3>&-
}
sleep 0.5
fetch /metrics | sed '1,/^\r$/d' >metrics
checks=$((checks + 1))
grep -q '^ridgeline_gpu_power_watts{gpu="0",uuid="GPU-fake-0"} [0-9]' metrics || problem "no power in $(head -c 300 metrics)"
if command -v promtool >/dev/null; then
  checks=$((checks + 1))
  promtool check metrics <metrics >"$WORK/out" 2>&1 || problem "promtool: $(cat "$WORK/out")"
else
  echo "note: promtool (Debian package prometheus) is not here, its check is left out"
fi
is "$(fetch /nothing | head -n 1 | tr -d '\r')" "HTTP/1.0 404 Not Found" "another path"
bad "127.0.0.1:$port" "Address already in use" "another address or port" -- monitor --prometheus "127.0.0.1:$port" --headless
bad "expected HOST:PORT" -- monitor --prometheus localhost --headless
kill -TERM "$SERVER"
wait "$SERVER"
is "$?" 0 "exit code of a stopped exporter"
SERVER=

# Mistakes.
bad "--interval 10ms" "100ms to 1h" -- monitor --once --interval 10ms
bad "--interval" -- monitor --once --interval soon
bad "--count 0" "above 0" -- monitor --count 0
bad "unknown value \"memry\"" "did you mean \"memory\"" -- monitor --sort memry
bad "--once with --prometheus" -- monitor --once --prometheus :0
finish
