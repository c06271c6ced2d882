#!/usr/bin/env bash
# bench and tune on scripts of the user's that hang, end the process, or return what is not trained with. A pretended torch, so
# that nothing but the script takes time.
source "$(dirname "$0")/lib.sh"
PYTHON=$(command -v python3)
export PYTHONPATH=$SOURCE/tests/fakes/faketorch PYTHONDONTWRITEBYTECODE=1
HANG_LIMIT_S=60
MARKER=$$0181  # seconds that nobody else sleeps for
bench() { printf '%s\n' bench --python "$1" --python-exe "$PYTHON" --devices cpu --search grid --batch-sizes 8 --num-workers "${2:-0}" --no-diagnosis --stability-run 0 --db "${1%%.*}.db"; }
gone() { checks=$((checks + 1)); ! pgrep -f "^sleep $MARKER" >/dev/null || problem "$LAST: a process was left behind"; }
AWAY="import subprocess
subprocess.Popen(['sh', '-c', 'trap \"\" TERM INT HUP; exec sleep $MARKER'], start_new_session=True)"
MODEL="model=torch.Module(), optimizer=torch.Optimizer(), loader=Loader()"

# A file that trains when it is imported, and what it has started.
printf '%s\nimport signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: print("epoch", flush=True); time.sleep(0.01)\n' "$AWAY" >imports.py
mapfile -t HANGS < <(bench imports.py:bench)
bad "--max-time 3s was over, in phase \"importing imports.py\" at imports.py:5 in <module>" "if __name__ == \"__main__\"" -- "${HANGS[@]}" --max-time 3s
gone
bad "--max-time of 3 s was over while importing and calling imports.py:make" "__main__" -- tune --python imports.py:make --python-exe "$PYTHON" --max-time 3s --db t.db
gone

# A step that hangs, and floods the output.
printf '%s\nimport os, threading, time, torch\nclass Loader:\n    def __iter__(self): yield 1, 2\n' "$AWAY" >steps.py
printf 'def flood():\n    while True: os.write(1, b"x" * 65536)\ndef bench(settings):\n    threading.Thread(target=flood, daemon=True).start()\n' >>steps.py
printf '    def forward(model, batch):\n        while True: time.sleep(0.01)\n    return dict(%s, forward=forward)\n' "$MODEL" >>steps.py
mapfile -t HANGS < <(bench steps.py:bench)
run 1 "${HANGS[@]}" --max-time 2s --output steps.md
out "timeout: --max-time 2s and 5 s of grace were over, in phase \"the first step\" at steps.py:11 in forward"
gone
run 1 bench --show latest --db steps.db --json
json '.trials | length' 1
json '.trials[0].outcome.status' timeout
checks=$((checks + 1)); grep -q 'in phase "the first step" at steps.py:11' steps.md || problem "the report does not name the phase"

# A script that reads its command line.
printf 'import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument("--data", required=True)\nparser.parse_args()\n' >loop.py
mapfile -t HANGS < <(bench loop.py:bench)
bad "the script ended the process (exit code 2) in phase \"importing loop.py\", at loop.py:4 in <module>" "__main__" -- "${HANGS[@]}"

# What is told of the function's result reaches table, report and JSON; so does what the file asks for and no trial has.
printf 'import torch\nclass Loader:\n    def __iter__(self): return iter([(torch.Tensor(shape=(8,)), torch.Tensor(shape=(8,)))] * 3)\n' >notes.py
printf 'def bench(settings): return dict(%s, loss=lambda a, b: torch.Tensor(), scheduler=1, epochs=3)\n' "$MODEL" >>notes.py
printf 'def nan(settings): return dict(bench(settings), scheduler=None, epochs=None, loss=lambda a, b: torch.Tensor(value=float("nan")))\n' >>notes.py
printf 'def broken(settings): return dict(bench(settings), loss=lambda a, b: {}["label"])\n' >>notes.py
printf 'device: [0, 1, 2, 3]\ndata: {batch_size: 8, prefetch_factor: 4}\n' >several.yaml
mapfile -t NOTED < <(bench notes.py:bench)
run 0 "${NOTED[@]}" --steps 5 --config several.yaml --no-apply
out "not taken     device: 4 devices, of which a trial has one; prefetch_factor: 4  (several.yaml:1, 2)"
out "notes.py:bench returned scheduler, epochs, which bench does not use: steps are timed without"
mapfile -t NOTED < <(bench notes.py:nan)
run 0 "${NOTED[@]}" --steps 5 --output nan.md --fresh
out "the loss is not finite from step 1 on in 1 of 1 trials that train, first in trial 1 (batch 8"
out "under all settings. Such settings are not recommended: lower the learning rate"
no_out "Recommended:"
checks=$((checks + 1)); grep -q 'the loss is not finite from step 1 on in 1 of 1' nan.md || problem "the report does not tell of the loss"
mapfile -t NOTED < <(bench notes.py:broken)
run 1 "${NOTED[@]}" --steps 5 --fresh
out "failed: KeyError: 'label' (notes.py:6 in <lambda>)"

# The same with the real torch: a stream, a worker's own error, an optimizer over another model's parameters.
PYTHON=${RIDGELINE_TEST_PYTHON:-/usr/bin/python3}
unset PYTHONPATH
if "$PYTHON" -c 'import torch' 2>/dev/null; then
  export OMP_NUM_THREADS=1
  cat >real.py <<'END'
import torch
from torch.utils.data import Dataset, IterableDataset, get_worker_info
class Stream(IterableDataset):
    def __iter__(self):
        worker = get_worker_info()
        for i in range(worker.id if worker else 0, 5000, worker.num_workers if worker else 1): yield torch.randn(16), i % 2
class Broken(Dataset):
    def __len__(self): return 64
    def __getitem__(self, i):
        if i == 7: raise OSError("image file is truncated (3 bytes not processed)")
        return torch.randn(16), 1
def made(data):
    model = torch.nn.Linear(16, 2)
    return dict(model=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1), loss=torch.nn.CrossEntropyLoss(), dataset=data)
def stream(settings): return dict(made(Stream()), optimizer=torch.optim.SGD(torch.nn.Linear(16, 2).parameters(), lr=0.1))
def broken(settings): return made(Broken())
END
  mapfile -t REAL < <(bench real.py:stream 1)
  run 0 "${REAL[@]}" --steps 5
  out "Recommended"
  out "the optimizer has none of the model's 2 parameters that require a gradient"
  mapfile -t REAL < <(bench real.py:broken 1)
  run 1 "${REAL[@]}" --steps 5 --output real.md
  out "failed: OSError: image file is truncated (3 bytes not processed) (real.py:10 in __getitem__)"
  no_out "Caught OSError"
  run 1 bench --show latest --db real.db --json
  json '.trials[0].outcome.failure.message.text' "OSError: image file is truncated (3 bytes not processed) (real.py:10 in __getitem__)"
  run 0 report latest --db real.db --output real.html
  for report in real.md real.html; do
    checks=$((checks + 1))
    grep -q 'OSError: image file is truncated' $report && ! grep -q 'Caught OSError' $report || problem "$report does not name the worker's error"
  done
  # An interpreter that hangs when it is asked what it has: within --max-time as well.
  printf '#!/bin/sh\n[ "$2" = ridgeline_infer ] && exec sleep %s\nexec %s "$@"\n' "$MARKER" "$PYTHON" >hanging-python
  chmod +x hanging-python
  printf 'import torch\ndef make():\n    return torch.nn.Linear(16, 2).eval(), torch.randn(4, 16)\n' >infer.py
  begun=$SECONDS
  bad "--max-time of 12 s was over while looking for runtimes and loading them" "give it more time" -- \
    tune --python infer.py:make --python-exe ./hanging-python --max-time 12s --db t.db
  checks=$((checks + 1)); [ $((SECONDS - begun)) -le 20 ] || problem "$LAST: took $((SECONDS - begun)) s"
  gone
fi
finish
