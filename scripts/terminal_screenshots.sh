#!/usr/bin/env bash
# Makes docs/images/*.png from the real program: it runs in tmux, its screen with colours becomes HTML, chromium takes the
# picture. The GPUs are those of the tests' fake management library.
#   terminal_screenshots.sh RIDGELINE LIBRL_FAKE_NVML [NAME]
set -euo pipefail
source "$(dirname "$0")/common.sh"
ridgeline=$(realpath "${1:?usage: terminal_screenshots.sh RIDGELINE LIBRL_FAKE_NVML}")
fake=$(realpath "${2:?usage: terminal_screenshots.sh RIDGELINE LIBRL_FAKE_NVML}")
only=${3:-}
work=$(mktemp -d)
terminal="tmux -L rl_shots_$$ -f /dev/null"
jobs_=()
trap '$terminal kill-server 2>/dev/null; kill "${jobs_[@]}" 2>/dev/null; rm -rf "$work"' EXIT
mkdir -p "$ROOT/docs/images"
ln -s "$fake" "$work/libnvidia-ml.so.1"
# Processes to show: idle ones under the names of real programs.
mkfifo "$work/quiet"
exec 9<>"$work/quiet"
processes=
n=0
for line in "python3 train.py --model resnet50 --amp:41230:58" "tritonserver --model-repository=/models:12800:21" \
  "python3 -m vllm.entrypoints.openai.api_server:6144:11" "ridgeline tune model.onnx:1830:3"; do
  IFS=: read -r command mib sm <<<"$line"
  (exec -a "$command" cat <&9) &
  jobs_+=($!)
  processes+="${processes:+,}$((n % 8)):$!:$mib:$sm:C"
  n=$((n + ${SPREAD:-0}))
done

# shot NAME COLUMNS ROWS SECONDS SCRIPT COMMAND [KEYS...]
shot() {
  local name=$1 columns=$2 rows=$3 seconds=$4 script=$5 command=$6
  shift 6
  [ -z "$only" ] || [ "$only" = "$name" ] || return 0
  $terminal kill-server 2>/dev/null || true
  terminal="tmux -L rl_shots_$$_$name -f /dev/null"   # the old server may still be on its way out
  TERM=xterm-256color $terminal new-session -d -x "$columns" -y "$rows" \
    "env TERM=tmux-256color LC_CTYPE=C.UTF-8 LD_LIBRARY_PATH=$work RL_FAKE_NVML_SCRIPT=$script \
     RL_FAKE_NVML_PROCESSES=$processes sh -c '$command'"
  sleep "$seconds"
  [ $# -eq 0 ] || { $terminal send-keys "$@"; sleep 1; }
  $terminal capture-pane -e -p -N >"$work/screen"
  python3 - "$work/screen" "$columns" "$rows" >"$work/screen.html" <<'P'
import html, re, sys
text, columns, rows = open(sys.argv[1]).read(), int(sys.argv[2]), int(sys.argv[3])
BASE = ["#1c1f24", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#dcdfe4"]
def rich(n):
    if n < 16: return BASE[n % 8]
    if n >= 232: return "#%02x%02x%02x" % ((8 + (n - 232) * 10,) * 3)
    steps = [0, 95, 135, 175, 215, 255]
    n -= 16
    return "#%02x%02x%02x" % (steps[n // 36], steps[n // 6 % 6], steps[n % 6])
out, state = [], {}
def style():
    fore, back = state.get("f", "#d5d8dd"), state.get("b", "#15181c")
    if state.get("r"): fore, back = back, fore
    return "color:%s;background:%s%s%s" % (fore, back, ";font-weight:bold" if state.get("s") else "", ";opacity:.6" if state.get("d") else "")
def apply(codes):
    codes = [int(c or 0) for c in codes.split(";")]
    while codes:
        c = codes.pop(0)
        if c == 0: state.clear()
        elif c == 1: state["s"] = 1
        elif c == 2: state["d"] = 1
        elif c == 7: state["r"] = 1
        elif c == 22: state.pop("s", 0); state.pop("d", 0)
        elif c == 27: state.pop("r", 0)
        elif c in (38, 48): codes.pop(0); state["f" if c == 38 else "b"] = rich(codes.pop(0))
        elif 30 <= c <= 37: state["f"] = BASE[c - 30]
        elif 40 <= c <= 47: state["b"] = BASE[c - 40]
        elif c == 39: state.pop("f", 0)
        elif c == 49: state.pop("b", 0)
for part in re.split(r"(\x1b\[[0-9;]*m)", text.rstrip("\n")):
    code = re.fullmatch(r"\x1b\[([0-9;]*)m", part)
    if code: apply(code.group(1))
    # The fallback font for braille has another width.
    elif part: out.append(re.sub("([\u2800-\u28ff\u2190-\u2193])", r"<i>\1</i>", '<span style="%s">%s</span>' % (style(), html.escape(re.sub(r"\x1b.|\x0e|\x0f", "", part)))))
print("<meta charset=utf-8><style>body{margin:10px;background:#15181c}pre{font:15px/18px 'DejaVu Sans Mono',monospace;margin:0}i{display:inline-block;width:1ch;text-align:center;font-style:normal;line-height:17px}</style><pre>" + "".join(out) + "</pre>")
P
  chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --force-device-scale-factor=1 \
    --window-size=$((columns * 9 + 24 + columns / 30)),$((rows * 18 + 20)) --screenshot="$ROOT/docs/images/$name.png" \
    "file://$work/screen.html" >/dev/null 2>&1
  say "docs/images/$name.png"
}
# page NAME WIDTH HEIGHT FILE.html
page() {
  [ -z "$only" ] || [ "$only" = "$1" ] || return 0
  chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --force-device-scale-factor=1 --virtual-time-budget=5000 \
    --window-size="$2,$3" --screenshot="$ROOT/docs/images/$1.png" "file://$4" >/dev/null 2>&1
  say "docs/images/$1.png"
}
training=$ROOT/tests/data/traces/resnet_train_kineto.json.gz
shot profile 116 50 8 healthy "$ridgeline profile import $training --db $work/p.db --no-keep-trace; exec sleep 60"
if [ -z "$only" ] || [ "$only" = profile-page ]; then
  "$ridgeline" profile import "$training" --db "$work/p.db" --report "$work/page.html" -q
  # The timeline and the modules of it.
  echo "<style>section:not(#timeline):not(#modules), .summary { display: none }</style>" >>"$work/page.html"
  page profile-page 1200 1300 "$work/page.html"
fi
monitor="exec $ridgeline monitor --interval 200ms"
shot monitor 120 40 45 healthy "$monitor"
shot monitor-80x24 80 24 20 throttled "$monitor"
shot monitor-eight 132 42 30 eight "$monitor" Right Right
shot monitor-help 80 24 6 healthy "$monitor" h
shot doctor 124 56 20 throttled "$ridgeline doctor; exec sleep 60"
# A service that becomes half as fast again after a while.
echo 1 >"$work/load"
(sleep 24 && echo 1.5 >"$work/load") &
jobs_+=($!)
shot watch 124 15 50 healthy "cd $work && printf \"onnxruntime:\\n  intra_op_num_threads: 1\\n\" >config.yaml && export RIDGELINE_STATE_HOME=$work &&
  $ridgeline tune synthetic:base=2ms,load=$work/load --provider cpu --quick --config config.yaml --yes -q --db $work/r.db &&
  $ridgeline watch --config config.yaml --db $work/r.db --every 3s --time 1s --count 12 -v; exec sleep 60"
