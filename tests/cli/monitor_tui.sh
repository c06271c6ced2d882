#!/usr/bin/env bash
# The monitor's screen in a real terminal: keys, resizing, 80x24, no colours, ASCII.
command -v tmux >/dev/null || {
  echo "skipped: tmux is not here"
  exit 77
}
no_terminal=$(tmux -L "rl_probe_$$" -f /dev/null new-session -d 'sleep 5' 2>&1) || {
  echo "skipped: tmux can open no terminal here: $no_terminal"
  exit 77
}
tmux -L "rl_probe_$$" kill-server 2>/dev/null || true
source "$(dirname "$0")/lib.sh"
: "${FAKE_NVML:?the fake management library}"
unset CUDA_VISIBLE_DEVICES LC_ALL LANG TMUX NO_COLOR COLUMNS
export LC_CTYPE=C.UTF-8
mkdir nvml
ln -s "$FAKE_NVML" nvml/libnvidia-ml.so.1
TMUX_="tmux -L rl_monitor_$$ -f /dev/null"
started=0
sleep 600 &
first=$!
tail -f /dev/null &
second=$!
trap '$TMUX_ kill-server 2>/dev/null; kill $first $second 2>/dev/null; chmod -R u+w "$WORK"; rm -rf "$WORK"' EXIT

# start COLUMNS ROWS SCRIPT ARGUMENTS...: the monitor in a terminal of that size.
start() {
  local columns=$1 rows=$2 script=$3
  shift 3
  $TMUX_ kill-server 2>/dev/null
  started=$((started + 1))
  TMUX_="tmux -L rl_monitor_$$_$started -f /dev/null"   # the old server may still be on its way out
  $TMUX_ new-session -d -x "$columns" -y "$rows" \
    "env TERM=screen-256color LD_LIBRARY_PATH=$WORK/nvml RL_FAKE_NVML_SCRIPT=$script ${EXTRA:-} \
     RL_FAKE_NVML_PROCESSES=0:$first:4096:30:C,0:$second:512:5:G $RIDGELINE monitor $* 2>$WORK/err; echo exit code \$? | tee $WORK/code; sleep 30"
}
screen() { $TMUX_ capture-pane -p "$@"; }
# shows TEXT: the text appears on the screen within some seconds.
shows() {
  checks=$((checks + 1))
  for _ in $(seq 100); do
    screen | grep -qF -- "$1" && return 0
    sleep 0.1
  done
  problem "no \"$1\" on the screen:"
  screen | sed 's/^/    screen| /'
}
hides() {
  checks=$((checks + 1))
  for _ in $(seq 50); do
    screen | grep -qF -- "$1" || return 0
    sleep 0.1
  done
  problem "\"$1\" is still on the screen"
}
keys() { $TMUX_ send-keys "$@"; }
row() { screen | sed -n "$1p"; }

# 80x24, colours off.
EXTRA="NO_COLOR=1" start 80 24 healthy --interval 200ms
shows "GPU 0  NVIDIA H200"
shows "q Quit"
shows "sleep 600"
shows "SMs"
checks=$((checks + 1))
screen -e | grep -q $'\x1b\[[0-9;]*[34][0-8]' && problem "colours in spite of NO_COLOR"
checks=$((checks + 1))
while IFS= read -r line; do
  [ "${#line}" -le 80 ] || problem "longer than 80 columns: $line"
done < <(screen)
checks=$((checks + 1))
row 24 | grep -q "q Quit" || problem "the keys are not on the last line: $(row 24)"

# Keys.
keys h
shows "sort by the next column, reverse"
keys x
hides "sort by the next column, reverse"
keys /
keys -l "tail -f"
shows "filter: tail -f_"
keys Enter
hides "sleep 600"
shows "tail -f /dev/null"
keys Escape
shows "sleep 600"
keys P
shows "▲PID"
keys P
shows "▼PID"
keys s
shows "USER▲"
keys M
shows "▼GPU MEM"
keys Space
shows "PAUSED"
keys Space
hides "PAUSED"
keys +
shows "every 400 ms"
keys -
shows "every 200 ms"
keys g
hides "SM activity"
keys g
shows "SM activity"

# Resizing, also to what is too small.
$TMUX_ resize-window -x 140 -y 45
shows "DRAM bandwidth"
checks=$((checks + 1))
for _ in $(seq 50); do
  row 45 | grep -q "q Quit" && break
  sleep 0.1
done
row 45 | grep -q "q Quit" || problem "not resized: $(row 45)"
$TMUX_ resize-window -x 30 -y 5
shows "too small"
$TMUX_ resize-window -x 80 -y 24
shows "GPU 0  NVIDIA H200"
keys q
shows "exit code 0"

# Colours, several GPUs.
start 120 40 eight --interval 200ms
shows "> 0 H200"
shows "Slowed by"
checks=$((checks + 1))
screen -e | grep -q $'\x1b\[[0-9;]*[34]8;5' || problem "no colours in a terminal of 256"
keys Right Right
shows "> 2 H200"
shows "GPU 2  NVIDIA H200"
keys 7
shows "GPU 7  NVIDIA H200"
keys C-c
shows "exit code 0"

# What throttles the clocks; a GPU that is lost while watched.
start 120 30 throttled --interval 200ms
shows "now by power limit, heat"
shows "since start: power limit"
$TMUX_ resize-window -x 80 -y 24
shows "now: power limit "
shows "energy "
start 100 30 lost --interval 200ms
shows "GPU 0  NVIDIA H200"
shows "LOST"
shows "GPU is lost (NVML 15)"
keys q
shows "exit code 0"

# A locale without UTF-8.
EXTRA="LC_CTYPE=C" start 80 24 healthy --interval 200ms
shows "####"
checks=$((checks + 1))
screen | LC_ALL=C grep -q '[^ -~]' && problem "not plain ASCII in the C locale"
keys q
shows "exit code 0"

# No driver.
EXTRA="LD_LIBRARY_PATH=$WORK" start 80 24 healthy --interval 200ms
shows "no NVIDIA GPU is visible"
shows "ridgeline doctor"
keys q
shows "exit code 0"

# A terminal of an unknown kind is an error in one line.
EXTRA="TERM=no-such-terminal" start 80 24 healthy
shows "exit code 2"
checks=$((checks + 1))
grep -q '^error: unknown terminal type "no-such-terminal"' "$WORK/err" || problem "no clear error: $(cat "$WORK/err")"
finish
