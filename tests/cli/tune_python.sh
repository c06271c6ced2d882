#!/usr/bin/env bash
# `ridgeline tune --python` on a small model in Debian's PyTorch, and what users get wrong.
source "$(dirname "$0")/lib.sh"
PYTHON=${RIDGELINE_TEST_PYTHON:-/usr/bin/python3}
bad "two models" -- tune model.onnx --python infer.py:make
bad "--python-exe" "only --python" -- tune model.onnx --python-exe "$PYTHON"
bad "expected FILE.py:FUNCTION" -- tune --python infer.py --python-exe "$PYTHON"
bad "--shape x:1x3" -- tune --python infer.py:make --shape x:1x3
bad "--provider openvino" -- tune --python infer.py:make --provider openvino
bad "no-such-python" -- tune --python infer.py:make --python-exe no-such-python
"$PYTHON" -c 'import torch' 2>/dev/null || finish

cat >infer.py <<'PY'
import torch

def make():
    torch.manual_seed(1)
    layers = [torch.nn.Conv2d(3, 16, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(16, 16, 3), torch.nn.Flatten()]
    return torch.nn.Sequential(*layers).eval(), torch.randn(1, 3, 32, 32)

def nothing():
    return None

def raises():
    return helper()

def helper():
    raise ValueError("the weights are not here")

def random():
    return torch.nn.Dropout(), torch.ones(64)

class Broken(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.linear(x, torch.ones(3, 5))

def broken():
    return Broken(), torch.ones(1, 4)

def ends():
    raise SystemExit(3)

def number():
    return 5, torch.ones(1)

def needs(size):
    return torch.nn.ReLU(), torch.ones(size)
PY
printf 'import torch\n\ndef make():\n    return torch.nn.ReLU(, torch.ones(1)\n' >syntax.py
printf 'import no_such_package\n\ndef make():\n    pass\n' >package.py
printf 'torch:\n  channels_last: false   # ours\n' >config.yaml
run '0|1|4' tune --python infer.py:make --python-exe "$PYTHON" --time 100ms --max-time 60s --db r.db --json --config config.yaml
json '.runtime.name' torch
json '.workload.kind' python
json '[.trials[] | select(.status == "ok")] | length >= 4' true
json '[.trials[] | select(.configuration.grad_mode == "inference_mode" and .status == "ok")] | length >= 1' true
json '[.trials[] | select(.configuration.torchscript == "freeze" and .status == "ok")] | length >= 1' true
json 'all(.trials[] | select(.status == "ok"); .output_error.scaled_max_abs < 1e-3)' true
json '[.trials[] | select(.configuration.intra_op_num_threads or .configuration.graph_optimization_level)] | length' 0
json '[.trials[] | select(.status == "ok")][0].peak_rss_bytes > 50e6' true
run 0 report latest --db r.db --output report.md
checks=$((checks + 1))
grep -q "torch" report.md || problem "the report does not name torch"

bad "has no function 'mkae'" -- tune --python infer.py:mkae --python-exe "$PYTHON"
# A file of a package is named as its module is.
mkdir -p pkg && printf 'import torch\ndef net(): return torch.nn.Linear(8, 8)\n' >pkg/net.py
printf 'from .net import net\nimport torch\ndef make(): return net().eval(), torch.ones(1, 8)\n' >pkg/rel.py
bad "pkg/rel.py: attempted relative import" "--python pkg.rel:make" -- tune --python pkg/rel.py:make --python-exe "$PYTHON"
run 0 tune --python pkg.rel:make --python-exe "$PYTHON" --search grid --space <(printf 'only_listed: true\nfixed: {torch_threads: 1}\n') \
  --time 20ms --no-comparisons --db package.db --json
json '.trials[0].status' ok
# State is no chance.
printf 'import torch\nkept = []\ndef model(x):\n    kept.append(x)\n    return torch.cat(kept)\ndef make(): return model, torch.ones(1, 8)\n' >cache.py
bad "output \"output\" grows with each call" "keeps state" "--accuracy-tolerance off" -- tune --python cache.py:make --python-exe "$PYTHON" --quick --db state.db
bad "no file gone.py" -- tune --python gone.py:make --python-exe "$PYTHON"
bad "infer.py:nothing" "(model, inputs)" -- tune --python infer.py:nothing --python-exe "$PYTHON"
# users_error TEXT... -- TARGET: exit code 2, and all that is told of the traceback are the user's own frames.
users_error() {
  local texts=()
  while [ "$1" != -- ]; do
    texts+=("$1")
    shift
  done
  run 2 tune --python "$2" --python-exe "$PYTHON"
  local text
  for text in "${texts[@]}"; do err "$text"; done
  checks=$((checks + 1))
  ! grep -qE 'ridgeline_(infer|train)|dist-packages|site-packages|Traceback' "$WORK/err" || problem "$LAST: frames of others"
}
users_error "ValueError: the weights are not here" "infer.py:12 in raises" "infer.py:15 in helper" -- infer.py:raises
users_error "RuntimeError: " "infer.py:22 in forward" -- infer.py:broken
users_error "SyntaxError" "syntax.py:4" -- syntax.py:make
users_error "No module named 'no_such_package'" "package.py:1" -- package.py:make
users_error "exit code 3" "infer.py:28 in ends" -- infer.py:ends
users_error "infer.py:number" "expected a torch.nn.Module or another callable" -- infer.py:number
users_error "infer.py:needs" "takes arguments" -- infer.py:needs
run '0|1|4' tune --python infer.py:random --python-exe "$PYTHON" --time 50ms --no-comparisons --search random --trials 2 --db random.db
err "training mode"
finish
