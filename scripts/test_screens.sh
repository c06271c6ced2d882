#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The last screen of every command that answers something, in tmux at 80x24: the verdict and the next step are within the last 24 lines,
# and at 80, 100 and 120 columns nothing is broken by the terminal. Keeps the screens in FOLDER (default: a temporary one).
#   scripts/test_screens.sh [FOLDER]
# By environment: RIDGELINE (default: build/ci/bin/ridgeline or build/release/bin/ridgeline). Needs tmux and python3; about 4 minutes.
set -uo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
for place in "$ROOT"/build/{ci,release}/bin/ridgeline; do [ -x "$place" ] && RIDGELINE=${RIDGELINE:-$place}; done
[ -x "${RIDGELINE:-}" ] || { echo "error: no program; name it in RIDGELINE" >&2; exit 2; }
command -v tmux >/dev/null || { echo "error: tmux is not installed" >&2; exit 2; }
work=$(mktemp -d)
screens=${1:-$work/screens}
mkdir -p "$screens"
socket=
trap 'tmux -L "$socket" kill-server 2>/dev/null; sleep 1; rm -rf "$work"' EXIT
export HOME=$work XDG_STATE_HOME=$work/state XDG_CACHE_HOME=${XDG_CACHE_HOME:-$HOME/.cache} TERM=xterm-256color
failed=0

# screen NAME WIDTH COMMAND...: runs it in a terminal; its lines, those that the terminal broke joined, in $screens/NAME.WIDTH.txt.
screen() {
  local name=$1 width=$2
  shift 2
  # One server each: one that is still ending takes no sessions.
  [ -z "$socket" ] || tmux -L "$socket" kill-server 2>/dev/null
  socket=screens.$$.$name.$width
  tmux -L "$socket" -f /dev/null new-session -d -x "$width" -y 24 "cd $work && exec bash --norc --noprofile"
  tmux -L "$socket" set -g history-limit 20000
  printf '%s\n' "$*" 'echo "ended: $?"' >"$work/command.sh"
  tmux -L "$socket" send-keys "clear; bash command.sh" Enter
  for _ in $(seq 400); do
    sleep 0.3
    tmux -L "$socket" capture-pane -p 2>/dev/null | grep -q '^ended: [0-9]' && break
  done
  tmux -L "$socket" capture-pane -pJ -S - | sed -e 's/ *$//' -e '/^ended: [0-9]/q' >"$screens/$name.$width.txt"
}

# check NAME VERDICT NEXT COMMAND...: both patterns on the last screen, no line longer than the terminal.
check() {
  local name=$1 verdict=$2 next=$3
  shift 3
  for width in 80 100 120; do
    screen "$name" "$width" "$@"
    python3 - "$screens/$name.$width.txt" "$width" "$verdict" "$next" <<'END' || failed=1
import pathlib, re, sys, unicodedata
path, width, verdict, following = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
text = pathlib.Path(path).read_text()
lines = text.rstrip("\n").split("\n")
name = pathlib.Path(path).stem
wrong = []
if not lines[-1].startswith("ended: "):
    wrong.append("the command did not end")
# What was typed may be the first line of a screen that was not cleared in time.
shown = [line for line in lines[:-1] if "bash command.sh" not in line]
def columns(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)
for line in shown:
    # A path or a link is one word, which no line can hold.
    if columns(line) > width and max(map(len, line.split())) < width - 12:
        wrong.append("broken by the terminal: %r" % line)
last = "\n".join(shown[-23:])
if width == 80:
    for what, pattern in (("verdict", verdict), ("next step", following)):
        if not re.search(pattern, last):
            wrong.append("no %s (%s) within the last 24 lines" % (what, pattern))
for fault in wrong[:5]:
    print("FAIL %s: %s" % (name, fault))
if not wrong:
    print("ok   %s" % name)
sys.exit(bool(wrong))
END
  done
}

r=$RIDGELINE
cat >"$work/job.sh" <<'END'
sleep 0.0$1
echo "ms 1$1.$2"
END
printf 'intra_op_num_threads: 4\n' >"$work/config.yaml"
check tune '▌ (Change|Keep)' 'ridgeline (show|apply)' "$r tune synthetic: --quick --fresh --db t.db"
printf 'onnxruntime:\n  graph_optimization_level: basic\n  intra_op_num_threads: 1\n' >"$work/settings.yaml"
check tune_apply '▌ Change' 'ridgeline' "cp settings.yaml now.yaml; $r tune synthetic:surface=conv --quick --fresh --config now.yaml --apply --db a.db"
check bench '▌ Recommended: batch' 'ridgeline apply' "$r bench --model synthetic:decode_us=900 --batch-sizes 16,32,64,128 --num-workers 0,2,4 --max-time 30s --db b.db"
check sweep '▌ Recommended: b=' 'ridgeline apply' "$r sweep --param b=1,2,4,8 --param w=0,1 --metric 'ms=ms ([0-9.]+)' --objective min:ms --db s.db -- sh job.sh {b} {w}"
check sweep_failures '▌ No answer' 'ridgeline show' "$r sweep --param b=1,2,4,8 --db s.db -- sh missing.sh {b}"
check profile '▌ The GPU is busy' 'saves [0-9]+ %|ridgeline show' "$r profile import $ROOT/tests/data/traces/resnet_train_kineto.json.gz --db p.db"
check stream_bench '▌ (Kept up|Did not|No answer)' 'ridgeline report' "$r stream bench --source synthetic:64x48 --model null --rate 50 --time 3s --slo 100ms --output s.jsonl --db v.db"
check stream_run '▌ [0-9]+ of [0-9]+ frames' 'ridgeline report' "$r stream run --source synthetic:64x48@100x300 --model null --output s.jsonl --db v.db"
screen other 80 "$r tune synthetic: --quick --fresh --db t.db"
check compare '▌ (B is|A and B)' 'ridgeline (show|rerun)' "$r compare \$($r history --db t.db --ids | tail -n 1) latest --db t.db"
check doctor '▌ (Ready|Not ready)' 'next +ridgeline' "$r doctor"
check show '▌ (Change|Keep)' 'ridgeline show .* --all' "$r show latest --db t.db"
[ $failed -eq 0 ] && echo "all screens hold"
exit $failed
