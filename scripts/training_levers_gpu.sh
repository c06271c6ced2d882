#!/usr/bin/env bash
# Eight trainings with one planted fault each, whose lever is known, on an NVIDIA GPU (torch 2.0 or later): prints for each whether bench names it,
# and exits with 1 if it misses more than one (of a few: any). Takes at most nine minutes. usage: scripts/training_levers_gpu.sh [PYTHON]
#   ONLY="tf32 half"   these alone
#   OUT=FOLDER         keeps each one's JSON and messages, and the lines printed in lines.txt as they arrive (default: ./training_levers_gpu)
#   DEVICES=cpu        for a look at those that need no GPU: waits, slow_samples
set -uo pipefail
# With their folders: the work is done in another one. A venv's python stays the link that it is.
found() { realpath -s "$(command -v "$1")" 2>/dev/null || { echo "$1: not found" >&2; exit 2; }; }
RIDGELINE=$(found "${RIDGELINE:-ridgeline}") || exit
PYTHON=$(found "${1:-python3}") || exit
DEVICES=${DEVICES:-cuda}
ALL="tf32 half pointwise launches optimizer attention waits slow_samples"
ONLY=${ONLY:-$ALL}
for name in $ONLY; do
  [[ " $ALL " == *" $name "* ]] || { echo "ONLY: $name: expected some of $ALL"; exit 2; }
done
[ "$DEVICES" != cuda ] || "$PYTHON" -c 'import torch; raise SystemExit(not torch.cuda.is_available() or not hasattr(torch, "compile"))' 2>/dev/null ||
  { echo "skipped: $PYTHON has no torch 2 that sees a GPU"; exit 77; }
mkdir -p "${OUT:=training_levers_gpu}" && OUT=$(cd "$OUT" && pwd) || exit 2
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
cd "$WORK" || exit 1
cat >planted.py <<'END'
import time, torch
from torch import nn
from torch.utils.data import Dataset


class Items(Dataset):
    """Samples of a shape, ready in memory; `sleep_s` is what making one takes."""

    def __init__(self, *shape, sleep_s=0.0, count=512):
        self.x, self.sleep_s, self.count = torch.randn(64, *shape), sleep_s, count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if self.sleep_s:
            time.sleep(self.sleep_s)
        return self.x[index % 64], index % 10


def made(model, dataset, optimizer=None):
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=1e-4)
    return dict(model=model, optimizer=optimizer, loss=nn.CrossEntropyLoss(), dataset=dataset)


def wide(width=4096, depth=8):
    return nn.Sequential(nn.Linear(256, width), *[one for _ in range(depth) for one in (nn.Linear(width, width), nn.ReLU())], nn.Linear(width, 10))


def tf32(settings):
    torch.set_float32_matmul_precision("highest")
    return made(wide(), Items(256))


def half(settings):
    torch.set_float32_matmul_precision("highest")
    return made(wide(), Items(256))


class Pointwise(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.out = nn.Linear(256, 8192), nn.Linear(8192, 10)

    def forward(self, x):
        x = self.inner(x)
        for _ in range(12):
            x = torch.sin(x) * 0.5 + torch.tanh(x) * 0.5
        return self.out(x)


def pointwise(settings):
    return made(Pointwise(), Items(256))


def launches(settings):
    return made(nn.Sequential(nn.Linear(256, 64), *[one for _ in range(60) for one in (nn.Linear(64, 64), nn.ReLU())], nn.Linear(64, 10)), Items(256))


def optimizer(settings):
    model = nn.Sequential(nn.Linear(256, 64), *[nn.Linear(64, 64) for _ in range(300)], nn.Linear(64, 10))
    return made(model, Items(256), torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=False, fused=False))


class Attends(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(64, 3 * 512), nn.Linear(512, 10)

    def forward(self, x):
        q, k, v = self.qkv(x).view(x.shape[0], x.shape[1], 3, 8, 64).permute(2, 0, 3, 1, 4)
        return self.out(nn.functional.scaled_dot_product_attention(q, k, v).mean(2).flatten(1))


def attention(settings):
    torch.backends.cuda.enable_flash_sdp(False)
    torch.backends.cuda.enable_mem_efficient_sdp(False)
    getattr(torch.backends.cuda, "enable_cudnn_sdp", lambda _: None)(False)
    return made(Attends(), Items(2048, 64))


def waits(settings):
    return made(nn.Linear(256, 10), Items(256, sleep_s=0.002))


def slow_samples(settings):
    return made(nn.Linear(256, 10), Items(256, sleep_s=0.001, count=256))
END
: >"$OUT/lines.txt"
ran=0
missed=0
# planted NAME SECONDS LEVERS EXPECTED OPTIONS...: a finding's code has to be one of EXPECTED.
planted() {
  local name=$1 seconds=$2 levers=$3 expected=$4
  shift 4
  [[ " $ONLY " == *" $name "* ]] || return
  ran=$((ran + 1))
  local begun=$SECONDS
  # Starting Python and stopping a trial are not within --max-time.
  timeout $((seconds + 20)) "$RIDGELINE" bench --python planted.py:"$name" --python-exe "$PYTHON" --devices "$DEVICES" --search grid --steps 10 \
    --stability-run 0 --max-time "${seconds}s" --try "$levers" --db "$WORK/$name.db" --json "$@" >"$OUT/$name.json" 2>"$OUT/$name.err"
  local code=$?
  if [ $code -ne 0 ]; then
    echo "$name: exit code $code: $(tail -n 1 "$OUT/$name.err")" | tee -a "$OUT/lines.txt"
    missed=$((missed + 1))
    return
  fi
  "$PYTHON" - "$OUT/$name.json" "$name" $((SECONDS - begun)) $expected <<'END' | tee -a "$OUT/lines.txt" || missed=$((missed + 1))
import json, sys
path, name, seconds, *expected = sys.argv[1:]
run = json.load(open(path))
found = [finding["code"] for finding in run["findings"]]
named = any(code in expected for code in found)
print("%s: %s (%s s)" % (name, " ".join(found) if named else "missed %s; found: %s" % (" or ".join(expected), " ".join(found) or "nothing"), seconds))
if not named:
    for note in run["notes"]:
        print("    %s" % (note.get("text") or note["code"]))
sys.exit(not named)
END
}
planted tf32 40 allow_tf32 allow_tf32 --batch-sizes 1024 --num-workers 2 --amp off
planted half 40 none amp_would_help --batch-sizes 1024 --num-workers 2 --amp off
planted pointwise 70 torch_compile torch_compile --batch-sizes 1024 --num-workers 2 --amp off
planted launches 80 cuda_graph,torch_compile "cuda_graph torch_compile levers_together" --batch-sizes 64 --num-workers 2 --amp off
planted optimizer 40 fused_optimizer fused_optimizer --batch-sizes 64 --num-workers 2 --amp off
planted attention 40 sdpa_backend sdpa_backend --batch-sizes 16 --num-workers 2 --amp bf16
planted waits 40 none too_few_workers --batch-sizes 64 --num-workers 1 --amp off
planted slow_samples 40 cache_dataset cache_dataset --batch-sizes 64 --num-workers 0 --amp off
echo "$((ran - missed)) of $ran levers were named" | tee -a "$OUT/lines.txt"
[ "$missed" -le $((ran == 8 ? 1 : 0)) ]
