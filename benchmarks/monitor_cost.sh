#!/usr/bin/env bash
# What `ridgeline monitor` costs: CPU time, resident memory and its growth at one look a second, and how long
# `--once --json` takes.
#   monitor_cost.sh RIDGELINE [SECONDS] [DEVICES] [CALLS]
# SECONDS of 0: only how long the CALLS (21) of `--once --json` take, and how many of them knew the PCIe traffic.
# Looks at the machine's GPUs, or those of DEVICES ("0": the goals are for one). With FAKE_NVML=librl_fake_nvml.so (of the tests)
# at that library's, whose calls cost nothing: then it is the program's own cost.
set -euo pipefail
ridgeline=${1:?usage: monitor_cost.sh RIDGELINE [SECONDS] [DEVICES]}
seconds=${2:-60}
devices=${3:-all}
calls=${4:-21}
export LC_CTYPE=C.UTF-8 TERM=${TERM:-xterm-256color}
work=$(mktemp -d)
monitor=
trap '[ -n "$monitor" ] && kill "$monitor" 2>/dev/null; rm -rf "$work"' EXIT
if [ -n "${FAKE_NVML:-}" ]; then
  ln -s "$(realpath "$FAKE_NVML")" "$work/libnvidia-ml.so.1"
  export LD_LIBRARY_PATH=$work RL_FAKE_NVML_SCRIPT=${RL_FAKE_NVML_SCRIPT:-healthy}
fi
tick=$(getconf CLK_TCK)
# schedstat counts nanoseconds; the ticks of stat are too coarse for what runs a millisecond a second.
cpu_ms() {
  local ns
  ns=$(cat "/proc/$1"/task/*/schedstat 2>/dev/null | awk '{ ns += $1 } END { print ns + 0 }')
  if [ "$ns" != 0 ]; then  # some virtual machines do not count it
    awk -v ns="$ns" 'BEGIN { print ns / 1e6 }'
  else
    awk -v tick="$tick" '{ sub(/.*\) /, ""); print ($12 + $13) * 1000 / tick }' "/proc/$1/stat"
  fi
}
memory_kib() { awk '/^VmRSS/ { print $2 }' "/proc/$1/status"; }

# cost NAME COMMAND...: of the steady state, after 20 seconds: what the driver is slowest with has been read twice by then.
cost() {
  local name=$1
  shift
  setsid "$@" >"$work/out" 2>&1 </dev/null &
  local started=$!
  sleep 3
  # `script` gives the screen a terminal of its own: the monitor is its child.
  monitor=$(pgrep -P "$started" -f "$ridgeline" | head -n 1 || true)
  monitor=${monitor:-$started}
  sleep 17
  local cpu memory
  cpu=$(cpu_ms "$monitor")
  memory=$(memory_kib "$monitor")
  sleep "$seconds"
  awk -v name="$name" -v before="$cpu" -v after="$(cpu_ms "$monitor")" -v s="$seconds" -v first="$memory" \
    -v last="$(memory_kib "$monitor")" 'BEGIN {
      printf "| %s | %.2f | 0.5 | %.1f | 20 | %d |\n", name, (after - before) / s / 10, last / 1024, last - first }'
  kill "$monitor"
  wait "$started" 2>/dev/null || true
  monitor=
}
if [ "$seconds" != 0 ]; then
  echo "| mode | CPU, % of a core | goal | resident, MiB | goal | growth, KiB |"
  echo "|---|---|---|---|---|---|"
  cost "screen, 120x40" script -qfec "stty cols 120 rows 40; exec '$ridgeline' monitor --devices $devices" /dev/null
  cost "--json, headless" "$ridgeline" monitor --devices "$devices" --json
  cost "--csv, headless" "$ridgeline" monitor --devices "$devices" --csv "$work/gpus.csv" --headless
  cost "--prometheus, headless" "$ridgeline" monitor --devices "$devices" --prometheus 127.0.0.1:0 --headless
  echo
fi
for _ in $(seq "$calls"); do
  start=$(date +%s%N)
  "$ridgeline" monitor --devices "$devices" --once --json >>"$work/looks"
  echo $((($(date +%s%N) - start) / 10000))
done | sort -n | awk '{ t[NR] = $1 / 100 } END {
  printf "`--once --json`, %d times: median %.0f ms, slowest %.0f ms (goal 150 ms; up to 60 ms of it is the gap that rates need)\n",
    NR, t[int((NR + 1) / 2)], t[NR] }'
printf 'PCIe traffic known in %d of %d\n' "$(grep -c '"pcie_received_bytes_per_s": *[0-9]' "$work/looks" || true)" "$calls"
