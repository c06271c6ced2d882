#!/usr/bin/env bash
# Trainings whose one planted fault has a known lever: bench has to name it. Each fault costs a factor of two or more, most of it sleep, so that a
# busy machine does not change the answer.
source "$(dirname "$0")/lib.sh"
PYTHON=${RIDGELINE_TEST_PYTHON:-/usr/bin/python3}
"$PYTHON" -c 'import torch' 2>/dev/null || { echo "no Python with torch"; exit 77; }
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
HANG_LIMIT_S=300
QUICK=(--search grid --steps 5 --stability-run 0 --max-time 100s --json)
OWN=(--python-exe "$PYTHON" --devices cpu)

cat >common.py <<'END'
import time, torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
torch.set_num_threads(1)
class Items(Dataset):
    def __init__(self, sleep_s=0.0, count=64):
        self.sleep_s, self.count = sleep_s, count
    def __len__(self): return self.count
    def __getitem__(self, index):
        if self.sleep_s: time.sleep(self.sleep_s)
        return torch.sin(torch.arange(8.0) * (index + 1)), index % 2
def made(model=None, dataset=None, optimizer=torch.optim.SGD):
    model = model or nn.Linear(8, 2)
    return dict(model=model, optimizer=optimizer(model.parameters(), lr=0.01), loss=nn.CrossEntropyLoss(), dataset=dataset or Items())
END
# helps CODE, no_help CODE: whether it is a finding of the last run.
helps() { json "[.findings[] | select(.code == \"$1\")] | length" 1; }
no_help() { json "[.findings[] | select(.code == \"$1\")] | length" 0; }

# 1. One worker that waits: more workers.
cat >waits.py <<'END'
from common import *
class Net(nn.Linear):
    def forward(self, x):
        time.sleep(0.015)
        return super().forward(x)
def bench(settings): return made(Net(8, 2), Items(0.005, 256))
END
run 0 bench "${QUICK[@]}" "${OWN[@]}" --batch-sizes 8 --num-workers 1 --try none --python waits.py:bench
helps too_few_workers

# 2. Samples that are slow to make, the same each time: a cache. Random ones are not kept.
cat >slow.py <<'END'
from common import *
class Noisy(Items):
    def __getitem__(self, index):
        x, y = super().__getitem__(index)
        return x + torch.rand(8), y
def bench(settings): return made(dataset=Items(0.005))
def noisy(settings): return made(dataset=Noisy(0.005))
END
run 0 bench "${QUICK[@]}" "${OWN[@]}" --batch-sizes 8 --num-workers 0 --try cache_dataset --python slow.py:bench
helps cache_dataset
run 0 bench "${QUICK[@]}" "${OWN[@]}" --batch-sizes 8 --num-workers 0 --try cache_dataset --python slow.py:noisy
no_help cache_dataset
out "draws random numbers"

# 3. A fixed cost per step: a larger batch.
cat >fixed.py <<'END'
from common import *
class Net(nn.Linear):
    def forward(self, x):
        time.sleep(0.02)
        return super().forward(x)
def bench(settings): return made(Net(8, 2))
END
run 0 bench "${QUICK[@]}" "${OWN[@]}" --batch-sizes 4,16,64 --num-workers 0 --no-diagnosis --python fixed.py:bench
json .answers.recommended.settings.batch 64

# 4. Workers that take long to start, each epoch anew, in an unmodified script: they live on.
cat >starts.py <<'END'
from common import *
def begin(number): time.sleep(0.4)
model = nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
train = DataLoader(Items(), batch_size=16, num_workers=1, worker_init_fn=begin)
for epoch in range(99):
    for x, y in train:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
END
run 0 bench "${QUICK[@]}" --batch-sizes 16 --num-workers 1 --try persistent_workers -- "$PYTHON" starts.py
helps persistent_workers

# 5. An optimizer that pays for each parameter: its foreach form.
cat >optimizer.py <<'END'
from common import *
class Launching(torch.optim.SGD):
    def step(self, closure=None):
        for group in self.param_groups:
            time.sleep(0.002 * (1 if group.get("foreach") else len(group["params"])))
        return super().step(closure)
def bench(settings): return made(nn.Sequential(*[nn.Linear(8, 8) for _ in range(9)], nn.Linear(8, 2)), optimizer=Launching)
END
run 0 bench "${QUICK[@]}" "${OWN[@]}" --batch-sizes 8 --num-workers 0 --try fused_optimizer --python optimizer.py:bench
helps fused_optimizer
json '.findings[] | select(.code == "fused_optimizer") | .advice | tostring | contains("foreach")' true

# 6. A lever that is faster and trains something else is not recommended.
cat >wrong.py <<'END'
from common import *
class Net(nn.Module):
    fast = False
    def __init__(self):
        super().__init__()
        self.convolution, self.out = nn.Conv2d(2, 4, 1), nn.Linear(16, 2)
    def to(self, *args, **kwargs):
        self.fast = self.fast or kwargs.get("memory_format") is torch.channels_last
        return super().to(*args, **kwargs)
    def forward(self, x):
        features = self.convolution(x.view(-1, 2, 2, 2)).flatten(1)
        if self.fast: return self.out(features * 3)
        time.sleep(0.02)
        return self.out(features)
def bench(settings): return made(Net())
END
run 0 bench "${QUICK[@]}" "${OWN[@]}" --batch-sizes 8 --num-workers 0 --try channels_last --python wrong.py:bench
no_help channels_last
out "it trains something else"

# 7. A loss that is NaN with AMP: such settings are no answer, and the step and the precision are named.
cat >lost.py <<'END'
from common import *
class Net(nn.Linear):
    def forward(self, x):
        out = super().forward(x)
        if torch.is_autocast_cpu_enabled(): return out * float("nan")
        time.sleep(0.02)
        return out
def bench(settings): return made(Net(8, 2))
END
run 0 bench "${QUICK[@]}" "${OWN[@]}" --batch-sizes 8 --num-workers 0 --amp both --no-diagnosis --python lost.py:bench
json .answers.recommended.settings.amp off
json .answers.fastest.settings.amp off
json '[.points[] | select(.lost_loss) | .settings.amp, .eligible] | tostring' '["bf16",false]'
out "the loss is not finite from step 1 on in"
out "only with bf16. Such settings are not recommended: train without AMP"
python3 "$SOURCE/tests/cli/derive_bench_answers.py" out || problem "answers with a lost loss cannot be derived"

# 8. Workers that take turns at a lock, and a step that reads its loss: lines are named.
cat >locked.py <<'END'
import multiprocessing
from common import *
class Locked(Items):
    lock = multiprocessing.Lock()
    def __getitem__(self, index):
        with self.lock:
            time.sleep(0.004)
        return super().__getitem__(index)
def loss(output, target):
    value = nn.functional.cross_entropy(output, target)
    value.item()
    return value
def bench(settings): return dict(made(dataset=Locked(count=256)), loss=loss)
END
run 0 bench "${QUICK[@]}" "${OWN[@]}" --batch-sizes 8 --num-workers 2 --try none --python locked.py:bench
out "2 loader workers make samples no faster than one"
out "they wait for a lock at locked.py:6 in __getitem__"
out "on a GPU each call waits for it: item() 1 per step at locked.py:11 in loss"

# 9. Smaller images are an offer, and never a finding.
cat >images.py <<'END'
from common import *
class Images(Items):
    def __getitem__(self, index): return torch.ones(3, 64, 64), index % 2
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(3, 2)
    def forward(self, x):
        time.sleep(0.0005 * x.shape[-1])
        return self.out(x.mean((2, 3)))
def bench(settings): return made(Net(), Images())
END
run 0 bench "${QUICK[@]}" "${OWN[@]}" --batch-sizes 8 --num-workers 0 --try input_resolution --python images.py:bench
no_help input_resolution
out "trains something else and is only an offer"
out "images of 32x32 instead of 64x64"

# 10. A built-in model in Python has levers, by name.
run 0 bench "${QUICK[@]}" "${OWN[@]}" --model mlp --batch-sizes 8 --num-workers 0 --try fused_optimizer,cache_dataset
out "cache_dataset was not changed: the built-in models' loader makes whole batches ahead by itself"
run 0 bench "${QUICK[@]}" "${OWN[@]}" --model mlp --batch-sizes 8 --num-workers 0 --no-diagnosis --lever gradient_accumulation=2

# Mistakes.
bad "--try torch_compil: no such lever" "did you mean torch_compile?" -- bench --try torch_compil "${OWN[@]}" --python wrong.py:bench
bad "--lever channels_last: expected NAME=VALUE" -- bench --lever channels_last "${OWN[@]}" --python wrong.py:bench
bad "--lever channels_last=true: a simulated training has no levers" -- bench --lever channels_last=true --model synthetic
bad "--memory-limit 24GB: needs a GPU, and trials run on cpu" -- bench --memory-limit 24GB "${OWN[@]}" --python wrong.py:bench
bad "--memory-limit 24: expected gigabytes" -- bench --memory-limit 24 "${OWN[@]}" --python wrong.py:bench
bad "--try cache_dataset and --no-diagnosis" -- bench --try cache_dataset --no-diagnosis "${OWN[@]}" --python wrong.py:bench
finish
