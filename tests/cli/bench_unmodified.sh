#!/usr/bin/env bash
# bench on training scripts that were not written for it: a plain loop with required options, an IterableDataset, a trainer of one's own.
source "$(dirname "$0")/lib.sh"
PYTHON=${RIDGELINE_TEST_PYTHON:-/usr/bin/python3}
"$PYTHON" -c 'import torch' 2>/dev/null || { echo "no Python with torch"; exit 77; }
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
HANG_LIMIT_S=240
QUICK=(--search grid --batch-sizes 8,16 --num-workers 0 --steps 5 --no-diagnosis --stability-run 0)

cat >common.py <<'END'
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset
class Items(Dataset):
    def __len__(self): return 128
    def __getitem__(self, index): return torch.full((8,), float(index)), index % 2
END
cat >plain.py <<'END'
import argparse, atexit
parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--epochs", type=int, required=True)
arguments = parser.parse_args()
from common import *
atexit.register(lambda: open("handlers.txt", "a").write("handler\n"))
print("training on", arguments.data)
open("written.txt", "w").write(arguments.data)
model = nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(arguments.epochs):
    for x, y in DataLoader(Items(), batch_size=8, shuffle=True):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
open("finished.txt", "w").write("the last epoch")
END
run 0 bench "${QUICK[@]}" --db plain.db -- "$PYTHON" plain.py --data 'some where' --epochs 2
out "the script runs in $WORK and writes there what it always writes; --workdir COPY runs it in a copy; output: "
out "current       batch 8, 0 workers, no AMP  (the script)"
out "Recommended: batch "
is "$(cat written.txt)" "some where" "what the script writes"
checks=$((checks + 1)); [ "$(wc -l <handlers.txt)" -ge 3 ] || problem "the exit handlers did not run"
checks=$((checks + 1)); [ ! -e finished.txt ] || problem "the script was not ended after its steps"
logs=$(sed -n 's/.*; output: //p' "$WORK/out" | head -1)
checks=$((checks + 1)); grep -q "training on some where" "$logs"/001-batch8-workers0-no-amp.log || problem "no output in the trial's log"
run 0 bench --show latest --db plain.db --json
json '.trials | length' 2
json '[.trials[].outcome.status] | unique | join(",")' ok
json '.trials[0].outcome.measurement.phases | (.forward_ms.value > 0) and (.backward_ms.value > 0) and (.optimizer_ms.value > 0)' true

# In a copy of the folder.
rm -f written.txt handlers.txt
run 0 bench "${QUICK[@]}" --db copy.db --workdir copy -- "$PYTHON" plain.py --data here --epochs 1
out "the script runs in $WORK/copy, a copy of the current folder, and writes there"
checks=$((checks + 1)); [ -e copy/written.txt ] && [ ! -e written.txt ] || problem "the script wrote outside of its copy"
bad "--workdir copy: there is something in it already" -- bench --workdir copy -- "$PYTHON" plain.py --data here --epochs 1

# A stream, whose workers would repeat it; settings that cannot be changed.
cat >stream.py <<'END'
from common import *
class Stream(IterableDataset):
    def __iter__(self): return (Items()[index] for index in range(64))
model = nn.Linear(8, 2)
optimizer = torch.optim.Adam(model.parameters())
for _ in range(2):
    for x, y in DataLoader(Stream(), batch_size=4):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad(); loss.backward(); optimizer.step()
END
run 0 bench --search grid --batch-sizes 4,8 --steps 5 --no-diagnosis --stability-run 0 --amp bf16 --db stream.db -- "$PYTHON" stream.py
out "workers       0  (not changed: each worker would repeat all samples of its IterableDataset)"
out " bf16 "
bad "--num-workers: cannot be changed from outside: each worker would repeat" -- bench --num-workers 0,1 --db stream.db -- "$PYTHON" stream.py
bad "no such option for a script; known are" "did you mean channels_last?" -- bench --option channel_last=true -- "$PYTHON" stream.py
bad "--model: the command after -- decides that" -- bench --model mlp -- "$PYTHON" stream.py

# A trainer of one's own, with a sampler that makes whole batches.
cat >trainer.py <<'END'
from common import *
class Trainer:
    def __init__(self, model):
        self.model, self.optimizer = model, torch.optim.SGD(model.parameters(), lr=0.1)
    def fit(self, train, valid, epochs):
        for epoch in range(epochs):
            self.model.train()
            batches = iter(train)
            for number in range(len(train)):
                self.optimizer.step(lambda: self.closure(next(batches)))
            self.model.eval()
            with torch.no_grad():
                for x, _ in valid: self.model(x)
    def closure(self, batch):
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.model(batch[0]), batch[1])
        loss.backward()
        return loss
batches = [list(range(at, at + 4)) for at in range(0, 64, 4)]
Trainer(nn.Linear(8, 2)).fit(DataLoader(Items(), batch_sampler=batches), DataLoader(Items(), batch_size=32), 50)
END
run 0 bench --search grid --num-workers 0,1 --steps 5 --no-diagnosis --stability-run 0 --db trainer.db -- "$PYTHON" trainer.py
out "batch sizes   4  (not changed: its loader has a batch_sampler of its own)"
out "Recommended: batch 4, "

# What goes wrong is one line.
bad "plain.py: error: the following arguments are required: --data, --epochs" -- bench -- "$PYTHON" plain.py
bad "no such" -- bench -- nowhere/python plain.py
bad "no command after --" -- bench --
printf 'from common import *\nraise OSError(28, "No space left on device")\n' >full.py
bad "No space left on device" -- bench -- "$PYTHON" full.py
printf 'from common import *\nprint("nothing")\n' >nothing.py
printf 'print("done")\n' >torchless.py
bad "no Python process of it imported torch and trained; expected a training loop" "--python FILE.py:FUNCTION" -- bench -- "$PYTHON" torchless.py
bad "the script ended without a training step" -- bench -- "$PYTHON" nothing.py
sed 's/^for _ in range.*/import time\nif arguments.data == "now": time.sleep(1000)\nfor _ in range(arguments.epochs):/' plain.py >hangs.py
bad "--max-time 4s was over" "at hangs.py:" -- bench --max-time 4s -- "$PYTHON" hangs.py --data now --epochs 1
sed 's/^        optimizer.step()/        optimizer.step()\n        if len(x) == 16: raise MemoryError("no memory for 16")/' plain.py >fails.py
run 0 bench "${QUICK[@]}" --db fails.db -- "$PYTHON" fails.py --data x --epochs 1
out " OOM"
out "Recommended: batch "
sed 's/^        optimizer.step()/        optimizer.step()\n        if len(x) == 16: import os; os.abort()/' plain.py >crashes.py
run 0 bench "${QUICK[@]}" --db crashes.db -- "$PYTHON" crashes.py --data x --epochs 1
out "SIGABRT"

# The command line of a function's file.
cat >function.py <<'END'
import argparse
from common import *
parser = argparse.ArgumentParser()
parser.add_argument("--hidden", type=int, required=True)
hidden = parser.parse_args().hidden
def bench(settings):
    model = nn.Sequential(nn.Linear(8, hidden), nn.Linear(hidden, 2))
    return dict(model=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.0001), loss=nn.CrossEntropyLoss(), dataset=Items())
END
run 0 bench "${QUICK[@]}" --db function.db --python function.py:bench --python-exe "$PYTHON" --devices cpu -- --hidden 16
out "Recommended: batch "
bad "the script ended the process (exit code 2)" "give its options after --" -- bench "${QUICK[@]}" --db function.db --python function.py:bench --python-exe "$PYTHON" --devices cpu
finish
