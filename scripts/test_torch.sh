#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tunes small PyTorch models on the CPU with a current torch of PyPI, compiled ones among the settings, and models with one fault each:
# every fault ends as a row with its reason and leaves a right answer. About 15 minutes on 2 idle cores, after scripts/fetch_torch.sh (5 GB);
# exit code 77 where torch cannot be had.
#   scripts/test_torch.sh [PART]...     of: package, conv, transformer, faults, onnx (default: all)
# RIDGELINE is the program (default: build/ci/bin or build/release/bin).
set -uo pipefail
SOURCE=$(cd "$(dirname "$0")/.." && pwd)
for folder in ci release dev; do RIDGELINE=${RIDGELINE:-$(ls "$SOURCE/build/$folder/bin/ridgeline" 2>/dev/null)}; done
parts=" ${*:-package conv transformer faults onnx} "
for part in $parts; do
  case $part in
    package | conv | transformer | faults | onnx) ;;
    *)
      echo "error: unknown part \"$part\"; expected package, conv, transformer, faults or onnx" >&2
      exit 2
      ;;
  esac
done
# A file that does not match its pin is a failure, an index out of reach is none.
environment=$("$SOURCE/scripts/fetch_torch.sh")
case $? in
  0) PYTHON=$environment/bin/python ;;
  69)
    echo "skipped: torch could not be fetched"
    exit 77
    ;;
  *) exit 1 ;;
esac
source "$SOURCE/tests/cli/lib.sh"
source "$SOURCE/tests/cli/fault_rows.sh"
export PYTHONDONTWRITEBYTECODE=1 HANG_LIMIT_S=400
FAULTS=$SOURCE/tests/data/torch_faults
has() { [[ $parts == *" $1 "* ]]; }
# The inference package with this torch: what only torch 2 can do is not skipped.
if has package; then
  for tests in ridgeline_infer compiled_infer fork_server onnx_export; do
    checks=$((checks + 1))
    "$PYTHON" "$SOURCE/tests/python/test_$tests.py" >out 2>err || problem "tests/python/test_$tests.py with $PYTHON"
  done
fi

# tuned TARGET ROWS [ARGUMENT...]: measures every combination of these rows of a space, compiled code on one thread as others work here.
tuned() {
  local target=$1 rows=$2
  shift 2
  printf 'parameters:\n%bonly_listed: true\n' "$rows" >space.yaml
  run '0|1|4' tune --python "$target" --python-exe "$PYTHON" --search grid --space space.yaml --set torch_threads=1 \
    --time 100ms --db r.db --fresh --json "$@"
}
# ran_compiled: compiled rows ran, and are known to have.
ran_compiled() {
  json '[.trials[] | select(.status == "ok" and .configuration.torch_compile == "default")] | length >= 1' true
  json 'all(.trials[] | select(.status == "ok" and .configuration.torch_compile); .effective_settings.torch_compile == .configuration.torch_compile)' true
  json 'all(.trials[]; .status == "ok" and .output_error.scaled_max_abs < 1e-3)' true
  json '.runtime.version' 2.11.0
}

# decided: a change that a comparison proves, or what there is; an uneven machine proves less.
decided() {
  json '[.comparisons[] | select(.purpose == "finalist" and .failure == null)] | length >= 1' true
  json '.verdict | .decision == "keep" or (.decision == "change" and .gain != null)' true
}

cat >models.py <<'PY'
import torch
from torch import nn


def conv():
    torch.manual_seed(1)
    layers = [nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)).eval(), torch.randn(1, 3, 64, 64)


class Block(nn.Module):
    def __init__(self, width=64, heads=4):
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.reshape(batch, length, self.heads, -1).transpose(1, 2) for part in self.qkv(self.first(x)).chunk(3, -1))
        attended = nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, length, width)
        x = x + self.out(attended)
        return x + self.mlp(self.second(x))


def transformer():
    torch.manual_seed(1)
    return nn.Sequential(Block(), Block()).eval(), torch.randn(1, 64, 64)
PY
COMPILED='.torch_compile == "default"'
PINNED=(--set grad_mode=inference_mode --max-time 150s)
if has conv; then
  tuned models.py:conv "  torch_compile: [\"off\", default]\n  compile_freezing: [false, true]\n" "${PINNED[@]}"
  ran_compiled
  decided
fi
if has transformer; then
  tuned models.py:transformer "  torch_compile: [\"off\", default, max-autotune]\n" "${PINNED[@]}"
  ran_compiled
  decided
fi

# faulty NAME ROW LIMIT: that model, with the one setting that has the fault.
faulty() {
  local name=$1 row=$2 limit=$3
  shift 3
  tuned "$FAULTS/$name.py:make" "  $row\n" --set grad_mode=inference_mode --max-time "$limit" --no-comparisons "$@"
}
COMPILE='torch_compile: ["off", default]'
if has faults; then
  faulty aborts "$COMPILE" 90s
  row "$COMPILED" crashed SIGABRT
  rest "$COMPILED"
  # Waits for ever, works for ten minutes: no trial takes more than a share of the time.
  for name in hangs compiles_long; do
    faulty $name 'torch_compile: [default, "off"]' 70s
    row "$COMPILED" timeout "one trial gets no more than that of the 70 s"
    rest "$COMPILED"
  done
  faulty not_compilable "$COMPILE" 90s
  row "$COMPILED" failed InvalidCxxCompiler
  rest "$COMPILED"
  faulty out_of_memory 'torch_compile: ["off", default, max-autotune]' 240s
  row '.torch_compile == "max-autotune"' out_of_memory "CUDA out of memory"
  rest '.torch_compile == "max-autotune"'
  # Compiled in two parts: still a row, whose breaks are counted.
  faulty graph_breaks "$COMPILE" 180s
  row "$COMPILED" ok
  # Each size is compiled; all of them are checked.
  faulty dynamic_shapes "$COMPILE" 240s
  row "$COMPILED" ok
  json '[.model.shapes[]] | length' 3
  # Dropout is left on: told, and no setting is blamed for it.
  faulty dropout "$COMPILE" 180s
  err "training mode"
  err "the same seed gives the same outputs"
  # Half weights that overflow: the answer is wrong, not fast.
  faulty overflows 'torch_precision: [as_is, fp16]' 90s
  row '.torch_precision == "fp16"' rejected_accuracy
  rest '.torch_precision == "fp16"'
fi

# ONNX Runtime beside torch, from one command.
if has onnx; then
  for model in conv transformer; do
    run '0|1|4' tune --python models.py:$model --python-exe "$PYTHON" --also onnx --runtime "$environment" --time 100ms --max-time 150s \
      --db onnx.db --fresh --json
    json '[.candidates[] | select(.engine == "onnxruntime")] | length >= 1' true
    json '[.candidates[] | select(.engine == "torch")] | length >= 1' true
    json '.verdict.candidate.engine | . == "torch" or . == "onnxruntime"' true
    json 'all(.trials[] | select(.status == "ok"); .output_error.scaled_max_abs < 1e-3)' true
  done
  # No exporter takes it: told, and torch's rows are there.
  run '0|1|4' tune --python "$FAULTS/not_exportable.py:make" --python-exe "$PYTHON" --also onnx --runtime "$environment" --time 50ms \
    --max-time 90s --db onnx.db --fresh --json
  err "xport"
  json '.verdict.candidate.engine' torch
  json '[.trials[] | select(.status == "ok")] | length >= 1' true
fi
finish
